"""Whose check is next: authors take turns, and what takes long has a lane of its own.

It is pure: it is told what is to be checked, what begins and what ends. An author may have one
place less of a lane than there are, so that the next one who comes waits for none of theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Lane(StrEnum):
    """How long a check is known to take."""

    SHORT = "short"  # or nobody knows
    LONG = "long"


@dataclass(frozen=True)
class PendingCheck:
    """A version that is to be checked."""

    version_id: int
    author_id: int
    lane: Lane = Lane.SHORT


class Lanes:
    """The places for checks, and who waits for one."""

    def __init__(self, short: int, long: int) -> None:
        self.places = {Lane.SHORT: short, Lane.LONG: long}
        self.waiting: dict[int, PendingCheck] = {}  # by version, in the order in which they came
        self.running: dict[int, PendingCheck] = {}
        self._turn = 0
        self._had: dict[int, int] = {}  # by author: the turn of their last check

    def want(self, wanted: Iterable[PendingCheck]) -> None:
        """Take note of everything that is to be checked and is not being checked, oldest first."""
        self.waiting = {
            each.version_id: each for each in wanted if each.version_id not in self.running
        }

    def drop(self, version_id: int) -> None:
        """Forget one that is not to be checked any more."""
        self.waiting.pop(version_id, None)

    def begin(self) -> PendingCheck | None:
        """Return a version whose check begins now; none if nobody's may."""
        for lane in Lane:
            waiting = [
                each for each in self.waiting.values() if each.lane is lane and self._may(each)
            ]
            if waiting:
                chosen = min(waiting, key=lambda each: self._had.get(each.author_id, 0))
                del self.waiting[chosen.version_id]
                self.running[chosen.version_id] = chosen
                self._turn += 1
                self._had[chosen.author_id] = self._turn
                return chosen
        return None

    def end(self, version_id: int) -> None:
        """Take note that a check is over."""
        del self.running[version_id]

    def becomes_long(self, version_id: int) -> bool:
        """Take note that a check takes long; return whether it may go on, in the other lane."""
        chosen = self.running[version_id]
        longer = PendingCheck(chosen.version_id, chosen.author_id, Lane.LONG)
        if chosen.lane is Lane.LONG or self._may(longer):
            self.running[version_id] = longer
            return True
        return False

    def _may(self, wanted: PendingCheck) -> bool:
        """Return whether there is a place for a check of this author in its lane."""
        places = self.places[wanted.lane]
        beside = [each for each in self.running.values() if each.lane is wanted.lane]
        taken = Counter(each.author_id for each in beside)
        most = max(1, places - 1)
        return taken.total() < places and taken[wanted.author_id] < most
