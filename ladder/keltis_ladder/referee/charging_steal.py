"""What a hypervisor takes from a bot's core, and how much of it the bot is given back.

A core of a virtual machine may stand still without anybody inside it noticing: the bot is neither
stalled nor does it use CPU time, so a decision looks as if the bot had slept. The kernel counts
what was stolen from a core, and shows it in whole ticks of 10 ms. So what is left of one tick when
a decision is paid for is kept for the next: of many small thefts each is given back, though the
figure moves with some of them only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, final

from keltis_ladder.sandbox.meter import TICK_SECONDS

TRIFLE_SECONDS: Final = 0.0002  # that nothing explains: not worth reading a file


@final
class Steal:
    """The time that was stolen from the core of one process of a bot."""

    def __init__(self, read: Callable[[], float]) -> None:
        """``read`` returns the seconds that were stolen since the machine was started."""
        self._read = read
        self._last = self._base = read()
        self._happens = self._last > 0.0  # else the machine is a real one, and nobody need look
        # Nearly a whole tick may be hidden behind the figure as it stands.
        self._credit = TICK_SECONDS if self._happens else 0.0

    def begin(self, exactly: bool) -> None:
        """A decision begins; if it is likely to be quick, the last look will do."""
        if exactly and self._happens:
            self._last = self._read()
        self._base = self._last

    def explain(self, seconds: float) -> float:
        """Return how much of the seconds that nothing else explains may have been stolen."""
        if seconds <= TRIFLE_SECONDS or not self._happens:
            return 0.0
        self._last = self._read()
        return min(seconds, self._credit + self._last - self._base)

    def settle(self, explained: float) -> None:
        """The decision is paid for; so much was given back."""
        if self._happens:
            left = self._credit + self._last - self._base - explained
            self._credit = min(TICK_SECONDS, max(0.0, left))
            self._base = self._last
