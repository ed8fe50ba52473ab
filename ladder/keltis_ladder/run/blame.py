"""Whose matches wait after one that the machine failed: those of its bots, or all of them.

A machine that fails does so whoever plays. So as long as one bot was in all matches that failed
since one came to its end, it may be that one: its matches wait, and all others are played. Only
when different bots were hit everybody waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Final

SUSPECT_SECONDS: Final = 600.0  # for a version whose matches alone fail, again and again


class Blame:
    """Knows versions by their ids. A process that is new blames nobody."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._in_all: frozenset[int] | None = None  # that failed; none: nothing has failed
        self._until: dict[int, float] = {}

    def failed(self, versions: Iterable[int]) -> frozenset[int]:
        """Take note of a match that failed; return who was in all of them."""
        there = frozenset(versions)
        self._in_all = there if self._in_all is None else self._in_all & there
        return self._in_all

    def succeeded(self) -> None:
        """Take note of a match that came to its end: the machine does not fail everybody."""
        self._in_all = None

    def hold_back(self, versions: Iterable[int], seconds: float) -> None:
        """Have the matches of some versions wait."""
        until = self._clock() + seconds
        for version in versions:
            self._until[version] = max(until, self._until.get(version, 0.0))

    @property
    def held_back(self) -> frozenset[int]:
        """The versions whose matches wait now."""
        now = self._clock()
        self._until = {version: until for version, until in self._until.items() if until > now}
        return frozenset(self._until)
