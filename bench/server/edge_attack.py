"""One address doing its worst: ``python -m bench.server.edge_attack URL MATCH SECONDS``.

Connections that send a byte a second, costly requests, packed and deep bodies, websockets that
subscribe without end, and connections that ask for the simplest things at full speed, one request
after the other or hundreds of them at once, whatever the answer is. What came of it is printed as
JSON. It attacks loopback addresses only.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import re
import socket
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from ipaddress import ip_address
from itertools import cycle
from typing import Final
from urllib.parse import urlsplit

import aiohttp

SOURCE: Final = "127.0.0.2"
SLOW: Final = 200  # connections that send a byte a second
COSTLY_PER_SECOND: Final = 20
BODIES_PER_SECOND: Final = 4
SOCKETS: Final = 64
HASTY: Final = 64  # connections that ask without a pause
PIPELINED: Final = 256 * 1024  # bytes of requests in one write
BOMB: Final = gzip.compress(bytes(2**20)) + bytes(2**20)
DEEP: Final = b"[" * 60_000


class Attack:
    """Everything at once, for some time."""

    def __init__(self, url: str, match: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert ip_address(parts.hostname).is_loopback, "this is for servers on this machine"
        self.url = url
        self.place = parts.hostname, parts.port
        self.match = match
        self.counts: Counter[str] = Counter()

    async def run(self, seconds: float) -> dict[str, int]:
        """Attack; return what came of it."""
        connector = aiohttp.TCPConnector(local_addr=(SOURCE, 0), limit=0)
        async with aiohttp.ClientSession(connector=connector) as http:
            steps: list[Awaitable[None]] = [self.costly(http), self.bodies(http)]
            steps += [self.again(self.slow) for _ in range(SLOW)]
            steps += [self.again(lambda: self.socket(http)) for _ in range(SOCKETS)]
            for path in ("/healthz", "/"):
                steps += [self.again(partial(self.hasty, path, 1)) for _ in range(HASTY // 2)]
            head = len(request_for("/healthz"))
            steps += [self.again(partial(self.hasty, "/healthz", PIPELINED // head))]
            tasks = [asyncio.ensure_future(step) for step in steps]
            await asyncio.sleep(seconds)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return dict(sorted(self.counts.items()))

    async def again(self, step: Callable[[], Awaitable[None]]) -> None:
        """Do something again and again, whatever comes of it."""
        while True:
            try:
                await step()
            except (OSError, aiohttp.ClientError, TimeoutError) as error:
                self.counts[f"{type(error).__name__}"] += 1
            await asyncio.sleep(0.25)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection from the attacker's address."""
        plain = socket.socket()
        plain.setblocking(False)
        plain.bind((SOURCE, 0))
        try:
            await asyncio.get_running_loop().sock_connect(plain, self.place)
            return await asyncio.open_connection(sock=plain)
        except BaseException:
            plain.close()
            raise

    async def hasty(self, path: str, at_once: int) -> None:
        """Ask for something without a pause, so many times in one write."""
        reader, writer = await self.connect()
        sent = request_for(path) * at_once
        try:
            while True:
                writer.write(sent)
                for _ in range(at_once):
                    head = await reader.readuntil(b"\r\n\r\n")
                    length = re.search(rb"(?i)content-length: (\d+)", head)
                    await reader.readexactly(int(length[1]) if length else 0)
                    self.counts[f"hasty {head[9:12].decode()}"] += 1
        except asyncio.IncompleteReadError:
            self.counts["hasty closed"] += 1
        finally:
            writer.transport.abort()

    async def slow(self) -> None:
        """Send the head of a request as slowly as can be."""
        reader, writer = await self.connect()
        try:
            writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            while True:
                writer.write(b"x")
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(1):
                        await reader.read(1000)
                        self.counts["slow connections cut off"] += 1
                        return
        finally:
            writer.transport.abort()

    async def costly(self, http: aiohttp.ClientSession) -> None:
        """Ask for what takes longest, at a steady rate."""
        paths = cycle(
            [
                "/matches",
                f"/api/v1/matches/{self.match}/games/0/frames",
                "/leaderboard",
                "/api/v1/matches?limit=200",
                "/bots",
            ]
        )
        tasks = set()
        for path in paths:
            task = asyncio.create_task(self.ask(http, "GET", path, "costly"))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            await asyncio.sleep(1 / COSTLY_PER_SECOND)

    async def bodies(self, http: aiohttp.ClientSession) -> None:
        """Send bodies that are hard to read."""
        kinds = cycle([(BOMB, {"Content-Encoding": "gzip"}), (DEEP, {})])
        for data, headers in kinds:
            sent = {"Content-Type": "application/json", **headers}
            await self.ask(http, "POST", "/api/v1/accounts", "bodies", data=data, headers=sent)
            await asyncio.sleep(1 / BODIES_PER_SECOND)

    async def ask(
        self, http: aiohttp.ClientSession, method: str, path: str, kind: str, **more: object
    ) -> None:
        """Send a request, and count its status."""
        try:
            async with http.request(method, self.url + path, **more) as response:  # type: ignore[arg-type]
                await response.read()
                self.counts[f"{kind} {response.status}"] += 1
        except (OSError, aiohttp.ClientError) as error:
            self.counts[f"{kind} {type(error).__name__}"] += 1

    async def socket(self, http: aiohttp.ClientSession) -> None:
        """Subscribe without end."""
        url = f"{self.url}/api/v1/live"
        async with http.ws_connect(url, protocols=("keltis.v1.json",), max_msg_size=0) as live:
            topics = cycle([f"match/{self.match}", "lobby", "leaderboard/all/0"])
            reading = asyncio.create_task(self.count(live))
            try:
                while not live.closed:
                    await live.send_json({"op": "subscribe", "topic": next(topics)})
                    await asyncio.sleep(0.06)
            finally:
                reading.cancel()

    async def count(self, live: aiohttp.ClientWebSocketResponse) -> None:
        """Count what a websocket is sent."""
        async for message in live:
            if message.type is aiohttp.WSMsgType.TEXT:
                self.counts[f"websocket {json.loads(message.data)['op']}"] += 1


def request_for(path: str) -> bytes:
    """Return a request for a path."""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


if __name__ == "__main__":
    address, number, seconds_text = sys.argv[1:]
    print(json.dumps(asyncio.run(Attack(address, number).run(float(seconds_text)))))
