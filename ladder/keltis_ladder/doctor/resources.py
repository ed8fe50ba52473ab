"""Cores, memory, disk, time, and the place where the ladder keeps its data."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import keltis_engine
from keltis_ladder.doctor.check import Area, Check, CheckState, Machine
from keltis_ladder.files.sizes import MIB
from keltis_ladder.sandbox.runtimes import shown_place
from keltis_ladder.store.home import FILE, OTHERS

GIB: Final = 1024 * MIB
MEMORY_WANTED: Final = 2 * GIB  # available: a match of four bots in all rotations, and the server
MEMORY_NEEDED: Final = 512 * MIB
DISK_WANTED: Final = 2 * GIB
DISK_NEEDED: Final = 200 * MIB
STEAL_NOTICED: Final = 0.02  # part of all time since the start that a hypervisor kept
CLOCK_SOURCE: Final = "sys/devices/system/clocksource/clocksource0/current_clocksource"
FINE_SECONDS: Final = 1e-6
SLOW_CLOCKS: Final = ("hpet", "acpi_pm", "jiffies", "pit", "refined-jiffies")
# SQLite's write-ahead log needs memory that is shared through the file system.
NETWORK_FILE_SYSTEMS: Final = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "9p",
    "fuse.sshfs",
    "ceph",
    "glusterfs",
)

# What is there, there in part, and not there.
ok: Final = partial(Check, area=Area.MACHINE, state=CheckState.OK)
limited: Final = partial(Check, area=Area.MACHINE, state=CheckState.LIMITED)
missing: Final = partial(Check, area=Area.MACHINE, state=CheckState.MISSING)


def resource_checks(machine: Machine, directory: Path, database: str | None) -> Iterator[Check]:
    """Look at what a ladder consumes."""
    yield cores_check(machine, len(os.sched_getaffinity(0)))
    yield memory_check(machine)
    yield source_check(machine)
    yield resolution_check(time.clock_getres(time.CLOCK_MONOTONIC))
    yield time_check(time.time(), Path(keltis_engine.__file__).stat().st_mtime)
    yield data_check(machine, directory, database)
    yield disk_check(directory, shutil.disk_usage(existing(directory)).free)


def cores_check(machine: Machine, cores: int) -> Check:
    """Tell how many cores there are, and whether a hypervisor takes time from them."""
    found = f"{cores} {'core' if cores == 1 else 'cores'}"
    stolen = _stolen(machine)
    if stolen > STEAL_NOTICED:
        return limited(
            "cores",
            found=f"{found}, {stolen:.0%} of their time taken by the hypervisor",
            meaning="Time that a hypervisor takes can be told from a bot's own only roughly: a"
            " machine with cores of its own is fairer.",
        )
    if cores == 1:
        return limited(
            "cores",
            found=found,
            meaning="The server and the matches share it: pages are slow while bots think.",
        )
    return ok("cores", found=found)


def _stolen(machine: Machine) -> float:
    fields = (machine.read("proc/stat") or "").split("\n", 1)[0].split()[1:9]
    times = [int(field) for field in fields]
    total = sum(times)
    return times[7] / total if len(times) == 8 and total else 0.0


def memory_check(machine: Machine) -> Check:
    """Tell how much memory can be had."""
    found = re.search(
        r"^MemAvailable:\s*(\d+) kB", machine.read("proc/meminfo") or "", re.MULTILINE
    )
    if found is None:
        return limited("memory", found="not told by /proc/meminfo")
    available = int(found[1]) * 1024
    told = f"{available / GIB:.1f} GiB available"
    if available >= MEMORY_WANTED:
        return ok("memory", found=told)
    return Check(
        "memory",
        Area.MACHINE,
        CheckState.LIMITED if available >= MEMORY_NEEDED else CheckState.MISSING,
        told,
        required=available < MEMORY_NEEDED,
        meaning="What others hold now cannot be had by bots, whatever they may use: with less than"
        f" {MEMORY_WANTED // GIB} GiB the kernel may end one that did nothing wrong.",
    )


def source_check(machine: Machine) -> Check:
    """Return whether reading the clock is cheap."""
    source = (machine.read(CLOCK_SOURCE) or "unknown").strip()
    if source not in SLOW_CLOCKS:
        return ok("clock source", found=source)
    return limited(
        "clock source",
        found=source,
        meaning="Reading this clock takes a microsecond or more each time: fewer matches a minute.",
        remedy=("cat /sys/devices/system/clocksource/clocksource0/available_clocksource",),
    )


def resolution_check(seconds: float) -> Check:
    """Return whether the clock that deadlines are measured by has fine steps."""
    if seconds <= FINE_SECONDS:
        told = f"monotonic, in steps of {seconds * 1e9:.0f} ns"
        return ok("clock steps", found=told)
    return limited(
        "clock steps",
        found=f"monotonic, in steps of {seconds * 1e3:.1f} ms",
        meaning="Decisions are charged in steps as large as this. The kernel runs without timers of"
        " high resolution: look for highres=off or nohz=off among what it was started with.",
        remedy=("cat /proc/cmdline",),
    )


def time_check(now: float, installed: float) -> Check:
    """Return whether the time of day can be right: nothing is installed in the future."""
    told = f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M:%S} UTC"
    if now >= installed:
        return ok("time", found=told)
    return limited(
        "time",
        found=f"{told}, which is before this package was installed",
        meaning="Results, tokens and sessions would carry wrong times.",
        remedy=("timedatectl set-ntp true",),
    )


def data_check(machine: Machine, directory: Path, database: str | None) -> Check:
    """Return whether the ladder can keep its data where it wants to."""
    place = existing(directory)
    if not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
        return missing(
            "data",
            found=f"{place} is not a directory that we may write to",
            required=True,
            meaning="Database, archives and builds live there.",
            remedy=("keltis-ladder serve --data DIRECTORY",),
        )
    if (shown := shown_place(directory)) is not None:
        return missing(
            "data",
            found=f"{directory} is inside {shown}",
            required=True,
            meaning="Every bot can read what is in there, the seeds of deals included: the ladder"
            " does not start.",
            remedy=("keltis-ladder serve --data DIRECTORY",),
        )
    told = str(directory) if place == directory else f"{directory} can be made"
    if (directory / FILE).exists() and directory.stat().st_mode & OTHERS:
        return limited(
            "data",
            found=f"{told}, open to other users",
            meaning="The next start of the ladder closes it, if it is its own directory.",
            remedy=(f"chmod 700 {shlex.quote(str(directory))}",),
        )
    if database and "://" in database:
        return ok("data", found=f"{told}; the database is elsewhere")
    kind = file_system(machine.read("proc/self/mounts") or "", place)
    if kind in NETWORK_FILE_SYSTEMS:
        return limited(
            "data",
            found=f"{told}, on {kind}",
            meaning="SQLite is not safe on a file system of another machine: use a local directory,"
            " or PostgreSQL.",
            remedy=("keltis-ladder serve --database postgresql://USER:PASSWORD@HOST/NAME",),
        )
    return ok("data", found=told, required=True)


def disk_check(directory: Path, free: int) -> Check:
    """Tell how much room there is for data."""
    told = f"{free / GIB:.1f} GiB free for {directory}"
    if free >= DISK_WANTED:
        return ok("disk", found=told)
    return Check(
        "disk",
        Area.MACHINE,
        CheckState.LIMITED if free >= DISK_NEEDED else CheckState.MISSING,
        told,
        required=free < DISK_NEEDED,
        meaning="A day of a busy ladder is some hundred MiB; on a full disk nothing is stored.",
        remedy=("keltis-ladder serve --data DIRECTORY",),
    )


def existing(directory: Path) -> Path:
    """Return the directory, or the nearest one above it that is there."""
    path = directory.absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def file_system(mounts: str, place: Path) -> str:
    """Return the kind of file system that a path is on: that of the nearest mount above it."""
    best, kind = -1, ""
    for line in mounts.splitlines():
        fields = line.split()
        with contextlib.suppress(ValueError, IndexError):
            place.relative_to(fields[1])
            if len(fields[1]) >= best:
                best, kind = len(fields[1]), fields[2]
    return kind
