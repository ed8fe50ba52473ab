"""Pairs at tables of three and four: whether two do better together than among others.

Everybody's strength is estimated from the matches before. What a pair gets beyond that is its
luck. Under the null hypothesis it is as often good as bad, and a little more than that is allowed:
styles may fit each other, and estimates lag behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from keltis_ladder.audit.evidence import UNIT, Contrast

ALLOWED: Final = UNIT // 5  # what a pair may gain together, of a usual spread
PRIOR: Final = 4  # matches that say that everybody is equally strong
SETTLED: Final = 10  # matches of each at a table, before its luck is counted
LARGEST_GAIN: Final = 4 * UNIT


@dataclass
class Strength:
    """How strong a version is in one kind of match, by its leads so far."""

    matches: int = 0
    total: int = 0

    @property
    def estimate(self) -> int:
        """Its lead over players of no particular strength, in thousandths of a spread."""
        return self.total // (self.matches + PRIOR)

    @property
    def settled(self) -> bool:
        """Whether enough is known of it."""
        return self.matches >= SETTLED


def surprises(leads: Sequence[int], strengths: Sequence[Strength]) -> list[int]:
    """Return what each entrant's lead was beyond its strength, and learn from it.

    A lead is over the mean of the others, all games of the match together.
    """
    before = [strength.estimate for strength in strengths]
    others = len(leads) - 1
    field = [(sum(before) - own) // others for own in before]
    for lead, strength, rivals in zip(leads, strengths, field, strict=True):
        strength.matches += 1
        strength.total += lead + rivals
    return [lead - (own - rivals) for lead, own, rivals in zip(leads, before, field, strict=True)]


def luck(one: int, other: int) -> Contrast:
    """Return what the surprises of two say about them as a pair."""
    together = max(-LARGEST_GAIN, min(LARGEST_GAIN, one + other - ALLOWED))
    return Contrast(together, together * together)
