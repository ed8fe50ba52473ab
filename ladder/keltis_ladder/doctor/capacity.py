"""What a busy ladder needs of the machine at the same time: memory of bots, open files, a clock."""

from __future__ import annotations

import ctypes
import os
import resource
from collections.abc import Iterator
from functools import partial
from typing import Final

from keltis_ladder.doctor.check import Area, Check, CheckState
from keltis_ladder.files.sizes import MIB
from keltis_ladder.sandbox.cgroups import available_memory
from keltis_ladder.sandbox.limits import PLAY, memory_of_bots

GIB: Final = 1024 * MIB
CONNECTIONS: Final = 4096  # that a server allows unless it is told otherwise
RESERVED_FILES: Final = 256  # descriptors for databases, referees, uploads
MOST_PLAYERS: Final = 4  # bots that a referee asks in turn
UNSYNCHRONISED: Final = 0x40  # STA_UNSYNC of the kernel
_TIMEX_BYTES: Final = 512  # more than struct timex has on any machine
_LONGS_BEFORE_STATUS: Final = 5  # modes, offset, freq, maxerror, esterror: each takes a long

ok: Final = partial(Check, area=Area.MACHINE, state=CheckState.OK)
limited: Final = partial(Check, area=Area.MACHINE, state=CheckState.LIMITED)


def capacity_checks() -> Iterator[Check]:
    """Look at what a busy ladder needs at the same time."""
    yield bots_check(memory_of_bots(available_memory()), len(os.sched_getaffinity(0)))
    yield files_check(resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    yield synchrony_check(clock_status())


def bots_check(memory: int, referees: int) -> Check:
    """Return whether all bots that play at the same time may use all that each of them may."""
    needed = referees * MOST_PLAYERS * PLAY.memory
    told = (
        f"{memory / GIB:.1f} GiB for all; {referees} x {MOST_PLAYERS} bots of"
        f" {PLAY.memory / GIB:.0f} GiB are {needed / GIB:.0f} GiB"
    )
    if memory >= needed:
        return ok("memory of bots", found=told)
    fit = max(1, memory // (MOST_PLAYERS * PLAY.memory))
    return limited(
        "memory of bots",
        found=told,
        meaning=f"Each of {referees} referees may play a match of {MOST_PLAYERS} bots, and each bot"
        f" may use {PLAY.memory / GIB:.0f} GiB. When all together reach their limit the largest"
        " ends, and its match is played again. Most bots use a hundredth of it; with fewer"
        " referees it cannot happen.",
        remedy=(f"keltis-ladder serve --cores {'0' if fit == 1 else f'0-{fit - 1}'}",)
        if fit < referees
        else (),
    )


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
