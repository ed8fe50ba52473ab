"""Control groups: memory and processes of one sandbox, counted together, where we may have them.

Version 2 needs a group that was delegated to us (systemd: ``Delegate=yes``), version 1 a writable
one. Everything else in the sandbox works without them, so a group that cannot be had is no error.
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

from keltis_ladder.limits import Limits

PREFIX: Final = "keltis-"
LEAF: Final = "keltis-self"  # version 2 allows processes only in leaves: ours go there
CONTROLLERS: Final = ("memory", "pids")
PATIENCE: Final = 2.0  # seconds until the kernel has let go of a group whose processes are dead

_serial = itertools.count()


@dataclass(frozen=True)
class Base:
    """A directory in which we may make groups."""

    directory: Path
    version: int
    controllers: tuple[str, ...]


class Group:
    """The groups of one sandbox: one in version 2, one for each controller in version 1."""

    def __init__(self, bases: Sequence[Base], limits: Limits) -> None:
        self.directories: list[Path] = []
        self.memory: Path | None = None
        name = f"{PREFIX}{os.getpid()}-{next(_serial)}"
        try:
            for base in bases:
                directory = base.directory / name
                directory.mkdir()
                self.directories.append(directory)
                for file, value in _settings(base, directory, limits):
                    (directory / file).write_text(str(value))
                if "memory" in base.controllers:
                    self.memory = directory
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

    def out_of_memory(self) -> bool:
        """Tell whether the kernel has killed a process in it for want of memory."""
        if self.memory is not None:
            for name in ("memory.events", "memory.oom_control"):
                with contextlib.suppress(OSError):
                    words = (self.memory / name).read_text().split()
                    return int(dict(zip(words[::2], words[1::2], strict=True))["oom_kill"]) > 0
        return False

    def remove(self) -> None:
        """Remove it; its processes must be dead, but the kernel may need a moment to see that."""
        for directory in self.directories:
            _remove(directory, time.monotonic() + PATIENCE)
        self.directories = []


@dataclass
class Groups:
    """Where groups can be made; nowhere if there are no bases."""

    bases: list[Base] = field(default_factory=list)

    def create(self, limits: Limits) -> Group | None:
        """Make a group with limits, or return None if there can be none any more."""
        if self.bases:
            try:
                return Group(self.bases, limits)
            except OSError:
                # Taken away while we ran. What remains still holds without them.
                self.bases = []
        return None

    def sweep(self) -> None:
        """Remove what referees left behind that were killed."""
        for base in self.bases:
            for directory in base.directory.glob(f"{PREFIX}*-*"):
                owner = directory.name.removeprefix(PREFIX).partition("-")[0]
                if owner.isdigit() and not Path(f"/proc/{owner}").exists():
                    _kill_members(directory)
                    _remove(directory, time.monotonic() + PATIENCE)


def find_groups(mounts: str | None = None, own: str | None = None) -> Groups:
    """Return where this process may make groups; arguments replace the kernel's files in tests."""
    if mounts is None:
        mounts = Path("/proc/self/mountinfo").read_text()
    if own is None:
        own = Path("/proc/self/cgroup").read_text()
    groups = Groups(list(_unified(mounts, own)) or list(_separate(mounts, own)))
    groups.sweep()
    return groups


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
    if base.version == 2:
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


def _kill_members(directory: Path) -> None:
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
