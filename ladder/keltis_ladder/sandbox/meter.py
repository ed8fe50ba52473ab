"""Meters: what the kernel counts for a sandbox, for ourselves, and for the core we are on.

A control group of version 2 counts all its processes together, those included that have ended.
``cpu.pressure`` has in its line "full" the time in which something in the group was ready to run
and nothing of it ran, up to this very moment; ``cpu.stat`` has the CPU time.

The kernel drops a stall if the file is read again before the group was busy for a whole tick, which
takes up to 10 ms: nobody may read the pressure more often than that.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import Final, final

PRESSURE: Final = "cpu.pressure"
STAT: Final = "cpu.stat"
TICK_SECONDS: Final = 1 / os.sysconf("SC_CLK_TCK")
NOTICEABLE: Final = 0.1  # of some time: if others had the cores for so much of it, they are busy
_CORE_LINE: Final = 256  # bytes that a line of /proc/stat has at most: ten figures
_NANOSECONDS: Final = 1e9
_MICROSECONDS: Final = 1e6


def can_meter(directory: Path) -> bool:
    """Return whether a group has what a meter reads; ``psi=0`` and old kernels do not show it."""
    try:
        return b"full" in (directory / PRESSURE).read_bytes() and (directory / STAT).exists()
    except OSError:
        return False


@final
class Meter:
    """Reads the counters of one group."""

    def __init__(self, directory: Path) -> None:
        self._pressure = os.open(directory / PRESSURE, os.O_RDONLY | os.O_CLOEXEC)
        self._stat = os.open(directory / STAT, os.O_RDONLY | os.O_CLOEXEC)

    def stalled(self) -> float:
        """Return the seconds in which it was ready to run and did not; see the module."""
        return int(os.pread(self._pressure, 256, 0).rpartition(b"=")[2]) / _MICROSECONDS

    def cpu(self) -> float:
        """Return the seconds in which it ran."""
        return int(os.pread(self._stat, 64, 0).split(None, 2)[1]) / _MICROSECONDS

    def close(self) -> None:
        """Let go of the group."""
        for fd in (self._pressure, self._stat):
            with contextlib.suppress(OSError):
                os.close(fd)


_own = threading.local()


def own_delay() -> float:
    """Return for how many seconds this thread was ready to run and had no core.

    Exact, as it is running now: the kernel adds a wait when it has ended.
    """
    fd: int | None = getattr(_own, "fd", None)
    if fd is None:
        flags = os.O_RDONLY | os.O_CLOEXEC
        fd = _own.fd = os.open("/proc/thread-self/schedstat", flags)
    return int(os.pread(fd, 64, 0).split()[1]) / _NANOSECONDS


def stolen(core: int | None) -> float:
    """Return for how many seconds a hypervisor kept this core from running at all."""
    fd: int | None = getattr(_own, "stat", None)
    if fd is None:
        fd = _own.stat = os.open("/proc/stat", os.O_RDONLY | os.O_CLOEXEC)
    if core is None:
        return 0.0
    lines = os.pread(
        fd, _CORE_LINE * (core + 2), 0
    )  # each time to open it takes four times as long
    fields = lines.partition(b"\ncpu%d " % core)[2].split(None, 8)
    return int(fields[7]) * TICK_SECONDS if len(fields) > 8 else 0.0


def stolen_by_core() -> list[float]:
    """Return for how many seconds a hypervisor kept each core from running at all."""
    lines = [line.split() for line in Path("/proc/stat").read_bytes().splitlines()]
    cores = [fields for fields in lines if fields and fields[0][:3] == b"cpu" and fields[0][3:]]
    return [int(fields[8]) * TICK_SECONDS if len(fields) > 8 else 0.0 for fields in cores]


def oom_kills() -> int:
    """Return how many processes the kernel has ended for want of memory, on the whole machine."""
    try:
        with open("/proc/vmstat", "rb") as file:  # noqa: PTH123 - quicker, and often read
            return int(file.read().rpartition(b"\noom_kill ")[2].partition(b"\n")[0])
    except (OSError, ValueError):
        return 0


def machine_pressure() -> float:
    """Return for how many seconds something on this machine was kept waiting for a core."""
    try:
        some = Path("/proc/pressure/cpu").read_bytes().partition(b"\n")[0]
        return int(some.rpartition(b"=")[2]) / _MICROSECONDS
    except (OSError, ValueError):
        return 0.0
