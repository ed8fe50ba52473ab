"""What a decision costs where there is no control group of version 2: as well as can be told.

A process shows how long it waited for its core only when the wait is over, and what its children
used only when they have ended in good order. So time is given back only to a bot of one process
with one thread, and a clock that runs out while the machine is visibly busy may be our fault.
"""

from __future__ import annotations

import contextlib
import os
from typing import final

from keltis_ladder.referee.charging import AFTERMATH, LOOK_EVERY, QUICK, Account, Effort
from keltis_ladder.sandbox.meter import NOTICEABLE, machine_pressure, own_delay


@final
class ProcessAccount(Account):
    """Charges by what the kernel tells of one process."""

    def __init__(self) -> None:
        super().__init__()
        self._several = False  # processes or threads: it could wait for itself
        self._schedule = self._status = -1
        self._used = self._waited = 0.0  # both when the request went out
        self._used_then = 0.0  # at the last look
        self._progress = 0.0  # when it was last seen to have run
        self._looked = 0.0
        self._pressure = -1.0  # of the machine, when the decision became slow

    def meet(self, program: int) -> None:
        """The program has answered for the first time, and this is its process."""
        flags = os.O_RDONLY | os.O_CLOEXEC
        with contextlib.suppress(OSError):
            self._schedule = os.open(f"/proc/{program}/schedstat", flags)
            self._status = os.open(f"/proc/{program}/stat", flags)

    def close(self) -> None:
        """The process has ended."""
        for fd in (self._schedule, self._status):
            if fd >= 0:
                os.close(fd)
        self._schedule = self._status = -1

    def note_others(self) -> None:
        """The program has started other processes."""
        super().note_others()
        self._several = True

    def begin(self, now: float) -> None:
        """A request goes out."""
        self._begin = self._progress = self._looked = now
        self._delay_now = self._pressure = -1.0
        self._delay = own_delay()
        self._used, self._waited = self._times()
        self._used_then = self._used

    def find_nothing(self, now: float, due: bool, heard: bool) -> None:
        """There was no answer; see whether the program has run since the last time."""
        super().find_nothing(now, due, heard)
        if self._pressure < 0.0 and now - self._begin > QUICK:
            self._pressure = machine_pressure()
        if now - self._looked > LOOK_EVERY:
            self._looked = now
            used, _ = self._times()
            if used > self._used_then:
                self._used_then, self._progress = used, now

    def wait_on(self) -> None:
        """Our housekeeping is done; it is so little that nobody notices."""

    def so_far(self, now: float) -> Effort:
        """Return what the open decision has cost up to now."""
        wall = now - self._begin
        used, waited = self._times()
        cpu, stalled = max(0.0, used - self._used), max(0.0, waited - self._waited)
        ready, threads = self._state()
        if ready and used == self._used_then:
            stalled += now - self._progress  # it waits still, which the kernel has not added yet
        delay = self._own_delay(wall)
        self._several = self._several or threads > 1
        if self._several:
            return Effort(wall, cpu, wall, stalled, delay)
        return Effort(wall, cpu, max(cpu, wall - stalled - delay), stalled, delay)

    def answered(self, now: float, cpu: float) -> Effort:
        """Return what it has cost, now that it is over."""
        wall = now - self._begin
        if cpu > wall + AFTERMATH and self._schedule >= 0:
            self.restless = True
        return self.so_far(now) if wall > QUICK else Effort(wall, cpu, wall)

    def is_machine_busy(self, now: float) -> bool:
        """Return whether others had the core for a good part of the open decision."""
        effort = self.so_far(now)
        lost = effort.stalled + effort.delay
        if self._several and self._pressure >= 0.0:  # whatever waited may have been its own
            lost = max(lost, machine_pressure() - self._pressure)
        return lost > NOTICEABLE * effort.wall

    def _times(self) -> tuple[float, float]:
        """Return the seconds for which the program ran, and for which it waited for a core."""
        if self._schedule >= 0:
            with contextlib.suppress(OSError):
                fields = os.pread(self._schedule, 64, 0).split()
                return int(fields[0]) / 1e9, int(fields[1]) / 1e9
        return self._used, self._waited

    def _state(self) -> tuple[bool, int]:
        """Return whether the program is ready to run, and its number of threads."""
        if self._status >= 0:
            with contextlib.suppress(OSError):
                fields = os.pread(self._status, 1024, 0).rpartition(b")")[2].split()
                return fields[0] == b"R", int(fields[17])
        return False, 1
