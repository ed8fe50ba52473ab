"""Standings: what a leaderboard shows of a version, from a settled fit.

A rating is the mean lead over the active field, on TrueSkill's scale: the level that all bots share
is not in it. Ratings are cheap. Standard deviations take a solution of their own for each version
and scope, some ten milliseconds with a thousand bots: they are worked out in the background.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from librt.vecs import vec

from keltis_ladder.ratings.joint.descent import Descent
from keltis_ladder.ratings.joint.fit import Fit
from keltis_ladder.ratings.joint.graph import KIND_COUNT
from keltis_ladder.ratings.joint.kinds import VARIANTS, variant_number
from keltis_ladder.ratings.joint.matrices import zeros
from keltis_ladder.ratings.joint.ranges import rank_ranges
from keltis_ladder.ratings.model import MU
from keltis_ladder.ratings.normal import cdf
from keltis_ladder.ratings.ranking import Z95

EXACT: Final = 1e-4  # a variance is good enough when a round adds a smaller share than this
MOST_ROUNDS: Final = 200

Weights = Mapping[int, float]  # by kind: see ``scope_weights``


class Score(NamedTuple):
    """The expected share of wins against the field, with its 95 % interval."""

    value: float
    low: float
    high: float


class Sources(NamedTuple):
    """What a figure rests on, as shares of what is known; they add up to 1."""

    own: float  # matches of the kinds that the figure is about
    others: float  # matches of other kinds, and how alike the kinds are
    before: float  # what is believed of a bot that nobody has seen


@dataclass(frozen=True)
class Standing:
    """A version in a scope."""

    version: int
    rating: float
    sigma: float
    score: Score
    sources: Sources


@dataclass(frozen=True)
class Difference:
    """By how much one version is rated above another."""

    lead: float
    sigma: float
    better: float  # probability that the first is the better one


class RankedStanding(NamedTuple):
    """A line of a leaderboard: a standing, and the best and worst place it may have."""

    standing: Standing
    best: int
    worst: int


class _Figure:
    """A number that depends on skills, and on what pairs have between them."""

    def __init__(self, fit: Fit) -> None:
        self.fit = fit
        self.value = 0.0
        self.stretch = 0.0
        self.gradient = zeros(fit.graph.bots * KIND_COUNT)
        # A pair is much the same with any number of players: within a variant, doubts add up.
        self.doubts = [zeros(fit.graph.bots) for _ in VARIANTS]


def rating(fit: Fit, version: int, scope: Weights) -> float | None:
    """Return the rating of a version, or None if it plays nothing of the scope."""
    weights = fit.weights(version, scope)
    if not weights:
        return None
    value = 0.0
    for kind, weight in weights.items():
        scaled = weight * fit.numbers.beta[variant_number(kind)]
        value += scaled * fit.leads(version, kind).mean(fit.others(version, kind))
    return MU + value


def standing(fit: Fit, version: int, scope: Weights) -> Standing | None:
    """Return all that is shown of a version, or None if it plays nothing of the scope."""
    weights = fit.weights(version, scope)
    if not weights:
        return None
    figure = _rating_figure(fit, version, weights)
    gradient = figure.gradient[:]  # solving takes it apart
    from_skills, solution = _variance(fit, figure.gradient)
    parts = fit.graph.sources(solution)
    own = math.fsum(parts[kind] for kind in weights) / from_skills
    before = from_skills / fit.graph.variance_before(gradient)
    doubts = math.fsum(doubt * doubt for doubts in figure.doubts for doubt in doubts)
    variance = from_skills + doubts + figure.stretch * figure.stretch
    return Standing(
        version,
        MU + figure.value,
        math.sqrt(variance),
        _score(fit, version, weights),
        Sources(own, max(0.0, 1.0 - own - before), before),
    )


def difference(fit: Fit, one: int, other: int, scope: Weights) -> Difference | None:
    """Compare two versions by the kinds of a scope that each plays."""
    if one == other:
        raise ValueError(f"a difference is between two versions; got {one} twice")
    both = [fit.weights(version, scope) for version in (one, other)]
    if not all(both):
        return None
    mine, its = _rating_figure(fit, one, both[0]), _rating_figure(fit, other, both[1])
    gradient = zeros(fit.graph.bots * KIND_COUNT)
    for k in range(len(gradient)):
        gradient[k] = mine.gradient[k] - its.gradient[k]
    here, there = fit.places[one], fit.places[other]
    variance = _variance(fit, gradient)[0] + (mine.stretch - its.stretch) ** 2
    for my_doubts, its_doubts in zip(mine.doubts, its.doubts, strict=True):
        # What the two have between them moves both, in opposite directions.
        between = my_doubts[there] + its_doubts[here]
        variance += between * between
        for k in range(len(my_doubts)):
            if k not in (here, there):
                variance += my_doubts[k] * my_doubts[k] + its_doubts[k] * its_doubts[k]
    lead, sigma = mine.value - its.value, math.sqrt(variance)
    return Difference(lead, sigma, cdf(lead / sigma))


def expected_share(fit: Fit, one: int, other: int, kind: int) -> float:
    """Return the share of games that one version is expected to win against another."""
    lead = fit.leads(one, kind).lead[fit.places[other]]
    return cdf(fit.numbers.slope[kind] * lead)


def leaderboard(standings: Iterable[Standing]) -> list[RankedStanding]:
    """Put standings in order, the highest rating first, each with the places it may have."""
    ordered = sorted(standings, key=lambda each: (-each.rating, each.version))
    ratings, sigmas = [each.rating for each in ordered], [each.sigma for each in ordered]
    ranges = rank_ranges(ratings, sigmas)
    return [RankedStanding(each, *places) for each, places in zip(ordered, ranges, strict=True)]


def _rating_figure(fit: Fit, version: int, weights: Weights) -> _Figure:
    figure, numbers = _Figure(fit), fit.numbers
    for kind, weight in weights.items():
        variant = variant_number(kind)
        leads, others = fit.leads(version, kind), fit.others(version, kind)
        scaled = weight * numbers.beta[variant]
        lead = scaled * leads.mean(others)
        figure.value += lead
        figure.stretch += numbers.stretch[kind] * lead
        leads.add_mean(others, scaled, figure.gradient, figure.doubts[variant])
    return figure


def _score(fit: Fit, version: int, weights: Weights) -> Score:
    figure, numbers = _Figure(fit), fit.numbers
    missed = 0.0
    for kind, weight in weights.items():
        variant = variant_number(kind)
        leads, others = fit.leads(version, kind), fit.others(version, kind)
        slope = numbers.slope[kind]
        figure.value += weight * leads.score(others, slope)
        missed += weight * numbers.link[kind]
        leads.add_score(others, slope, weight, figure.gradient, figure.doubts[variant])
    doubts = math.fsum(doubt * doubt for each in figure.doubts for doubt in each)
    sigma = math.sqrt(_variance(fit, figure.gradient)[0] + doubts + missed * missed)
    low, high = figure.value - Z95 * sigma, figure.value + Z95 * sigma
    return Score(figure.value, max(0.0, low), min(1.0, high))


def _variance(fit: Fit, gradient: vec[float]) -> tuple[float, vec[float]]:
    """Return the variance of a combination of skills, from below, and the solution behind it."""
    solution = zeros(len(gradient))
    descent = Descent(fit.graph, solution, gradient)
    for _ in range(MOST_ROUNDS):
        descent.advance()
        if descent.last_gain <= EXACT * descent.gained:
            break
    return descent.gained, solution
