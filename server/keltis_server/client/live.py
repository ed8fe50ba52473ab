"""A client of the live websocket: it subscribes, and comes back by itself after a break.

    async with LiveClient("http://127.0.0.1:8080") as live:
        await live.subscribe("lobby")
        async for message in live:
            ...

Views of games are followed with ``patches.apply``.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any, Final, Literal, Self

import aiohttp
import msgpack

from keltis_ladder.errors import LadderError

PATH: Final = "/api/v1/live"
PROTOCOLS: Final = {"json": "keltis.v1.json", "msgpack": "keltis.v1.msgpack"}
HEARTBEAT: Final = 20.0  # seconds
FIRST_PAUSE: Final = 0.25  # seconds before we come back; twice as long each time that fails
LONGEST_PAUSE: Final = 10.0
HOPELESS: Final = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.MISDIRECTED_REQUEST,
)
UNWANTED: Final = 1008  # the close code for those who break the rules
SHUT_OUT: Final = 4401  # the close code for those whose token is not valid any more

Form = Literal["json", "msgpack"]
Message = dict[str, Any]


class LiveClosed(LadderError):
    """The server does not want us back; the text says why."""


class LiveAway(LadderError):
    """The server was away for longer than we wait."""


class LiveClient:
    """One websocket, with any number of subscriptions.

    After a break it tries for ever to come back, or for ``longest_absence`` seconds: then comes
    ``LiveAway``.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        form: Form = "msgpack",
        first_pause: float = FIRST_PAUSE,
        longest_absence: float = math.inf,
    ) -> None:
        self.url = url.rstrip("/") + PATH
        self.form: Form = form
        self.epoch = ""  # of the server: it changes when the server starts again
        self.author: str | None = None  # who the server thinks we are
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._first_pause = first_pause
        self._longest_absence = longest_absence
        self._session: aiohttp.ClientSession | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._topics: dict[str, int | None] = {}  # the number of the last message of each

    async def __aenter__(self) -> Self:
        """Connect; raise ``aiohttp.ClientError`` or ``LiveClosed`` if that fails."""
        self._session = aiohttp.ClientSession(headers=self._headers)
        try:
            await self._connect()
        except BaseException:
            await self._session.close()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        """Disconnect."""
        if self._socket is not None:
            await self._socket.close()
        if self._session is not None:
            await self._session.close()

    async def subscribe(self, topic: str) -> None:
        """Follow a topic: a snapshot comes first, then what changes."""
        self._topics[topic] = None
        await self._send({"op": "subscribe", "topic": topic})

    async def unsubscribe(self, topic: str) -> None:
        """Follow a topic no more."""
        self._topics.pop(topic, None)
        await self._send({"op": "unsubscribe", "topic": topic})

    async def ping(self) -> None:
        """Ask for a pong."""
        await self._send({"op": "ping"})

    async def __aiter__(self) -> AsyncIterator[Message]:
        """Yield what the server says, and ``lost`` and ``back`` around a break."""
        while True:
            async for message in self._messages():
                yield message
            yield {"op": "lost"}
            await self._come_back()
            yield {"op": "back"}

    async def _messages(self) -> AsyncIterator[Message]:
        """Yield what comes until the connection ends, or a message is missing."""
        socket = self._socket
        assert socket is not None
        async for raw in socket:
            if raw.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                break
            message = self._decoded(raw)
            if not self._take_note(message):
                await socket.close()
                return
            yield message
        if socket.close_code == UNWANTED:
            raise LiveClosed("the server closed the connection: too many messages, or bad ones")
        if socket.close_code == SHUT_OUT:
            raise LiveClosed("the token is not valid any more: it was revoked, or is too old")

    def _take_note(self, message: Message) -> bool:
        """Keep the place in a topic; return whether the message is the one that comes next."""
        op, topic = message["op"], message.get("topic")
        if op == "welcome":
            self.epoch, self.author = message["epoch"], message["author"]
        if topic is None or topic not in self._topics:
            return True
        if op in ("end", "error"):
            del self._topics[topic]
        elif op == "snapshot":
            self._topics[topic] = message["seq"]
        elif op == "delta":
            if message["seq"] != (self._topics[topic] or 0) + 1:
                return False
            self._topics[topic] = message["seq"]
        return True

    async def _connect(self) -> None:
        assert self._session is not None
        try:
            self._socket = await self._session.ws_connect(
                self.url, protocols=(PROTOCOLS[self.form],), heartbeat=HEARTBEAT, max_msg_size=0
            )
        except aiohttp.WSServerHandshakeError as error:
            if error.status in HOPELESS:
                raise LiveClosed(f"the server refuses us: {HTTPStatus(error.status)!s}") from None
            raise
        raw = await self._socket.receive()
        if raw.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            raise aiohttp.ClientConnectionError("the server closed the connection at once")
        self._take_note(self._decoded(raw))

    async def _come_back(self) -> None:
        """Connect again, sooner or later, and go on where we were."""
        pause = self._first_pause
        known = self.epoch
        end = time.monotonic() + self._longest_absence
        while time.monotonic() < end:
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # not all clients at once
            pause = min(2 * pause, LONGEST_PAUSE)
            try:
                await self._connect()
                for topic, seq in list(self._topics.items()):
                    wish: Message = {"op": "subscribe", "topic": topic}
                    if seq is not None:
                        wish |= {"epoch": known, "since": seq}
                    await self._send(wish)
                return
            except (aiohttp.ClientError, OSError):
                continue
        raise LiveAway(f"the server was away for {self._longest_absence:.0f} s")

    async def _send(self, message: Message) -> None:
        """Send a message; if the connection is broken, coming back does what is needed."""
        assert self._socket is not None
        try:
            if self.form == "msgpack":
                await self._socket.send_bytes(msgpack.packb(message))
            else:
                await self._socket.send_str(json.dumps(message))
        except (ConnectionError, aiohttp.ClientError):
            if not self._socket.closed:
                raise

    def _decoded(self, raw: aiohttp.WSMessage) -> Message:
        message: Message = (
            msgpack.unpackb(raw.data)
            if raw.type is aiohttp.WSMsgType.BINARY
            else json.loads(raw.data)
        )
        return message
