"""A server as its users meet it: a process of its own, with a port, that can be killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from tests.preloaded.process import load_command, start_command

READY = re.compile(r"The ladder is at (\S+)")
PATIENCE = 300.0  # seconds for what should take two: other tests need the machine, too

# As quick as it gets: it gives way to no other test, and looks at no decisions beside its matches.
ENVIRONMENT = {"PYTHONUNBUFFERED": "1", "KELTIS_NICE": "0", "KELTIS_AUDIT_LOOK": "0"}


class ServerProcess:
    """One life of ``keltis-ladder serve``."""

    _start: ClassVar[Callable[..., subprocess.Popen[str]]] = staticmethod(start_command)

    def __init__(self, data: Path, *options: str, **environment: str) -> None:
        self.data = data
        self.lines: list[str] = []
        self.process = self._start(
            "serve",
            "--data",
            data,
            *options,
            env={**os.environ, **ENVIRONMENT, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> ServerProcess:
        """Wait until it serves."""
        self.wait_for(lambda: READY.search(self.output) is not None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it, whatever happened."""
        if self.process.poll() is None:
            self.kill()

    @property
    def output(self) -> str:
        """All that it said."""
        return "".join(self.lines)

    @property
    def url(self) -> str:
        """Where it is."""
        found = READY.search(self.output)
        assert found is not None, self.output
        return found[1]

    def wait_for(self, condition: Any) -> None:
        """Wait until something is so; it must not end before."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert self.process.poll() is None, f"the server ended: {self.output}"
            assert time.monotonic() < deadline, f"waited in vain: {self.output}"
            time.sleep(0.02)

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Any:
        """Return what it answers to GET as JSON; raise HTTPError unless that is a success."""
        request = Request(self.url + path, headers=dict(headers or {}))
        with urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def answers(self) -> bool:
        """Return whether it answers at all."""
        try:
            self.get("/api/v1")
        except (HTTPError, URLError, OSError):
            return False
        return True

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to end; return its exit code."""
        self.process.send_signal(number)
        return self.end()

    def kill(self) -> None:
        """End it without a warning."""
        self.process.kill()
        self.end()

    def end(self) -> int:
        """Wait for its end; return its exit code."""
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self.lines.append(line)


class LoadedServerProcess(ServerProcess):
    """One that is loaded from nothing, as its users start it."""

    _start = staticmethod(load_command)


def runs(pid: int) -> bool:
    """Return whether a process runs; one that is dead may wait for its parent to notice."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
