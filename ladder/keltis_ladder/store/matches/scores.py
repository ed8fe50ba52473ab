"""What entrants made of a match in the joint rating's scores, from its rows.

A result that is stored and one that is worked out again both come through here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from keltis_ladder.match.faults import Fault, Kind
from keltis_ladder.match.results import GameResult, Loss, MatchResult
from keltis_ladder.match.rotation import entrants_by_seat
from keltis_ladder.ratings.joint.scores import match_scores

_SOME: Final = Fault(Kind.CRASH, "", "")  # which one it was makes no difference


class GameRow(NamedTuple):
    """What counts of a stored game; lists are by seat."""

    rotation: int
    scores: Sequence[int]
    ranks: Sequence[int]


class FaultRow(NamedTuple):
    """What counts of a stored fault."""

    rotation: int
    seat: int


def scores_of(
    variant: str, games: Sequence[GameRow], faults: Iterable[FaultRow]
) -> tuple[int, ...]:
    """Return the score of each entrant."""
    dropped: dict[int, list[Loss]] = {}
    for rotation, seat in faults:
        dropped.setdefault(rotation, []).append(Loss(seat, 0, _SOME, {}))
    results = [
        GameResult(
            rotation=rotation,
            entrants=entrants_by_seat(rotation, len(scores)),
            actions=[],
            ending="",
            scores=list(scores),
            ranks=list(ranks),
            times=[],
            losses=dropped.get(rotation, []),
        )
        for rotation, scores, ranks in games
    ]
    return match_scores(variant, MatchResult(results))
