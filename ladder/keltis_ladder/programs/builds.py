"""Build a bot: in a sandbox whose files are in memory, or, one's own, in its directory.

Nothing in a sandbox writes to a disk of the host. A build finds the sources, works in a file system
of bounded size that its own memory pays for, and what it has made comes out as one stream, which is
unpacked as carefully as what strangers upload: counted by the bytes that really come.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from keltis_bots.texts import printable
from keltis_ladder.errors import LadderError
from keltis_ladder.files.sizes import KIB, MIB
from keltis_ladder.files.trees import Bounds, CannotStage, blame, discard, seal, unseal, walk
from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.programs import build_inside
from keltis_ladder.programs.staging import BUILT, Staged
from keltis_ladder.programs.unpacking.names import BadArchive
from keltis_ladder.programs.unpacking.opening import open_built
from keltis_ladder.sandbox.child import CannotStart, Child, Exit, launch_plain
from keltis_ladder.sandbox.limits import BUILD, BUILD_SECONDS, LONGEST_BUILD_SECONDS
from keltis_ladder.sandbox.niceness import pass_on
from keltis_ladder.sandbox.sandbox import Sandbox
from keltis_ladder.sandbox.time_use import TimeUse

__all__ = ["BuildFailed", "build"]

OUTPUT: Final = MIB  # bytes of a build's output that are passed on
TAIL: Final = 4 * KIB  # bytes of it that an error quotes
SPARE: Final = Bounds(files=1000, size=16 * MIB)  # what a disk has left if it is not full
LOOK: Final = 0.25  # seconds between two looks at what a build uses
GIVES_WAY: Final = 5  # nicer than what started it, so that matches have most of a core beside it
LAST_WORDS: Final = 1.0  # seconds for a build to end whose stream has ended too early
INSIDE: Final = Path(build_inside.__file__)
_READ_BYTES: Final = 256 * KIB


@dataclass(frozen=True)
class _Watcher:
    """Who follows a build: takes its output, waits only for so long, and may want it no longer."""

    on_output: Callable[[str], None]
    is_wanted: Callable[[], bool]
    seconds: float  # that the build may use
    longest: float  # on the wall, whoever is to blame


class BuildFailed(LadderError):
    """A bot could not be built; the text says how its command ended, and its last words."""

    def __init__(self, reason: str, code: int | None, tail: str) -> None:
        self.reason = f"the build {reason}"
        super().__init__(self.reason + (f":\n{tail}" if tail else ""))
        self.code = code
        self.tail = tail


def build(
    staged: Staged,
    command: list[str],
    sandbox: Sandbox | None,
    on_output: Callable[[str], None],
    seconds: float = BUILD_SECONDS,
    is_wanted: Callable[[], bool] = lambda: True,
    room: Bounds = BUILT,
    longest: float = LONGEST_BUILD_SECONDS,
) -> Staged:
    """Run a bot's build command, put what it has made in place of the sources, and seal it.

    Without a sandbox it runs as we do: for one's own bots only. A directory that could not be built
    is removed. A build that is not wanted any more is broken off. ``seconds`` are those that it
    uses; raise MachineFailed if it has not used them and is not over after the ``longest`` time.
    """
    directory, watcher = staged.directory, _Watcher(on_output, is_wanted, seconds, longest)
    try:
        _check_room(directory, room)
        if sandbox is None:
            _build_here(directory, command, watcher, room)
        else:
            _build_inside(sandbox, directory, command, watcher, room)
        try:
            return Staged(directory, seal(directory, room))
        except CannotStage as error:
            raise _left_bad(error) from None
        except OSError as error:
            if isinstance(blame(error, ""), MachineFailed):
                raise
            raise _left_bad(error) from None
    except OSError as error:
        with contextlib.suppress(OSError):
            discard(directory)
        raise MachineFailed(f"cannot build: {error}") from error
    except BaseException:
        discard(directory)
        raise


def _build_here(directory: Path, command: list[str], watcher: _Watcher, room: Bounds) -> None:
    """Run the command as we are, in the directory itself."""
    unseal(directory, room)
    try:
        child = launch_plain(command, directory, dict(os.environ))
    except CannotStart as error:
        raise _not_started(error) from None
    try:
        _Build(child, watcher, _Files(directory, room).check).run()
    except BuildFailed:
        # Perhaps because the disk is full. Within its own bounds it cannot have filled it: there
        # was room enough.
        if _is_within(directory, room):
            _check_room(directory, SPARE)
        raise


def _build_inside(
    sandbox: Sandbox,
    directory: Path,
    command: list[str],
    watcher: _Watcher,
    room: Bounds,
) -> None:
    """Run the command in a sandbox, and replace the directory by what comes out."""
    made = directory.with_name(f"{directory.name}.built")
    python = [sys.executable, "-I", "-S", "-B", str(INSIDE)]
    try:
        child = sandbox.launch(
            [*python, *command], directory, {}, BUILD, read_only=[INSIDE], room=room
        )
    except CannotStart as error:
        raise MachineFailed(f"a build could not be started: {error}") from None
    try:
        _ConfinedBuild(child, watcher, made, room).run()
        discard(directory)
        made.rename(directory)
    finally:
        discard(made)


def _not_started(error: CannotStart) -> LadderError:
    if error.of_platform:
        return MachineFailed(f"a build could not be started: {error}")
    return BuildFailed(f"could not be started: {error}", None, "")


def _left_bad(error: Exception) -> BuildFailed:
    return BuildFailed(f"left what cannot be used: {error}", None, "")


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


class _Files:
    """What a build has written to a directory of ours."""

    def __init__(self, directory: Path, room: Bounds) -> None:
        self._directory = directory
        self._room = room

    def check(self) -> str | None:
        """Return what is wrong with it, if anything is."""
        try:
            # They come and go meanwhile.
            with contextlib.suppress(OSError):
                for _ in walk(self._directory, self._room):
                    pass
        except CannotStage as error:
            return f"wrote too much: {error}"
        return None


class _Build:
    """A build that runs: its output passed on, its use of the machine watched."""

    def __init__(
        self,
        child: Child,
        watcher: _Watcher,
        what_is_wrong: Callable[[], str | None] = lambda: None,
    ) -> None:
        self.child = child
        self.watcher = watcher
        self.what_is_wrong = what_is_wrong
        self.to_be_nice = True  # its session has no niceness yet
        self.time = TimeUse(child.meter)
        self.passed_on = 0
        self.tail = b""
        self.unfinished: dict[int, bytes] = {}  # the last line of each pipe

    def run(self) -> None:
        """Wait for its end; raise BuildFailed unless it succeeds."""
        try:
            self.child.hang_up()
            self.follow({self.child.stdout, self.child.stderr})
        finally:
            ended = self.child.kill()
        self.judge(ended)

    def judge(self, ended: Exit) -> None:
        """Raise unless it has ended well."""
        if ended.failure is not None:
            raise _not_started(ended.failure)
        if ended.code != 0:
            if self.child.lacked_memory:
                raise MachineFailed("the kernel ended a build for want of memory that others held")
            reason = f"ended with {ended}"
            if self.child.out_of_memory:
                reason += " after it used all the memory that a build may have here"
            raise self.failed(reason, ended.code)

    def follow(self, pipes: set[int], until: int | None = None) -> None:
        """Pass on what comes from pipes until it ends, or until another one can be read from."""
        watch = select.poll()
        for pipe in pipes:
            watch.register(pipe, select.POLLIN)
        if until is not None:
            watch.register(until, select.POLLIN)
        watch.register(self.child.root_fd, select.POLLIN)
        look = 0.0
        while True:
            # Asked before the pipes are read: what it said before its end is then read too.
            has_ended = self.child.ended()
            events = dict(watch.poll(0 if has_ended else LOOK * 1000))
            ready = pipes.intersection(events)
            for pipe in ready:
                if not self._read(pipe):
                    watch.unregister(pipe)
                    pipes.remove(pipe)
            if not ready and (has_ended or (until is not None and until in events)):
                return
            if time.monotonic() > look:
                self.check_use()
                look = time.monotonic() + LOOK

    def check_use(self) -> None:
        """Raise if it uses too much, or nobody waits for it any more."""
        if self.to_be_nice:
            self.to_be_nice = not pass_on(self.child.root, GIVES_WAY)
        if not self.watcher.is_wanted():
            raise MachineFailed("a build was broken off")
        usage = self.child.usage()
        self.check_time(usage.cpu if self.child.meter is None else self.child.meter.cpu())
        if usage.memory > BUILD.memory:
            raise self.failed(f"used more than {BUILD.memory // MIB} MiB of memory", None)
        if (wrong := self.what_is_wrong()) is not None:
            raise self.failed(wrong, None)

    def check_time(self, cpu: float) -> None:
        """Raise if its time is over, or the machine never gave it any; it has run for ``cpu``."""
        if self.time.exceeds(self.watcher.seconds, cpu):
            raise self.failed("took too long", None)
        if self.time.wall > self.watcher.longest:
            raise MachineFailed(
                f"a build was not over after {self.watcher.longest:.0f} s, in which it ran for"
                f" {cpu:.0f} s: the machine is too busy"
            )

    def _read(self, pipe: int) -> bool:
        """Pass on the whole lines that it says; return whether there may be more."""
        chunk = os.read(pipe, _READ_BYTES)
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
            self.watcher.on_output(printable(text[:room].decode(errors="replace")))
        if len(text) > room >= 0:
            self.watcher.on_output("\n[more output is not shown]\n")

    def failed(self, reason: str, code: int | None) -> BuildFailed:
        """Return how it failed, with its last words."""
        return BuildFailed(reason, code, printable(self.tail.decode(errors="replace").strip()))


class _ConfinedBuild(_Build):
    """A build in a sandbox: its words come from one pipe, and what it has made from the other."""

    def __init__(self, child: Child, watcher: _Watcher, made: Path, room: Bounds) -> None:
        super().__init__(child, watcher)
        self.made = made
        self.room = room
        self.stream = select.poll()
        self.stream.register(child.stdout, select.POLLIN)
        self.looked = 0.0  # when, whether there is something in the stream

    def run(self) -> None:
        """Wait for its end, and unpack what it has made; raise BuildFailed unless it succeeds."""
        refusal: BadArchive | None = None
        try:
            self.child.hang_up()
            self.follow({self.child.stderr}, until=self.child.stdout)
            refusal = self._receive()
            if refusal is not None:
                self.child.wait(LAST_WORDS)  # it may have ended in the midst of it
            has_ended = self.child.ended()
            if has_ended or refusal is None:
                self.follow({self.child.stderr})
        finally:
            ended = self.child.kill()
        if ended.failure is not None:
            raise MachineFailed(f"a build could not be started: {ended.failure}")
        if has_ended or refusal is None:
            self.judge(ended)
        if refusal is not None:
            raise _left_bad(refusal)

    def _receive(self) -> BadArchive | None:
        """Unpack what comes from it; return why that is not possible, if it is not."""
        os.set_blocking(self.child.stdout, True)
        self.looked = time.monotonic()
        try:
            open_built(self.child.stdout, self.made, self.room, on_look=self._look)
        except BadArchive as error:
            return error
        return None

    def _look(self) -> None:
        """Look at what it uses while we unpack: as long as there is something, it waits for us."""
        before, self.looked = self.looked, time.monotonic()
        if any(events & select.POLLIN for _, events in self.stream.poll(0)):
            self.time.give_back(self.looked - before)
        self.check_use()
