"""Copy a bot's directory to where nobody changes it, and build it there."""

from __future__ import annotations

import contextlib
import os
import select
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from keltis_ladder.errors import LadderError
from keltis_ladder.faults import MachineFailed
from keltis_ladder.launch import CannotStart, Child, launch_plain
from keltis_ladder.limits import BUILD, BUILD_SECONDS, KIB, MIB
from keltis_ladder.sandbox import Sandbox
from keltis_ladder.trees import (
    Bounds,
    CannotStage,
    Entry,
    blame,
    discard,
    open_file,
    real_path,
    seal,
    unseal,
    walk,
)

__all__ = ["BuildFailed", "CannotStage", "Staged", "build", "stage"]

SUBMITTED: Final = Bounds(files=10_000, size=200 * MIB)
BUILT: Final = Bounds(files=50_000, size=1024 * MIB)

OUTPUT: Final = MIB  # bytes of a build's output that are passed on
TAIL: Final = 4 * KIB  # bytes of it that an error quotes
SPARE: Final = Bounds(files=1000, size=16 * MIB)  # what a disk has left if it is not full
LOOK: Final = 0.25  # seconds between two looks at what a build uses
_CHUNK: Final = 256 * KIB


class BuildFailed(LadderError):
    """A bot could not be built; the text says how its command ended, and its last words."""

    def __init__(self, reason: str, code: int | None, tail: str) -> None:
        self.reason = f"the build {reason}"
        super().__init__(self.reason + (f":\n{tail}" if tail else ""))
        self.code = code
        self.tail = tail


@dataclass(frozen=True)
class Staged:
    """A bot's directory, read-only, and the SHA-256 of all that is in it."""

    directory: Path
    digest: str


def stage(source: Path, into: Path, bounds: Bounds = SUBMITTED) -> Staged:
    """Copy a bot's files, directories and links between them to a new directory."""
    if not source.is_dir():
        raise CannotStage(f"{source} is not a directory")
    try:
        into.mkdir(parents=True)
    except OSError as error:
        raise MachineFailed(f"cannot make {into}: {error.strerror}") from error
    try:
        for entry in walk(source, bounds):
            _copy(source, entry, into / entry.name)
        return Staged(into, seal(into, bounds))
    except OSError as error:
        with contextlib.suppress(OSError):
            discard(into)
        raise blame(error, f"cannot copy {error.filename or source}") from error
    except BaseException:
        with contextlib.suppress(OSError):
            discard(into)
        raise


def build(
    staged: Staged,
    command: list[str],
    sandbox: Sandbox | None,
    on_output: Callable[[str], None],
    seconds: float = BUILD_SECONDS,
    is_wanted: Callable[[], bool] = lambda: True,
) -> Staged:
    """Run a bot's build command in its directory, and seal the result.

    Without a sandbox it runs as we do: for one's own bots only. A directory that could not be built
    is removed. A build that is not wanted any more is broken off.
    """
    directory = staged.directory
    try:
        _check_room(directory, BUILT)
        unseal(directory, BUILT)
        child = _start(command, directory, sandbox)
        try:
            _Build(child, directory, on_output, is_wanted).run(seconds)
        except BuildFailed:
            # Perhaps because the disk is full. Within its own bounds it cannot have filled it:
            # there was room enough.
            if _is_within(directory, BUILT):
                _check_room(directory, SPARE)
            raise
        try:
            return Staged(directory, seal(directory, BUILT))
        except CannotStage as error:
            raise BuildFailed(f"left what cannot be used: {error}", None, "") from None
        except OSError as error:
            if isinstance(blame(error, ""), MachineFailed):
                raise
            raise BuildFailed(f"left what cannot be used: {error}", None, "") from None
    except OSError as error:
        with contextlib.suppress(OSError):
            discard(directory)
        raise MachineFailed(f"cannot build: {error}") from error
    except BaseException:
        discard(directory)
        raise


def _start(command: list[str], directory: Path, sandbox: Sandbox | None) -> Child:
    try:
        if sandbox is None:
            return launch_plain(command, directory, dict(os.environ))
        return sandbox.launch(command, directory, {}, BUILD, writable_home=True)
    except CannotStart as error:
        raise _not_started(error) from None


def _not_started(error: CannotStart) -> LadderError:
    if error.of_platform:
        return MachineFailed(f"a build could not be started: {error}")
    return BuildFailed(f"could not be started: {error}", None, "")


def _check_room(directory: Path, needed: Bounds) -> None:
    """Raise unless the disk has room for so much."""
    disk = os.statvfs(directory)
    free = disk.f_bavail * disk.f_frsize
    if free < needed.size:
        raise MachineFailed(
            f"the disk of {directory} is too full to build: {free // MIB} MiB are free, and"
            f" {needed.size // MIB} MiB must be. Remove what is not needed, or move the directory"
        )
    if disk.f_files and disk.f_favail < needed.files:  # some file systems do not count
        raise MachineFailed(
            f"the disk of {directory} is too full to build: it takes {disk.f_favail} more files,"
            f" and must take {needed.files}. Remove what is not needed, or move the directory"
        )


