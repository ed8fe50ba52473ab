"""Refusals: to say no costs us, too, so that nobody may have it said without end.

A client whose budget is empty is told so, and may ask again on the same connection. One that does
not stop asking is made to wait: each of its connections is closed after the refusal, a new one is
looked at after a pause, and when it has all that it may have, the next is ended at once. So it gets
no more answers in a second than it may have connections, whatever it sends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from keltis_server.settings import Settings
from keltis_server.site.budgets import MINUTE, Limiter

PER_MINUTE: Final = 120  # refusals of a client that waits for nothing
HELD_SECONDS: Final = 1.0  # that a new connection of it is held


class Refusals:
    """How often each address, or network of IPv6, was refused lately."""

    def __init__(
        self,
        settings: Settings,
        per_minute: int = PER_MINUTE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.pause = HELD_SECONDS
        # Behind a proxy all connections are the proxy's: others would wait for one client.
        self._limiter = None if settings.forwarded else Limiter(per_minute, MINUTE, clock)

    def note(self, network: str) -> bool:
        """Note a refusal; return whether there may be more."""
        return self._limiter is None or not self._limiter.take(network)

    def are_too_many(self, network: str) -> bool:
        """Return whether somebody was refused too often."""
        return self._limiter is not None and self._limiter.left(network) < 1
