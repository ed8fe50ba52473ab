"""What a busy ladder needs of the machine at the same time: memory of bots, open files, a clock."""

from __future__ import annotations

import ctypes
import os
import resource
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from keltis_engine.games.variants import MOST_PLAYERS
from keltis_ladder.doctor.check import Area, Check, CheckState
from keltis_ladder.files.sizes import MIB
from keltis_ladder.sandbox.cgroups import available_memory, available_tasks
from keltis_ladder.sandbox.limits import PLAY, memory_of_bots
from keltis_ladder.sandbox.shares import (
    LEAST,
    LONG_CHECKS,
    MOST_IDLE_TASKS,
    OF_TASKS,
    quick_checks,
    referees_that_fit,
    share_of_table,
)

GIB: Final = 1024 * MIB
CONNECTIONS: Final = 4096  # that a server allows unless it is told otherwise
RESERVED_FILES: Final = 256  # descriptors for databases, referees, uploads
WATCH_BYTES: Final = 128  # of memory at least, for one watch of epoll
UNSYNCHRONISED: Final = 0x40  # STA_UNSYNC of the kernel
_TIMEX_BYTES: Final = 512  # more than struct timex has on any machine
_LONGS_BEFORE_STATUS: Final = 5  # modes, offset, freq, maxerror, esterror: each takes a long

ok: Final = partial(Check, area=Area.MACHINE, state=CheckState.OK)
limited: Final = partial(Check, area=Area.MACHINE, state=CheckState.LIMITED)


def capacity_checks() -> Iterator[Check]:
    """Look at what a busy ladder needs at the same time."""
    cores = len(os.sched_getaffinity(0))
    checks = quick_checks() + LONG_CHECKS
    yield bots_check(available_memory(), cores, checks)
    yield tasks_check(available_tasks(), cores + checks)
    if os.geteuid():
        yield watches_check(most_watches(), available_memory())
    yield files_check(resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    yield synchrony_check(clock_status())


def bots_check(memory: int, cores: int, checks: int) -> Check:
    """Tell what each bot may use, so that all that play at the same time have it."""
    referees = referees_that_fit(memory, cores, checks)
    share = share_of_table(memory, referees, checks)
    matches = "1 match" if referees == 1 else f"{referees} matches"
    told = (
        f"{memory_of_bots(memory) / GIB:.1f} GiB for all; {matches} and {checks} checks at the same"
        f" time, {share.limits.memory // MIB} MiB for each bot"
    )
    if referees == cores and share.limits == PLAY:
        return ok("memory of bots", found=told)
    if referees < cores:
        meaning = (
            f"On {cores} cores a bot would have less than {LEAST // MIB} MiB, and Java or Node"
            " might not start. With more memory all cores play."
        )
        return limited("memory of bots", found=told, meaning=meaning)
    fit = next((n for n in range(cores, 0, -1) if _has_all(memory, n, checks)), 0)
    return limited(
        "memory of bots",
        found=told,
        meaning=f"A bot may usually have {PLAY.memory // MIB} MiB. Here it has less, so that all"
        " that play at the same time can never need more than there is. Most bots"
        " use 10 to 60 MiB. With fewer referees each has more.",
        remedy=(f"keltis-ladder serve --cores {fit}",) if fit else (),
    )


def _has_all(memory: int, referees: int, checks: int) -> bool:
    return share_of_table(memory, referees, checks).limits == PLAY


def tasks_check(most: int, tables: int) -> Check:
    """Tell whether there may be enough processes and threads for all bots and the server."""
    table = MOST_IDLE_TASKS + MOST_PLAYERS * (PLAY.processes + 1)
    needed = int(tables * table / OF_TASKS)
    if most >= needed:
        return ok("processes", found=f"up to {most:,}")
    return limited(
        "processes",
        found=f"up to {most:,}; bots at {tables} tables, and everything else, need {needed:,}",
        meaning="Fewer bots are kept between their games, and more often started again. If all that"
        " play have as many threads as they may, the server may lack some.",
        remedy=(
            "TasksMax=infinity    # in [Service] of a unit of systemd",
            "sysctl kernel.pid_max=4194304",
        ),
    )


def watches_check(most: int | None, memory: int) -> Check:
    """Tell whether bots can use up the watches of epoll: an ordinary user shares them with us."""
    needed = memory_of_bots(memory) // WATCH_BYTES
    if most is None or most > needed:
        return ok("epoll watches", found="any number" if most is None else f"up to {most:,}")
    return limited(
        "epoll watches",
        found=f"up to {most:,}; the memory of bots is enough for {needed:,}",
        meaning="Bots run as the user who runs the ladder, and the kernel counts watches by user:"
        " bots that make as many as they can leave none for the server's connections. They pay for"
        " each with their own memory, so a higher limit costs nothing. As root they are apart.",
        remedy=(f"sysctl fs.epoll.max_user_watches={2 * needed}",),
    )


def most_watches() -> int | None:
    """Return how many watches of epoll all processes of a user may have; none if any number."""
    try:
        return int(Path("/proc/sys/fs/epoll/max_user_watches").read_text())
    except (OSError, ValueError):
        return None


def files_check(most: int, connections: int = CONNECTIONS) -> Check:
    """Return whether a server can have as many files open as there may be connections."""
    needed = connections + RESERVED_FILES
    if most == resource.RLIM_INFINITY:
        return ok("open files", found="no limit")
    if most >= needed:
        return ok("open files", found=f"up to {most:,}")
    return limited(
        "open files",
        found=f"up to {most:,}; {connections:,} connections need {needed:,}",
        meaning=f"The server takes {max(0, most - RESERVED_FILES):,} connections at most.",
        remedy=(
            f"ulimit -Hn {needed}    # as root, before the ladder starts",
            f"LimitNOFILE={needed}    # in [Service] of a unit of systemd",
        ),
    )


def synchrony_check(is_synchronised: bool | None) -> Check:
    """Return whether something keeps the time of day right."""
    if is_synchronised:
        return ok("synchrony", found="something keeps the time of day right")
    return limited(
        "synchrony",
        found="the kernel does not say whether the time of day is right"
        if is_synchronised is None
        else "nothing that the kernel knows of keeps the time of day right",
        meaning="Results, tokens and tournaments carry wrong times when it drifts; bots' clocks"
        " do not depend on it. The host of a virtual machine or container may keep it right.",
        remedy=("timedatectl set-ntp true",),
    )


def clock_status() -> bool | None:
    """Return whether the kernel's clock is synchronised; none if that cannot be had."""
    buffer = ctypes.create_string_buffer(_TIMEX_BYTES)  # zeros: it only asks
    try:
        if ctypes.CDLL(None, use_errno=True).adjtimex(buffer) < 0:
            return None
    except (AttributeError, OSError):
        return None
    at = _LONGS_BEFORE_STATUS * ctypes.sizeof(ctypes.c_long)
    return not ctypes.c_int.from_buffer(buffer, at).value & UNSYNCHRONISED
