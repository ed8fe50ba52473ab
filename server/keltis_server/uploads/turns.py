"""Who may have something costly done now: few at once, and of each author only one."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """Lets a number in at once, in the order of arrival; one author never takes two places."""

    def __init__(self, at_once: int) -> None:
        self._room = asyncio.Semaphore(at_once)
        self._own: dict[int, asyncio.Lock] = {}
        self._count: Counter[int] = Counter()  # of each author, those that wait included

    @property
    def waiting(self) -> int:
        """How many have their turn or wait for it."""
        return self._count.total()

    @asynccontextmanager
    async def of(self, author: int) -> AsyncIterator[None]:
        """Wait for a turn of an author, and have it for as long as the block lasts."""
        own = self._own.setdefault(author, asyncio.Lock())
        self._count[author] += 1
        try:
            async with own, self._room:
                yield
        finally:
            self._count[author] -= 1
            if not self._count[author]:
                del self._count[author], self._own[author]
