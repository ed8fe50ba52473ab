"""Keep a process running beside a ladder, and pass on what it tells.

It starts with the first result, or at once where there are results: a ladder on which nobody plays
has no use for it. One that dies is started again, later each time, and the ladder goes on without:
what it works out is older then, never wrong.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, Any, Final

from keltis_ladder.run.backoff import Backoff
from keltis_ladder.store.database import Database
from keltis_ladder.store.ratings.memory import matches_stored

FINISHING: Final = 60.0  # seconds for the last of its work, on a machine that is busy

log = logging.getLogger(__name__)


class Beside:
    """Such a process, as whoever started it sees it. To be used from one event loop."""

    def __init__(
        self,
        name: str,
        module: str,
        database: Database,
        on_told: Callable[[dict[str, Any]], None],
        **more: float,
    ) -> None:
        self._name = name  # in the log
        self._module = module
        self._database = database
        self._on_told = on_told
        self._more: Mapping[str, float] = more  # what it has to know besides
        self._backoff = Backoff()
        self._task: asyncio.Task[None] | None = None
        self._process: Process | None = None
        self._finishing = False

    @property
    def pid(self) -> int | None:
        """The process; none: there is none now."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Begin, if there are results."""
        if await asyncio.to_thread(self._has_results):
            self.begin()

    def _has_results(self) -> bool:
        with self._database.reading() as session:
            return matches_stored(session) > 0

    def begin(self) -> None:
        """Start the process, unless there is one."""
        if self._task is None and not self._finishing:
            self._task = asyncio.create_task(self._keep(), name=self._name)

    async def _keep(self) -> None:
        """Have one until we are told to stop; one at least, for what is to be finished."""
        while True:
            with tempfile.TemporaryFile() as words:
                try:
                    code = await self._follow(words)
                except (OSError, ValueError) as error:
                    reason = str(error)
                else:
                    words.seek(0)
                    said = words.read().decode("utf-8", "replace").strip().split("\n")[-1]
                    reason = f"it ended with code {code}{': ' if said else ''}{said}"
            if self._finishing:
                return
            pause = self._backoff.failed()
            log.warning("%s: %s; again in %g s", self._name, reason, pause)
            await asyncio.sleep(pause)

    async def _follow(self, words: IO[bytes]) -> int:
        """Start it and pass on what it tells, up to its end; return its exit code."""
        process = self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", self._module, "--parent", str(os.getpid())),
            stdin=PIPE,
            stdout=PIPE,
            stderr=words,
            start_new_session=True,  # an interrupt from the terminal is for us alone
        )
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            # Not by its arguments, which everybody on this machine can read.
            known = {"database": self._database.url, **self._more}
            process.stdin.write(json.dumps(known).encode() + b"\n")
            if self._finishing:
                self._ask_to_finish(process)
            async for line in process.stdout:
                told = json.loads(line)
                self._backoff.succeeded()
                self._on_told(told)
            return await process.wait()
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
            self._process = None

    def _ask_to_finish(self, process: Process) -> None:
        assert process.stdin is not None
        with suppress(ConnectionError):
            process.stdin.write(b"finish\n")

    async def finish(self) -> None:
        """Have what is left done, as far as that is quick, and end."""
        self._finishing = True
        if self._task is None:
            return
        if self._process is not None:
            self._ask_to_finish(self._process)
        if not self._backoff.failures:
            await asyncio.wait([self._task], timeout=FINISHING)
        await self.stop()

    async def stop(self) -> None:
        """End it now: whoever comes next goes on where it was."""
        self._finishing = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
