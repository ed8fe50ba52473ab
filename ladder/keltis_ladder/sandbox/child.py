"""Start a program with pipes to it, pause and resume all of it, and end it without a trace."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from keltis_ladder.sandbox.meter import Meter

PAGE: Final = os.sysconf("SC_PAGE_SIZE")
TICK: Final = 1 / os.sysconf("SC_CLK_TCK")
PF_EXITING: Final = 0x4  # of a process's flags: it is ending, and never runs its program again
MOMENT_SECONDS: Final = 0.1  # a process closes its pipes a little before it has ended
ENDING_SECONDS: Final = 10.0  # for the kernel and the sandbox's init to bury it on a busy machine


class CannotStart(Exception):
    """The program could not be started at all: the platform's fault, or the command's."""

    def __init__(self, text: str, of_platform: bool) -> None:
        super().__init__(text)
        self.of_platform = of_platform


@dataclass(frozen=True)
class Usage:
    """What the processes of a program use now, all together."""

    memory: int  # bytes resident
    cpu: float  # seconds
    processes: int


@dataclass(frozen=True)
class Exit:
    """How a program ended, by its code or a signal, unless it never ran; and what it had used."""

    code: int | None
    signal: int | None
    cpu: float  # seconds
    peak_memory: int  # bytes
    failure: CannotStart | None = None  # why it never ran, if that came to light only later

    def __str__(self) -> str:
        """Say it in words."""
        if self.failure is not None:
            return f"never ran: {self.failure}"
        if self.signal is None:
            return "never ran" if self.code is None else f"exit code {self.code}"
        return f"killed by {signal_name(self.signal)}"


class Child:
    """A running program. All its processes stay in one process group, named by ``group``.

    ``process`` is what we wait for: the program, or the sandbox around it. ``root`` is the first
    process whose death ends all others: the init of a sandbox, or the program itself. The ends of
    the pipes do not block.
    """

    def __init__(self, process: subprocess.Popen[bytes], root: int, group: int) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self.process = process
        self.root = root
        self.group = group
        self.stdin = process.stdin.fileno()
        self.stdout = process.stdout.fileno()
        self.stderr = process.stderr.fileno()
        self.root_fd = os.pidfd_open(root)  # readable when it has ended; its number is never reused
        for fd in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(fd, False)
        self.paused = False
        self.meter: Meter | None = None  # counts all its processes, where there is a group
        self.peak_memory = 0
        self.last_cpu = 0.0
        self.exit: Exit | None = None

    @property
    def core(self) -> int | None:
        """The one core that it may run on; none if it has several, or has ended."""
        with contextlib.suppress(ProcessLookupError):
            cores = os.sched_getaffinity(self.root)
            return min(cores) if len(cores) == 1 else None
        return None

    def pause(self) -> None:
        """Stop all processes until ``resume``."""
        if not self.paused:
            self.paused = True
            self._signal_group(signal.SIGSTOP)

    def resume(self) -> None:
        """Let all processes go on."""
        if self.paused:
            self.paused = False
            self._signal_group(signal.SIGCONT)

    def ended(self) -> bool:
        """Return whether the program has ended, however many of its pipes are still open."""
        return self.wait(0.0)

    def wait(self, seconds: float) -> bool:
        """Wait for its end, no longer than this, and return whether it has come."""
        if self.exit is not None:
            return True
        watch = select.poll()  # select() fails on descriptors above 1023
        watch.register(self.root_fd, select.POLLIN)
        return bool(watch.poll(round(seconds * 1000)))

    def wait_if_ending(self) -> bool:
        """Wait for the end of a program that is ending; return whether it was."""
        self.resume()  # whatever is stopped cannot end
        deadline = time.monotonic() + ENDING_SECONDS
        while not self.wait(MOMENT_SECONDS):
            if not self._is_ending() or time.monotonic() > deadline:
                return False
        return True

    def _is_ending(self) -> bool:
        pid = self.program()
        if pid == self.root != self.process.pid:
            return True  # only the init is left
        # The first thread may have ended long before the others.
        threads = [_read(pid, f"task/{thread}/stat") for thread in _threads(pid)]
        return all(not fields or int(fields[6]) & PF_EXITING for fields in threads)

    def hang_up(self) -> None:
        """Close its input, which asks it to end."""
        self.resume()
        self._close(self.process.stdin)

    def program(self) -> int:
        """Return the process of the program itself: in a sandbox, the first child of its init."""
        family = descendants(self.root)
        return family[1] if self.root != self.process.pid and len(family) > 1 else self.root

    def signal_program(self, number: signal.Signals) -> bool:
        """Send a signal to the program if it handles it; return whether it does."""
        program = self.program()
        try:
            handle = os.pidfd_open(program)
        except OSError:
            return False
        try:
            if program not in self.members() or not _handles(program, number):
                return False
            signal.pidfd_send_signal(handle, number)
            return True
        except ProcessLookupError:
            return False
        finally:
            os.close(handle)

    @property
    def was_killed_from_outside(self) -> bool:
        """Whether something else than the program and us ended it, where we can know that."""
        return False

    @property
    def out_of_memory(self) -> bool:
        """Whether the kernel ended it for using too much memory, where we can know that."""
        return False

    @property
    def counts_memory(self) -> bool:
        """Whether a control group counts its memory, and whom the kernel ended for want of it."""
        return False

    @property
    def lacked_memory(self) -> bool:
        """Whether the kernel ended it for the memory of others, where we can know that."""
        return False

    def held_memory(self) -> int:
        """Return the bytes of memory that it holds."""
        return self.usage().memory

    def held_tasks(self) -> int:
        """Return how many processes and threads it has, where somebody counts them."""
        return 0

    def members(self) -> list[int]:
        """Return its processes, found through their parents."""
        return descendants(self.root)

    def usage(self) -> Usage:
        """Return what its processes use, and those used that have ended."""
        memory, cpu = 0, 0.0
        family = self.members()
        for pid in family:
            memory += _resident(pid)
            cpu += _cpu(pid)
        self.peak_memory = max(self.peak_memory, memory)
        self.last_cpu = max(self.last_cpu, cpu)
        init = 1 if self.root != self.process.pid else 0  # the sandbox's own does not count
        return Usage(memory, cpu, len(family) - init)

    def finish(self, patience: float) -> Exit:
        """Close its input, give it time to end by itself, then kill what is left."""
        if self.exit is None:
            self.hang_up()
            self.wait(patience)
        return self.kill()

    def kill(self) -> Exit:
        """End all its processes at once, wait until they are gone, and close the pipes."""
        if self.exit is not None:
            return self.exit
        if not self.ended():
            self.usage()
        self._end_everything()
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)  # or Popen would wait again
        code, number, failure = self._ending(self.process.returncode)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            self._close(pipe)
        os.close(self.root_fd)
        self.exit = Exit(
            code=code,
            signal=number,
            cpu=max(self.last_cpu, used.ru_utime + used.ru_stime),
            peak_memory=self._peak(used.ru_maxrss * 1024),
            failure=failure,
        )
        return self.exit

    def _ending(self, told: int) -> tuple[int | None, int | None, CannotStart | None]:
        """Return the code or signal that ended the program, or why it never ran."""
        return (told, None, None) if told >= 0 else (None, -told, None)

    def _peak(self, told: int) -> int:
        """Return the most memory that it had, by what we saw and what the kernel tells.

        The kernel counts from before the exec, when it was as large as we are: up to our own size
        its word means nothing, unless it is all we have.
        """
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return max(self.peak_memory, told) if told > own else self.peak_memory or told

    def _end_everything(self) -> None:
        self._signal_group(signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.root_fd, signal.SIGKILL)

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.group, number)

    @staticmethod
    def _close(pipe: object) -> None:
        with contextlib.suppress(OSError):
            pipe.close()  # type: ignore[attr-defined]


def launch_plain(command: Sequence[str], home: Path, environment: dict[str, str]) -> Child:
    """Start a program of one's own without a sandbox, in a session of its own.

    It dies with us: a stopped process in a session of its own would otherwise stay for ever.
    """
    setpriv = shutil.which("setpriv")
    prefix = [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
    if shutil.which(command[0]) is None and not (home / command[0]).exists():
        raise CannotStart(f"cannot start {command[0]!r}: there is no such program", False)
    process = start([*prefix, *command], home, environment, new_session=True)
    return Child(process, process.pid, process.pid)


@contextlib.contextmanager
def pinned(cpu: int | None) -> Iterator[None]:
    """Stay on one core meanwhile: what a thread starts inherits its cores."""
    if cpu is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def start(
    command: Sequence[str],
    home: Path | None,
    environment: dict[str, str],
    pass_fds: Sequence[int] = (),
    new_session: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a process with three pipes."""
    try:
        return subprocess.Popen(
            list(command),
            cwd=home,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=pass_fds,
            start_new_session=new_session,
        )
    except OSError as error:
        missing = isinstance(error, FileNotFoundError | PermissionError)
        text = f"cannot start {command[0]!r}: {error.strerror}"
        raise CannotStart(text, of_platform=not missing) from None


def descendants(root: int) -> list[int]:
    """Return a process and all its descendants; those that end meanwhile may be missing."""
    found = [root]
    for pid in found:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - quicker, and often called
                with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                    found.extend(int(child) for child in file.read().split())
    return found


def signal_name(number: int) -> str:
    """Return the name of a signal, or its number if it has none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _read(pid: int, name: str) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


def _handles(pid: int, number: signal.Signals) -> bool:
    """Return whether a process has a handler of its own for a signal."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123
            for line in file:
                if line.startswith(b"SigCgt:"):
                    return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    except OSError:
        pass
    return False


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - quicker, and often called
    except OSError:
        return []


def _resident(pid: int) -> int:
    fields = _read(pid, "statm")
    pages = int(fields[1]) if fields else 0
    if fields and not pages:  # its first thread has ended, and shows nothing any more
        others = [_read(pid, f"task/{thread}/statm") for thread in _threads(pid)]
        pages = max((int(other[1]) for other in others if other), default=0)
    return pages * PAGE


def _cpu(pid: int) -> float:
    fields = _read(pid, "stat")  # after the name, which stands in parentheses
    # User and system time, its own and that of its children which have ended.
    return sum(int(field) for field in fields[11:15]) * TICK