def _is_within(directory: Path, bounds: Bounds) -> bool:
    try:
        # What it has made impossible to look at cannot be blamed on the disk either.
        return all(True for _ in walk(directory, bounds))
    except (CannotStage, OSError):
        return False


def _copy(source: Path, entry: Entry, target: Path) -> None:
    if stat.S_ISDIR(entry.mode):
        target.mkdir()
    elif stat.S_ISLNK(entry.mode):
        target.symlink_to(_inner_link(source, entry))
    elif stat.S_ISREG(entry.mode):
        with open_file(entry) as file, target.open("xb") as copy:
            # The size has been checked, and a file that grows meanwhile must not pass it.
            left = entry.size
            while left > 0 and (chunk := file.read(min(_CHUNK, left))):
                copy.write(chunk)
                left -= len(chunk)
        target.chmod(0o755 if entry.is_program else 0o644)
    else:
        raise CannotStage(
            f"{entry.name} is neither a file nor a directory nor a link: a bot may not have it"
        )


def _inner_link(source: Path, entry: Entry) -> Path:
    target = entry.path.readlink()
    try:
        real = real_path(entry.path.parent / target)
    except OSError:
        raise CannotStage(f"{entry.name} is a link that leads to itself") from None
    if target.is_absolute() or not real.is_relative_to(source.resolve()):
        raise CannotStage(
            f"{entry.name} is a link to {target}, outside of the bot's directory: replace it by"
            " what it points to"
        )
    return target


class _Build:
    """A build that runs: its output passed on, its use of the machine watched."""

    def __init__(
        self,
        child: Child,
        directory: Path,
        on_output: Callable[[str], None],
        is_wanted: Callable[[], bool],
    ) -> None:
        self.child = child
        self.directory = directory
        self.on_output = on_output
        self.is_wanted = is_wanted
        self.passed_on = 0
        self.tail = b""
        self.unfinished: dict[int, bytes] = {}  # the last line of each pipe

    def run(self, seconds: float) -> None:
        """Wait for its end; raise BuildFailed unless it succeeds."""
        deadline = time.monotonic() + seconds
        try:
            self.child.hang_up()
            self._follow(deadline)
        finally:
            ended = self.child.kill()
        if ended.failure is not None:
            raise _not_started(ended.failure)
        if ended.code != 0:
            reason = f"ended with {ended}"
            if self.child.out_of_memory:
                reason += f" after it used more than {BUILD.memory // MIB} MiB of memory"
            raise self._failed(reason, ended.code)

    def _follow(self, deadline: float) -> None:
        pipes = {self.child.stdout, self.child.stderr}
        watch = select.poll()
        for pipe in pipes:
            watch.register(pipe, select.POLLIN)
        watch.register(self.child.root_fd, select.POLLIN)
        look = 0.0
        while True:
            # Asked before the pipes are read: what it said before its end is then read too.
            has_ended = self.child.ended()
            ready = {fd for fd, _ in watch.poll(0 if has_ended else LOOK * 1000)} & pipes
            for pipe in ready:
                if not self._read(pipe):
                    watch.unregister(pipe)
                    pipes.remove(pipe)
            if has_ended and not ready:
                return
            if time.monotonic() > look:
                self._check_use(deadline)
                look = time.monotonic() + LOOK

    def _check_use(self, deadline: float) -> None:
        if not self.is_wanted():
            raise MachineFailed("a build was broken off")
        if time.monotonic() > deadline:
            raise self._failed("took too long", None)
        if self.child.usage().memory > BUILD.memory:
            raise self._failed(f"used more than {BUILD.memory // MIB} MiB of memory", None)
        try:
            # Its files come and go meanwhile.
            with contextlib.suppress(OSError):
                for _ in walk(self.directory, BUILT):
                    pass
        except CannotStage as error:
            raise self._failed(f"wrote too much: {error}", None) from None

    def _read(self, pipe: int) -> bool:
        """Pass on the whole lines that it says; tell whether there may be more."""
        chunk = os.read(pipe, _CHUNK)
        self.tail = (self.tail + chunk)[-TAIL:]
        text = self.unfinished.pop(pipe, b"") + chunk
        lines, newline, rest = text.rpartition(b"\n")
        if not chunk or len(rest) > TAIL:
            lines, newline, rest = text, b"\n" if text and not chunk else b"", b""
        self.unfinished[pipe] = rest
        self._pass_on(lines + newline)
        return bool(chunk)

    def _pass_on(self, text: bytes) -> None:
        room = OUTPUT - self.passed_on
        self.passed_on += len(text)
        if text and room > 0:
            self.on_output(text[:room].decode(errors="replace"))
        if len(text) > room >= 0:
            self.on_output("\n[more output is not shown]\n")

    def _failed(self, reason: str, code: int | None) -> BuildFailed:
        return BuildFailed(reason, code, self.tail.decode(errors="replace").strip())
