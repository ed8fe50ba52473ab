"""One round of a Swiss tournament at tables of three or four.

Everything here counts by position: 0 is the highest placed of those who take part. Equal scores
sit together, at each table one of every part of their group, from the top to the bottom. Then two
who sit at different tables change places as long as that helps, first against meeting again, then
for tables of nearer scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

Meetings = Sequence[Sequence[int]]  # how often two positions met
MOST_PASSES: Final = 20  # through all seats; a handful is usual
NEARBY: Final = 2  # tables away: so far one looks for a nearer score


def choose_byes(byes: Sequence[int], count: int) -> list[int]:
    """Return who sits out: those with the fewest byes, the lowest placed of them first."""
    waiting = sorted(range(len(byes)), key=lambda at: (byes[at], -at))
    return sorted(waiting[:count])


def seat_tables(scores: Sequence[int], meetings: Meetings, players: int) -> list[tuple[int, ...]]:
    """Return the tables of a round, all full, each with its highest placed first."""
    seating = _Seating(scores, meetings, players)
    for _ in range(MOST_PASSES):
        if not seating.improve():
            break
    return seating.tables()


def _first_seats(scores: Sequence[int], players: int) -> list[int]:
    """Return who sits where if nobody minds meeting again."""
    seats: list[int] = []
    waiting: list[int] = []  # those left over from the groups above
    for _, equals in groupby(range(len(scores)), key=scores.__getitem__):
        group = list(equals)
        if waiting:
            free = players - len(waiting)
            waiting += group[:free]
            group = group[free:]
        if len(waiting) == players:
            seats += waiting
            waiting = []
        tables = len(group) // players
        for table in range(tables):
            seats += group[table : tables * players : tables]
        waiting += group[tables * players :]
    return seats


class _Seating:
    """Who sits where, while it is being improved. ``seats`` holds positions, table by table."""

    def __init__(self, scores: Sequence[int], meetings: Meetings, players: int) -> None:
        self.scores = scores
        self.meetings = meetings
        self.players = players
        self.seats = _first_seats(scores, players)

    def tables(self) -> list[tuple[int, ...]]:
        """Return the tables as they are."""
        starts = range(0, len(self.seats), self.players)
        return sorted(tuple(sorted(self.seats[at : at + self.players])) for at in starts)

    def improve(self) -> bool:
        """Go through all seats once and make every change of two that helps."""
        changed = False
        for seat in range(len(self.seats)):
            for other in self._partners(seat):
                if self._gain(seat, other) < (0, 0):
                    self._swap(seat, other)
                    changed = True
                    break
        return changed

    def _partners(self, seat: int) -> Iterator[int]:
        """Yield the seats at other tables that might help, the nearest first."""
        table = seat // self.players
        reach = NEARBY * self.players
        if self._burden(seat, self.seats[seat])[0]:
            reach = len(self.seats)
        for distance in range(1, reach):
            for other in (seat + distance, seat - distance):
                if 0 <= other < len(self.seats) and other // self.players != table:
                    yield other

    def _burden(self, seat: int, position: int) -> tuple[int, int]:
        """Return what a position costs at a seat: repeated meetings, distances in score."""
        start = seat - seat % self.players
        again = apart = 0
        for other in range(start, start + self.players):
            if other != seat:
                neighbour = self.seats[other]
                again += self.meetings[position][neighbour] ** 2
                apart += (self.scores[position] - self.scores[neighbour]) ** 2
        return again, apart

    def _gain(self, one: int, other: int) -> tuple[int, int]:
        """Return how the burdens change if two seats are swapped; below nothing is better."""
        first, second = self.seats[one], self.seats[other]
        new = self._burden(one, second), self._burden(other, first)
        old = self._burden(one, first), self._burden(other, second)
        return (
            new[0][0] + new[1][0] - old[0][0] - old[1][0],
            new[0][1] + new[1][1] - old[0][1] - old[1][1],
        )

    def _swap(self, one: int, other: int) -> None:
        self.seats[one], self.seats[other] = self.seats[other], self.seats[one]
