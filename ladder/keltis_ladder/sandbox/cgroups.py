"""Control groups: all processes of one sandbox limited, counted, paused and ended together.

Limits of memory and processes need the controllers of version 2, in a group that was delegated to
us (systemd: ``Delegate=yes``), or those of version 1. The clock and the pausing need a group of
version 2, but no controller: such a group also works beside those of version 1. Everything else in
the sandbox works without them, so a machine without groups is no error here: whether strangers'
bots are played on it is the server's to decide.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from keltis_ladder.sandbox.limits import BUILD, PLAY, Limits, memory_of_bots, memory_of_builds
from keltis_ladder.sandbox.meter import Meter, can_meter

PREFIX: Final = "keltis-"
ALL_BOTS: Final = "keltis-bots"  # the group around all bots that play, with a limit of its own
ALL_BUILDS: Final = "keltis-builds"  # the one around all builds: neither can take from the other
ONE_OF_ALL: Final = 7 / 8  # of what all may hold, for one alone: it reaches its own limit first
AT_THE_LIMIT: Final = 1 << 20  # bytes below it: memory is taken in pieces
LEAF: Final = "keltis-self"  # version 2 allows processes only in leaves: ours go there
CONTROLLERS: Final = ("memory", "pids")
MEMORY_LIMITS: Final = ("memory.limit_in_bytes", "memory.max")  # of version 1, and of version 2
FREEZE: Final = "cgroup.freeze"
KILL: Final = "cgroup.kill"  # since Linux 5.14
RELEASE_SECONDS: Final = 2.0  # until the kernel has let go of a group whose processes are dead

INEXACT_CLOCK: Final = (
    "no control groups of version 2 with pressure figures here: on a busy machine clocks are"
    " inexact, and bots with several threads may gain time; `keltis-ladder doctor` tells how to"
    " get them."
)

NO_LIMITS: Final = (
    "no control groups here that limit memory and processes: one bot can take several GiB that"
    " nobody counts (page tables, buffers of sockets) and bring the machine down; `keltis-ladder"
    " doctor` tells how to get them."
)

_serial = itertools.count()


@dataclass(frozen=True)
class Base:
    """A directory in which we may make groups."""

    directory: Path
    version: int
    controllers: tuple[str, ...]
    builds: Path | None = None  # another one for builds

    def place(self, limits: Limits) -> Path:
        """Return where the group of a sandbox with such limits belongs."""
        return self.builds if limits.is_build and self.builds is not None else self.directory


class Group:
    """The groups of one sandbox: one in version 2, one for each controller in version 1."""

    def __init__(self, bases: Sequence[Base], limits: Limits) -> None:
        self.directories: list[Path] = []
        self.memory: Path | None = None
        self.pids: Path | None = None
        self._unified = False  # its memory is counted by version 2
        self.meter: Meter | None = None
        self._freezer = -1
        name = f"{PREFIX}{os.getpid()}-{next(_serial)}"
        try:
            for base in bases:
                directory = base.place(limits) / name
                directory.mkdir()
                self.directories.append(directory)
                for file, value in _settings(base, directory, limits):
                    (directory / file).write_text(str(value))
                if "memory" in base.controllers:
                    self.memory = directory
                    self._unified = base.version == 2
                if "pids" in base.controllers:
                    self.pids = directory
                if base.version == 2 and can_count(directory):
                    self._freezer = os.open(directory / FREEZE, os.O_WRONLY | os.O_CLOEXEC)
                    self.meter = Meter(directory)
        except OSError:
            self.remove()
            raise

    def add(self, pid: int) -> None:
        """Put a process into the group, and with it all that it will start."""
        for directory in self.directories:
            (directory / "cgroup.procs").write_text(str(pid))

    def members(self) -> list[int]:
        """Return the processes in it."""
        with (self.directories[0] / "cgroup.procs").open("rb", buffering=0) as file:
            return [int(pid) for pid in file.readall().split()]

    def peak_memory(self) -> int:
        """Return the most bytes it ever held, file caches included; 0 if that is not known."""
        if self.memory is not None:
            for name in ("memory.max_usage_in_bytes", "memory.peak"):
                with contextlib.suppress(OSError):
                    return int((self.memory / name).read_text())
        return 0

    def held_memory(self) -> int | None:
        """Return the bytes it holds now, file caches and /tmp included; none if nobody counts."""
        if self.memory is None:
            return None
        return _figure(self.memory, "memory.current" if self._unified else "memory.usage_in_bytes")

    def held_tasks(self) -> int | None:
        """Return how many processes and threads are in it; none if nobody counts."""
        return None if self.pids is None else _figure(self.pids, "pids.current")

    def out_of_memory(self) -> bool:
        """Return whether the kernel has killed a process in it for reaching its own limit."""
        return self._killed_for_memory() and self._reached_limit()

    def lacked_memory(self) -> bool:
        """Return whether the kernel has killed a process in it for what others hold.

        It had not reached its own limit: all bots or all builds together had reached theirs, or
        the machine had no memory left.
        """
        return self._killed_for_memory() and not self._reached_limit()

    def _killed_for_memory(self) -> bool:
        for name in ("memory.events", "memory.oom_control"):
            if (count := self._counted(name, "oom_kill")) is not None:
                return count > 0
        return False

    def _reached_limit(self) -> bool:
        if (count := self._counted("memory.events", "oom")) is not None:
            return count > 0
        # Version 1 does not count it: recent kernels leave memory.failcnt at 0.
        limit = _limit_of(self.memory) if self.memory is not None else None
        return limit is not None and self.peak_memory() > limit - AT_THE_LIMIT

    def _counted(self, file: str, name: str) -> int | None:
        """Return a figure of a file of names and figures, or none if it is not there."""
        if self.memory is not None:
            with contextlib.suppress(OSError):
                words = (self.memory / file).read_text().split()
                return int(dict(zip(words[::2], words[1::2], strict=True))[name])
        return None

    @property
    def can_freeze(self) -> bool:
        """Whether ``freeze`` works."""
        return self._freezer >= 0

    def freeze(self, frozen: bool) -> None:
        """Keep all in it from running, which nothing inside can undo; or let it go on."""
        os.pwrite(self._freezer, b"1" if frozen else b"0", 0)

    def kill(self) -> None:
        """End all in it at once, frozen or not, and whatever is just being started."""
        for directory in self.directories:
            with contextlib.suppress(OSError):
                _kill_at_once(directory)

    def remove(self) -> None:
        """Remove it; its processes must be dead, but the kernel may need a moment to see that."""
        if self.meter is not None:
            self.meter.close()
            self.meter = None
        if self._freezer >= 0:
            os.close(self._freezer)
            self._freezer = -1
        for directory in self.directories:
            _remove(directory, time.monotonic() + RELEASE_SECONDS)
        self.directories = []


@dataclass
class Groups:
    """Where groups can be made; nowhere if there are no bases."""

    bases: list[Base] = field(default_factory=list)

    @property
    def can_limit(self) -> bool:
        """Whether memory and processes of a sandbox are limited as a whole."""
        return set(CONTROLLERS) <= {name for base in self.bases for name in base.controllers}

    @property
    def can_count(self) -> bool:
        """Whether a sandbox can be paused, and its time counted, as a whole."""
        return any(base.version == 2 and _try_counting(base.directory) for base in self.bases)

    def create(self, limits: Limits) -> Group | None:
        """Make a group with limits, or return None where there is none.

        One that could be made before and cannot be made now is an error: nobody plays without
        limits because something went wrong for a moment.
        """
        return Group(self.bases, limits) if self.bases else None

    def sweep(self) -> None:
        """Remove what referees left behind that were killed."""
        for base in self.bases:
            places = [base.directory]
            if base.builds is not None:
                # The last is where releases before this one made them.
                places += [base.builds, base.directory.parent]
            for directory in itertools.chain(*(place.glob(f"{PREFIX}*-*") for place in places)):
                owner = directory.name.removeprefix(PREFIX).partition("-")[0]
                if owner.isdigit() and not Path(f"/proc/{owner}").exists():
                    _kill_members(directory)
                    _remove(directory, time.monotonic() + RELEASE_SECONDS)


def find_groups(mounts: str | None = None, own: str | None = None) -> Groups:
    """Return where this process may make groups; arguments replace the kernel's files in tests."""
    if mounts is None:
        mounts = Path("/proc/self/mountinfo").read_text()
    if own is None:
        own = Path("/proc/self/cgroup").read_text()
    bases = list(_unified(mounts, own)) or [
        *_separate(mounts, own),
        *_without_controllers(mounts, own),
    ]
    bases = [_around_all(base) if "memory" in base.controllers else base for base in bases]
    groups = Groups([base for base in bases if _is_usable(base)])
    groups.sweep()
    return groups


