"""Upload bots in tests, and wait for what becomes of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from keltis_ladder.store.schema.version_states import VersionChanged
from keltis_server.events import Checking, Happening
from keltis_server.http.endpoints import API
from keltis_server.uploads.intake import INTAKE, Intake
from keltis_server.uploads.lanes import Lane
from tests.ladder.support.small_bots import write_bot
from tests.server.support.archives import packed
from tests.server.support.serving import Served

ONE_TABLE: dict[str, Any] = {"variants": ["weg-der-steine"], "players": [2]}  # quickly checked
PATIENCE = 300.0
NO_PLACES = {Lane.SHORT: 0, Lane.LONG: 0}  # nothing is checked


def small_bot(directory: Path, **fields: Any) -> bytes:
    """Write a bot that is checked quickly; return it packed."""
    return packed(write_bot(directory, **{**ONE_TABLE, **fields}))


def intake_of(server: Served) -> Intake:
    return server.app[INTAKE]


async def upload(
    server: Served, headers: dict[str, str], data: Any, status: int = 202
) -> dict[str, Any]:
    """Upload an archive; return the answer, which must have this status."""
    found: dict[str, Any] = await server.post("/bots", status, data=data, headers=headers)
    return found


class Journal:
    """What happens to versions, in order."""

    def __init__(self, server: Served) -> None:
        self.checking: list[Checking] = []
        self._changed: asyncio.Queue[VersionChanged] = asyncio.Queue()
        self._woken = asyncio.Event()
        server.site.listen(self._take)

    def _take(self, happening: Happening) -> None:
        if isinstance(happening, Checking):
            self.checking.append(happening)
            self._woken.set()
        elif isinstance(happening, VersionChanged):
            self._changed.put_nowait(happening)

    async def next(self) -> tuple[str, int, str]:
        """Return the next change: the bot, the version's number, and its new state."""
        async with asyncio.timeout(PATIENCE):
            change = await self._changed.get()
        return change.bot, change.number, change.state

    async def until(self, kind: str, words: str) -> None:
        """Wait until a check tells this."""
        async with asyncio.timeout(PATIENCE):
            while not any(c.kind == kind and words in str(c.data) for c in self.checking):
                self._woken.clear()
                await self._woken.wait()


@asynccontextmanager
async def connection(
    server: Served,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection for requests that no client would send."""
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield reader, writer
    finally:
        writer.close()
        with_reset = asyncio.gather(writer.wait_closed(), return_exceptions=True)
        await with_reset


def head(headers: dict[str, str], **more: str) -> bytes:
    """Return the beginning of an upload."""
    lines = {"Host": "localhost", "Content-Type": "application/zip", **headers}
    lines |= {name.replace("_", "-"): value for name, value in more.items()}
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {API}/bots HTTP/1.1\r\n{text}\r\n".encode()


async def status_of(reader: asyncio.StreamReader) -> int:
    """Return the status of an answer as it comes."""
    async with asyncio.timeout(PATIENCE):
        line = await reader.readline()
    return int(line.split()[1]) if line else 0
