"""Conjugate gradients: solve with the precision of a graph, round by round.

Each round is one call, since compiled code lets no other thread run before it returns. What the
inverse of each bot's own block says goes first: then a few rounds are enough.
"""

from __future__ import annotations

from typing import final

from librt.vecs import vec

from keltis_ladder.ratings.joint.graph import KIND_COUNT, Graph
from keltis_ladder.ratings.joint.matrices import zeros


@final
class Descent:
    """On the way to the x whose product with the precision is given.

    ``rest`` is what is missing: the right side less the precision times x. Both are moved in place.
    """

    __slots__ = (
        "ahead",
        "fall",
        "gained",
        "graph",
        "last_gain",
        "rest",
        "size",
        "step",
        "way",
        "x",
    )

    def __init__(self, graph: Graph, x: vec[float], rest: vec[float]) -> None:
        graph.refresh()
        self.graph = graph
        self.x = x
        self.rest = rest
        self.size = graph.bots * KIND_COUNT
        self.step = zeros(self.size)
        self.way = zeros(self.size)
        self.ahead = zeros(self.size)
        self.gained = 0.0  # of rest times (inverse of the precision) times rest
        self.last_gain = 0.0
        graph.times_inverse_blocks(rest, self.step)
        self.fall = 0.0
        for k in range(self.size):
            self.way[k] = self.step[k]
            self.fall += rest[k] * self.step[k]

    def largest_step(self) -> float:
        """Return how far, by its own block alone, the furthest unknown still has to go."""
        found = 0.0
        for k in range(self.size):
            step = self.step[k]
            if step < 0.0:
                step = -step
            if step > found:
                found = step
        return found

    def advance(self) -> None:
        """Go one round."""
        x, rest, step, way, ahead = self.x, self.rest, self.step, self.way, self.ahead
        self.graph.times(way, ahead)
        slope = 0.0
        for k in range(self.size):
            slope += way[k] * ahead[k]
        if not slope > 0.0:
            self.last_gain = 0.0
            return  # nothing is missing
        length = self.fall / slope
        for k in range(self.size):
            x[k] += length * way[k]
            rest[k] -= length * ahead[k]
        self.graph.times_inverse_blocks(rest, step)
        self.last_gain = length * self.fall
        self.gained += self.last_gain
        fall = 0.0
        for k in range(self.size):
            fall += rest[k] * step[k]
        ratio = fall / self.fall
        for k in range(self.size):
            way[k] = step[k] + ratio * way[k]
        self.fall = fall
