"""Ranks that tell the truth: bots that cannot be told apart share one.

Going down from the best, a bot joins the group above it if it cannot be told apart from any of
its members, and begins a new group otherwise. So within a group no difference is certain. Two
bots of neighbouring groups may still be hard to tell apart: being so is not transitive.
"""

from __future__ import annotations

from math import sqrt
from typing import Final

Z95: Final = 1.959963984540054  # standard deviations on either side that hold 95 %
FEW: Final = 10  # matches; a rating from fewer is provisional
WIDE: Final = 2.5  # and so is one with a larger standard deviation


def provisional(sigma: float, matches: int) -> bool:
    """Return whether a rating is too uncertain to be given a rank."""
    return matches < FEW or sigma > WIDE


def told_apart(mu: float, sigma: float, other_mu: float, other_sigma: float) -> bool:
    """Return whether it is 95 % certain which of two ratings is higher (2.5 % to either side)."""
    return abs(mu - other_mu) > Z95 * sqrt(sigma * sigma + other_sigma * other_sigma)


def rank_groups(mus: list[float], sigmas: list[float]) -> list[int]:
    """Return the rank of each; they come sorted, the highest mean first.

    A bot that can be told apart from a member can be told apart from one with a higher mean and a
    smaller deviation, too. So only those members are looked at that no other one outdoes.
    """
    ranks: list[int] = []
    first = 0  # of the group
    telling: list[int] = []
    for number in range(len(mus)):
        mu = mus[number]
        sigma = sigmas[number]
        for other in telling:
            if told_apart(mu, sigma, mus[other], sigmas[other]):
                first = number
                telling = []
                break
        if not telling or sigma < sigmas[telling[-1]]:
            telling.append(number)
        ranks.append(first + 1)
    return ranks
