"""Control groups: what the limits and the clock need of them, looked at in a group that is tried.

The clock needs a group of version 2 around each bot, and no controller in it: ``cpu.stat``,
``cpu.pressure`` and ``cgroup.freeze`` belong to every group. The limits need the controllers memory
and pids, of version 2 or 1. The two may come from different hierarchies.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from keltis_ladder.doctor.check import Area, Check, CheckState, Machine
from keltis_ladder.sandbox.cgroups import CONTROLLERS, LEAF, PREFIX, find_groups

MOUNTS: Final = "proc/self/mountinfo"
OWN_GROUPS: Final = "proc/self/cgroup"
PRESSURE: Final = "proc/pressure/cpu"
SYSTEMD: Final = "run/systemd/system"  # there if systemd is the init
FULL_SINCE: Final = (5, 13)  # Linux: the line "full" of cpu.pressure in a group
KILL_SINCE: Final = (5, 14)

NO_CONTROLLER: Final = ""  # version 2 itself, which /proc/self/cgroup names so, too
CONTAINER: Final = "docker run --privileged --cgroupns=private ..."
NO_CLOCK: Final = (
    "The clock cannot tell time that a bot used from time that the machine kept from it. On a busy"
    " machine honest bots lose on time, and hostile ones gain it."
)

# What is there, there in part, and not there.
ok: Final = partial(Check, area=Area.GROUPS, state=CheckState.OK)
limited: Final = partial(Check, area=Area.GROUPS, state=CheckState.LIMITED)
missing: Final = partial(Check, area=Area.GROUPS, state=CheckState.MISSING)


@dataclass(frozen=True)
class Tried:
    """What there is in a group of version 2 that was made to try it, or why none can be made."""

    directory: Path | None = None  # where groups of version 2 would be made
    trouble: int | None = None  # the error's number; none if the group could be made
    counts: bool = False  # cpu.stat tells the CPU time
    pressure: str | None = None  # what cpu.pressure says; none if it cannot be read
    freezes: bool = False
    kills: bool = False
    is_elsewhere: bool = False  # mounted, but not so that our own group can be found in it


def group_checks(machine: Machine) -> Iterator[Check]:
    """Look at what the limits and the clock need."""
    groups = find_groups()
    tried = try_group(machine)
    yield limits_check(machine, {name for base in groups.bases for name in base.controllers})
    yield version_check(machine, tried)
    if tried.trouble is None and tried.directory is not None:
        yield pressure_check(machine, tried)
        yield freeze_check(tried)
        yield kill_check(tried)
    yield clock_check(groups.can_count)


def try_group(machine: Machine) -> Tried:
    """Make a group of version 2 below our own, look at it, and remove it."""
    mounts = machine.read(MOUNTS) or ""
    directory = own_directory(mounts, machine.read(OWN_GROUPS) or "")
    if directory is None:
        return Tried(is_elsewhere=" - cgroup2 " in mounts)
    if not os.access(directory / "cgroup.procs", os.W_OK):
        return Tried(directory, errno.EACCES)  # a group could be made, but nothing moved into it
    # By this name the next referee sweeps it away if we are killed.
    group = directory / f"{PREFIX}{os.getpid()}-doctor"
    try:
        group.mkdir()
    except OSError as error:
        return Tried(directory, error.errno)
    try:
        return Tried(
            directory,
            counts="usage_usec" in (_text(group / "cpu.stat") or ""),
            pressure=_text(group / "cpu.pressure"),
            freezes=(group / "cgroup.freeze").exists(),
            kills=(group / "cgroup.kill").exists(),
        )
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()


def own_directory(mounts: str, own: str) -> Path | None:
    """Return our own group of version 2, out of which groups for bots are made."""
    path = next((line[3:] for line in own.splitlines() if line.startswith("0::")), None)
    for line in mounts.splitlines():
        front, _, back = line.partition(" - ")
        fields = front.split()
        # A container that sees only a part of the hierarchy is told a path from the root of all.
        if back.startswith("cgroup2 ") and fields[3] == "/" and path is not None:
            directory = Path(fields[4], path.lstrip("/"))
            return directory.parent if directory.name == LEAF else directory
    return None


def limits_check(machine: Machine, controllers: set[str]) -> Check:
    """Return whether memory and processes of a bot are limited together."""
    lacking = [name for name in CONTROLLERS if name not in controllers]
    if not lacking:
        found = f"{' and '.join(CONTROLLERS)} of all processes of a bot together"
        return ok("limits", found=found, required=True)
    return missing(
        "limits",
        found=f"no {' and no '.join(lacking)} controller that we may use",
        required=True,
        meaning="Limits hold for each process only. Memory that the kernel uses for a bot (page"
        " tables, buffers of sockets) is not counted: one bot can take several GiB in seconds. A"
        " public server then refuses to play strangers' bots; to override:"
        " keltis-ladder serve --no-limits",
        remedy=delegation(machine, lacking),
    )


def version_check(machine: Machine, tried: Tried) -> Check:
    """Return whether there can be a group of version 2 around each bot."""
    if tried.directory is not None and tried.trouble is None:
        where = f"groups can be made in {tried.directory}"
        return ok("version 2", found=where, required=True)
    remedy: tuple[str, ...] = (CONTAINER,)
    if tried.is_elsewhere:
        found = "mounted, but our own group is not in it, as in a container"
    elif tried.directory is None:
        found = "not mounted"
        remedy = (
            f"{machine.sudo}mkdir -p /sys/fs/cgroup/unified",
            f"{machine.sudo}mount -t cgroup2 none /sys/fs/cgroup/unified",
        )
    elif tried.trouble == errno.EROFS:
        found = f"{tried.directory} is read-only, as in most containers"
    else:
        found = f"no group may be made in {tried.directory}: {os.strerror(tried.trouble or 0)}"
        remedy = delegation(machine)
    return missing("version 2", found=found, required=True, meaning=NO_CLOCK, remedy=remedy)


def delegation(machine: Machine, controllers: Sequence[str] = (NO_CONTROLLER,)) -> tuple[str, ...]:
    """Return how to get groups of one's own, with these controllers."""
    if (machine.root / SYSTEMD).is_dir():
        if machine.is_root:
            return ("systemd-run --scope -p Delegate=yes keltis-ladder serve",)
        return (
            "systemd-run --user --scope -p Delegate=yes keltis-ladder serve",
            "Delegate=yes    # in [Service] of a unit of systemd",
        )
    if machine.is_root:
        return (f"{CONTAINER}    # in a container",)
    places = hierarchies(machine.read(MOUNTS) or "")
    unified = places.get(NO_CONTROLLER, Path("/sys/fs/cgroup"))
    commands = []
    if any(name not in places for name in controllers):
        commands.append(f'echo "+memory +pids" | sudo tee {unified}/cgroup.subtree_control')
    for place in dict.fromkeys(places.get(name, unified) for name in controllers):
        group = place / "keltis"
        # In version 2 a group that others are made in holds no process of its own.
        ours = group / LEAF if place == unified else group
        commands += [
            f'sudo mkdir -p {ours} && sudo chown -R "$USER" {group}',
            f"echo $$ | sudo tee {ours}/cgroup.procs    # this shell; then: keltis-ladder serve",
        ]
    return tuple(commands)


