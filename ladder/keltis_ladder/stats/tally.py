"""What many matches between the same entrants came to. Lists are by entrant."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from keltis_ladder.match.results import GameResult, MatchResult
from keltis_ladder.stats.statistics import (
    EVEN,
    Estimate,
    elo_estimate,
    mean_estimate,
    share_estimate,
    superiority,
    wilson,
)

TWO: Final = 2


@dataclass
class Effort:
    """What an entrant's bots spent, over all games, in seconds."""

    asked: int = 0
    wall: float = 0.0
    cpu: float = 0.0
    longest: float = 0.0


@dataclass(frozen=True)
class Duel:
    """Two entrants compared by who ranked higher in each match."""

    wins: int
    draws: int
    losses: int
    rate: Estimate  # of wins among the decided matches
    elo: Estimate
    superiority: float


@dataclass
class Tally:
    """Counts matches as they come."""

    names: list[str]
    shares: list[list[Fraction]] = field(default_factory=list)  # per match, each between 0 and 1
    points: list[list[Fraction]] = field(default_factory=list)  # per match, mean over its games
    ranks: list[list[int]] = field(default_factory=list)  # per match
    seat_wins: list[Fraction] = field(default_factory=list)  # by seat, over all games
    endings: Counter[str] = field(default_factory=Counter)
    faults: Counter[tuple[int, str, str]] = field(default_factory=Counter)  # entrant, kind, code
    efforts: list[Effort] = field(default_factory=list)
    decisions: int = 0

    def __post_init__(self) -> None:
        """Begin with nothing played."""
        self.seat_wins = [Fraction(0) for _ in self.names]
        self.efforts = [Effort() for _ in self.names]

    @property
    def players(self) -> int:
        """How many sit at the table."""
        return len(self.names)

    @property
    def matches(self) -> int:
        """How many matches were counted."""
        return len(self.ranks)

    @property
    def games(self) -> int:
        """How many games were counted."""
        return self.endings.total()

    def add(self, result: MatchResult) -> None:
        """Count one match."""
        games = len(result.games)
        self.shares.append([share / games for share in result.shares])
        self.points.append([Fraction(points, games) for points in result.points])
        self.ranks.append(result.ranks)
        for game in result.games:
            self._add_game(game)

    def _add_game(self, game: GameResult) -> None:
        self.endings[game.ending] += 1
        self.decisions += len(game.actions)
        for seat, share in enumerate(game.shares()):
            self.seat_wins[seat] += share
        for loss in game.losses:
            fault = loss.fault
            self.faults[game.entrants[loss.seat], str(fault.kind), fault.code] += 1
        for entrant, time in zip(game.entrants, game.times, strict=True):
            effort = self.efforts[entrant]
            effort.asked += time.asked
            effort.wall += time.wall
            effort.cpu += time.cpu
            effort.longest = max(effort.longest, time.longest)

    def faults_of(self, entrant: int) -> int:
        """Return how many games an entrant lost by a fault."""
        return sum(count for (who, _, _), count in self.faults.items() if who == entrant)

    def share(self, entrant: int) -> Estimate:
        """Estimate an entrant's share of the wins."""
        return share_estimate([float(shares[entrant]) for shares in self.shares])

    def mean_points(self, entrant: int) -> Estimate:
        """Estimate an entrant's points per game."""
        return mean_estimate([float(points[entrant]) for points in self.points])

    def mean_rank(self, entrant: int) -> float:
        """Return an entrant's mean rank."""
        return sum(ranks[entrant] for ranks in self.ranks) / self.matches

    def lead(self) -> Estimate:
        """Estimate by how many points per game the first of two entrants is ahead."""
        return mean_estimate([float(points[0] - points[1]) for points in self.points])

    def balance(self, match: int) -> Fraction:
        """Return how a match of two went for the first, 0 to 1; what nobody won is even."""
        one, other = self.shares[match]
        return (1 + one - other) / 2

    def outcomes(self) -> dict[Fraction, int]:
        """Count the matches of two entrants by how they went for the first: five outcomes."""
        counts = Counter(self.balance(match) for match in range(self.matches))
        return {Fraction(k, 4): counts[Fraction(k, 4)] for k in range(5)}

    def duel(self, one: int, other: int) -> Duel:
        """Compare two entrants.

        Two alone are compared by the games they won, which say more than who won the match; among
        more than two only their ranks tell who was ahead of whom.
        """
        pairs = [(ranks[one], ranks[other]) for ranks in self.ranks]
        wins = sum(mine < theirs for mine, theirs in pairs)
        draws = sum(mine == theirs for mine, theirs in pairs)
        losses = len(pairs) - wins - draws
        if self.players == TWO:
            balances = [float(self.balance(match)) for match in range(self.matches)]
            scores = [1 - balance for balance in balances] if one else balances
        else:
            scores = [EVEN if mine == theirs else float(mine < theirs) for mine, theirs in pairs]
        return Duel(
            wins=wins,
            draws=draws,
            losses=losses,
            rate=wilson(wins, wins + losses),
            elo=elo_estimate(scores),
            superiority=superiority(scores),
        )
