"""Small drawings inside of pages: places on a common axis, and lines of the last ratings.

Places on an axis are percentages, so that a drawing can be as wide as there is room.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, sqrt
from typing import Final, NamedTuple

from keltis_server.models.bots import RatingOut
from keltis_server.models.leaderboards import LineOut

WIDTH: Final = 100
SPARK_WIDTH: Final = 100
SPARK_HEIGHT: Final = 24
STEP: Final = 5  # of rating, from one mark of an axis to the next
SURPRISE: Final = 2.5  # standard deviations from what was expected
HEAT_STEPS: Final = 5  # to either side of even


@dataclass(frozen=True)
class Axis:
    """From which rating to which a drawing goes."""

    low: int
    high: int

    def at(self, rating: float) -> float:
        """Return where a rating is; what lies beyond is at the edge."""
        place = (rating - self.low) / (self.high - self.low) * WIDTH
        return round(min(max(place, 0.0), float(WIDTH)), 2)

    @property
    def marks(self) -> list[int]:
        """The ratings to write below."""
        step = STEP if self.high - self.low <= 10 * STEP else 2 * STEP
        return list(range(self.low, self.high + 1, step))


def axis_of(intervals: Iterable[tuple[float, float]]) -> Axis:
    """Return an axis on which all these intervals have room."""
    found = list(intervals)
    low = min((low for low, _ in found), default=0.0)
    high = max((high for _, high in found), default=2.0 * STEP)
    first = STEP * floor(low / STEP)
    return Axis(first, max(STEP * ceil(high / STEP), first + STEP))


def even_axis(reach: float) -> Axis:
    """Return an axis that goes as far to either side of nothing, which is one of its marks."""
    step = STEP if reach <= 5 * STEP else 2 * STEP
    end = step * max(1, ceil(reach / step))
    return Axis(-end, end)


def spark(values: Sequence[float]) -> str:
    """Return the points of a small line; empty if there is nothing to see yet."""
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    spread = max(high - low, 1.0)  # less than a point is no news
    middle = (low + high) / 2
    points = []
    for k, value in enumerate(values):
        x = k * SPARK_WIDTH / (len(values) - 1)
        y = SPARK_HEIGHT / 2 - (value - middle) / spread * (SPARK_HEIGHT - 4)
        points.append(f"{x:.1f},{y:.1f}")
    return " ".join(points)


class Shown(NamedTuple):
    """A rating as it is drawn on an axis."""

    value: float
    low: float
    high: float


def official(line: LineOut | RatingOut, order: str) -> Shown:
    """Return the official rating of a line, or the live one where there is no other yet."""
    if order == "joint" and line.joint is not None:
        return Shown(line.joint.rating, line.joint.low, line.joint.high)
    return Shown(line.mu, line.low, line.high)


def places(line: LineOut | RatingOut, order: str) -> str:
    """Return what is carved into the stone of a line: the places that it may have, or its rank."""
    if order == "joint" and line.joint is not None:
        best, worst = line.joint.best, line.joint.worst
        return str(best) if best == worst else f"{best}\u2013{worst}"
    return "?" if line.rank is None else str(line.rank)


def surprising(share: float, expected: float | None, matches: int) -> int:
    """Return 1 if a share of matches is far above what was expected, -1 if far below, or else 0.

    Nothing is expected with certainty: one lost match of a favourite is no surprise yet.
    """
    if expected is None or not matches:
        return 0
    chance = min(max(expected, 0.02), 0.98)
    away = (share - expected) / sqrt(chance * (1 - chance) / matches)
    return 0 if abs(away) < SURPRISE else 1 if away > 0 else -1


def heat(share: float) -> int:
    """Return how far a share is from even: -5 (always behind) to 5 (always ahead)."""
    return round((share - 0.5) * 2 * HEAT_STEPS)
