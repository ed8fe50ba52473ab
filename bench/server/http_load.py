"""Requests at a steady rate: ``python -m bench.server.http_load URL RATE SECONDS [HEADER...]``.

Requests are sent when their time has come, whether or not earlier ones have been answered, and a
request's latency counts from the moment it was due: a server that stalls cannot hide it.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter, deque
from typing import Any, Final, cast
from urllib.parse import urlsplit

import uvloop

CONNECTIONS: Final = 64


class Connection(asyncio.Protocol):
    """One connection that is kept open; it has one request at a time."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.data = bytearray()
        self.due = 0.0
        self.need = -1  # bytes of the answer under way, once its head is known
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Be ready."""
        self.transport = cast(asyncio.Transport, transport)  # uvloop's are of no such class
        self.load.become_free(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Count a connection that ended before we wanted it to."""
        if not self.load.closing:
            self.load.statuses["lost"] += 1

    def ask(self, due: float) -> None:
        """Send a request."""
        assert self.transport is not None
        self.due = due
        self.transport.write(self.load.request)

    def data_received(self, data: bytes) -> None:
        """Take an answer, or a part of one."""
        self.data += data
        if self.need < 0:
            end = self.data.find(b"\r\n\r\n")
            if end < 0:
                return
            head = bytes(self.data[:end]).lower()
            self.need = end + 4
            at = head.find(b"content-length:")
            if at >= 0:
                self.need += int(head[at + 15 :].split(b"\r\n", 1)[0])
        if len(self.data) < self.need:
            return
        self.load.latencies.append(time.perf_counter() - self.due)
        self.load.statuses[bytes(self.data[9:12]).decode()] += 1
        self.load.bytes += self.need
        del self.data[: self.need]
        self.need = -1
        self.load.become_free(self)


class Load:
    """A stream of requests."""

    def __init__(self, url: str, headers: list[str]) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self.host, self.port = parts.hostname, parts.port
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        lines = [f"GET {path} HTTP/1.1", f"Host: {parts.netloc}", *headers]
        self.request = ("\r\n".join(lines) + "\r\n\r\n").encode()
        self.latencies: list[float] = []
        self.statuses: Counter[str] = Counter()
        self.bytes = 0
        self.closing = False
        self._free: deque[Connection] = deque()
        self._late: deque[float] = deque()  # requests that are due and wait for a connection

    def become_free(self, connection: Connection) -> None:
        """Give a connection its next request, if one is due."""
        if self._late:
            connection.ask(self._late.popleft())
        else:
            self._free.append(connection)

    def due(self, moment: float) -> None:
        """Send a request that is due."""
        if self._free:
            self._free.popleft().ask(moment)
        else:
            self._late.append(moment)

    async def run(self, rate: float, seconds: float) -> dict[str, Any]:
        """Keep the rate up for some time; return what came of it."""
        loop = asyncio.get_running_loop()
        transports = [
            (await loop.create_connection(lambda: Connection(self), self.host, self.port))[0]
            for _ in range(CONNECTIONS)
        ]
        begin = time.perf_counter()
        wanted = int(rate * seconds)
        sent = 0
        while sent < wanted:
            at = time.perf_counter()
            while sent < wanted and begin + sent / rate <= at:
                self.due(begin + sent / rate)
                sent += 1
            await asyncio.sleep(0.0005)
        while len(self.latencies) < wanted and time.perf_counter() < begin + seconds + 30:
            await asyncio.sleep(0.05)
        took = time.perf_counter() - begin
        self.closing = True
        for transport in transports:
            transport.close()
        ordered = sorted(1000 * latency for latency in self.latencies)
        return {
            "asked": wanted,
            "answered": len(ordered),
            "statuses": dict(self.statuses),
            "seconds": round(took, 2),
            "bytes": self.bytes,
            **{
                f"p{part:g}_ms": round(
                    ordered[min(len(ordered) - 1, int(part * len(ordered) / 100))], 2
                )
                for part in (50, 90, 99, 99.9)
                if ordered
            },
            "max_ms": round(ordered[-1], 2) if ordered else None,
        }


if __name__ == "__main__":
    address, rate_text, seconds_text, *extra = sys.argv[1:]
    print(json.dumps(uvloop.run(Load(address, extra).run(float(rate_text), float(seconds_text)))))
