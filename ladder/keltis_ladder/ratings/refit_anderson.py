"""Anderson acceleration (1965): makes the refit converge, by extrapolating where its sweeps go.

A sweep carries news from a bot to its opponents only. A wrong mean of all bots together, which only
the prior can tell, or of the whole upper half of a ladder, takes hundreds of sweeps to fade: the
changes are small, alike, and all in the same direction. Of the last few sweeps we take that mixture
whose change would have been least, and go on from there. Some twenty sweeps are enough then.
"""

from __future__ import annotations

import math
from typing import Final, final

from librt.vecs import vec

MEMORY_SWEEPS: Final = 8
STALLED_SWEEPS: Final = 20  # without a smaller change, after which all is forgotten
_DEPENDENT: Final = 1e-8  # a direction of which no more than this part is new says nothing


@final
class AndersonAcceleration:
    """Remembers how the last sweeps changed the means, newest first."""

    __slots__ = (
        "changes",
        "last_after",
        "last_change",
        "last_size",
        "least",
        "outcomes",
        "stalled",
    )

    def __init__(self) -> None:
        self.changes: list[vec[float]] = []  # differences between changes of successive sweeps
        self.outcomes: list[vec[float]] = []  # differences between the means after them
        self.last_change = vec[float]([])
        self.last_after = vec[float]([])
        self.last_size = math.inf
        self.least = math.inf  # change since all was forgotten
        self.stalled = 0  # sweeps since then

    def extrapolate(self, before: vec[float], after: vec[float]) -> vec[float]:
        """Return how far to go on from the means after a sweep that began at the means before."""
        change = _minus(after, before)
        size = _largest(change)
        self._restart_if_stalled(size)
        if len(self.last_change):
            self.changes.insert(0, _minus(change, self.last_change))
            self.outcomes.insert(0, _minus(after, self.last_after))
            del self.changes[MEMORY_SWEEPS:]
            del self.outcomes[MEMORY_SWEEPS:]
        self.last_change = change
        self.last_after = after
        worse = size > self.last_size
        self.last_size = size
        # After an extrapolation in a wrong direction a plain sweep tells more than another one.
        return _times(0.0, change) if worse else self._mixture(change)

    def _restart_if_stalled(self, size: float) -> None:
        """Forget all sweeps if there has been no progress for long."""
        self.stalled += 1
        if size < self.least:
            self.least = size
            self.stalled = 0
        elif self.stalled >= STALLED_SWEEPS:
            self.changes.clear()
            self.outcomes.clear()
            self.last_change = vec[float]([])
            self.least = size
            self.stalled = 0

    def _mixture(self, change: vec[float]) -> vec[float]:
        """Cancel as much of the change as the remembered ones can, by least squares."""
        axes: list[vec[float]] = []  # orthonormal; each is what a direction adds to those before
        used: list[int] = []
        overlaps: list[list[float]] = []  # of each used direction with the axes
        for k in range(len(self.changes)):
            rest = _times(1.0, self.changes[k])
            size = math.sqrt(_product(rest, rest))
            overlap: list[float] = []
            for axis in axes:
                part = _product(axis, rest)
                overlap.append(part)
                _add(rest, -part, axis)
            left = math.sqrt(_product(rest, rest))
            if left > _DEPENDENT * size:
                overlap.append(left)
                overlaps.append(overlap)
                used.append(k)
                axes.append(_times(1.0 / left, rest))
        weights = [_product(axis, change) for axis in axes]
        extrapolation = vec[float]([0.0] * len(change))
        for k in range(len(used) - 1, -1, -1):
            weight = weights[k] / overlaps[k][k]
            for earlier in range(k):
                weights[earlier] -= weight * overlaps[k][earlier]
            _add(extrapolation, -weight, self.outcomes[used[k]])
        return extrapolation


# Plain loops: the built-in sum of some Python versions adds floats in another way than others.


def _minus(one: vec[float], other: vec[float]) -> vec[float]:
    result = vec[float]([0.0] * len(one))
    for k in range(len(one)):
        result[k] = one[k] - other[k]
    return result


def _times(factor: float, one: vec[float]) -> vec[float]:
    result = vec[float]([0.0] * len(one))
    for k in range(len(one)):
        result[k] = factor * one[k]
    return result


def _add(to: vec[float], factor: float, one: vec[float]) -> None:
    for k in range(len(one)):
        to[k] += factor * one[k]


def _largest(one: vec[float]) -> float:
    found = 0.0
    for k in range(len(one)):
        found = max(found, abs(one[k]))
    return found


def _product(one: vec[float], other: vec[float]) -> float:
    total = 0.0
    for k in range(len(one)):
        total += one[k] * other[k]
    return total
