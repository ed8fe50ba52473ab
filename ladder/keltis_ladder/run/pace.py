"""The pace of a ladder: how many matches it plays when few of them would teach anything.

It is pure: it is told what the most instructive match would teach and who is on the ladder, and
says how long the next match has to wait. What is in the queue (tournaments, challenges) and the
first match of a new version are not its business; they are played at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from keltis_ladder.errors import LadderError

MINUTE: Final = 60.0  # seconds
# Pairs that the most instructive match would put right, per rival: docs/readers/matchmaking.md has
# the simulation that the number comes from.
SETTLED_BELOW: Final = 0.0001
# So many times as much must be to learn before a settled ladder goes on at full pace: results move
# the gain up and down, and the pace must not follow each of them.
UNSETTLED_FACTOR: Final = 2.0
SETTLED_PER_MINUTE: Final = 1.0  # matches that keep ratings alive
WATCHED_PER_MINUTE: Final = 6.0  # as many while somebody looks: an empty board is dull

Clock = Callable[[], float]


class Tempo(StrEnum):
    """How fast the ladder plays, and why."""

    FULL = "full"  # as fast as referees can
    LIMITED = "limited"  # up to the operator's limit
    CALM = "calm"  # only our own bots are there: one match at a time
    SETTLED = "settled"  # no match would teach much: one now and then


@dataclass(frozen=True)
class PaceRules:
    """What the operator wants."""

    matches_per_minute: float | None = None  # of the ladder, at most; none: no limit
    settled_below: float = SETTLED_BELOW  # gain below which the ladder is settled; 0: never
    calm: bool = False  # while only our own bots are there, one match at a time is enough

    def __post_init__(self) -> None:
        """Refuse what cannot be kept to."""
        if self.matches_per_minute is not None and not self.matches_per_minute > 0:
            raise LadderError(
                f"{self.matches_per_minute:g} matches per minute: give more than 0, or no limit"
            )
        if not self.settled_below >= 0:
            raise LadderError(
                f"a gain of {self.settled_below:g} to settle below: give 0 (never) or more"
            )


AT_FULL_PACE: Final = PaceRules(settled_below=0.0)


class Pace:
    """Says when the next match of the ladder may begin."""

    def __init__(self, rules: PaceRules | None = None, clock: Clock = time.monotonic) -> None:
        self.rules = rules or PaceRules()
        self.tempo = Tempo.FULL if self.rules.matches_per_minute is None else Tempo.LIMITED
        self.gain: float | None = None  # what the most instructive match would teach
        self.watched = False  # somebody looks at the pages
        self._clock = clock
        self._house_only = False
        self._last_begin: float | None = None

    @property
    def at_once(self) -> int | None:
        """How many matches may be played at once; none: as many as there is room for."""
        return 1 if self.rules.calm and self._house_only else None

    @property
    def per_minute(self) -> float | None:
        """How many matches may begin in a minute; none: any number."""
        limit = self.rules.matches_per_minute
        if self.tempo is Tempo.SETTLED:
            settled = WATCHED_PER_MINUTE if self.watched else SETTLED_PER_MINUTE
            return settled if limit is None else min(limit, settled)
        return limit

    def judge(self, gain: float | None, house_only: bool) -> bool:
        """Take note of what is to be learnt, none if nobody may meet; tell if the tempo changed."""
        self.gain = gain
        self._house_only = house_only
        before = self.tempo
        self.tempo = self._tempo()
        return self.tempo is not before

    def wait(self) -> float:
        """Return for how many seconds the next match must not begin."""
        per_minute = self.per_minute
        if per_minute is None or self._last_begin is None:
            return 0.0
        return max(0.0, self._last_begin + MINUTE / per_minute - self._clock())

    def begin(self) -> None:
        """Take note that a match of the ladder begins."""
        self._last_begin = self._clock()

    def _tempo(self) -> Tempo:
        if self._settled():
            return Tempo.SETTLED
        if self.at_once is not None:
            return Tempo.CALM
        return Tempo.FULL if self.rules.matches_per_minute is None else Tempo.LIMITED

    def _settled(self) -> bool:
        if self.gain is None or not self.rules.settled_below:  # a gain may be below 0
            return False
        was = self.tempo is Tempo.SETTLED
        return self.gain < self.rules.settled_below * (UNSETTLED_FACTOR if was else 1.0)
