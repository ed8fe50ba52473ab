"""One round of a Swiss tournament at tables of two.

Everything here counts by position: 0 is the highest placed of those who take part. The pairing is
exact, by these rules in this order:

1. As few as possible meet somebody again; of those who must, as few as possible for a third time,
   and so on. It is the lower placed who must.
2. Nobody goes further down than he must to find an opponent: the first placed above all, then the
   next, and so on. The distance is that of the scores.
3. Within a score group the upper half meets the lower half in order, as nearly as possible; who
   has to leave his group meets the highest placed that he can of the other one.

No guess is ever taken back. Each rule takes edges out of the graph of who may meet whom, and before
an edge goes, the matching shows that without it everybody still has an opponent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from keltis_ladder.tournaments.schedules.matching import Matching, bits

Meetings = Sequence[Sequence[int]]  # how often two positions met
ALONE: Final = -1  # the distance to nobody


def choose_bye(byes: Sequence[int], meetings: Meetings) -> int:
    """Return who sits out: the lowest placed of those with the fewest byes.

    If that costs the others a rematch, it is the lowest placed for whom it does not.
    """
    matching = Matching(_unmet(list(range(len(byes))), meetings, 0))
    matching.grow()
    fewest = min(byes)
    candidates = [at for at in reversed(range(len(byes))) if byes[at] == fewest]
    return next((at for at in candidates if _can_be_single(matching, at)), candidates[0])


def pair_off(scores: Sequence[int], meetings: Meetings) -> list[tuple[int, int]]:
    """Return the pairs of a round for an even number of positions, the higher placed first."""
    pairs: list[tuple[int, int]] = []
    left = list(range(len(scores)))
    times = 0
    while left:
        group = _Group(left, scores, _unmet(left, meetings, times))
        group.fix_distances()
        group.fix_pairs()
        pairs += group.pairs()
        left = group.left_over()
        times += 1
    return sorted(pairs)


def _unmet(positions: list[int], meetings: Meetings, times: int) -> list[int]:
    """Return for each who met whom at most so often, as sets of places in the list."""
    return [
        sum(
            1 << place
            for place, other in enumerate(positions)
            if other != one and meetings[one][other] <= times
        )
        for one in positions
    ]


def _can_be_single(matching: Matching, vertex: int) -> bool:
    """Return whether a largest matching can do without a vertex, and make it so."""
    if matching.singles >> vertex & 1:
        return True
    before = matching.neighbours[:]
    mate = matching.part(vertex)
    matching.neighbours[:] = [others & ~(1 << vertex) for others in before]
    found = matching.augment(mate)
    matching.neighbours[:] = before
    if not found:
        matching.join(vertex, mate)
    return found


class _Group:
    """Those who are paired at one level of meetings, and what is already decided about them.

    Who finds nobody new is left over for the next level. A stand-in for each of these makes the
    matching perfect: to meet a stand-in is to be left over, and there are only so many of them.
    """

    def __init__(self, positions: list[int], scores: Sequence[int], unmet: list[int]) -> None:
        self.positions = positions
        self.scores = [scores[position] for position in positions]
        self.size = len(positions)
        self.distances = [ALONE] * self.size
        self.matching = Matching(unmet)
        self.matching.grow()
        self._add_stand_ins(list(bits(self.matching.singles)))

    def _add_stand_ins(self, alone: list[int]) -> None:
        everybody = (1 << self.size) - 1
        stand_ins = sum(1 << self.size + k for k in range(len(alone)))
        neighbours = [unmet | stand_ins for unmet in self.matching.neighbours]
        mates = self.matching.mates
        self.matching = Matching(neighbours + [everybody] * len(alone))
        for one, other in enumerate(mates):
            if one < other:
                self.matching.join(one, other)
        for k, one in enumerate(alone):
            self.matching.join(one, self.size + k)

    def fix_distances(self) -> None:
        """Decide how far each goes down for an opponent, from the top on."""
        for one in range(self.size):
            reach = self._by_distance(one)
            mate = self.matching.mates[one]
            now = next(distance for distance, others in reach.items() if others >> mate & 1)
            for distance, others in reach.items():
                if distance == now or self._keep_only(one, others):
                    self._forget(one, self.matching.neighbours[one] & ~others)
                    self.distances[one] = distance
                    break

    def _by_distance(self, one: int) -> dict[int, int]:
        """Return whom one may meet by how far down that is, the nearest first, nobody last.

        To be met from above is no distance at all: it is up to those above.
        """
        reach: dict[int, int] = {}
        alone = 0
        for other in bits(self.matching.neighbours[one]):
            if other < self.size:
                distance = max(self.scores[one] - self.scores[other], 0)
                reach[distance] = reach.get(distance, 0) | 1 << other
            else:
                alone |= 1 << other
        return dict(sorted(reach.items())) | {ALONE: alone}

    def _keep_only(self, one: int, others: int) -> bool:
        """Take all neighbours but some from a vertex, if everybody still has an opponent then."""
        matching = self.matching
        before = matching.neighbours[:]
        self._forget(one, matching.neighbours[one] & ~others)
        mate = matching.part(one)
        if matching.augment(one):
            return True
        matching.neighbours[:] = before
        matching.join(one, mate)
        return False

    def _forget(self, one: int, others: int) -> None:
        neighbours = self.matching.neighbours
        neighbours[one] &= ~others
        for other in bits(others):
            neighbours[other] &= ~(1 << one)

    def fix_pairs(self) -> None:
        """Decide who meets whom, now that the distances are fixed."""
        settled = 0
        for one in range(self.size):
            if self.distances[one] == ALONE or settled >> one & 1:
                continue
            others = self._preferred(one, settled)
            other = next(other for other in others if self._settle(one, other))
            settled |= 1 << one | 1 << other

    def _preferred(self, one: int, settled: int) -> list[int]:
        """Return whom one may meet, the best first."""
        others = list(bits(self.matching.neighbours[one]))
        if self.distances[one] > 0:
            return others
        # Those above are settled: what is left of the group is the upper half and the lower one.
        group = [
            place
            for place in range(one, self.size)
            if self.scores[place] == self.scores[one]
            and self.distances[place] == 0
            and not settled >> place & 1
        ]
        ideal = group[len(group) // 2]
        lower = [other for other in others if other >= ideal]
        upper = [other for other in others if other < ideal]
        return lower + upper[::-1]

    def _settle(self, one: int, other: int) -> bool:
        """Make two a pair for good, if everybody else still has an opponent then."""
        matching = self.matching
        before = matching.neighbours[:]
        self._forget(one, matching.neighbours[one] & ~(1 << other))
        self._forget(other, matching.neighbours[other] & ~(1 << one))
        if matching.mates[one] == other:
            return True
        lost, left = matching.part(one), matching.part(other)
        matching.join(one, other)
        if matching.augment(lost):
            return True
        matching.neighbours[:] = before
        matching.part(one)
        matching.join(one, lost)
        matching.join(other, left)
        return False

    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs by position."""
        return [
            (self.positions[one], self.positions[other])
            for one, other in enumerate(self.matching.mates[: self.size])
            if one < other < self.size
        ]

    def left_over(self) -> list[int]:
        """Return the positions that found nobody at this level."""
        return [
            position
            for position, mate in zip(self.positions, self.matching.mates[: self.size], strict=True)
            if mate >= self.size
        ]
