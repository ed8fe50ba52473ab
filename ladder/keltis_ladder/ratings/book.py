"""The book of ratings: enters one result after the other, and knows where every version stands.

Storing a result and recomputing all of them go through the same lines of code, in the same order
of results. That is why a recomputation gives the stored numbers exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from keltis_ladder.ratings.model import TAU, noise_of, start_of
from keltis_ladder.ratings.scopes import Scope, scopes_of
from keltis_ladder.ratings.skill import Belief, Noise, rate

SEATS = 4

# How beliefs change by a match: beliefs and ranks of its entrants, what it hides, the drift before.
Rate = Callable[[list[Belief], list[int], Noise, float], list[Belief]]


class Share(NamedTuple):
    """How one entrant did in a match, as far as ratings are concerned."""

    version: int
    rank: int
    twelfths: int
    faults: int
    seats: tuple[int, ...]  # twelfths of a win by seat
    score: int = 0  # in the joint rating's unit


class Record(NamedTuple):
    """A rated match."""

    number: int
    variant: str
    players: int
    shares: tuple[Share, ...]


@dataclass
class Standing:
    """Where a version stands in one scope."""

    belief: Belief
    matches: int = 0
    firsts: int = 0
    shared: int = 0
    games: int = 0
    twelfths: int = 0
    faults: int = 0
    seats: list[int] = field(default_factory=lambda: [0] * SEATS)  # twelfths
    seat_games: list[int] = field(default_factory=lambda: [0] * SEATS)
    last_match: int = 0

    def count(self, number: int, share: Share, alone: bool) -> None:
        """Count a match."""
        self.matches += 1
        if share.rank == 1:
            self.firsts += alone
            self.shared += not alone
        self.games += len(share.seats)
        self.twelfths += share.twelfths
        self.faults += share.faults
        for seat, twelfths in enumerate(share.seats):
            self.seats[seat] += twelfths
            self.seat_games[seat] += 1
        self.last_match = number


@dataclass
class Score:
    """How often one version was ahead of another, and by how much in all."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    margin: int = 0  # in the unit of the joint rating's scores


class Pair(NamedTuple):
    """Two versions in one kind of match; the smaller id comes first."""

    one: int
    other: int
    variant: str
    players: int


class Book:
    """Standings and duels, made from results.

    It may know all versions, or only those of one match and what they descend from. Whatever is
    stored comes from our kernel; a comparison enters the same results with another ``rate``.
    """

    def __init__(self, predecessors: Mapping[int, int | None], rate: Rate = rate) -> None:
        self.predecessors = predecessors
        self.rate = rate
        self.standings: dict[tuple[int, Scope], Standing] = {}
        self.duels: dict[Pair, Score] = {}

    def enter(self, record: Record) -> list[list[Belief]]:
        """Enter a result; return each entrant's ratings after it, in the order of the scopes."""
        shares = record.shares
        noise = noise_of(record.variant, record.players)
        ranks = [share.rank for share in shares]
        alone = ranks.count(1) == 1
        after: list[list[Belief]] = [[] for _ in shares]
        for scope in scopes_of(record.variant, record.players):
            standings = [self.standing(share.version, scope) for share in shares]
            beliefs = self.rate([standing.belief for standing in standings], ranks, noise, TAU)
            for entrant, (standing, share, belief) in enumerate(
                zip(standings, shares, beliefs, strict=True)
            ):
                standing.belief = belief
                standing.count(record.number, share, alone)
                after[entrant].append(belief)
        self._compare(record)
        return after

    def standing(self, version: int, scope: Scope) -> Standing:
        """Return where a version stands; one that is new begins where its predecessor is."""
        found = self.standings.get((version, scope))
        if found is None:
            found = self.standings[version, scope] = Standing(self._start(version, scope))
        return found

    def _start(self, version: int, scope: Scope) -> Belief:
        # Each one between that never played in this scope is one step more away.
        steps = 1
        before = self.predecessors.get(version)
        while before is not None and (before, scope) not in self.standings:
            before = self.predecessors.get(before)
            steps += 1
        belief = None if before is None else self.standings[before, scope].belief
        for _ in range(steps):
            belief = start_of(belief)
        assert belief is not None
        return belief

    def _compare(self, record: Record) -> None:
        for one, other in combinations(sorted(record.shares), 2):
            score = self.duels.setdefault(
                Pair(one.version, other.version, record.variant, record.players), Score()
            )
            score.wins += one.rank < other.rank
            score.draws += one.rank == other.rank
            score.losses += one.rank > other.rank
            score.margin += one.score - other.score


def recompute(
    records: Iterable[Record],
    predecessors: Mapping[int, int | None],
    on_step: Callable[[Record, list[list[Belief]]], None] | None = None,
) -> Book:
    """Enter all results into a new book."""
    book = Book(predecessors)
    for record in records:
        steps = book.enter(record)
        if on_step is not None:
            on_step(record, steps)
    return book
