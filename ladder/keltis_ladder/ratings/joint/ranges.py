"""Rank ranges: the places that a bot may have, such as 3-5.

A bot is below all that are certainly better, and above all that are certainly worse. Two of equal
strength are taken for different in at most one case of twenty, with room to spare: hence a wider
limit than the usual 1.96.
"""

from __future__ import annotations

from typing import Final

from librt.vecs import vec

APART: Final = 2.241  # standard deviations


def told_apart(lead: float, sigma: float, other_sigma: float) -> bool:
    """Return whether a lead is certain enough to be called one."""
    return lead * lead > APART * APART * (sigma * sigma + other_sigma * other_sigma)


def rank_ranges(ratings: list[float], sigmas: list[float]) -> list[tuple[int, int]]:
    """Return the best and the worst place of each."""
    value = vec[float](ratings)
    deviation = vec[float](sigmas)
    ranges: list[tuple[int, int]] = []
    for one in range(len(value)):
        better = 0
        worse = 0
        for other in range(len(value)):
            lead = value[other] - value[one]
            if told_apart(lead, deviation[one], deviation[other]):
                if lead > 0.0:
                    better += 1
                else:
                    worse += 1
        ranges.append((better + 1, len(ratings) - worse))
    return ranges


def range_text(best: int, worst: int) -> str:
    """Return what a leaderboard shows."""
    return str(best) if best == worst else f"{best}-{worst}"