def _is_usable(base: Base) -> bool:
    """Return whether groups with limits can be made there."""
    try:
        for limits in (PLAY, BUILD):
            Group([base], limits).remove()
    except OSError:
        return False
    return True


def available_memory() -> int:
    """Return the bytes of memory that this machine has, or that our own group may have of it."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(physical, *_limits_around_us("memory", MEMORY_LIMITS))


def available_tasks() -> int:
    """Return how many processes and threads there can be, or may be in our own group."""
    kernel = Path("/proc/sys/kernel")
    machine = [int((kernel / name).read_text()) for name in ("pid_max", "threads-max")]
    return min(*machine, *_limits_around_us("pids", ("pids.max",)))


def _limits_around_us(controller: str, names: Sequence[str]) -> Iterator[int]:
    """Yield the limits of a kind of our own group and of all around it."""
    with contextlib.suppress(OSError):
        mounts = Path("/proc/self/mountinfo").read_text()
        own = Path("/proc/self/cgroup").read_text()
        for kind, name in (("cgroup", controller), ("cgroup2", "")):
            root, path = _mounted(mounts, kind, name), _own_path(own, name)
            if root is not None and path is not None:
                directory = _below(root, path)
                for place in (directory, *directory.parents):
                    if limit := _limit_of(place, names):
                        yield limit
                    if place == root:
                        break


def _limit_of(directory: Path, names: Sequence[str] = MEMORY_LIMITS) -> int | None:
    """Return the limit of a group, or none if it has none."""
    for name in names:
        with contextlib.suppress(OSError, ValueError):  # "max" is no number
            return int((directory / name).read_text())
    return None


def _around_all(base: Base) -> Base:
    """Return groups around all bots and all builds, so that they leave memory to everything else.

    They stay when the ladder ends, and are shared by all that run in our own group.
    """
    bots, builds = base.directory / ALL_BOTS, base.directory / ALL_BUILDS
    memory = available_memory()
    try:
        _limit_all(base, bots, memory_of_bots(memory))
        _limit_all(base, builds, memory_of_builds(memory))
    except OSError:
        return base  # each sandbox has its own limit all the same
    return Base(bots, base.version, base.controllers, builds)


def _limit_all(base: Base, directory: Path, limit: int) -> None:
    directory.mkdir(exist_ok=True)
    if base.version == 2:
        switched = " ".join(f"+{name}" for name in base.controllers)
        (directory / "cgroup.subtree_control").write_text(switched)
        (directory / "memory.max").write_text(str(limit))
    else:
        (directory / "memory.limit_in_bytes").write_text(str(limit))


def _figure(directory: Path, name: str) -> int | None:
    """Return what a file of a group says, if it is there."""
    try:
        with open(f"{directory}/{name}", "rb") as file:  # noqa: PTH123 - quicker, and often read
            return int(file.read())
    except OSError:
        return None


def can_count(directory: Path) -> bool:
    """Return whether a group of version 2 has all that the clock and the pausing need."""
    return (directory / FREEZE).exists() and can_meter(directory)


def _unified(mounts: str, own: str) -> Iterator[Base]:
    root = _mounted(mounts, "cgroup2", "")
    path = _own_path(own, "")
    if root is None or path is None:
        return
    directory = _below(root, path)
    if directory.name == LEAF:
        directory = directory.parent
    with contextlib.suppress(OSError):
        if not set(CONTROLLERS) <= set((directory / "cgroup.controllers").read_text().split()):
            return
        if not set(CONTROLLERS) <= set((directory / "cgroup.subtree_control").read_text().split()):
            leaf = directory / LEAF
            leaf.mkdir(exist_ok=True)
            (leaf / "cgroup.procs").write_text(str(os.getpid()))
            # Fails if others are in our group too: then it was not made for us alone.
            (directory / "cgroup.subtree_control").write_text("+memory +pids")
        if os.access(directory, os.W_OK):
            yield Base(directory, 2, CONTROLLERS)


def _separate(mounts: str, own: str) -> Iterator[Base]:
    for controller in CONTROLLERS:
        root = _mounted(mounts, "cgroup", controller)
        path = _own_path(own, controller)
        if root is not None and path is not None:
            directory = _below(root, path)
            if os.access(directory, os.W_OK):
                yield Base(directory, 1, (controller,))


def _without_controllers(mounts: str, own: str) -> Iterator[Base]:
    """Yield a group of version 2 for the clock alone, beside limits of version 1 or none."""
    root, path = _mounted(mounts, "cgroup2", ""), _own_path(own, "")
    if root is not None and path is not None:
        directory = _below(root, path)
        if os.access(directory, os.W_OK) and os.access(directory / "cgroup.procs", os.W_OK):
            yield Base(directory, 2, ())


def _try_counting(base: Path) -> bool:
    """Make a group, as the kernel shows in the first one of all less than in those below it."""
    directory = base / f"{PREFIX}{os.getpid()}-{next(_serial)}"
    try:
        directory.mkdir()
    except OSError:
        return False
    try:
        return can_count(directory)
    finally:
        _remove(directory, time.monotonic() + RELEASE_SECONDS)


def _mounted(mounts: str, kind: str, controller: str) -> Path | None:
    """Return where a hierarchy is mounted; its root must be the hierarchy's own."""
    for line in mounts.splitlines():
        front, _, back = line.partition(" - ")
        fields, (filesystem, _, options) = front.split(), back.split(" ", 2)
        is_right = kind == "cgroup2" or controller in options.split(",")
        if filesystem == kind and fields[3] == "/" and is_right:
            return Path(fields[4])
    return None


