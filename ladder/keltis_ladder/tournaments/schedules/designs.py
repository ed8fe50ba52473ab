"""Balanced tables of three or four: everybody meets everybody about equally often.

With few entrants every combination gets a table. With more, the circle method is carried over from
tables of two: one round is chosen with care, and the others are that round with everybody moved on
by one place of a circle. Two who sit *d* places apart in the first round then stand for all pairs
*d* places apart, so it is enough to look for a first round in which all distances are equally
frequent. If the tables are full, one entrant stays in the middle and the circle has one place less.

A cycle has as many rounds as with two at a table, and each two meet 2 times at tables of three and
3 times at tables of four; where that cannot be exact, the numbers of any two pairs differ by
``MOST_UNEVEN`` at most.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import comb
from typing import Final

from keltis_engine import Rng

Table = tuple[int, ...]
MOST_COMBINATIONS: Final = 20  # tables: up to six entrants
MOST_UNEVEN: Final = 2
_MOST_LOOKS: Final = 500  # whether it is even
_STEPS: Final = 20  # between two of them


def balanced_rounds(entrants: int, players: int) -> list[list[Table]]:
    """Return the rounds of one cycle; who is at no table of a round has a bye."""
    if comb(entrants, players) <= MOST_COMBINATIONS:
        return _all_combinations(entrants, players)
    circle = _circle(entrants, players)
    first = first_round(entrants, players)
    return [
        sorted(tuple(sorted(_moved(place, turn, circle) for place in table)) for table in first)
        for turn in range(circle)
    ]


def _all_combinations(entrants: int, players: int) -> list[list[Table]]:
    """Put each combination into the first round in which all its entrants are free."""
    rounds: list[list[Table]] = []
    for table in combinations(range(entrants), players):
        for tables in rounds:
            if all(set(table).isdisjoint(other) for other in tables):
                tables.append(table)
                break
        else:
            rounds.append([table])
    return rounds


def _circle(entrants: int, players: int) -> int:
    """Return how many places the circle has."""
    return entrants - 1 if entrants % players == 0 else entrants


def _moved(place: int, turn: int, circle: int) -> int:
    return place if place == circle else (place + turn) % circle


@cache
def first_round(entrants: int, players: int) -> tuple[Table, ...]:
    """Return a round in which all distances on the circle are as equally frequent as possible."""
    search = _Search(entrants, players)
    for _ in range(_MOST_LOOKS):
        if search.uneven <= search.least_uneven:
            break
        for _ in range(_STEPS):
            search.step()
    return search.tables()


class _Search:
    """A first round while it is being improved: by swaps that make distances more even."""

    def __init__(self, entrants: int, players: int) -> None:
        self.entrants = entrants
        self.players = players
        self.seated = entrants - entrants % players
        self.circle = _circle(entrants, players)
        self.places = list(range(entrants))  # table by table, then those with a bye
        self.counts = [0] * (self.circle // 2 + 1)  # how often pairs of a distance meet in a cycle
        # On an even circle opposite places make half as many pairs, which meet twice in a turn.
        self.meets = [2 if 2 * d == self.circle else 1 for d in range(len(self.counts))]
        self.weights = [3 - meets for meets in self.meets]
        # Meetings come out even only if the opponents of a cycle can be shared out evenly.
        self.least_uneven = 0 if entrants % players <= 1 else 1
        self.cost = 0  # the sum of squares over all pairs, which is least if all are equal
        for seat in range(self.seated):
            self._count(seat, range(self._table(seat).start, seat), 1)
        self.rng = Rng(entrants * 10 + players)

    @property
    def uneven(self) -> int:
        """By how much the numbers of meetings of any two pairs differ at most."""
        counts = self.counts[1:]
        if self.circle < self.entrants:
            counts.append(self.players - 1)  # so often everybody meets the one in the middle
        return max(counts) - min(counts)

    def tables(self) -> tuple[Table, ...]:
        """Return the tables as they are."""
        starts = range(0, self.seated, self.players)
        return tuple(tuple(self.places[at : at + self.players]) for at in starts)

    def step(self) -> None:
        """Swap two at random, unless that makes it worse."""
        one = int(self.rng.below(self.seated))
        other = int(self.rng.below(self.entrants))
        if one // self.players == other // self.players:
            return
        cost = self.cost
        self._swap(one, other)
        if self.cost > cost:
            self._swap(one, other)

    def _swap(self, one: int, other: int) -> None:
        for seat in (one, other):
            self._count(seat, self._table(seat), -1)
        self.places[one], self.places[other] = self.places[other], self.places[one]
        for seat in (one, other):
            self._count(seat, self._table(seat), 1)

    def _table(self, seat: int) -> range:
        """Return the seats of a seat's table; those with a bye have none."""
        start = seat - seat % self.players
        return range(start, start + self.players) if seat < self.seated else range(0)

    def _count(self, seat: int, others: range, sign: int) -> None:
        """Count the distances from one seat to others."""
        for other in others:
            self._add(self._distance(self.places[seat], self.places[other]), sign)

    def _add(self, distance: int, sign: int) -> None:
        if distance:
            count = self.counts[distance]
            self.counts[distance] = now = count + sign * self.meets[distance]
            self.cost += self.weights[distance] * (now * now - count * count)

    def _distance(self, one: int, other: int) -> int:
        """Return how far apart two places of the circle are; nothing counts for the middle."""
        if self.circle in (one, other):
            return 0
        apart = abs(one - other)
        return min(apart, self.circle - apart)
