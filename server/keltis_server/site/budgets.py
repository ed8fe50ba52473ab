"""Budgets: so much at once, and so much in the long run, for each author or address."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Network
from typing import Final

from keltis_server.settings import Quotas

MOST_BUCKETS: Final = 10_000  # buckets of one limiter; the one unused for longest is forgotten
MINUTE: Final = 60.0
HOUR: Final = 3600.0
NETWORK_BITS: Final = 48  # of an IPv6 address, which one owner gets at most as a rule
NETWORK_SHARE: Final = 4  # times what one address may take


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
        most: int = MOST_BUCKETS,
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
        """Take one, or several; return 0, or how long to wait if there are too few."""
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


class AddressLimiter:
    """Limits addresses, and those together that one network has.

    A network of IPv6 has 65,536 of what counts as one address. It may take some times as much as
    one of them, so that not each of its addresses has to be remembered.
    """

    def __init__(self, one: Limiter, together: Limiter) -> None:
        self._one = one
        self._together = together

    @classmethod
    def of(cls, count: int, seconds: float) -> AddressLimiter:
        """Return a limiter with these limits for each address."""
        return cls(Limiter(count, seconds), Limiter(NETWORK_SHARE * count, seconds))

    def take(self, address: str, cost: float = 1) -> float:
        """Take a number for an address; return 0, or how long to wait if there are too few."""
        network = network_of(address)
        if network is not None and (wait := self._together.wait(network, cost)):
            return wait
        wait = self._one.take(address, cost)
        if not wait and network is not None:
            self._together.take(network, cost)
        return wait


@lru_cache(MOST_BUCKETS)
def network_of(address: str) -> str | None:
    """Return the network that an address belongs to, if others of it may be the same client's."""
    if ":" not in address:
        return None
    try:
        found = IPv6Network(address)
    except ValueError:
        return None
    return str(found.supernet(new_prefix=NETWORK_BITS))


class Budgets:
    """Tokens that requests and messages are paid with: a number a minute for each address.

    A client with a token pays from the budget of its author as well, so that neither many addresses
    nor many accounts allow more.
    """

    def __init__(self, addresses: AddressLimiter, authors: Limiter, watchers: Limiter) -> None:
        self._addresses = addresses
        self._authors = authors
        self._watchers = watchers

    @classmethod
    def of(cls, count: int, clock: Callable[[], float] = time.monotonic) -> Budgets:
        """Return budgets of this many tokens a minute."""
        one, together, authors, watchers = (
            Limiter(share * count, MINUTE, clock) for share in (1, NETWORK_SHARE, 1, 1)
        )
        return cls(AddressLimiter(one, together), authors, watchers)

    def pay(self, address: str, cost: float) -> float:
        """Pay for an address; return 0, or how long to wait if there is not enough."""
        return self._addresses.take(address, cost)

    def pay_as(self, author_id: int, cost: float) -> float:
        """Pay for an author."""
        return self._authors.take(str(author_id), cost)

    def pay_to_watch(self, address: str, cost: float) -> float:
        """Pay for an address from what is only for asking how we are."""
        return self._watchers.take(network_of(address) or address, cost)


@dataclass(frozen=True)
class Limiters:
    """What is limited: by author, registrations by address and in all, requests by both."""

    budgets: Budgets
    uploads: Limiter
    challenges: Limiter
    tournaments: Limiter
    registrations: AddressLimiter
    all_registrations: Limiter

    @classmethod
    def of(cls, quotas: Quotas) -> Limiters:
        """Return limiters that allow what the quotas do."""
        return cls(
            budgets=Budgets.of(quotas.requests_per_minute),
            uploads=Limiter(quotas.uploads_per_hour, HOUR),
            challenges=Limiter(quotas.challenges_per_hour, HOUR),
            tournaments=Limiter(quotas.tournaments_per_hour, HOUR),
            registrations=AddressLimiter.of(quotas.registrations_per_hour, HOUR),
            all_registrations=Limiter(quotas.all_registrations_per_hour, HOUR),
        )
