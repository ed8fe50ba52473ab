"""A crowd of websocket clients: ``python -m bench.server.spectators_crowd URL TOPIC N``.

They speak just enough of the protocol to be cheap: what is measured is the server, and the crowd
shares its core. Each checks that its messages come in order and without a gap. What they saw is
printed as JSON when the topic ends, or when standard input closes.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import sys
import time
from collections import Counter
from typing import Any, Final, cast
from urllib.parse import urlsplit

import uvloop

PATH: Final = "/api/v1/live"
_KIND: Final = re.compile(rb'^\{"op":"(\w+)"')
_SEQ: Final = re.compile(rb'"seq":(\d+)')
_TIMED: Final = 50  # one client of so many notes when each message came


class Spectator(asyncio.Protocol):
    """One client."""

    def __init__(self, host: str, topic: str, crowd: Crowd, timed: bool) -> None:
        self.host = host
        self.topic = topic
        self.crowd = crowd
        self.timed = timed
        self.data = bytearray()
        self.shaken = False
        self.seq = -1
        self.done = False
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask to speak websocket."""
        self.transport = cast(asyncio.Transport, transport)  # uvloop's are of no such class
        key = base64.b64encode(os.urandom(16)).decode()
        self.transport.write(
            f"GET {PATH} HTTP/1.1\r\nHost: {self.host}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Protocol: keltis.v1.json\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        """Take whatever messages are complete."""
        self.data += data
        if not self.shaken:
            end = self.data.find(b"\r\n\r\n")
            if end < 0:
                return
            if not self.data.startswith(b"HTTP/1.1 101"):
                self.crowd.wrong["refused: " + self.data[:32].decode()] += 1
                return
            del self.data[: end + 4]
            self.shaken = True
            self._send(json.dumps({"op": "subscribe", "topic": self.topic}).encode())
        while (message := self._next()) is not None:
            self._take(message)

    def connection_lost(self, error: Exception | None) -> None:
        """Take note of a connection that ended before its topic did."""
        if not self.done and not self.crowd.closing:
            self.crowd.wrong["connection lost"] += 1
            self.crowd.leave()

    def _next(self) -> bytes | None:
        """Return the next whole message; none if it has not come yet."""
        data = self.data
        if len(data) < 2:
            return None
        size, start = data[1] & 0x7F, 2
        if size == 126:
            if len(data) < 4:
                return None
            size, start = int.from_bytes(data[2:4], "big"), 4
        elif size == 127:
            if len(data) < 10:
                return None
            size, start = int.from_bytes(data[2:10], "big"), 10
        if len(data) < start + size:
            return None
        kind, message = data[0] & 0x0F, bytes(data[start : start + size])
        del data[: start + size]
        if kind == 9:  # a ping
            self._send(message, kind=10)
            return b""
        return message if kind == 1 else b""

    def _take(self, message: bytes) -> None:
        kind = _KIND.match(message)
        if kind is None or kind[1] in (b"welcome", b"pong"):
            return
        found = _SEQ.search(message)
        if found is None:
            self.crowd.wrong[message[:80].decode()] += 1
            return
        seq = int(found[1])
        if kind[1] == b"snapshot":
            self.crowd.snapshots += 1
        else:
            self.crowd.messages += 1
            if seq != self.seq + 1:
                self.crowd.wrong["gap or disorder"] += 1
            if self.timed:
                self.crowd.times.setdefault(seq, []).append(time.monotonic())
        self.seq = seq
        self.crowd.bytes += len(message)
        if kind[1] == b"end":
            self.done = True
            self.crowd.last[seq] += 1
            self.crowd.leave()

    def _send(self, payload: bytes, kind: int = 1) -> None:
        assert self.transport is not None
        assert len(payload) < 126 or kind == 1
        head = bytes([0x80 | kind])
        if len(payload) < 126:
            head += bytes([0x80 | len(payload)])
        else:
            head += bytes([0x80 | 126]) + len(payload).to_bytes(2, "big")
        self.transport.write(head + b"\0\0\0\0" + payload)  # masked with nothing


class Crowd:
    """All of them together."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.left = size
        self.messages = 0
        self.snapshots = 0
        self.bytes = 0
        self.closing = False
        self.wrong: Counter[str] = Counter()
        self.last: Counter[int] = Counter()  # the number of each client's last message
        self.times: dict[int, list[float]] = {}
        self.gone = asyncio.Event()

    def leave(self) -> None:
        """Take note that one has seen the end."""
        self.left -= 1
        if not self.left:
            self.gone.set()

    def report(self) -> dict[str, Any]:
        """Return what they saw."""
        spreads = sorted(max(at) - min(at) for at in self.times.values() if len(at) > 1)
        return {
            "clients": self.size,
            "saw_the_end": self.size - self.left,
            "snapshots": self.snapshots,
            "messages": self.messages,
            "bytes": self.bytes,
            "wrong": dict(self.wrong),
            "last": dict(self.last),
            "spread_ms_p50": round(1000 * spreads[len(spreads) // 2], 1) if spreads else None,
            "spread_ms_max": round(1000 * spreads[-1], 1) if spreads else None,
        }


async def attend(url: str, topic: str, size: int) -> dict[str, Any]:
    """Let a crowd watch a topic to its end."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    crowd = Crowd(size)
    loop = asyncio.get_running_loop()
    transports = []
    for number in range(size):
        timed = number % max(1, size // _TIMED) == 0
        transport, _ = await loop.create_connection(
            lambda timed=timed: Spectator(parts.netloc, topic, crowd, timed),  # type: ignore[misc]
            parts.hostname,
            parts.port,
        )
        transports.append(transport)
    while crowd.snapshots + sum(crowd.wrong.values()) < size:
        await asyncio.sleep(0.05)
    print(json.dumps({"watching": crowd.snapshots}), flush=True)
    await crowd.gone.wait()
    crowd.closing = True
    for transport in transports:
        transport.close()
    await asyncio.sleep(0.2)
    return crowd.report()


if __name__ == "__main__":
    where, what, how_many = sys.argv[1:]
    print(json.dumps(uvloop.run(attend(where, what, int(how_many)))))