def hierarchies(mounts: str) -> dict[str, Path]:
    """Return where groups of version 2 are mounted, and where each controller of version 1."""
    places: dict[str, Path] = {}
    for line in mounts.splitlines():
        front, _, back = line.partition(" - ")
        if back.startswith("cgroup2 "):
            places.setdefault(NO_CONTROLLER, Path(front.split()[4]))
        elif back.startswith("cgroup "):
            for name in back.split(" ", 2)[2].split(","):
                if name in CONTROLLERS:
                    places.setdefault(name, Path(front.split()[4]))
    return places


def pressure_check(machine: Machine, tried: Tried) -> Check:
    """Return whether the kernel says how long a group was kept from running."""
    has_full = any(line.startswith("full ") for line in (tried.pressure or "").splitlines())
    if has_full and tried.counts:
        found = "cpu.pressure and cpu.stat tell stalls and CPU time"
        return ok("pressure", found=found, required=True)
    release = kernel_release()
    if release < FULL_SINCE:
        found = f"Linux {'.'.join(map(str, release))} does not tell it for groups"
        remedy: tuple[str, ...] = ("use Linux 5.13 or newer",)
    elif tried.pressure is None and machine.read(PRESSURE) is not None:
        found = "switched off for this group"
        remedy = (f"echo 1 | {machine.sudo}tee {tried.directory}/cgroup.pressure",)
    else:
        found = "the kernel keeps no pressure figures"
        remedy = (
            f"{machine.sudo}sed -i 's/^GRUB_CMDLINE_LINUX=\"/&psi=1 /' /etc/default/grub",
            f"{machine.sudo}update-grub && {machine.sudo}reboot",
        )
    return missing("pressure", found=found, required=True, meaning=NO_CLOCK, remedy=remedy)


def freeze_check(tried: Tried) -> Check:
    """Return whether bots can be frozen while others think."""
    if tried.freezes:
        return ok("freezing", found="bots that are not asked are frozen", required=True)
    return missing(
        "freezing",
        found="no cgroup.freeze",
        required=True,
        meaning="Bots that are not asked are stopped by a signal, which a hostile one can escape.",
        remedy=("use Linux 5.2 or newer",),
    )


def kill_check(tried: Tried) -> Check:
    """Return whether everything of a bot can be ended at once."""
    if tried.kills:
        return ok("killing", found="all of a bot ends at once")
    return limited(
        "killing",
        found="no cgroup.kill",
        meaning="Bots are ended by killing the init of their sandbox, which takes a little longer.",
        remedy=(f"use Linux {'.'.join(map(str, KILL_SINCE))} or newer",),
    )


def clock_check(can_count: bool) -> Check:
    """Return whether the referee's clock is exact: all of the above, as the sandbox finds it."""
    if can_count:
        return ok("exact clock", found="bots pay for what they use", required=True)
    return missing(
        "exact clock",
        found="bots pay for time that the machine kept from them",
        required=True,
        meaning="Install what is missing above. Until then a public server refuses to play"
        " strangers' bots; to override: keltis-ladder serve --inexact-clock",
    )


def kernel_release() -> tuple[int, int]:
    """Return the first two numbers of the kernel's version."""
    found = re.match(r"(\d+)\.(\d+)", platform.release())
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _text(path: Path) -> str | None:
    with contextlib.suppress(OSError):
        return path.read_text()
    return None
