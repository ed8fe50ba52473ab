"""Maximum matchings: as many pairs as possible in a graph of who may meet whom.

This is Edmonds' algorithm: a matching can be made larger exactly if there is an augmenting path,
a path between two single vertices on which every other edge is in the matching. A search grows a
tree of such paths from one single vertex; where two branches meet in an odd circle, a blossom, the
circle is contracted to one vertex. Sets of vertices are the bits of integers, which makes the
search quick enough to be asked again and again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

SINGLE: Final = -1
NOWHERE: Final = -1


def bits(mask: int) -> Iterator[int]:
    """Yield the vertices of a set, the lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Matching:
    """A matching in a graph; ``neighbours`` has the set of neighbours of each vertex.

    Code that changes ``neighbours`` keeps them symmetric, and parts the pairs that are no longer
    neighbours.
    """

    def __init__(self, neighbours: list[int]) -> None:
        self.neighbours = neighbours
        self.mates = [SINGLE] * len(neighbours)
        self.singles = (1 << len(neighbours)) - 1

    def join(self, one: int, other: int) -> None:
        """Make a pair of two single vertices."""
        self.mates[one] = other
        self.mates[other] = one
        self.singles &= ~(1 << one | 1 << other)

    def part(self, one: int) -> int:
        """Make a vertex and its mate single, and return the mate."""
        other = self.mates[one]
        self.mates[one] = self.mates[other] = SINGLE
        self.singles |= 1 << one | 1 << other
        return other

    def grow(self) -> None:
        """Make it as large as any matching of the graph can be."""
        for vertex in range(len(self.mates)):
            free = self.neighbours[vertex] & self.singles
            if free and self.mates[vertex] == SINGLE:
                self.join(vertex, next(bits(free)))
        for vertex in range(len(self.mates)):
            # A search that fails once fails for ever: no later path can begin there.
            if self.mates[vertex] == SINGLE:
                self.augment(vertex)

    def augment(self, root: int) -> bool:
        """Find a mate for a single vertex, and new ones for others if need be."""
        search = _Search(self, root)
        end = search.run()
        if end == NOWHERE:
            return False
        while end != NOWHERE:
            before = search.parents[end]
            following = self.mates[before]
            self.mates[end] = before
            self.mates[before] = end
            self.singles &= ~(1 << end | 1 << before)
            end = following
        return True


class _Search:
    """One search for an augmenting path.

    *Outer* vertices are those that an alternating path of even length reaches from the root; only
    from them the search goes on. ``parents`` lead from an inner vertex back to the outer one
    before it; inside a blossom every vertex is outer and has a parent on either side.
    """

    def __init__(self, matching: Matching, root: int) -> None:
        self.neighbours = matching.neighbours
        self.mates = matching.mates
        self.goals = matching.singles & ~(1 << root)
        self.root = root
        self.parents = [NOWHERE] * len(self.mates)
        self.heads = list(range(len(self.mates)))  # lead to the base of the blossom
        self.members = [1 << vertex for vertex in range(len(self.mates))]  # of the blossom, by base
        self.outer = 1 << root
        self.reached = 1 << root
        self.queue = [root]

    def run(self) -> int:
        """Return the single vertex at the end of a path, or nowhere."""
        for vertex in self.queue:
            nearby = self.neighbours[vertex]
            for goal in bits(nearby & self.goals):
                self.parents[goal] = vertex
                return goal
            for inner in bits(nearby & ~self.reached):
                mate = self.mates[inner]
                self.parents[inner] = vertex
                self.reached |= 1 << inner | 1 << mate
                self.outer |= 1 << mate
                self.queue.append(mate)
            self._contract_around(vertex)
        return NOWHERE

    def _base(self, vertex: int) -> int:
        """Return the vertex that stands for a vertex's blossom: itself if it is in none."""
        heads = self.heads
        while heads[vertex] != vertex:
            heads[vertex] = heads[heads[vertex]]
            vertex = heads[vertex]
        return vertex

    def _contract_around(self, vertex: int) -> None:
        """Contract the blossoms that the edges from a vertex to other outer ones close."""
        while True:
            own = self.members[self._base(vertex)]
            others = self.neighbours[vertex] & self.outer & ~own
            if not others:
                return
            self._contract(vertex, next(bits(others)))

    def _contract(self, one: int, other: int) -> None:
        base = self._common_base(one, other)
        joined = self.members[base]
        for part in bits(self._link(one, base, other) | self._link(other, base, one)):
            joined |= self.members[part]
            self.heads[part] = base
        self.members[base] = joined
        self.queue += bits(joined & ~self.outer)
        self.outer |= joined

    def _common_base(self, one: int, other: int) -> int:
        at = self._base(one)
        passed = 1 << at
        while at != self.root:
            at = self._base(self.parents[self.mates[at]])
            passed |= 1 << at
        at = self._base(other)
        while not passed >> at & 1:
            at = self._base(self.parents[self.mates[at]])
        return at

    def _link(self, vertex: int, base: int, child: int) -> int:
        """Give the outer vertices on the way to the base parents; return the bases passed."""
        passed = 0
        while self._base(vertex) != base:
            mate = self.mates[vertex]
            passed |= 1 << self._base(vertex) | 1 << self._base(mate)
            self.parents[vertex] = child
            child = mate
            vertex = self.parents[mate]
        return passed
