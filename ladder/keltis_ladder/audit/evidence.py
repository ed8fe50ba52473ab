"""Evidence that grows match by match, and may be looked at after each without crying wolf.

The bets are fixed in advance: for each stake b the product of exp(b x - b b v / 2) over all matches
is, under the null hypothesis, a supermartingale that begins with 1, and so is the mean over the
stakes. By Ville's inequality it ever reaches 1/a with a chance of at most a, however often
somebody looks. It depends on two sums alone, which are whole numbers: it can be worked out again
exactly, and in any order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

UNIT: Final = 1000  # contrasts are thousandths of a usual spread, what they may vary by millionths
STAKES: Final = (0.06, 0.12, 0.25, 0.5, 1.0)  # for effects from a small one to a plain one
BUDGET: Final = 1000  # of so many honest bots one is accused, in all its life
TESTS: Final = 3
VARIANTS: Final = 4


class Test(StrEnum):
    """What is tested of a single bot."""

    LATER = "later"  # better results in later games of a deal
    FORESIGHT = "foresight"  # decisions that fit hidden cards, in later games of a deal


@dataclass(frozen=True)
class Contrast:
    """What one match says: how much it speaks against the bot, and how much it may vary."""

    total: int
    spread: int


@dataclass
class Evidence:
    """What all matches so far say."""

    matches: int = 0
    total: int = 0
    spread: int = 0
    alarm: int | None = None  # the match that made it an alarm

    def add(self, number: int, contrast: Contrast, limit: float) -> bool:
        """Take in a match; say whether this is an alarm, which one match at most is."""
        self.matches += 1
        self.total += contrast.total
        self.spread += contrast.spread
        if self.alarm is None and nats(self.total, self.spread) >= limit:
            self.alarm = number
            return True
        return False


def nats(total: int, spread: int) -> float:
    """Return the logarithm of the evidence: 0 says nothing, 7 is a thousand to one."""
    mean, squares = total / UNIT, spread / UNIT**2
    logs = [stake * mean - stake * stake * squares / 2 for stake in STAKES]
    most = max(logs)
    return most + math.log(sum(math.exp(each - most) for each in logs) / len(logs))


BOT_LIMIT: Final = math.log(BUDGET * TESTS * VARIANTS)  # for one bot, test and variant


def pair_limit(rank: int) -> float:
    """Return when a pair is suspicious that is the rank-th of one of its bots, from 1.

    The chances 1/k(k+1) of all pairs of a bot, however many there will be, add up to one.
    """
    return math.log(BUDGET * TESTS * rank * (rank + 1))


def odds(total: int, spread: int) -> int:
    """Return the evidence as a whole number to one, at least 1 and at most a milliard."""
    return round(math.exp(min(max(nats(total, spread), 0.0), math.log(1e9))))
