"""Real matches, played on the engine in this process, and kept in a file for the next run.

A match is determined by its variant, its entrants in their order and its deal. So the bank changes
nothing but the time that a run takes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, Self

from bench.proof.players import CANDIDATES, CLOSE, EVERYBODY, HELD_OUT, STYLES, THOUGHT, Player
from keltis_engine import VARIANTS, Ruleset, find_variant
from keltis_ladder.match.jobs import seed_of_match
from keltis_ladder.match.results import GameResult, MatchResult, rank_by
from keltis_ladder.match.rotation import by_seat, entrants_by_seat
from keltis_ladder.ratings.joint.scores import match_scores

PLACE: Final = Path(__file__).parents[2] / "build" / "coverage"

Points = tuple[tuple[int, ...], ...]  # of each game, by seat


class Outcome(NamedTuple):
    """What a match came to, by entrant, for all ratings."""

    variant: str
    bots: tuple[int, ...]
    ranks: tuple[int, ...]
    scores: tuple[int, ...]  # as the joint rating counts them
    ahead: tuple[tuple[float, ...], ...]  # games in which an entrant had more points than another


@cache
def ruleset_of(variant: str) -> Ruleset:
    return find_variant(variant)


def play(variant: str, bots: Sequence[int], deal: int) -> Points:
    """Play a match: the deal once for each rotation, as the referee does."""
    count = len(bots)
    games = []
    for rotation in range(count):
        state = ruleset_of(variant).deal(count, deal)
        seats = [
            Player(EVERYBODY[bot], variant, f"{deal}/{rotation}/{bot}")
            for bot in by_seat(bots, rotation)
        ]
        while not state.over:
            state.apply(seats[int(state.seat)].decide(state))
        games.append(tuple(int(score) for score in state.scores()))
    return tuple(games)


def result_of(points: Points) -> MatchResult:
    """Return the match that had these points, as a referee would tell it."""
    count = len(points[0])
    return MatchResult(
        [
            GameResult(
                rotation,
                entrants_by_seat(rotation, count),
                [],
                "",
                list(scores),
                rank_by(list(scores)),
                [],
            )
            for rotation, scores in enumerate(points)
        ]
    )


def outcome_of(variant: str, bots: Sequence[int], result: MatchResult) -> Outcome:
    """Return what ratings need of a match."""
    count = len(bots)
    ahead = [[0.0] * count for _ in bots]
    for game in result.games:
        for one, mine in zip(game.entrants, game.scores, strict=True):
            for other, its in zip(game.entrants, game.scores, strict=True):
                ahead[one][other] += (mine > its) + (mine == its) / 2
    return Outcome(
        variant,
        tuple(bots),
        tuple(result.ranks),
        match_scores(variant, result),
        tuple(tuple(row) for row in ahead),
    )


@cache
def fingerprint(held_out: bool) -> str:
    """Return what changes when the same match might be played otherwise."""
    rules = [(variant, ruleset_of(variant).version) for variant in VARIANTS]
    search = (CLOSE, CANDIDATES, THOUGHT)
    styles = HELD_OUT if held_out else STYLES
    text = json.dumps([[asdict(style) for style in styles], search, rules])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def name_of(field: Sequence[int]) -> str:
    """Return what a field is called in the names of files."""
    return f"{len(field)}-held-out" if is_held_out(field) else f"{len(field)}"


def is_held_out(field: Sequence[int]) -> bool:
    """Return whether a field is of those players that are for the proof alone."""
    return field[0] >= len(STYLES)


@dataclass
class Bank:
    """Matches of one purpose."""

    name: str
    print_of_styles: str
    known: dict[tuple[str, tuple[int, ...], int], Points]
    played: int = 0  # in this run

    @classmethod
    def open(cls, what: str, field: Sequence[int]) -> Self:
        """Read the matches of an earlier run, if they would be played the same way now."""
        name, styles = f"{what}-{name_of(field)}", fingerprint(is_held_out(field))
        known: dict[tuple[str, tuple[int, ...], int], Points] = {}
        file = PLACE / f"{name}.jsonl"
        if file.exists():
            head, *lines = file.read_text("utf-8").splitlines()
            if json.loads(head) == styles:
                for line in lines:
                    variant, bots, number, points = json.loads(line)
                    known[variant, tuple(bots), number] = tuple(tuple(game) for game in points)
        return cls(name, styles, known)

    def outcome(self, variant: str, bots: Sequence[int], number: int) -> Outcome:
        """Return what the match of this number came to, and play it if nobody has."""
        key = variant, tuple(bots), number
        points = self.known.get(key)
        if points is None:
            deal = seed_of_match(int.from_bytes(self.name.encode()), number)
            points = self.known[key] = play(variant, bots, deal)
            self.played += 1
        return outcome_of(variant, bots, result_of(points))

    def keep(self) -> None:
        """Write all matches to the file."""
        if not self.played:
            return
        PLACE.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(self.print_of_styles)]
        lines += [json.dumps([*key, points]) for key, points in self.known.items()]
        file = PLACE / f"{self.name}.jsonl"
        fresh = file.with_suffix(".new")
        fresh.write_text("\n".join(lines) + "\n", "utf-8")
        fresh.replace(file)
