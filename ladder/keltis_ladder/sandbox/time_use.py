"""How much time a program has used that has no clock of its own, as a build.

It pays for the time in which it ran, slept or waited for itself, and not for the time in which it
was ready to run and the machine ran something else. Where a control group of version 2 counts for
it, that is known; elsewhere a machine that was visibly busy is enough for a doubt, and nobody is
blamed in doubt. So there has to be a limit of time on the wall as well, which blames nobody.
"""

from __future__ import annotations

import os
import time
from typing import Final, final

from keltis_ladder.sandbox.meter import (
    NOTICEABLE,
    Meter,
    machine_pressure,
    own_delay,
    stolen_by_core,
)

LOOK_EVERY: Final = 0.05  # seconds between two looks at the pressure: see ``meter``
_now: Final = time.monotonic


def our_cores() -> int:
    """Return how many cores this process, and what it starts, may use at the same time."""
    return len(os.sched_getaffinity(0))


@final
class TimeUse:
    """The time that one program has used since this was made; for one thread, which watches it."""

    def __init__(self, meter: Meter | None) -> None:
        """``meter`` counts all its processes, where there is a group."""
        self._meter = meter
        self._cores = our_cores()
        self._begin = self._read = _now()
        self._stalled_before = self._stalled = meter.stalled() if meter is not None else 0.0
        self._pressure = machine_pressure()
        self._delay = own_delay()
        self._stolen = stolen_by_core()
        self._given_back = 0.0

    @property
    def wall(self) -> float:
        """The seconds that have passed."""
        return _now() - self._begin

    def give_back(self, seconds: float) -> None:
        """Let it not pay for some time in which it waited for us."""
        self._given_back += seconds

    def exceeds(self, seconds: float, cpu: float) -> bool:
        """Return whether it has used more than this beyond doubt; ``cpu`` seconds it has run.

        Its stall is an average over the cores that it is on, so that one core may hide another's;
        but a bot that ran for that long on every core has used the time, whatever else happened.
        """
        wall = self.wall
        if wall <= seconds:
            return False
        if cpu > seconds * self._cores:
            return True
        if self._meter is None:
            is_busy = machine_pressure() - self._pressure > NOTICEABLE * wall
            return not is_busy and wall - self._lost() > seconds
        return wall - self._lost() - self._stall(self._meter) > seconds

    def _lost(self) -> float:
        """Return for how long it waited for us, or may have, and what a hypervisor has taken."""
        pairs = zip(self._stolen, stolen_by_core(), strict=False)  # a core may come or go
        stolen = max((now - before for before, now in pairs), default=0.0)
        return self._given_back + max(0.0, own_delay() - self._delay) + max(0.0, stolen)

    def _stall(self, meter: Meter) -> float:
        """Return for how long its group was ready to run, and nothing of it ran."""
        now = _now()
        if now - self._read >= LOOK_EVERY:
            self._stalled, self._read = meter.stalled(), now
        return self._stalled - self._stalled_before
