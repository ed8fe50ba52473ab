"""Following live events: over the websocket, or by polling where there is none."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final, TypeVar

import typer
from rich.status import Status

from keltis_cli.draw.look import console
from keltis_cli.draw.printable import printable
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.troubles import NothingNew, Unreachable

T = TypeVar("T")

POLL_SECONDS: Final = 1.0  # between two requests
RESTART_SECONDS: Final = 30.0  # that a server may be away: it may just be starting again
OPEN_SECONDS: Final = 10.0  # for the websocket to open
REDRAW_SECONDS: Final = 1.0  # between two signs of life in a terminal
SIGN_OF_LIFE_SECONDS: Final = 20.0  # between two elsewhere
# One check takes 10 minutes unless the machine is busy, and others may come first; to open an
# archive takes no longer, or is given up.
SILENCE_SECONDS: Final = 900.0
WATCHED_SILENCE_SECONDS: Final = 24 * 3600.0  # what is only watched may well rest over night

TimeoutOption = Annotated[
    float,
    typer.Option(
        "--timeout", metavar="SECONDS", min=1, help="Stop waiting after this time without news."
    ),
]

WaitOption = Annotated[
    bool, typer.Option("--wait/--no-wait", help="Wait for its check and its first match.")
]

Message = dict[str, Any]


async def follow(server: Server, topic: str) -> AsyncGenerator[Message | None, None]:
    """Yield the live messages of a topic; none means that there is no websocket: poll.

    It ends when the topic does. When the socket breaks, it polls from then on: the caller then
    reads the whole state, so nothing is missed.
    """
    import aiohttp

    from keltis_ladder.errors import LadderError
    from keltis_server.client.live import LiveClient

    try:
        live = LiveClient(server.url, server.place.token or None)
        await asyncio.wait_for(live.__aenter__(), OPEN_SECONDS)
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
        pass  # whatever is wrong with the socket, polling shows it
    while True:
        yield None
        await asyncio.sleep(POLL_SECONDS)


class Retry:
    """Retries while a server may be restarting; gives up after half a minute."""

    def __init__(self) -> None:
        self.away_since: float | None = None

    async def ask(self, question: Callable[[], Awaitable[T]]) -> T | None:
        """Return the answer, or none if the server is away and may still come back."""
        try:
            answer = await question()
        except Unreachable:
            now = time.monotonic()
            self.away_since = self.away_since or now
            if now - self.away_since >= RESTART_SECONDS:
                raise
            return None
        self.away_since = None
        return answer


class Waiting:
    """Shows what is being waited for, and for how long: each second, or in lines now and then.

    Lines are for error outputs that are no terminal; ``quiet`` says nothing at all.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.out = console(stderr=True)
        self.quiet = quiet
        self.status: Status | None = None
        self._text = ""
        self._since = time.monotonic()

    def say(self, text: str) -> None:
        """Say what is being waited for, until something else is."""
        if text != self._text:
            self._text, self._since = text, time.monotonic()
        if self.quiet or not self.out.is_terminal:
            return
        if self.status is None:
            self.status = self.out.status("", spinner="line")
            self.status.start()
        self.status.update(self._words())

    def rest(self) -> None:
        """Say nothing, so that others can print."""
        if self.status is not None:
            self.status.stop()
            self.status = None

    async def show_life(self) -> None:
        """Show again and again that we still wait, until cancelled."""
        pause = REDRAW_SECONDS if self.out.is_terminal else SIGN_OF_LIFE_SECONDS
        while True:
            await asyncio.sleep(pause)
            if self.status is not None:
                self.status.update(self._words())
            elif self._text and not self.quiet:
                seconds = time.monotonic() - self._since
                text = f"still waiting, {seconds:.0f} s: {printable(self._text)}"
                print(text, file=sys.stderr, flush=True)

    def _words(self) -> str:
        seconds = int(time.monotonic() - self._since)
        return f"{printable(self._text)} {seconds} s" if seconds else printable(self._text)


class NewsTimeout:
    """A timeout that every piece of news restarts."""

    def __init__(self, seconds: float, limit: asyncio.Timeout) -> None:
        self._seconds = seconds
        self._limit = limit

    def note_news(self) -> None:
        """Restart the timeout."""
        if not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time() + self._seconds)

    def stop_counting(self) -> None:
        """Disable the timeout."""
        if not self._limit.expired():
            self._limit.reschedule(None)


@asynccontextmanager
async def news_timeout(
    server: Server, waiting: Waiting, seconds: float, how_it_goes_on: Callable[[], str]
) -> AsyncIterator[NewsTimeout]:
    """Wait with signs of life for what is noted as news; raise ``NothingNew`` if none comes."""
    alive = asyncio.create_task(waiting.show_life())
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield NewsTimeout(seconds, limit)
    except TimeoutError:
        if not limit.expired():
            raise
        raise NothingNew(server.url, seconds, how_it_goes_on()) from None
    finally:
        alive.cancel()
        waiting.rest()
