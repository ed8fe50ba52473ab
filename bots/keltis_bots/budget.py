"""How long a search may go on: some milliseconds, or a number of playouts."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import final

from mypy_extensions import mypyc_attr


@mypyc_attr(allow_interpreted_subclasses=False)
class Budget:
    """What a search may spend on one decision."""

    @abstractmethod
    def used(self, playouts: int) -> float:
        """Return which part has been spent after so many playouts: from 0 to 1, or more."""


@final
class Milliseconds(Budget):
    """Time, counted from now."""

    def __init__(self, milliseconds: float) -> None:
        self._begin = time.perf_counter()
        self._seconds = max(milliseconds, 0.001) / 1000

    def used(self, playouts: int) -> float:
        """Return which part of the time has passed."""
        return (time.perf_counter() - self._begin) / self._seconds


@final
class Playouts(Budget):
    """A number of playouts: the same choice every time, on every machine."""

    def __init__(self, count: int) -> None:
        self._count = count

    def used(self, playouts: int) -> float:
        """Return which part of the playouts has been made."""
        return playouts / self._count
