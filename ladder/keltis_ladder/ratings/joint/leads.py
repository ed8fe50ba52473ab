"""Leads: by how much one bot is ahead of each other, in one kind of match.

A lead is the difference of two skills, and what the two have between them beyond that: as far as
their own meetings tell, by their mean margin. What is left open of it is the lead's *doubt*.

A figure is a mean over others, who are given by their places. Where there are none, it is about the
centre, which new bots come from: so a field of one has ratings, too.
"""

from __future__ import annotations

import math
from typing import final

from librt.vecs import vec
from mypy_extensions import i64

from keltis_ladder.ratings.joint.graph import KIND_COUNT, NO_EDGE, Graph
from keltis_ladder.ratings.joint.matrices import zeros
from keltis_ladder.ratings.normal import cdf, pdf


@final
class Leads:
    """Of one bot in one kind, over every bot of the graph, in luck."""

    __slots__ = ("at", "doubt", "kind", "lead", "met_share", "skill")

    def __init__(self, graph: Graph, kind: i64, bot: i64) -> None:
        self.kind = kind
        self.at = bot * KIND_COUNT + kind
        self.skill = graph.skill[self.at]
        self.lead = zeros(graph.bots)
        self.met_share = zeros(graph.bots)  # how far own meetings count instead of skills
        self.doubt = zeros(graph.bots)  # as a standard deviation
        pair = graph.pair_variance[kind]
        never_met = math.sqrt(pair)
        for other in range(graph.bots):
            self.lead[other] = self.skill - graph.skill[other * KIND_COUNT + kind]
            self.doubt[other] = never_met
        half = graph.newest[self.at]
        while half != NO_EDGE:
            self._meet(graph, half, pair)
            half = graph.older[half]

    def _meet(self, graph: Graph, half: i64, pair: float) -> None:
        """Let own meetings say what they can."""
        edge = half >> 1
        weight = graph.weight[edge]
        if not weight > 0.0:
            return  # all of them were taken back
        mean = graph.flow[edge] / weight
        other = graph.other[edge] // KIND_COUNT
        if half & 1:
            mean = -mean
            other = graph.one[edge] // KIND_COUNT
        share = pair * weight
        self.met_share[other] = share
        self.lead[other] = (1.0 - share) * self.lead[other] + share * mean
        noise = float(graph.players[self.kind]) / float(graph.met[edge])
        self.doubt[other] = math.sqrt(share * noise)

    def mean(self, others: vec[i64]) -> float:
        """Return the mean lead over others."""
        count: i64 = len(others)
        if count == 0:
            return self.skill
        total = 0.0
        for k in range(count):
            total += self.lead[others[k]]
        return total / float(count)

    def score(self, others: vec[i64], slope: float) -> float:
        """Return the expected share of wins against others."""
        count: i64 = len(others)
        if count == 0:
            return cdf(slope * self.skill)
        total = 0.0
        for k in range(count):
            total += cdf(slope * self.lead[others[k]])
        return total / float(count)

    def add_mean(
        self, others: vec[i64], weight: float, gradient: vec[float], doubts: vec[float]
    ) -> None:
        """Add what the mean lead, times a weight, depends on: skills, and doubts by opponent."""
        count: i64 = len(others)
        if count == 0:
            gradient[self.at] += weight
        for k in range(count):
            self._add(others[k], weight / float(count), gradient, doubts)

    def add_score(
        self,
        others: vec[i64],
        slope: float,
        weight: float,
        gradient: vec[float],
        doubts: vec[float],
    ) -> None:
        """Add what the expected share of wins, times a weight, depends on."""
        count: i64 = len(others)
        if count == 0:
            gradient[self.at] += weight * slope * pdf(slope * self.skill)
        for k in range(count):
            steep = slope * pdf(slope * self.lead[others[k]])
            self._add(others[k], weight * steep / float(count), gradient, doubts)

    def _add(self, other: i64, factor: float, gradient: vec[float], doubts: vec[float]) -> None:
        by_skill = factor * (1.0 - self.met_share[other])
        gradient[self.at] += by_skill
        gradient[other * KIND_COUNT + self.kind] -= by_skill
        doubts[other] += factor * self.doubt[other]
