"""Sockets: one client's websocket, and what it may ask for.

Frames are written straight to the transport, whole and one after the other. aiohttp does the same
with its pings and its closing frame as long as it does not compress. Nothing waits for a client:
a client that reads too slowly is dropped, and can come back.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

import msgpack
from aiohttp import WSCloseCode, WSMessage, WSMsgType, web

from keltis_ladder.store.bots.accounts import Bearer
from keltis_ladder.store.schema.moments import now
from keltis_server.http import metrics
from keltis_server.http.wire import load_json
from keltis_server.live.envelopes import JSON_PROTOCOL, PROTOCOLS, Envelope, error
from keltis_server.live.topics import cost_of
from keltis_server.site.budgets import Limiter

if TYPE_CHECKING:
    from keltis_server.live.channel import Channel
    from keltis_server.live.hub import Live

MOST_OUTSTANDING: Final = 256 * 1024  # bytes that a client has not taken, beyond its snapshots
MOST_WITH_SNAPSHOTS: Final = 4 * 1024 * 1024
MOST_SUBSCRIPTIONS: Final = 32
LARGEST_MESSAGE: Final = 4096  # bytes
LONGEST_TOPIC: Final = 200  # characters
MOST_MISTAKES: Final = 10
BURST: Final = 50  # messages at once
PER_SECOND: Final = 20
MESSAGE_COST: Final = 0.2  # tokens, for any message
HELLO_COST: Final = 1  # a token is looked up
HEARTBEAT: Final = 20.0  # seconds
CLOSING: Final = 1.0  # seconds for a client to answer our goodbye
MAX_SEQ: Final = 2**53
SHUT_OUT: Final = 4401  # the close code for those whose token is not valid any more
DAY: Final = 86_400.0  # seconds; clocks of machines are put right, so nobody sleeps for longer

log = logging.getLogger(__name__)


class Mistake(Exception):
    """A message that makes no sense."""

    def __init__(self, detail: str, topic: str | None = None) -> None:
        super().__init__(detail)
        self.topic = topic


class Socket:
    """One client."""

    def __init__(self, live: Live, caller: Bearer | None, address: str) -> None:
        self.live = live
        self.caller = caller
        self.address = address
        self.protocol = JSON_PROTOCOL
        self.following: dict[str, Channel | None] = {}  # none: not yet, or it has ended
        self.response = web.WebSocketResponse(
            protocols=PROTOCOLS,
            heartbeat=HEARTBEAT,
            compress=False,
            max_msg_size=LARGEST_MESSAGE,
            timeout=CLOSING,
        )
        self._transport: asyncio.WriteTransport | None = None
        self._allowance = 0  # bytes of snapshots that the client has not taken yet
        self._mistakes = 0
        self._greeted = False
        self._limiter = Limiter(BURST, BURST / PER_SECOND)
        self._expiry: asyncio.TimerHandle | None = None

    async def run(self, request: web.Request) -> None:
        """Serve the client until it goes, or is sent away."""
        await self.response.prepare(request)
        self.protocol = self.response.ws_protocol or JSON_PROTOCOL
        self._transport = request.transport
        self._welcome()
        try:
            self._watch_expiry()
            async for raw in self.response:
                if raw.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                    break  # the connection broke
                await self._receive(raw)
        finally:
            if self._expiry is not None:
                self._expiry.cancel()

    def write(self, data: bytes) -> None:
        """Send a frame; a client that has not taken the earlier ones is dropped."""
        transport = self._transport
        if transport is None or self.response.closed or transport.is_closing():
            return
        outstanding = transport.get_write_buffer_size()
        self._allowance = min(self._allowance, outstanding)
        if outstanding > MOST_OUTSTANDING + self._allowance or outstanding > MOST_WITH_SNAPSHOTS:
            metrics.DROPPED.inc()
            self._transport = None
            transport.abort()
            return
        transport.write(data)

    def write_snapshot(self, data: bytes) -> None:
        """Send a frame that may be long: the client has as much time for it as it needs."""
        self.write(data)
        if self._transport is not None:
            self._allowance = self._transport.get_write_buffer_size()

    def ended(self, topic: str) -> None:
        """Take note that nothing more comes of a topic."""
        self.following.pop(topic, None)

    async def close(self, code: int, message: bytes = b"") -> None:
        """Say goodbye."""
        await self.response.close(code=code, message=message, drain=False)

    def leave_all(self) -> None:
        """Follow nothing any more."""
        for topic in list(self.following):
            self._unsubscribe(topic)

    def shut_out(self) -> None:
        """Tell nothing more to somebody who is not let in any more, and say goodbye."""
        self.caller = None
        self._greeted = True  # they come back as somebody else by another connection
        self.leave_all()
        self.live.spawn(self.close(SHUT_OUT, b"the token is not valid any more"))

    def _watch_expiry(self) -> None:
        """Let the client go when its token ends."""
        if self.caller is None or self.caller.expires is None:
            return
        left = (self.caller.expires - now()).total_seconds()
        if left <= 0:
            self.shut_out()
        else:
            loop = asyncio.get_running_loop()
            self._expiry = loop.call_later(min(left, DAY), self._watch_expiry)

    def abort(self) -> None:
        """End the connection without a word."""
        if self._transport is not None:
            self._transport.abort()

    def send(self, envelope: Envelope) -> None:
        """Send a message to this client alone."""
        self.write(envelope.in_form(self.protocol))

    def _welcome(self) -> None:
        name = self.caller.name if self.caller else None
        self.send(Envelope({"op": "welcome", "epoch": self.live.epoch, "author": name}))

    async def _receive(self, raw: WSMessage) -> None:
        try:
            if self._limiter.take(""):
                raise Mistake(f"at most {PER_SECOND} messages a second")
            await self._pay(MESSAGE_COST)
            await self._obey(_decode(raw))
        except Mistake as mistake:
            self.send(error("bad-message", str(mistake), mistake.topic))
            self._mistakes += 1
            if self._mistakes >= MOST_MISTAKES:
                await self.close(WSCloseCode.POLICY_VIOLATION, b"too many bad messages")

    async def _pay(self, cost: float) -> None:
        """Pay with tokens of the client's budgets, as requests do; wait until there are enough.

        Nothing more is read meanwhile. An error would cost a client that comes back its topics.
        """
        budgets = self.live.site.limiters.budgets
        while wait := budgets.pay(self.address, cost):
            await asyncio.sleep(wait)
        while self.caller is not None and (wait := budgets.pay_as(self.caller.author_id, cost)):
            await asyncio.sleep(wait)

    async def _obey(self, message: dict[str, Any]) -> None:
        match message:
            case {"op": "ping", **rest} if not rest:
                self.send(Envelope({"op": "pong"}))
            case {"op": "hello", **rest} if rest.keys() <= {"token"}:
                await self._hello(rest.get("token"))
            case {"op": "subscribe", "topic": str(topic), **rest} if rest.keys() <= {
                "epoch",
                "since",
            }:
                await self._subscribe(_checked(topic), rest.get("epoch"), rest.get("since"))
            case {"op": "unsubscribe", "topic": str(topic), **rest} if not rest:
                self._unsubscribe(_checked(topic))
            case _:
                raise Mistake("a message is a hello, subscribe, unsubscribe or ping: see live.md")

    async def _hello(self, token: Any) -> None:
        if self._greeted:
            raise Mistake("hello comes once, before the first subscribe")
        self._greeted = True
        if token is not None:
            if not isinstance(token, str):
                raise Mistake("a token is a text")
            await self._pay(HELLO_COST)
            found = await self.live.bearer(token)
            if found is None:
                self.send(error("unauthorized", "this token is not valid"))
                return
            self.caller = found
            self._watch_expiry()
        self._welcome()

    async def _subscribe(self, topic: str, epoch: Any, since: Any) -> None:
        self._greeted = True
        if not isinstance(epoch, str | None) or not _is_seq(since):
            raise Mistake("epoch is a text and since a number, both as they were told", topic)
        if topic not in self.following and len(self.following) >= MOST_SUBSCRIPTIONS:
            detail = f"at most {MOST_SUBSCRIPTIONS} topics at once: unsubscribe from some"
            self.send(error("too-many", detail, topic))
            return
        await self._pay(cost_of(topic))
        self._unsubscribe(topic)
        place = since if epoch == self.live.epoch else None
        self.following[topic] = None
        await self.live.subscribe(self, topic, place)

    def _unsubscribe(self, topic: str) -> None:
        channel = self.following.pop(topic, None)
        if channel is not None:
            self.live.leave(self, channel)


def _decode(raw: WSMessage) -> dict[str, Any]:
    try:
        message = (
            load_json(raw.data.encode())
            if raw.type is WSMsgType.TEXT
            else msgpack.unpackb(raw.data, max_map_len=16, max_array_len=16, max_ext_len=0)
        )
    except (ValueError, RecursionError, msgpack.UnpackException):
        raise Mistake("this is neither JSON as text nor msgpack as bytes") from None
    if not isinstance(message, dict):
        raise Mistake("a message is a map")
    return message


def _checked(topic: str) -> str:
    if len(topic) > LONGEST_TOPIC:
        raise Mistake(f"a topic has at most {LONGEST_TOPIC} characters")
    return topic


def _is_seq(value: Any) -> bool:
    return value is None or (type(value) is int and 0 <= value < MAX_SEQ)
