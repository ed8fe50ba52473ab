"""A played match as rows: worked out before the transaction, which then only has to write."""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from keltis_bots.texts import printable
from keltis_engine import Ruleset, find_variant
from keltis_engine.records.replay import make_replay
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.results import GameResult, MatchResult
from keltis_ladder.ratings.book import SEATS

TWELFTHS: Final = 12
PARTS: Final = 3  # components that the points of a variant have, at most


@dataclass(frozen=True)
class MatchRows:
    """The rows of a match, without its number and the ids of the versions. Lists are by entrant."""

    variant: str
    players: int
    decisions: int
    places: list[dict[str, Any]]
    games: list[dict[str, Any]]
    faults: list[dict[str, Any]]  # ``entrant`` says whose


def rows_of(job: Job, result: MatchResult) -> MatchRows:
    """Return the rows of a match that was played."""
    ruleset = find_variant(job.variant, job.options)
    return MatchRows(
        variant=job.variant,
        players=len(job.entrants),
        decisions=sum(len(game.actions) for game in result.games),
        places=_places(job, ruleset, result),
        games=[
            {
                "rotation": game.rotation,
                "ending": game.ending,
                "scores": game.scores,
                "ranks": game.ranks,
                "moves": pack_moves(game.actions),
                "digest": make_replay(ruleset, len(job.entrants), job.seed, game.actions)["digest"],
            }
            for game in result.games
        ],
        faults=[
            {
                "rotation": game.rotation,
                "seat": loss.seat,
                "entrant": game.entrants[loss.seat],
                "decision": loss.decision,
                "kind": str(loss.fault.kind),
                "code": loss.fault.code,
                "text": printable(loss.fault.text),
                "card": pack_json(loss.card),
            }
            for game in result.games
            for loss in game.losses
        ],
    )


def _places(job: Job, ruleset: Ruleset, result: MatchResult) -> list[dict[str, Any]]:
    ranks, points, shares = result.ranks, result.points, result.shares
    places: list[dict[str, Any]] = [
        {
            "position": entrant,
            "rank": ranks[entrant],
            "twelfths": in_twelfths(shares[entrant]),
            "points": points[entrant],
            "faults": 0,
            "asked": 0,
            "wall_ms": 0.0,
            "cpu_ms": 0.0,
            "slowest_ms": 0.0,
            **{f"seat{seat}": None for seat in range(SEATS)},
            **{f"part{part}": None for part in range(PARTS)},
        }
        for entrant in range(len(ranks))
    ]
    for game in result.games:
        _add_game(places, game)
    # Where somebody dropped out, points say little about how the others play.
    if not any(game.losses for game in result.games):
        for place, parts in zip(places, _parts(job, ruleset, result), strict=True):
            place.update((f"part{part}", points) for part, points in enumerate(parts))
    return places


def _parts(job: Job, ruleset: Ruleset, result: MatchResult) -> list[list[int]]:
    """Return what each entrant's points were made of, over all games."""
    totals = [[0] * PARTS for _ in job.entrants]
    for game in result.games:
        state = ruleset.deal(len(job.entrants), job.seed)
        for action in game.actions:
            state.apply(action)
        for entrant, points in zip(game.entrants, state.breakdown(), strict=True):
            for part, value in enumerate(points.values()):
                totals[entrant][part] += value
    return totals


def _add_game(places: list[dict[str, Any]], game: GameResult) -> None:
    shares = game.shares()
    for seat, (entrant, time) in enumerate(zip(game.entrants, game.times, strict=True)):
        place = places[entrant]
        place[f"seat{seat}"] = in_twelfths(shares[seat])
        place["asked"] += time.asked
        place["wall_ms"] += time.wall * 1000
        place["cpu_ms"] += time.cpu * 1000
        place["slowest_ms"] = max(place["slowest_ms"], time.longest * 1000)
    for loss in game.losses:
        places[game.entrants[loss.seat]]["faults"] += 1


def in_twelfths(share: Fraction) -> int:
    """Return a share of a win as a whole number of twelfths."""
    twelfths = share * TWELFTHS
    if twelfths.denominator != 1:
        raise ValueError(f"a share of {share} is not a whole number of twelfths")
    return int(twelfths)


def pack_moves(actions: Sequence[int]) -> bytes:
    """Return decisions in compressed form: two bytes each, the low one first, deflated."""
    numbers = array("H", actions)
    if numbers.itemsize != 2:
        raise TypeError("this machine's short numbers do not have two bytes")
    return zlib.compress(_little(numbers).tobytes(), 9)


def unpack_moves(data: bytes) -> list[int]:
    """Return the decisions that ``pack_moves`` wrote."""
    numbers = array("H", zlib.decompress(data))
    return list(_little(numbers))


def _little(numbers: array[int]) -> array[int]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def pack_json(value: Any) -> bytes:
    """Return plain data as compressed JSON."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode("utf-8"), 6)


def unpack_json(data: bytes) -> Any:
    """Return the data that ``pack_json`` wrote."""
    return json.loads(zlib.decompress(data))


NO_CARD: Final = pack_json({})  # what is left of the crash card of a bot that was removed


def without_names(card: bytes) -> bytes:
    """Return a crash card that does not say who the others were: one of them was removed."""
    if not card:  # pruned
        return card
    plain = unpack_json(card)
    if game := plain.get("game"):
        game["names"] = [
            plain["bot"] if seat == game["seat"] else f"seat {seat}"
            for seat in range(len(game["names"]))
        ]
    return pack_json(plain)
