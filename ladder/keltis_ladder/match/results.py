"""Results: what a game and a match came to, as plain data that can be stored and sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

from keltis_ladder.match.faults import Fault, Kind


@dataclass(frozen=True)
class SeatTime:
    """What one seat's bot spent in a game, in seconds."""

    asked: int  # decisions
    wall: float
    cpu: float
    longest: float  # what one decision took of the clock
    charged: float = 0.0  # what all of them did


@dataclass(frozen=True)
class Loss:
    """A fault in a game: whose, when, and the crash card for its author."""

    seat: int
    decision: int  # how many decisions of the game had been taken
    fault: Fault
    card: dict[str, Any]


@dataclass(frozen=True)
class GameResult:
    """One game. Lists are by seat; ``entrants`` says which entrant of the match sat there."""

    rotation: int
    entrants: list[int]
    actions: list[int]
    ending: str
    scores: list[int]
    ranks: list[int]  # 1 is best; a shared win is a shared rank
    times: list[SeatTime]
    losses: list[Loss] = field(default_factory=list)

    @property
    def asked(self) -> int:
        """How many decisions bots were asked for."""
        return sum(time.asked for time in self.times)

    def shares(self) -> list[Fraction]:
        """Return each seat's share of the win; a bot that dropped out has none."""
        out = {loss.seat for loss in self.losses}
        winners = [seat for seat, rank in enumerate(self.ranks) if rank == 1 and seat not in out]
        return [
            Fraction(1, len(winners)) if seat in winners else Fraction(0)
            for seat in range(len(self.ranks))
        ]


@dataclass(frozen=True)
class MatchResult:
    """A deal played in all rotations. Lists are by entrant."""

    games: list[GameResult]

    @property
    def shares(self) -> list[Fraction]:
        """Return the win shares over all games."""
        totals = [Fraction(0)] * len(self.games[0].entrants)
        for game in self.games:
            for entrant, share in zip(game.entrants, game.shares(), strict=True):
                totals[entrant] += share
        return totals

    @property
    def points(self) -> list[int]:
        """Return the points over all games."""
        totals = [0] * len(self.games[0].entrants)
        for game in self.games:
            for entrant, points in zip(game.entrants, counted_points(game), strict=True):
                totals[entrant] += points
        return totals

    @property
    def ranks(self) -> list[int]:
        """Return the ranks: by win shares, then by points; equal on both is a draw."""
        return rank_by(list(zip(self.shares, self.points, strict=True)))


def counted_points(game: GameResult) -> list[int]:
    """Return the points that count: a bot that dropped out has less than all others."""
    out = {loss.seat for loss in game.losses}
    lowest = min((score for seat, score in enumerate(game.scores) if seat not in out), default=None)
    return [
        score if lowest is None or seat not in out else min(score, lowest - 1)
        for seat, score in enumerate(game.scores)
    ]


def rank_by(values: list[Any]) -> list[int]:
    """Return the rank of each value, the highest first; equal values share the better rank."""
    return [1 + sum(other > value for other in values) for value in values]


def rank_seats(scores: Sequence[int], dropped: Mapping[int, int]) -> list[int]:
    """Return the ranks in a game; who dropped out is below all others, the later the better.

    ``dropped`` has the decision at which a seat did.
    """
    return rank_by(
        [(0, dropped[seat]) if seat in dropped else (1, score) for seat, score in enumerate(scores)]
    )


def match_to_plain(result: MatchResult) -> dict[str, Any]:
    """Return a match as dicts, lists, texts and numbers."""
    return {"games": [_game_to_plain(game) for game in result.games]}


def _game_to_plain(game: GameResult) -> dict[str, Any]:
    # Not asdict() for the whole of it, which copies the lists number by number.
    plain = {name: getattr(game, name) for name in GameResult.__dataclass_fields__}
    plain["times"] = [asdict(time) for time in game.times]
    plain["losses"] = [asdict(loss) for loss in game.losses]
    return plain


def match_from_plain(plain: dict[str, Any]) -> MatchResult:
    """Return the match that ``match_to_plain`` wrote."""
    return MatchResult([_game_from_plain(game) for game in plain["games"]])


def _game_from_plain(plain: dict[str, Any]) -> GameResult:
    losses = [
        Loss(**{**loss, "fault": Fault(**{**loss["fault"], "kind": Kind(loss["fault"]["kind"])})})
        for loss in plain["losses"]
    ]
    times = [SeatTime(**time) for time in plain["times"]]
    return GameResult(**{**plain, "losses": losses, "times": times})
