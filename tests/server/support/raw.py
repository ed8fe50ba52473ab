"""Connections that no well-behaved client would make: bytes as a test wants them."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.server.support.serving import Served

PATIENCE = 300.0  # seconds for anything that should happen soon


@dataclass
class Raw:
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, data: bytes) -> None:
        """Send bytes."""
        self.writer.write(data)

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of an answer; status 0 if the connection is closed."""
        async with asyncio.timeout(PATIENCE):
            try:
                top = await self.reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                return 0, {}, b""
            first, *lines = top.decode().split("\r\n")
            pairs = (line.partition(":") for line in lines if line)
            headers = {name.lower(): value.strip() for name, _, value in pairs}
            body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return int(first.split()[1]), headers, body

    async def closed(self) -> bytes:
        """Wait until the server closes; return what came before."""
        found = b""
        async with asyncio.timeout(PATIENCE):
            try:
                while data := await self.reader.read(65536):
                    found += data
            except ConnectionError:
                pass
        return found


@asynccontextmanager
async def raw(server: Served, source: str = "127.0.0.1") -> AsyncIterator[Raw]:
    """Open a connection, from another loopback address if need be."""
    parts = urlsplit(server.url)
    plain = socket.socket()
    plain.setblocking(False)
    plain.bind((source, 0))
    loop = asyncio.get_running_loop()
    await loop.sock_connect(plain, (parts.hostname, parts.port))
    reader, writer = await asyncio.open_connection(sock=plain)
    try:
        yield Raw(reader, writer)
    finally:
        writer.transport.abort()


def request(method: str, path: str, headers: Mapping[str, str] | None = None) -> bytes:
    """Return the head of a request."""
    lines = {"Host": "localhost", **(headers or {})}
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"{method} {path} HTTP/1.1\r\n{text}\r\n".encode()
