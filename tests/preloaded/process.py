"""Starts commands: a ``Popen`` of a process that was forked rather than loaded."""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, AnyStr, Final

MOTHER: Final = Path(__file__).with_name("mother.py")
# Python reads these when it starts. Streams are made anew with what the first two ask for.
RENEWED: Final = ("PYTHONUNBUFFERED", "PYTHONUTF8")
READ_AT_START: Final = ("PYTHON", "LC_", "LANG")


def start_command(*arguments: str | Path, **wanted: Any) -> subprocess.Popen[Any]:
    """Start ``keltis-ladder ARGUMENTS``; the keywords are those of ``Popen``."""
    if _starts_alike(wanted.get("env") or os.environ):
        return CommandProcess([str(argument) for argument in arguments], **wanted)
    return load_command(*arguments, **wanted)


def load_command(*arguments: str | Path, **wanted: Any) -> subprocess.Popen[Any]:
    """Start it as its users do, from nothing."""
    return subprocess.Popen([sys.executable, "-m", "keltis_cli", *map(str, arguments)], **wanted)


def run_command(
    *arguments: str | Path, timeout: float, typed: str | None = None, **wanted: Any
) -> subprocess.CompletedProcess[str]:
    """Run ``keltis-ladder ARGUMENTS`` to its end; return what it said."""
    streams: dict[str, Any] = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "encoding": "utf-8",
    }
    streams["stdin"] = subprocess.DEVNULL if typed is None else subprocess.PIPE
    with start_command(*arguments, **streams, **wanted) as process:
        try:
            out, err = process.communicate(typed, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


class CommandProcess(subprocess.Popen[AnyStr]):
    """A command that the mother forks. All else about it is what ``Popen`` says.

    It is not our child, so the mother tells how it ended: the methods here are those by which
    ``Popen`` starts a process and waits for it.
    """

    _ending: socket.socket  # the mother's word comes here

    def _execute_child(
        self,
        args: list[str],
        executable: Any,
        preexec_fn: Any,
        close_fds: bool,
        pass_fds: Any,
        cwd: Any,
        env: Mapping[str, str] | None,
        startupinfo: Any,
        creationflags: Any,
        shell: bool,
        p2cread: int,
        p2cwrite: int,
        c2pread: int,
        c2pwrite: int,
        errread: int,
        errwrite: int,
        restore_signals: bool,
        gid: Any,
        gids: Any,
        uid: Any,
        umask: int,
        start_new_session: bool,
        *others: Any,
    ) -> None:
        assert preexec_fn is None, "nothing of the test runs in a process that the mother forks"
        assert not pass_fds, "a command gets its three streams and nothing else"
        request = {
            "arguments": args,
            "directory": os.fspath(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
            "session": start_new_session,
        }
        self._ending, theirs = socket.socketpair()
        try:
            with theirs:
                given = enumerate((p2cread, c2pwrite, errwrite))
                streams: list[int] = [number if file == -1 else file for number, file in given]
                self.pid = _mother().fork(request, [*streams, theirs.fileno()])
                self._child_created = True
        except BaseException:
            self._ending.close()
            raise
        finally:
            self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)  # type: ignore[attr-defined]

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        self._ending.setblocking(not wait_flags & os.WNOHANG)
        try:
            status = self._ending.recv(4)
        except BlockingIOError:
            return 0, 0
        assert status, f"nobody knows how {self.args!r} ended: the process that forked it has gone"
        self._ending.close()
        return self.pid, int.from_bytes(status, "little")

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if not self._waitpid_lock.acquire(blocking=False):  # type: ignore[attr-defined]
            return None  # another thread waits for the end, and has not seen it
        try:
            if self.returncode is None:
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)  # type: ignore[attr-defined]
        finally:
            self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode


class Mother:
    """The process that forks, as this process sees it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", MOTHER, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=os.environ | {"PYTHONUTF8": "1"},
            )

    def fork(self, request: dict[str, Any], files: list[int]) -> int:
        """Have a process forked with these streams; return its pid once it is on its way."""
        text = json.dumps(request | {"mother": self.process.pid}).encode()
        with self._lock:
            socket.send_fds(self._socket, [text], files)
            answer = self._socket.recv(4096).decode()
        if not answer.isdecimal():
            raise OSError(f"no process for {request['arguments']}: {answer or 'no answer'}")
        return int(answer)

    def close(self) -> None:
        """End it, and with it all that it forked."""
        self._socket.close()
        self.process.wait()


_mothers: list[Mother] = []
_first = threading.Lock()


def _mother() -> Mother:
    with _first:
        if not _mothers:
            _mothers.append(Mother())
            atexit.register(_mothers[0].close)
    return _mothers[0]


def _starts_alike(environment: Mapping[str, str]) -> bool:
    """Return whether Python would start with this environment as it did for the mother."""

    def read_at_start(variables: Mapping[str, str]) -> dict[str, str]:
        return {
            name: value
            for name, value in variables.items()
            if name.startswith(READ_AT_START) and name not in RENEWED
        }

    return read_at_start(environment) == read_at_start(os.environ)
