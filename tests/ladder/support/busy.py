"""Busy neighbours on a core: what keeps a bot, or its referee, from running."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

BURN = "while True: pass"
# A process of real time lets nobody else run at all while it does.
BURSTS = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[3])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
on, off = float(sys.argv[1]), float(sys.argv[2])
while True:
    end = time.monotonic() + on
    while time.monotonic() < end:
        pass
    time.sleep(off)
"""


@contextmanager
def pinned_to_one_core() -> Iterator[int]:
    """Stay on one core, as a referee does."""
    before = os.sched_getaffinity(0)
    core = min(before)
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def busy_processes(count: int, nice: int = 0) -> Iterator[None]:
    """Have processes want our cores all the time, each in a session of its own, as bots are.

    Else the kernel lets all of them share one part.
    """
    with _running([[sys.executable, "-c", BURN]] * count, nice):
        yield


@contextmanager
def bursts(on: float, off: float, cores: Iterable[int] = ()) -> Iterator[None]:
    """Have a process of real time take our core, or each of these, for seconds at a time.

    For root only.
    """
    taken = cores or os.sched_getaffinity(0)
    with _running([[sys.executable, "-c", BURSTS, str(on), str(off), str(c)] for c in taken], 0):
        yield


@contextmanager
def _running(commands: list[list[str]], nice: int) -> Iterator[None]:
    running = []
    try:
        for command in commands:
            other = subprocess.Popen(command, start_new_session=True)
            running.append(other)
            if nice:
                os.setpriority(os.PRIO_PROCESS, other.pid, nice)
                with suppress(OSError):  # where sessions are not scheduled as groups
                    Path(f"/proc/{other.pid}/autogroup").write_text(str(nice))
        yield
    finally:
        for other in running:
            other.kill()
        for other in running:
            other.wait()
