"""What a decision has cost so far, counted as the referee's clock counts it.

A referee tells its clock in ``hello``. One that says ``cpu`` charges a decision with

    max(CPU time of all processes of the bot, wall time - time in which the bot was stalled)

and stalled means: something of the bot was ready to run and nothing of it ran, because the machine
had its core do something else. A bot that only computes pays for its CPU time and for nothing else,
so it may think as long on a busy machine as on an idle one. A bot that sleeps, or waits for a disk
or for a child, pays for that wall time.

From inside, a bot cannot see its stalls: there may be no /proc. It can see wall time, its CPU time,
and how often it went to sleep. If between two looks

- no thread of this process went to sleep (it gave no core away by itself: ``ru_nvcsw``), and
- it has no children, and none was waited for,

then the thread that looked first was ready or running all the time, hence whatever was not CPU time
was a stall, and the CPU time is the charge, exactly. In all other cases the wall time is counted:
on the one core that a bot has, no charge is higher. So the stopwatch counts too much at times (a
stall and a sleep between the same two looks), but not too little, whatever the bot does. Two things
escape it. Grandchildren whose parent has ended are nobody's children here. And time that a
hypervisor takes from the machine looks like a stall to us and like a sleep to the referee; a
plan that leaves a part of the time alone survives that, and with the next request ``left_ms``
tells the truth in any case.

A referee that says ``wall``, or says nothing (as those did that came before the field), counts wall
time and gives stalls back only roughly and late. With it wall time is counted.

The referee's clock starts when the request is written. Until a process that waits for it has read
it, the process is ready: a stall, but for microseconds. So the stopwatch starts when the first
byte of the request has come, and whatever came with it (the end of the last game, the begin of
the next) is inside the measured time. Before the first look only the wall clock is read, because
that costs nearly nothing and most bots never look. What passes until then counts as wall time.
"""

from __future__ import annotations

import os
import resource
import time
from typing import Final, final

TRIFLE_SECONDS: Final = 0.00002  # between wall and CPU time: not worth asking what it was


@final
class Stopwatch:
    """Counts one decision; made when the bot first looks at it."""

    def __init__(self, begin: float, cpu: bool) -> None:
        """Start with the wall time since ``begin``, of ``time.perf_counter``."""
        self._begin = begin
        self._counts_cpu = cpu
        self._wall = time.perf_counter()
        self._cpu = 0.0
        self._sleeps = 0
        self._reaped = 0.0
        self._counted = self._wall - begin
        if cpu:
            self._cpu = time.process_time()
            self._sleeps = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
            self._reaped = _cpu_of_reaped_children()

    def seconds(self) -> float:
        """Return what the decision has cost until now."""
        wall = time.perf_counter()
        if not self._counts_cpu:
            return wall - self._begin
        cpu = time.process_time()
        wall_step = wall - self._wall
        cpu_step = cpu - self._cpu
        if wall_step - cpu_step > TRIFLE_SECONDS and self._was_only_stalled():
            self._counted += cpu_step
        else:
            self._counted += max(wall_step, cpu_step)
        self._wall = wall
        self._cpu = cpu
        return self._counted

    def _was_only_stalled(self) -> bool:
        """Return whether what was not CPU time since the last look can only have been a stall."""
        before, self._sleeps = self._sleeps, resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
        reaped, self._reaped = self._reaped, _cpu_of_reaped_children()
        return self._sleeps == before and self._reaped == reaped and not _has_children()


def _cpu_of_reaped_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _has_children() -> bool:
    """Return whether a child lives, or has ended and was not waited for; it is left as it is."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