def _own_path(own: str, controller: str) -> str | None:
    for line in own.splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    return None


def _below(root: Path, path: str) -> Path:
    return root / path.lstrip("/")


def _settings(base: Base, directory: Path, limits: Limits) -> Iterator[tuple[str, int]]:
    """Yield files and what to write to them, in this order."""
    # Files in /tmp are memory, but a program that fills /tmp has its own limit for that.
    memory = limits.memory + limits.scratch
    if base.builds is not None and (most := _limit_of(base.place(limits))) is not None:
        memory = min(memory, int(ONE_OF_ALL * most))
    if base.version == 2 and "memory" in base.controllers:
        yield "memory.max", memory
        if (directory / "memory.swap.max").exists():
            yield "memory.swap.max", 0
        if (directory / "memory.oom.group").exists():
            yield "memory.oom.group", 1
    elif "memory" in base.controllers:
        yield "memory.limit_in_bytes", memory
        if (directory / "memory.memsw.limit_in_bytes").exists():
            yield "memory.memsw.limit_in_bytes", memory
    if "pids" in base.controllers:
        yield "pids.max", limits.processes + 1  # and the sandbox's init


def _kill_at_once(directory: Path) -> None:
    (directory / KILL).write_text("1")


def _kill_members(directory: Path) -> None:
    with contextlib.suppress(OSError):
        _kill_at_once(directory)
        return
    with contextlib.suppress(OSError):
        for pid in (directory / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)


def _remove(directory: Path, deadline: float) -> None:
    while True:
        try:
            directory.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                return  # swept by the next referee
            time.sleep(0.001)
