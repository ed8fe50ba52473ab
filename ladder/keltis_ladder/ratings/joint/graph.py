"""The graph of the joint fit: an edge for each pair that has met, kind by kind.

The skills of all bots are one normal distribution. Its precision is a Laplacian of the edges, kind
by kind, and a block for each bot: a new bot is near the centre, a new version near its predecessor.
The graph keeps the skills, and the *rest*: what the edges still pull them by, 0 once the skills are
right. An edge that changes pulls its two ends only, so that the rest is always up to date.

Unknowns are ordered by bot, and for each bot by kind. Everything lies in flat vectors and is summed
up in a fixed order, of + - * / and square roots alone: the same bits on every machine.
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64

from keltis_ladder.ratings.joint.matrices import invert, zeros

KIND_COUNT: Final = 12
BLOCK: Final = 144  # KIND_COUNT squared
NOBODY: Final = -1
NO_EDGE: Final = -1


@final
class Graph:
    """Bots, and what is known of their differences.

    ``new`` and ``step`` are covariances: of a new bot's skills, and of the step to a new version,
    row after row. ``pair_variance`` and ``scale`` are by kind: what a pair has beyond skills, and
    the units of scores in a luck.
    """

    __slots__ = (
        "bots",
        "children",
        "degree",
        "flow",
        "inverse",
        "margin",
        "met",
        "new_covariance",
        "newest",
        "older",
        "one",
        "other",
        "pair_variance",
        "players",
        "predecessors",
        "prior",
        "rest",
        "scale",
        "skill",
        "stale",
        "step",
        "step_covariance",
        "weight",
    )

    def __init__(
        self,
        new: list[float],
        step: list[float],
        pair_variance: list[float],
        scale: list[float],
        players: list[int],
    ) -> None:
        self.new_covariance = vec[float](new)
        self.step_covariance = vec[float](step)
        self.prior = zeros(BLOCK)  # the precisions
        self.step = zeros(BLOCK)
        invert(self.new_covariance, KIND_COUNT, self.prior, 0)
        invert(self.step_covariance, KIND_COUNT, self.step, 0)
        self.pair_variance = vec[float](pair_variance)
        self.scale = vec[float](scale)
        self.players = vec[i64](players)
        self.bots: i64 = 0
        self.predecessors = vec[i64]([])
        self.children = vec[i64]([])
        self.stale = vec[i64]([])  # 1: its block has to be inverted again
        self.skill = vec[float]([])
        self.rest = vec[float]([])
        self.degree = vec[float]([])  # sum of the weights of an unknown's edges
        self.inverse = vec[float]([])  # of each bot's block
        self.newest = vec[i64]([])  # half of an edge at each unknown: 2 * edge, + 1 for the other
        self.one = vec[i64]([])
        self.other = vec[i64]([])
        self.met = vec[i64]([])
        self.margin = vec[i64]([])
        self.weight = vec[float]([])
        self.flow = vec[float]([])  # weight times mean margin
        self.older = vec[i64]([])  # by half of an edge: the next one at the same unknown

    # Bots and edges

    def add_bot(self, predecessor: i64) -> i64:
        """Let a bot in where its predecessor is, or at the centre; return its place."""
        bot = self.bots
        self.bots = bot + 1
        self.predecessors = append(self.predecessors, predecessor)
        self.children = append(self.children, i64(0))
        self.stale = append(self.stale, i64(1))
        skill, rest, degree, newest = self.skill, self.rest, self.degree, self.newest
        for kind in range(KIND_COUNT):
            start = 0.0
            if predecessor != NOBODY:
                start = skill[predecessor * KIND_COUNT + kind]
            skill = append(skill, start)
            rest = append(rest, 0.0)
            degree = append(degree, 0.0)
            newest = append(newest, i64(NO_EDGE))
        self.skill, self.rest, self.degree, self.newest = skill, rest, degree, newest
        inverse = self.inverse
        for _ in range(BLOCK):
            inverse = append(inverse, 0.0)
        self.inverse = inverse
        if predecessor != NOBODY:
            self.children[predecessor] += 1
            self.stale[predecessor] = 1
        return bot

    def find(self, kind: i64, low: i64, high: i64) -> i64:
        """Return the edge between two bots in a kind, or NO_EDGE."""
        wanted = high * KIND_COUNT + kind
        half = self.newest[low * KIND_COUNT + kind]
        while half != NO_EDGE:
            edge = half >> 1
            if self.one[edge] == wanted or self.other[edge] == wanted:
                return edge
            half = self.older[half]
        return NO_EDGE

    def add_edge(self, kind: i64, low: i64, high: i64) -> i64:
        """Join two bots in a kind who have never met in it; return the edge."""
        edge: i64 = len(self.one)
        one = low * KIND_COUNT + kind
        other = high * KIND_COUNT + kind
        self.one = append(self.one, one)
        self.other = append(self.other, other)
        self.met = append(self.met, i64(0))
        self.margin = append(self.margin, i64(0))
        self.weight = append(self.weight, 0.0)
        self.flow = append(self.flow, 0.0)
        self.older = append(append(self.older, self.newest[one]), self.newest[other])
        self.newest[one] = 2 * edge
        self.newest[other] = 2 * edge + 1
        return edge

    def count(self, edge: i64, met: i64, margin: i64) -> None:
        """Let two have met a number of times more, with a sum of margins; negative takes back."""
        met += self.met[edge]
        margin += self.margin[edge]
        self.met[edge] = met
        self.margin[edge] = margin
        one, other = self.one[edge], self.other[edge]
        kind = one % KIND_COUNT
        weight = 0.0
        flow = 0.0
        if met > 0:
            times = float(met)
            weight = 1.0 / (self.pair_variance[kind] + float(self.players[kind]) / times)
            flow = weight * (float(margin) / (times * self.scale[kind]))
        more = weight - self.weight[edge]
        pull = (flow - self.flow[edge]) - more * (self.skill[one] - self.skill[other])
        self.weight[edge] = weight
        self.flow[edge] = flow
        self.degree[one] += more
        self.degree[other] += more
        self.rest[one] += pull
        self.rest[other] -= pull
        self.stale[one // KIND_COUNT] = 1
        self.stale[other // KIND_COUNT] = 1

    # Products

    def refresh(self) -> None:
        """Invert the blocks that have changed."""
        block = zeros(BLOCK)
        for bot in range(self.bots):
            if self.stale[bot]:
                self._block(bot, block)
                invert(block, KIND_COUNT, self.inverse, bot * BLOCK)
                self.stale[bot] = 0

    def _block(self, bot: i64, block: vec[float]) -> None:
        base = self.prior if self.predecessors[bot] == NOBODY else self.step
        children = float(self.children[bot])
        for k in range(BLOCK):
            block[k] = base[k] + children * self.step[k]
        for kind in range(KIND_COUNT):
            block[kind * (KIND_COUNT + 1)] += self.degree[bot * KIND_COUNT + kind]

    def times(self, x: vec[float], into: vec[float]) -> None:
        """Write the precision times a vector."""
        for k in range(self.bots * KIND_COUNT):
            into[k] = 0.0
        self._times_blocks(x, into)
        one, other, weight = self.one, self.other, self.weight
        for edge in range(i64(len(weight))):
            i = one[edge]
            j = other[edge]
            pull = weight[edge] * (x[i] - x[j])
            into[i] += pull
            into[j] -= pull

    def _times_blocks(self, x: vec[float], into: vec[float]) -> None:
        away = zeros(KIND_COUNT)
        for bot in range(self.bots):
            base = bot * KIND_COUNT
            before = self.predecessors[bot]
            for kind in range(KIND_COUNT):
                away[kind] = x[base + kind]
            if before == NOBODY:
                matrix = self.prior
            else:
                matrix = self.step
                for kind in range(KIND_COUNT):
                    away[kind] -= x[before * KIND_COUNT + kind]
            for row in range(KIND_COUNT):
                pull = 0.0
                for kind in range(KIND_COUNT):
                    pull += matrix[row * KIND_COUNT + kind] * away[kind]
                into[base + row] += pull
                if before != NOBODY:
                    into[before * KIND_COUNT + row] -= pull

    def times_inverse_blocks(self, x: vec[float], into: vec[float]) -> None:
        """Write the inverse of each bot's own block times its part of a vector."""
        inverse = self.inverse
        for bot in range(self.bots):
            base = bot * KIND_COUNT
            at = bot * BLOCK
            for row in range(KIND_COUNT):
                total = 0.0
                for kind in range(KIND_COUNT):
                    total += inverse[at + kind] * x[base + kind]
                into[base + row] = total
                at += KIND_COUNT

    # What is known, and from where

    def sources(self, x: vec[float]) -> list[float]:
        """Return, by kind, what its edges add to x times the precision times x.

        If x is the inverse of the precision times a figure's gradient, these are parts of the
        figure's variance; their shares are the shares of what is known that come from that kind.
        """
        parts = zeros(KIND_COUNT)
        for edge in range(i64(len(self.weight))):
            away = x[self.one[edge]] - x[self.other[edge]]
            parts[self.one[edge] % KIND_COUNT] += self.weight[edge] * away * away
        return [parts[k] for k in range(KIND_COUNT)]

    def variance_before(self, gradient: vec[float]) -> float:
        """Return the variance that a figure has before any match.

        Every version is its predecessor and a step, or is new: steps are independent, and each is
        part of all that descends from it.
        """
        sums = gradient[:]
        total = 0.0
        for bot in range(self.bots - 1, -1, -1):
            base = bot * KIND_COUNT
            before = self.predecessors[bot]
            covariance = self.new_covariance
            if before != NOBODY:
                covariance = self.step_covariance
                for kind in range(KIND_COUNT):
                    sums[before * KIND_COUNT + kind] += sums[base + kind]
            for row in range(KIND_COUNT):
                part = 0.0
                for kind in range(KIND_COUNT):
                    part += covariance[row * KIND_COUNT + kind] * sums[base + kind]
                total += part * sums[base + row]
        return total
