"""The reference bots: ``random``, ``greedy`` and ``search``.

Each imports what it needs when it is made, so that the simple ones start at once.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Final

from keltis_bots.request import Request
from keltis_bots.sdk import Bot


class RandomBot:
    """Plays any legal action, each equally likely."""

    name = "random"

    def choose(self, request: Request) -> int:
        """Return one of the legal actions."""
        return random.choice(request.legal)


class GreedyBot:
    """Plays what promises most, without thinking ahead."""

    name = "greedy"

    def __init__(self) -> None:
        from keltis_bots.greedy import choose
        from keltis_engine import Rng

        self._choose = choose
        self._rng = Rng(_any_seed())

    def choose(self, request: Request) -> int:
        """Return the most appealing action."""
        return self._choose(request.restore(self._rng), self._rng)


class SearchBot:
    """Plays what did best in many imagined games."""

    name = "search"

    def __init__(self) -> None:
        from keltis_bots.search import Search
        from keltis_engine import Rng

        self._search = Search(_any_seed())
        self._rng = Rng(_any_seed())

    def choose(self, request: Request) -> int:
        """Return what did best in the time that this decision deserves."""
        from keltis_bots.budget import Milliseconds
        from keltis_bots.timing import decisions_left, thinking_ms

        stopwatch = request.stopwatch  # first of all: what follows is part of the time
        decisions = decisions_left(request.view)
        thinking = thinking_ms(request.left_ms, request.increment_ms, decisions)
        budget = Milliseconds(thinking, stopwatch)
        return self._search.choose(request.restore(self._rng), budget)


def _any_seed() -> int:
    return int.from_bytes(os.urandom(8))


REFERENCE: Final[dict[str, Callable[[], Bot]]] = {
    "random": RandomBot,
    "greedy": GreedyBot,
    "search": SearchBot,
}
