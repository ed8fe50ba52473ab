"""What a match would teach about the ranking.

A pair of versions is *misordered* if the worse one has the higher rating. With a true difference
D and an error of standard deviation s in the difference of the ratings, that happens with
probability Phi(-|D| / s). Its derivative by the variance s^2, averaged over what we believe of D,
says what it is worth to know one of the two better: its *stake* in this pair. A match takes from
the variance of a rating, in the mean, its square times the Fisher information of the outcome. Stake
times that, summed over the table, is how many pairs fewer we expect to be misordered.

Nothing here is stored or shown, so the functions of the C library are exact enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from keltis_ladder.ratings.skill import Belief

_SQRT_PI: Final = math.sqrt(math.pi)
_SQRT_HALF: Final = math.sqrt(0.5)
_PDF_0: Final = 1.0 / math.sqrt(2.0 * math.pi)
_TINY: Final = 1e-12
_FAR: Final = 16.0  # beyond this, e^-x is no longer worth adding


def stake(belief: Belief, rivals: Iterable[Belief]) -> float:
    """Return how many pairs fewer would be misordered per unit of variance taken from a belief."""
    total = 0.0
    mu, variance = belief.mu, belief.sigma * belief.sigma
    for rival in rivals:
        spread = variance + rival.sigma * rival.sigma + _TINY
        difference = mu - rival.mu
        square = difference * difference / (4.0 * spread)
        if square < _FAR:
            half = math.sqrt(square)
            near = math.exp(-square)
            total += near * (near + _SQRT_PI * half * math.erf(half)) / spread
    return total / (4.0 * math.pi)


def information(lead: float, margin: float) -> float:
    """Return the Fisher information that win, draw or loss holds about the lead.

    The lead is the expected difference of the performances, and the margin that of a draw, both in
    standard deviations of that difference.
    """
    win, loss = _cdf(lead - margin), _cdf(-lead - margin)
    at_win, at_loss = _pdf(lead - margin), _pdf(lead + margin)
    draw = 1.0 - win - loss
    total = 0.0
    if win > _TINY:
        total += at_win * at_win / win
    if loss > _TINY:
        total += at_loss * at_loss / loss
    if draw > _TINY:
        total += (at_win - at_loss) ** 2 / draw
    return total


def chance(one: Belief, other: Belief, beta: float) -> float:
    """Return the chance of the holder of the smaller one to perform better than the other."""
    spread = one.sigma * one.sigma + other.sigma * other.sigma + 2.0 * beta * beta
    return _cdf(-abs(one.mu - other.mu) / math.sqrt(spread))


def blend(overall: Belief, special: Belief, deviation: float) -> Belief:
    """Return what is believed of a skill in one variant, from the ratings overall and in it.

    The rating overall is known sooner. It says as much about the variant as skills differ little
    between variants.
    """
    wide = overall.sigma * overall.sigma + deviation * deviation + _TINY
    narrow = special.sigma * special.sigma + _TINY
    mu = (overall.mu * narrow + special.mu * wide) / (wide + narrow)
    return Belief(mu, math.sqrt(wide * narrow / (wide + narrow)))


def _pdf(x: float) -> float:
    return _PDF_0 * math.exp(-0.5 * x * x)


def _cdf(x: float) -> float:
    return 0.5 * math.erfc(-x * _SQRT_HALF)
