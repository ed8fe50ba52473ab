"""The process that has loaded every command, and forks one for whoever asks on its socket.

It is run by its path (``process.py``), and ends with the test process: when the socket closes.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import os
import resource
import selectors
import signal
import socket
import sys
from typing import Any, Final

from keltis_cli.commands import COMMANDS
from keltis_cli.main import main
from keltis_ladder.sandbox.prctl import die_with_parent

MOST: Final = 1 << 20  # bytes of a request
# What commands load only when they come to it.
LATER: Final = (
    "aiohttp.web",
    "alembic.autogenerate",
    "alembic.command",
    "keltis_server.client.live",
    "keltis_server.serve",
    "sqlalchemy.dialects.sqlite.pysqlite",
    "textual.app",
    "uvloop",
)


def load_everything() -> None:
    """Load all commands, and see to it that forked processes share what was loaded."""
    for name in [*(entry.module for entry in COMMANDS.values()), *LATER]:
        with contextlib.suppress(ModuleNotFoundError):  # not all of it need be installed
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


def fork_on_demand(asked: socket.socket) -> None:
    """Fork for each request; return in what was forked, ready to run its command."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: meant for the tests
    selector = selectors.DefaultSelector()
    selector.register(asked, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is not asked:
                selector.unregister(key.fileobj)
                _tell_end(key.fd, *key.data)
                continue
            text, files, _, _ = socket.recv_fds(asked, MOST, 4)
            if not text:
                sys.exit()
            pid = os.fork()
            if pid == 0:
                selector.close()
                _become(json.loads(text), files, asked)
                return
            ending = files.pop()
            for file in files:
                os.close(file)
            selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, ending))


def _tell_end(process: int, pid: int, ending: int) -> None:
    """Tell whoever waits for it how a process ended; nobody need wait any more."""
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(BrokenPipeError):
        os.write(ending, status.to_bytes(4, "little"))
    os.close(ending)
    os.close(process)


def _become(request: dict[str, Any], files: list[int], asked: socket.socket) -> None:
    """Make of a copy of the mother what a new process would be, and tell that it is there."""
    try:
        die_with_parent(request["mother"])
        if request["session"]:
            os.setsid()
        for number, file in enumerate(files[:3]):
            os.dup2(file, number, inheritable=True)
        os.chdir(request["directory"])
        os.environ.clear()
        os.environ.update(request["environment"])
        signal.signal(signal.SIGINT, signal.default_int_handler)
        asked.send(str(os.getpid()).encode())
    except OSError as error:
        asked.send(str(error).encode())
        os._exit(127)
    asked.detach()
    os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    _renew_streams()
    sys.argv[1:] = request["arguments"]


def _renew_streams() -> None:
    """Put streams on 0, 1 and 2 as Python does when it starts."""
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old: io.TextIOWrapper = getattr(sys, f"__{name}__")
        raw = open(  # noqa: SIM115 - open until the end
            number,
            "wb" if number else "rb",
            buffering=0 if at_once and number else -1,
            closefd=False,
        )
        new = io.TextIOWrapper(
            raw,
            encoding=old.encoding,
            errors=old.errors,
            line_buffering=number == 2 or os.isatty(number),
            write_through=at_once and number > 0,
        )
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


if __name__ == "__main__":
    load_everything()
    fork_on_demand(socket.socket(fileno=int(sys.argv[1])))
    main()
