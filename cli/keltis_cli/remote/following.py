"""Following something as it happens: by the live websocket, and by asking where there is none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, Final, TypeVar

from rich.status import Status

from keltis_cli.look import console
from keltis_cli.remote.connection import Server
from keltis_cli.remote.troubles import Unreachable
from keltis_cli.strangers import printable

T = TypeVar("T")

EVERY: Final = 1.0  # seconds between two questions
RESTART: Final = 30.0  # seconds that a server may be away: it may just be starting again
WELCOME: Final = 10.0  # seconds for the websocket to open

Message = dict[str, Any]


async def follow(server: Server, topic: str) -> AsyncGenerator[Message | None, None]:
    """Yield what is told live of a topic; none means that nothing is: ask, and come back.

    It ends when the topic does. When the socket breaks we ask from then on: whoever follows must
    then look at the whole, so nothing is missed.
    """
    import aiohttp

    from keltis_ladder.errors import LadderError
    from keltis_server.live.client import LiveClient

    try:
        live = LiveClient(server.url, server.place.token or None)
        await asyncio.wait_for(live.__aenter__(), WELCOME)
        try:
            await live.subscribe(topic)
            async for message in live:
                if message["op"] in ("lost", "error"):
                    break
                if message.get("topic") == topic:
                    yield message
                    if message["op"] == "end":
                        return
        finally:
            await live.__aexit__(None, None, None)
    except (aiohttp.ClientError, OSError, TimeoutError, LadderError, ValueError, LookupError):
        pass  # whatever is wrong with the socket, asking tells
    while True:
        yield None
        await asyncio.sleep(EVERY)


class Patience:
    """Asks a server that may be starting again; after half a minute it is given up."""

    def __init__(self) -> None:
        self.away_since: float | None = None

    async def ask(self, question: Callable[[], Awaitable[T]]) -> T | None:
        """Return the answer, or none if the server is away and may still come back."""
        try:
            answer = await question()
        except Unreachable:
            now = time.monotonic()
            self.away_since = self.away_since or now
            if now - self.away_since >= RESTART:
                raise
            return None
        self.away_since = None
        return answer


class Waiting:
    """Says in a terminal what is being waited for."""

    def __init__(self, quiet: bool = False) -> None:
        self.out = console(stderr=True)
        self.quiet = quiet or not self.out.is_terminal
        self.status: Status | None = None

    def say(self, text: str) -> None:
        """Say what is being waited for, until something else is."""
        if self.quiet:
            return
        if self.status is None:
            self.status = self.out.status("", spinner="line")
            self.status.start()
        self.status.update(printable(text))

    def rest(self) -> None:
        """Say nothing, so that others can print."""
        if self.status is not None:
            self.status.stop()
            self.status = None
