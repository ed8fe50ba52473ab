"""How long a search may go on: some milliseconds, or a number of playouts."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Final, final

from mypy_extensions import mypyc_attr

from keltis_bots.stopwatch import Stopwatch

LOOK_EVERY_SECONDS: Final = 0.0005  # at the stopwatch, whose system calls cost microseconds


@mypyc_attr(allow_interpreted_subclasses=False)
class Budget:
    """What a search may spend on one decision."""

    @abstractmethod
    def used(self, playouts: int) -> float:
        """Return which part has been spent after so many playouts: from 0 to 1, or more."""


@final
class Milliseconds(Budget):
    """Time of one decision, as a stopwatch counts it: by default wall time, from now.

    Between two looks at the stopwatch wall time is counted; if the machine did something else
    meanwhile, the next look puts that right.
    """

    def __init__(self, milliseconds: float, stopwatch: Stopwatch | None = None) -> None:
        self._seconds = max(milliseconds, 0.001) / 1000
        self._stopwatch = stopwatch or Stopwatch(time.perf_counter(), cpu=False)
        self._counted = self._stopwatch.seconds()
        self._looked = time.perf_counter()

    def used(self, playouts: int) -> float:
        """Return which part of the time has passed."""
        now = time.perf_counter()
        if now - self._looked > LOOK_EVERY_SECONDS:
            self._counted = self._stopwatch.seconds()
            self._looked = now
        return (self._counted + now - self._looked) / self._seconds


@final
class Playouts(Budget):
    """A number of playouts: the same choice every time, on every machine."""

    def __init__(self, count: int) -> None:
        self._count = count

    def used(self, playouts: int) -> float:
        """Return which part of the playouts has been made."""
        return playouts / self._count
