"""Rate limits: so much at once, and so much in the long run, for each author or address."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network
from typing import TYPE_CHECKING, Final

from aiohttp import web
from aiohttp.typedefs import Middleware

from keltis_server.problems import Handler, too_many
from keltis_server.settings import Quotas

if TYPE_CHECKING:
    from keltis_server.site import Site

MOST: Final = 10_000  # buckets of one limiter; whoever did not ask for longest is forgotten
MINUTE: Final = 60.0
HOUR: Final = 3600.0
ONE_HOME: Final = 64  # bits of an IPv6 address that its owner does not choose
UNLIMITED: Final = ("/healthz", "/readyz", "/metrics")  # those who watch over us must get through
LONGEST: Final = 64  # characters of an address


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

    def wait(self, who: str) -> float:
        """Return how long somebody has to wait for the next one; 0 if not at all."""
        bucket = self._bucket(who)
        return 0.0 if bucket.left >= 1 else (1 - bucket.left) / self.rate

    def take(self, who: str) -> float:
        """Take one; return 0, or how long to wait if there is none."""
        wait = self.wait(who)
        if not wait:
            self._bucket(who).left -= 1
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


@dataclass(frozen=True)
class Limiters:
    """What is limited apart from requests: by author, and registrations by address."""

    uploads: Limiter
    challenges: Limiter
    registrations: Limiter

    @classmethod
    def of(cls, quotas: Quotas) -> Limiters:
        """Return limiters that allow what the quotas do."""
        return cls(
            uploads=Limiter(quotas.uploads_per_hour, HOUR),
            challenges=Limiter(quotas.challenges_per_hour, HOUR),
            registrations=Limiter(quotas.registrations_per_hour, HOUR),
        )


def address_of(site: Site, request: web.Request) -> str:
    """Return where a request comes from: what a proxy says only if we are told that there is one.

    The last address is the one that our own proxy saw; what stands before it, anybody can write.
    """
    if site.settings.forwarded:
        forwarded = ",".join(request.headers.getall("X-Forwarded-For", []))
        if last := forwarded.rpartition(",")[2].strip():
            return home_of(last)
    return home_of(request.remote or "unknown")


def home_of(address: str) -> str:
    """Return what one owner's addresses have in common: all of one in IPv4, half of one in IPv6."""
    text = address[:LONGEST]
    if text.startswith("["):  # with a port, as some proxies write it
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    if ":" not in text:
        return text
    try:
        found = IPv6Address(text.partition("%")[0])
    except ValueError:
        return text
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Network((found, ONE_HOME), strict=False))


def limit_requests(limiter: Limiter) -> Middleware:
    """Return what refuses requests from an address that asks too often."""
    from keltis_server.site import SITE

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path not in UNLIMITED:
            wait = limiter.take(address_of(request.app[SITE], request))
            if wait:
                raise too_many("too many requests from this address", wait)
        return await handler(request)

    return middleware
