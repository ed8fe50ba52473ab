"""Results to store: made up ones by the hundred, and real games that the engine has played."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from keltis_engine import Rng, find_variant
from keltis_engine.play.policies import POLICIES
from keltis_ladder.match.entrants import built_in
from keltis_ladder.match.faults import Fault, Kind
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.results import GameResult, Loss, MatchResult, SeatTime, rank_by
from keltis_ladder.referee.caretaker import Caretaker
from keltis_ladder.store.matches.records import MatchRows, pack_json, pack_moves, rows_of

TWELVE = 12
CRASH = Fault(Kind.CRASH, "exit", "the bot ended in a game: exit code 1")

# Scores of a game by seat, and the seats whose bots dropped out.
GameScores = Sequence[int]


def made_up(
    variant: str, games: Sequence[GameScores], dropped: Sequence[tuple[int, int]] = ()
) -> MatchRows:
    """Return the rows of a match that came out like this; ``dropped`` has rotations and seats."""
    players = len(games)
    places: list[dict[str, Any]] = [
        {
            "position": entrant,
            "rank": 0,
            "twelfths": 0,
            "points": 0,
            "faults": 0,
            "asked": 60,
            "wall_ms": 12.5,
            "cpu_ms": 11.25,
            "slowest_ms": 1.5,
            "seat0": None,
            "seat1": None,
            "seat2": None,
            "seat3": None,
        }
        for entrant in range(players)
    ]
    rows: list[dict[str, Any]] = []
    for rotation, scores in enumerate(games):
        out = {seat for game, seat in dropped if game == rotation}
        ranks = rank_by([(seat not in out, score) for seat, score in enumerate(scores)])
        winners = [seat for seat in range(players) if ranks[seat] == 1 and seat not in out]
        lowest = min((scores[seat] for seat in range(players) if seat not in out), default=None)
        for seat in range(players):
            place = places[(seat + rotation) % players]
            place[f"seat{seat}"] = TWELVE // len(winners) if seat in winners else 0
            place["faults"] += seat in out
            if lowest is not None and seat in out:
                place["points"] += min(scores[seat], lowest - 1)
            else:
                place["points"] += scores[seat]
        rows.append(
            {
                "rotation": rotation,
                "ending": "fault" if out else "last card",
                "scores": list(scores),
                "ranks": ranks,
                "moves": pack_moves([1, 2, 3]),
                "digest": "0" * 64,
            }
        )
    for place in places:
        place["twelfths"] = sum(place[f"seat{seat}"] for seat in range(players))
    for place, rank in zip(
        places, rank_by([(place["twelfths"], place["points"]) for place in places]), strict=True
    ):
        place["rank"] = rank
    return MatchRows(
        variant=variant,
        players=players,
        decisions=3 * players,
        places=places,
        games=rows,
        faults=[fault_row(game, seat, (seat + game) % players) for game, seat in dropped],
    )


def fault_row(rotation: int, seat: int, entrant: int) -> dict[str, Any]:
    return {
        "rotation": rotation,
        "seat": seat,
        "entrant": entrant,
        "decision": 3,
        "kind": str(CRASH.kind),
        "code": CRASH.code,
        "text": CRASH.text,
        "card": pack_json({"bot": "made up", "stderr": "so long"}),
    }


def any_result(chance: random.Random, variant: str, players: int) -> MatchRows:
    """Return a made up match; points are few, so that some games and matches are drawn."""
    games = [[chance.randint(0, 6) for _ in range(players)] for _ in range(players)]
    dropped = [(chance.randrange(players), chance.randrange(players))]
    return made_up(variant, games, dropped if chance.random() < 0.1 else ())


def won_by(variant: str, players: int, winner: int) -> MatchRows:
    """Return a match in which one entrant won every game, and all others were equal."""
    games = [
        [int((seat + rotation) % players == winner) for seat in range(players)]
        for rotation in range(players)
    ]
    return made_up(variant, games)


def faulty(players: int, culprit: int, variant: str = "keltis") -> MatchRows:
    """Return a match in which one entrant dropped out of the first game."""
    return made_up(variant, [[0] * players for _ in range(players)], [(0, culprit)])


def played(
    variant: str,
    players: int,
    seed: int,
    drops: dict[int, tuple[int, int]] | None = None,
) -> tuple[Job, MatchResult]:
    """Play real games; ``drops`` says by rotation which seat fails, after how many decisions."""
    job = Job(
        variant=variant,
        options=dict(find_variant(variant).options),
        seed=seed,
        entrants=(built_in("random"),) * players,
    )
    games = [
        _play(job, players, rotation, (drops or {}).get(rotation)) for rotation in range(players)
    ]
    return job, MatchResult(games)


def _play(job: Job, players: int, rotation: int, drop: tuple[int, int] | None) -> GameResult:
    ruleset = job.ruleset()
    state = ruleset.deal(players, job.seed)
    rng = Rng(job.seed + rotation)
    caretaker = Caretaker(ruleset)
    actions: list[int] = []
    losses: list[Loss] = []
    while not state.over:
        seat = int(state.seat)
        if drop is not None and not losses and seat == drop[0] and len(actions) >= drop[1]:
            card = {"bot": f"seat {seat}", "stderr": "Ouch \x00 \udcff"}
            losses.append(Loss(seat, len(actions), CRASH, card))
            if players - len(losses) < 2:
                break
        if any(loss.seat == seat for loss in losses):
            action = caretaker.choose(state.legal_actions())
        else:
            action = POLICIES["eager"](state, rng)
        state.apply(action)
        actions.append(action)
    out = {loss.seat for loss in losses}
    scores = state.scores()
    return GameResult(
        rotation=rotation,
        entrants=[(seat + rotation) % players for seat in range(players)],
        actions=actions,
        ending=state.ending or "fault",
        scores=scores,
        ranks=rank_by([(seat not in out, score) for seat, score in enumerate(scores)]),
        times=[SeatTime(asked=9, wall=0.5, cpu=0.25, longest=0.125) for _ in range(players)],
        losses=losses,
    )


def real(
    variant: str, players: int, seed: int, drops: dict[int, tuple[int, int]] | None = None
) -> MatchRows:
    """Return the rows of a match that was really played."""
    return rows_of(*played(variant, players, seed, drops))
