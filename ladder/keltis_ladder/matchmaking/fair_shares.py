"""Fair shares of the referees' time: between purposes, and between authors inside each purpose.

A weighted fair queue, pure and without a clock. The purpose that has work and has had least for its
share is next. A match is charged what such matches usually take when it begins, and what it took
when it is over, so that long matches count for more. Who has no work leaves the time to the others,
and saves
nothing up meanwhile: it begins again where the others are, and so is soon served.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, fields
from typing import Final, Generic, TypeVar

from keltis_ladder.errors import LadderError

K = TypeVar("K", bound=Hashable)

FIRST_GUESS: Final = 1.0  # seconds of a match before any was measured
MEMORY: Final = 0.2  # how much the newest match counts for what is usual
LARGEST_SHARE: Final = 1000


@dataclass(frozen=True)
class Shares:
    """How the referees' time is shared among purposes, as proportions."""

    ladder: int = 6
    tournament: int = 1
    challenge: int = 1

    def __post_init__(self) -> None:
        """Refuse a share that would let somebody starve."""
        for purpose, share in vars(self).items():
            if not 1 <= share <= LARGEST_SHARE:
                raise LadderError(
                    f"a share of {share} for {purpose}:"
                    f" choose a whole number from 1 to {LARGEST_SHARE}"
                )

    def of(self, purpose: str) -> int:
        """Return the share of a purpose."""
        share: int = getattr(self, purpose)
        return share


def parse_shares(text: str) -> Shares:
    """Return the shares that a text like ``ladder=6,tournament=1`` names; the others as usual."""
    known = [field.name for field in fields(Shares)]
    chosen: dict[str, int] = {}
    for part in text.split(","):
        purpose, _, number = part.strip().partition("=")
        if purpose not in known or purpose in chosen or not _is_small_number(number):
            raise LadderError(
                f"shares {text!r}: write PURPOSE=NUMBER for some of {', '.join(known)}, each once,"
                f" with commas between them; numbers from 1 to {LARGEST_SHARE}"
            )
        chosen[purpose] = int(number)
    return Shares(**chosen)


def _is_small_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= len(str(LARGEST_SHARE))


class FairQueue(Generic[K]):
    """Says who is next, so that in the long run everybody with work gets its share."""

    def __init__(self, shares: Mapping[K, int] | None = None) -> None:
        self._shares = shares  # none: all are equal
        self._served: dict[K, float] = {}  # seconds that they have had, divided by the share
        self._usual: dict[K, float] = {}  # seconds of a match
        self._usual_of_all = FIRST_GUESS  # the same for those of whom nothing is known yet
        self._under_way: Counter[K] = Counter()
        self._waited: frozenset[K] = frozenset()  # who had work at the last look
        self._level = 0.0  # the least that anybody had who waited: who comes begins here

    def next(self, wanting: Collection[K]) -> K:
        """Return whose turn it is among those who have work; of equals, who came last."""
        stayed = [key for key in wanting if key in self._waited]
        if stayed:
            self._level = min(self._served[key] for key in stayed)
        for key in wanting:
            if key not in self._waited:
                self._served[key] = max(self._served.get(key, self._level), self._level)
        self._waited = frozenset(wanting)
        self._forget()
        return min(wanting, key=lambda key: (self._served[key], key in stayed))

    def begin(self, key: K) -> float:
        """Take note that a match begins; return what it is charged until it is over."""
        guess = self._usual.get(key, self._usual_of_all)
        self._served[key] = self._served.get(key, self._level) + guess / self._share(key)
        self._under_way[key] += 1
        return guess

    def end(self, key: K, guess: float, seconds: float) -> None:
        """Take note that a match is over, what it was charged, and what it took."""
        self._under_way[key] -= 1
        self._served[key] += (seconds - guess) / self._share(key)
        usual = self._usual.get(key, guess)
        self._usual[key] = usual + MEMORY * (seconds - usual)
        self._usual_of_all += MEMORY * (seconds - self._usual_of_all)

    def _share(self, key: K) -> int:
        return 1 if self._shares is None else self._shares[key]

    def _forget(self) -> None:
        """Remember nobody who has no work, and has had no more than others."""
        for key in list(self._served):
            away = key not in self._waited and not self._under_way[key]
            if away and self._served[key] <= self._level:
                del self._served[key], self._under_way[key]
                self._usual.pop(key, None)


@dataclass(frozen=True)
class Flow:
    """Matches that take turns with others: what they are for, and who asked for them."""

    purpose: str
    author: int | None = None  # none: the ladder itself, or the operator


@dataclass(frozen=True)
class Charge:
    """What a match is charged until it is known how long it took."""

    flow: Flow
    of_purpose: float
    of_author: float


class FlowQueue:
    """Whose match is next: purposes by their shares, and the authors inside each equally."""

    def __init__(self, shares: Shares) -> None:
        by_purpose = {purpose: shares.of(purpose) for purpose in vars(shares)}
        self._purposes: FairQueue[str] = FairQueue(by_purpose)
        self._authors: dict[str, FairQueue[int | None]] = {
            purpose: FairQueue() for purpose in by_purpose
        }

    def next(self, wanting: Collection[Flow]) -> Flow:
        """Return whose turn it is among those who have a match to be played."""
        purposes = list(dict.fromkeys(flow.purpose for flow in wanting))
        purpose = self._purposes.next(purposes)
        authors = [flow.author for flow in wanting if flow.purpose == purpose]
        return Flow(purpose, self._authors[purpose].next(authors))

    def begin(self, flow: Flow) -> Charge:
        """Take note that a match begins."""
        of_author = self._authors[flow.purpose].begin(flow.author)
        return Charge(flow, self._purposes.begin(flow.purpose), of_author)

    def end(self, charge: Charge, seconds: float) -> None:
        """Take note that a match is over, and how long a referee had it."""
        purpose = charge.flow.purpose
        self._purposes.end(purpose, charge.of_purpose, seconds)
        self._authors[purpose].end(charge.flow.author, charge.of_author, seconds)
