"""Evidence that grows match by match, and may be looked at after each without crying wolf.

The bets are fixed in advance: for each stake b the product of exp(b x - b b v / 2) over all matches
is, under the null hypothesis, a supermartingale that begins with 1, and so is the mean over the
stakes. By Ville's inequality it ever reaches 1/a with a chance of at most a, however often
somebody looks. It depends on sums alone, which are whole numbers: it can be worked out again
exactly, and in any order.

Somebody at the table may want an honest bot accused, and throw the later games on purpose. So the
matches against each author are summed up by themselves, too, and of the authors that a bot has met
an eighth is left out: those whose matches speak against it most. What remains is never more than
what the honest ones of them say, as long as those who lie are no more than that eighth: it reaches
1/a no more often than before.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

UNIT: Final = 1000  # contrasts are thousandths of a usual spread, what they may vary by millionths
STAKES: Final = (0.06, 0.12, 0.25, 0.5, 1.0)  # for effects from a small one to a plain one
BUDGET: Final = 1000  # one of this many honest bots is accused, in all its life
TESTS: Final = 3
VARIANTS: Final = 4
LEFT_OUT: Final = 8  # up to this many authors one is left out: who speaks against a bot most


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
class Share:
    """What the matches against one author say."""

    total: int = 0
    spread: int = 0


@dataclass
class Evidence:
    """What all matches so far say."""

    matches: int = 0
    total: int = 0
    spread: int = 0
    alarm: int | None = None  # the match that made it an alarm
    authors: dict[int, Share] = field(default_factory=dict)  # strangers at the table, and theirs

    def add(
        self, number: int, contrast: Contrast, limit: float, strangers: Iterable[int] = ()
    ) -> bool:
        """Take in a match; say whether this is an alarm, which one match at most is.

        ``strangers`` are the authors at the table who may have wanted it to come out like this.
        """
        self.matches += 1
        self.total += contrast.total
        self.spread += contrast.spread
        for author in strangers:
            share = self.authors.setdefault(author, Share())
            share.total += contrast.total
            share.spread += contrast.spread
        if self.alarm is None and self.nats >= limit:
            self.alarm = number
            return True
        return False

    @property
    def nats(self) -> float:
        """The logarithm of the evidence, without the authors who speak against the bot most."""
        return nats(self.total, self.spread, self.authors.values())


def nats(total: int, spread: int, shares: Collection[Share] = ()) -> float:
    """Return the logarithm of the evidence: 0 says nothing, 7 is a thousand to one.

    For each stake other authors may be those who speak most; to leave out the most each time is
    less than, or the same as, to leave out any of them for all stakes.
    """
    logs = [_bet(stake, total, spread) - _most(stake, shares) for stake in STAKES]
    most = max(logs)
    return most + math.log(sum(math.exp(each - most) for each in logs) / len(logs))


def _bet(stake: float, total: int, spread: int) -> float:
    return stake * total / UNIT - stake * stake * spread / UNIT**2 / 2


def _most(stake: float, shares: Collection[Share]) -> float:
    """Return what the authors say against a bot that are left out."""
    said = sorted((_bet(stake, each.total, each.spread) for each in shares), reverse=True)
    return sum(max(0.0, each) for each in said[: -(-len(said) // LEFT_OUT)])


BOT_LIMIT: Final = math.log(BUDGET * TESTS * VARIANTS)  # for one bot, test and variant


def pair_limit(rank: int) -> float:
    """Return when a pair is suspicious that is the rank-th of one of its bots, from 1.

    The chances 1/k(k+1) of all pairs of a bot, however many there will be, add up to one.
    """
    return math.log(BUDGET * TESTS * rank * (rank + 1))


def odds(total: int, spread: int, shares: Collection[Share] = ()) -> int:
    """Return the evidence as a whole number to one, at least 1 and at most a milliard."""
    return round(math.exp(min(max(nats(total, spread, shares), 0.0), math.log(1e9))))
