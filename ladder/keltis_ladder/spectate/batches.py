"""Batches: what a referee tells of a match under way, in the order in which it happens.

They hold decisions, not views: the engine is deterministic, so a reader who knows the deal and the
decisions can make the view of anybody after any of them (``live_match.py``), at a thousandth of
the size. Nothing in a batch is hidden from anybody at the table, but for some of the times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from keltis_ladder.match.faults import Fault, Kind

DECIDED: Final = "decided"
DROPPED: Final = "dropped"
ENDED: Final = "ended"
_WIDTH: Final = 3  # numbers of one decision: they are sent as one long list, without brackets


class Decision(NamedTuple):
    """One decision, and its microseconds on the clock: 0 if the bot was not asked."""

    seat: int
    action: int
    spent_us: int


@dataclass(frozen=True)
class Decided:
    """Decisions that were taken in one game, one after the other."""

    rotation: int
    decisions: tuple[Decision, ...]


@dataclass(frozen=True)
class Dropped:
    """A bot dropped out of a game. The words for its author come with the result."""

    rotation: int
    seat: int
    kind: Kind
    code: str


@dataclass(frozen=True)
class Ended:
    """A game has ended: by its rules, or because faults left a single bot."""

    rotation: int


Entry = Decided | Dropped | Ended
Batch = tuple[Entry, ...]  # an empty one is a sign of life


class BatchWriter:
    """Collects what happens until it is sent, as lists, texts and numbers."""

    def __init__(self) -> None:
        self._entries: list[list[Any]] = []
        self._run: list[int] = []  # the decisions of the last entry, while it can be continued
        self._rotation = -1

    def __bool__(self) -> bool:
        """Return whether there is anything to send."""
        return bool(self._entries)

    def decided(self, rotation: int, seat: int, action: int, spent_us: int) -> None:
        """Add a decision."""
        if rotation != self._rotation:
            self._rotation, self._run = rotation, []
            self._entries.append([DECIDED, rotation, self._run])
        self._run += (seat, action, spent_us)

    def dropped(self, rotation: int, seat: int, fault: Fault) -> None:
        """Add that a bot dropped out."""
        self._rotation = -1
        self._entries.append([DROPPED, rotation, seat, str(fault.kind), fault.code])

    def ended(self, rotation: int) -> None:
        """Add that a game has ended."""
        self._rotation = -1
        self._entries.append([ENDED, rotation])

    def take(self) -> list[list[Any]]:
        """Return what was collected, and begin again."""
        taken, self._entries, self._rotation = self._entries, [], -1
        return taken


def batch_from_plain(plain: Sequence[Sequence[Any]]) -> Batch:
    """Return the batch that a ``BatchWriter`` collected."""
    return tuple(_entry_from_plain(*entry) for entry in plain)


def _entry_from_plain(kind: str, rotation: int, *rest: Any) -> Entry:
    if kind == DECIDED:
        (run,) = rest
        columns = (run[column::_WIDTH] for column in range(_WIDTH))
        return Decided(rotation, tuple(map(Decision._make, zip(*columns, strict=True))))
    if kind == DROPPED:
        seat, fault, code = rest
        return Dropped(rotation, seat, Kind(fault), code)
    if kind == ENDED:
        return Ended(rotation)
    raise ValueError(f"a batch holds {kind!r}: expected {DECIDED}, {DROPPED} or {ENDED}")
