"""Budgets: so much at once, and so much in the long run, for each author or address."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from keltis_server.settings import Quotas

MOST: Final = 10_000  # buckets of one limiter; whoever did not ask for longest is forgotten
MINUTE: Final = 60.0
HOUR: Final = 3600.0


@dataclass
class _Bucket:
    left: float
    at: float


class Limiter:
    """Allows ``count`` in each ``seconds``, all of them at once if need be."""

    def __init__(
        self,
        count: int,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
        most: int = MOST,
    ) -> None:
        self.count = count
        self.rate = count / seconds
        self._clock = clock
        self._most = most
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()  # who asked last comes last

    def __len__(self) -> int:
        """Return how many it remembers."""
        return len(self._buckets)

    def left(self, who: str) -> int:
        """Return how many somebody may take now."""
        bucket = self._buckets.get(who)
        return self.count if bucket is None else int(self._filled(bucket, self._clock()))

    def wait(self, who: str, cost: float = 1) -> float:
        """Return how long somebody has to wait for the next one; 0 if not at all.

        What costs more than there can ever be costs all there can be.
        """
        left, cost = self._bucket(who).left, min(cost, self.count)
        return 0.0 if left >= cost else (cost - left) / self.rate

    def take(self, who: str, cost: float = 1) -> float:
        """Take one, or so many; return 0, or how long to wait if there are too few."""
        wait = self.wait(who, cost)
        if not wait:
            self._bucket(who).left -= min(cost, self.count)
        return wait

    def give_back(self, who: str) -> None:
        """Give one back that was not used after all."""
        bucket = self._bucket(who)
        bucket.left = min(self.count, bucket.left + 1)

    def _bucket(self, who: str) -> _Bucket:
        at = self._clock()
        bucket = self._buckets.get(who)
        if bucket is None:
            if len(self._buckets) >= self._most:
                self._buckets.popitem(last=False)
            bucket = self._buckets[who] = _Bucket(self.count, at)
        else:
            self._buckets.move_to_end(who)
        bucket.left = self._filled(bucket, at)
        bucket.at = at
        return bucket

    def _filled(self, bucket: _Bucket, at: float) -> float:
        return min(self.count, bucket.left + (at - bucket.at) * self.rate)


class Budgets:
    """Tokens that requests and messages are paid with: so many a minute for each address.

    A client with a token pays from the budget of its author as well, so that neither many addresses
    nor many accounts allow more.
    """

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter

    def pay(self, address: str, cost: float) -> float:
        """Pay for an address; return 0, or how long to wait if there is not enough."""
        return self._limiter.take(address, cost)

    def pay_as(self, author_id: int, cost: float) -> float:
        """Pay for an author."""
        return self._limiter.take(f"author {author_id}", cost)


@dataclass(frozen=True)
class Limiters:
    """What is limited: by author, registrations by address, requests by both."""

    budgets: Budgets
    uploads: Limiter
    challenges: Limiter
    registrations: Limiter

    @classmethod
    def of(cls, quotas: Quotas) -> Limiters:
        """Return limiters that allow what the quotas do."""
        return cls(
            budgets=Budgets(Limiter(quotas.requests_per_minute, MINUTE)),
            uploads=Limiter(quotas.uploads_per_hour, HOUR),
            challenges=Limiter(quotas.challenges_per_hour, HOUR),
            registrations=Limiter(quotas.registrations_per_hour, HOUR),
        )
