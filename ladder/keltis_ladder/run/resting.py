"""Jobs that this process leaves in the queue for a while: the machine was too busy for them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

REST_SECONDS: Final = 30.0  # others go first meanwhile, here; another machine may take it at once


class Resting:
    """Knows them by their ids. A process that is new lets none of them wait."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def add(self, id: str) -> None:
        """Leave a job where it is for a while."""
        self._until[id] = self._clock() + REST_SECONDS

    @property
    def ids(self) -> frozenset[str]:
        """The jobs that are left where they are now."""
        now = self._clock()
        self._until = {id: until for id, until in self._until.items() if until > now}
        return frozenset(self._until)
