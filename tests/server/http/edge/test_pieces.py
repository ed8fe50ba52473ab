"""Bodies in pieces: however they are cut, uploads arrive, and nobody pays for tiny pieces."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from keltis_server.http import metrics
from keltis_server.http.edge.connections import (
    FRAMING_BYTES,
    FRAMING_OF_RECEIPT,
    UNWANTED_BYTES,
    Connection,
    Stage,
)
from keltis_server.http.edge.running import EdgeRunner
from keltis_server.http.endpoints import API
from keltis_server.settings import Deadlines, Settings
from keltis_server.uploads.receiving import Pace
from keltis_server.uploads.submitting import SUBMITTING
from tests.server.support.raw import PATIENCE, Raw, raw, request
from tests.server.support.serving import QUIET, served

CHUNKED = {"Transfer-Encoding": "chunked"}
TINY = b"1\r\nx\r\n"
TOO_MANY = TINY * (FRAMING_BYTES // 4)
HALF = UNWANTED_BYTES // 2 + 1


class Wire(asyncio.Transport):
    """A connection to nobody, which knows whether it was ended."""

    aborted = False

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        """Send something."""

    def get_write_buffer_size(self) -> int:
        """Return how much was not taken."""
        return 0

    def is_closing(self) -> bool:
        """Return whether it is being ended."""
        return self.aborted

    def abort(self) -> None:
        """End it."""
        self.aborted = True

    def close(self) -> None:
        """End it in good order."""

    def pause_reading(self) -> None:
        """Wait with what comes."""

    def resume_reading(self) -> None:
        """Go on."""


async def new_connection() -> tuple[Connection, Wire]:
    """Return a connection to an application that reads whatever is sent, on a wire of our own."""

    async def read(request: web.Request) -> web.Response:
        return web.Response(text=str(len(await request.content.read())))

    app = web.Application()
    app.router.add_post("/", read)
    runner = EdgeRunner(app, Settings(), shutdown_timeout=0.0)
    await runner.setup()
    assert runner.server is not None
    connection, wire = runner.server(), Wire()
    assert isinstance(connection, Connection)
    connection.connection_made(wire)
    return connection, wire


@pytest.mark.parametrize("before", [b"", request("GET", "/nowhere")])
def test_a_body_may_come_before_its_handler_has_started(before: bytes) -> None:
    """Some event loops read several times before anything else runs (libuv: up to 32 times)."""

    async def scenario() -> None:
        connection, wire = await new_connection()
        if before:
            connection.data_received(before)
            while connection.stage is not Stage.IDLE:
                await asyncio.sleep(0)
        connection.data_received(request("POST", "/", {"Content-Length": str(3 * HALF)}))
        for _ in range(3):
            connection.data_received(b"x" * HALF)
        assert not wire.aborted
        connection.connection_lost(None)

    asyncio.run(scenario())


async def told(client: Raw) -> tuple[int, str, str]:
    """Return status, kind and header of the problem that a client is told."""
    status, headers, body = await client.answer()
    return status, json.loads(body)["type"].rpartition(":")[2], headers.get("connection", "")


REFUSED = (413, "small-pieces", "close")


def test_an_upload_in_tiny_chunks_is_refused_and_counts(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            ada = await server.register("ada")
            before = metrics.CUT_OFF.labels("small pieces")._value.get()
            async with raw(server) as client:
                client.send(request("POST", f"{API}/bots", {**ada, **CHUNKED}) + TOO_MANY)
                assert await told(client) == REFUSED
                assert await client.closed() == b""
            assert metrics.CUT_OFF.labels("small pieces")._value.get() == before + 1
            left = server.site.limiters.uploads.left("1")
            assert left == server.site.settings.quotas.uploads_per_hour - 1
            assert list((tmp_path / "incoming").iterdir()) == []

    asyncio.run(scenario())


def test_it_does_not_help_to_hide_behind_another_request(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server, raw(server) as client:
            ada = await server.register("ada")
            upload = request("POST", f"{API}/bots", {**ada, **CHUNKED})
            client.send(request("GET", "/healthz") + upload + TOO_MANY)
            assert (await client.answer())[0] == 200
            assert await told(client) == REFUSED

    asyncio.run(scenario())


BROKEN = (b"zz\r\n", b"5\r\nabcdefgh\r\n", b"-1\r\n", b"f" * 17 + b"\r\n", b"\x00" * 100)


@pytest.mark.parametrize("path", ["/accounts", "/bots"])
def test_a_broken_chunk_is_refused_as_soon_as_it_is_there(tmp_path: Path, path: str) -> None:
    """Deadlines are longer than the test waits: it is not they that end it."""
    settings = replace(QUIET, deadlines=Deadlines(body=2 * PATIENCE, linger=0.1))

    async def scenario() -> None:
        async with served(tmp_path, settings) as server:
            server.app[SUBMITTING].receiver.pace = Pace(2 * PATIENCE, 2 * PATIENCE)
            kind = {"Content-Type": "application/json"}
            headers = {**await server.register("ada"), **kind, **CHUNKED, "Expect": "100-continue"}
            for before, broken in product((b"", b"2\r\n{}\r\n"), BROKEN):
                async with raw(server) as client:
                    client.send(request("POST", API + path, headers))
                    assert (await client.answer())[0] == 100  # its handler has begun
                    client.send(before + broken)
                    assert await told(client) == (400, "broken-body", "close"), broken
                    assert await client.closed() == b""

    asyncio.run(scenario())


def test_a_broken_chunk_in_one_piece_with_its_head_is_refused_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server, raw(server) as client:
            client.send(request("POST", f"{API}/accounts", CHUNKED) + BROKEN[0])
            assert (await client.answer())[0] == 400
            assert await client.closed() == b""

    asyncio.run(scenario())


def test_a_body_of_small_receipts_is_refused_too() -> None:
    async def scenario() -> None:
        connection, _ = await new_connection()
        connection.data_received(request("POST", "/", {"Content-Length": "9999999"}))
        for _ in range(FRAMING_BYTES // FRAMING_OF_RECEIPT):
            connection.data_received(b"x")
        body = connection._body
        assert body is not None
        assert body.exception() is None
        for _ in range(FRAMING_BYTES // FRAMING_OF_RECEIPT // 20):
            connection.data_received(b"x")
        assert "small pieces" in str(body.exception())
        connection.connection_lost(None)

    asyncio.run(scenario())


def test_ordinary_chunks_are_taken_however_many(tmp_path: Path) -> None:
    async def chunks(size: int) -> AsyncIterator[bytes]:
        for _ in range(8 * 2**20 // size):
            yield b"x" * size

    async def scenario() -> None:
        async with served(tmp_path) as server:
            ada = await server.register("ada")
            for size in (512, 65536):
                problem = await server.post("/bots", 400, data=chunks(size), headers=ada)
                assert "no archive that we know" in problem["detail"]

    asyncio.run(scenario())


def test_small_chunks_are_taken_if_there_are_few(tmp_path: Path) -> None:
    body = b"".join(b"1\r\n%c\r\n" % byte for byte in b'{"name": "ada"}') + b"0\r\n\r\n"

    async def scenario() -> None:
        async with served(tmp_path) as server, raw(server) as client:
            headers = {**CHUNKED, "Content-Type": "application/json"}
            client.send(request("POST", f"{API}/accounts", headers) + body)
            assert (await client.answer())[0] == 201

    asyncio.run(scenario())


FORM = {"Content-Type": "multipart/form-data; boundary=b"}


FORMS = [
    b"\n" * 2**20,
    b"\r\n--b\r\n",
    b"read this by a program that knows forms\r\n--b\r\n",
    b'--b\r\nContent-Disposition: form-data; name="_charset_"\r\n\r\n' + b"x" * 99,
    b'--b\r\nContent-Disposition: form-data; name="_charset_"\r\n\r\n\xff\xff\r\n--b\r\n\r\n',
    b"--b--\r\n",
    b"--b\r\nContent-Type: multipart/mixed\r\n\r\n",
]


def test_a_form_begins_with_its_first_field_and_cannot_make_us_fail(tmp_path: Path) -> None:
    """Text before the first field was read line by line: a megabyte of it stopped the server."""

    async def scenario() -> None:
        async with served(tmp_path) as server:
            ada = await server.register("ada")
            for body in FORMS:
                async with raw(server) as client:
                    headers = {**ada, **FORM, "Content-Length": str(len(body))}
                    client.send(request("POST", f"{API}/bots", headers) + body)
                    status, kind, _ = await told(client)
                    assert (status, kind) == (400, "bad-archive"), body[:80]

    asyncio.run(scenario())
