"""What results say about strength: means with honest intervals, Elo, and who is better.

The unit is always the match, never the game: the games of a match share a deal, so they are not
independent. A bot's *share* of a match lies between 0 and 1, and its variance is measured rather
than assumed, which is what duplicate deals are for: they make it smaller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

Z: Final = 1.959963984540054  # the normal quantile of 95 %, two-sided
ELO_SCALE: Final = 400.0
EVEN: Final = 0.5
_ANY_OUTCOME: Final = 0.125  # variance of 0, 1/4, 1/2, 3/4 and 1, all equally likely


@dataclass(frozen=True)
class Estimate:
    """A value and the interval that holds the true one 95 times in 100; ends may be infinite."""

    value: float
    low: float
    high: float


def normal_cdf(z: float) -> float:
    """Return the probability that a standard normal variable is below ``z``."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


def student(freedom: int) -> float:
    """Return the two-sided quantile of Student's t, by its expansion around the normal one.

    It is right to 0.2 % from five degrees of freedom up and too small below: 9.7 instead of 12.7
    for a single one, where any interval says only that little is known.
    """
    z, v = Z, freedom
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    )


def variance(values: Sequence[float]) -> float:
    """Return the unbiased variance of two or more values."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def mean_estimate(values: Sequence[float]) -> Estimate:
    """Estimate the mean of something measured once per match, on any scale."""
    mean = math.fsum(values) / len(values)
    if len(values) == 1:
        return Estimate(mean, -math.inf, math.inf)
    margin = student(len(values) - 1) * math.sqrt(variance(values) / len(values))
    return Estimate(mean, mean - margin, mean + margin)


def wilson(successes: float, trials: float, z: float = Z) -> Estimate:
    """Estimate a probability from trials; the interval stays between 0 and 1 (Wilson 1927)."""
    if not trials:
        return Estimate(EVEN, 0.0, 1.0)
    rate = successes / trials
    centre = (rate + z * z / (2 * trials)) / (1 + z * z / trials)
    margin = z / (1 + z * z / trials)
    margin *= math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    return Estimate(
        rate, max(0.0, min(rate, centre - margin)), min(1.0, max(rate, centre + margin))
    )


def spread(shares: Sequence[float]) -> float:
    """Return the variance of shares; 0 only if there is none to be known.

    Matches that all went alike, but not all won or all lost, may still go otherwise one day: one
    match more, with every outcome from 0 to 1 equally likely, stands for that.
    """
    if len(shares) == 1:
        return 0.0
    found = variance(shares)
    if found > 0 or shares[0] in (0, 1):
        return found
    return _ANY_OUTCOME / (len(shares) + 1)


def share_estimate(shares: Sequence[float]) -> Estimate:
    """Estimate the mean share of a bot; the interval stays between 0 and 1.

    This is Wilson's interval for as many coin flips as would have the variance that was measured.
    With many matches it is the usual mean plus or minus 1.96 standard errors. A single match, or
    many that were all won or all lost, count as one coin flip each.
    """
    count = len(shares)
    mean = math.fsum(shares) / count
    found = spread(shares)
    if found <= 0:
        return wilson(mean * count, count)
    flips = count * mean * (1 - mean) / found
    return wilson(mean * flips, flips, student(count - 1))


def elo(share: float) -> float:
    """Return the Elo difference at which a bot is expected to have this share."""
    if share <= 0:
        return -math.inf
    if share >= 1:
        return math.inf
    return -ELO_SCALE * math.log10(1 / share - 1)


def expected_share(difference: float) -> float:
    """Return the share that an Elo difference lets one expect."""
    return float(1 / (1 + 10 ** (-difference / ELO_SCALE)))


def elo_estimate(shares: Sequence[float]) -> Estimate:
    """Estimate the Elo difference; who has won or lost everything has only a bound."""
    share = share_estimate(shares)
    return Estimate(elo(share.value), elo(share.low), elo(share.high))


def superiority(shares: Sequence[float]) -> float:
    """Return the likelihood of superiority: that the bot is better than its opponent at all.

    Few matches are judged by Student's t, brought to the normal scale.
    """
    count = len(shares)
    lead = math.fsum(shares) / count - EVEN
    found = spread(shares)
    if found <= 0:  # judged as coin flips
        return normal_cdf(lead / math.sqrt(EVEN * EVEN / count))
    t, freedom = lead / math.sqrt(found / count), count - 1
    return normal_cdf(t * (1 - 1 / (4 * freedom)) / math.sqrt(1 + t * t / (2 * freedom)))
