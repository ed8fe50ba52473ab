"""Bodies of requests: nothing is unpacked, nothing deep is parsed, and nobody sends for ever."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web_request

from keltis_server.http.edge.nesting import DEEPEST, TooDeep, check_depth
from keltis_server.http.endpoints import API, MOST_PARAMETERS
from keltis_server.settings import Deadlines
from tests.server.support.raw import raw, request
from tests.server.support.serving import QUIET, served
from tests.server.support.spectating import next_json, raw_socket

JSON = {"Content-Type": "application/json"}
BOMB = gzip.compress(bytes(2**20))


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "GZIP", "identity, gzip", "x"])
def test_a_packed_body_is_refused_and_the_connection_closed(tmp_path: Path, coding: str) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server, raw(server) as client:
            headers = {**JSON, "Content-Encoding": coding, "Content-Length": str(len(BOMB))}
            client.send(request("POST", f"{API}/accounts", headers) + BOMB)
            status, told, body = await client.answer()
            assert status == 415
            assert told["connection"] == "close"
            assert "Content-Encoding" in json.loads(body)["detail"]
            assert await client.closed() == b""

    asyncio.run(scenario())


def test_a_body_that_is_not_packed_is_taken_whatever_its_header_calls_that(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            headers = {"Content-Encoding": "identity"}
            await server.post("/accounts", 201, json={"name": "ada"}, headers=headers)

    asyncio.run(scenario())


def test_an_odd_content_type_is_refused_before_anybody_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of semicolons stopped the server for a second, some parameters made it fail."""
    seen: list[str] = []
    parse = web_request.BaseRequest._parse_content_type

    def noted(self: web_request.BaseRequest, raw: str | None) -> None:
        seen.append(raw or "")
        parse(self, raw)

    async def scenario() -> None:
        async with served(tmp_path) as server:
            monkeypatch.setattr(web_request.BaseRequest, "_parse_content_type", noted)
            for kind in (
                "application/json;" + ";" * 8000,
                "application/json; " + "a=b; " * 1500,
                "application/json; a*0=b; a*1=c",
                "application/json; a*=utf-8''b",
                'application/json; a="' + "\\" * 100,
                "application/json" + "; a=b" * 9,
                "application/json; charset",
                "application",
                "application/json, text/plain",
                "\u00e4/json",
            ):
                async with raw(server) as client:
                    headers = {"Content-Type": kind, "Content-Length": "2"}
                    client.send(request("POST", f"{API}/accounts", headers) + b"{}")
                    status, told, _ = await client.answer()
                    assert (status, told.get("connection")) == (415, "close"), kind[:50]
            assert seen == []
            for n, kind in enumerate(
                (
                    "application/json",
                    "Application/JSON; charset=utf-8;",
                    'application/json ; a="b c"',
                )
            ):
                body = json.dumps({"name": f"ada{n}"}).encode()
                async with raw(server) as client:
                    headers = {"Content-Type": kind, "Content-Length": str(len(body))}
                    client.send(request("POST", f"{API}/accounts", headers) + body)
                    assert (await client.answer())[0] == 201, kind
            assert len(seen) == 3

    asyncio.run(scenario())


def test_no_body_is_unpacked_while_it_is_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the server unpacks a body")

    async def scenario() -> None:
        async with served(tmp_path) as server, raw(server) as client:
            monkeypatch.setattr(zlib, "decompressobj", refuse)
            for path in (f"{API}/accounts", f"{API}/bots", "/nowhere"):
                headers = {**JSON, "Content-Encoding": "gzip", "Content-Length": str(len(BOMB))}
                async with raw(server) as other:
                    other.send(request("POST", path, headers) + BOMB)
                    assert (await other.answer())[0] == 415
            headers = {**JSON, "Transfer-Encoding": "gzip, chunked"}
            chunk = f"{len(BOMB):x}\r\n".encode() + BOMB + b"\r\n0\r\n\r\n"
            client.send(request("POST", f"{API}/accounts", headers) + chunk)
            assert (await client.answer())[0] == 400

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({**JSON, "Content-Length": str(2**17)}, 413),
        ({"Content-Type": "text/plain", "Content-Length": str(2**17)}, 415),
    ],
)
def test_after_a_refused_body_the_connection_is_closed(
    tmp_path: Path, headers: dict[str, str], status: int
) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server, raw(server) as client:
            client.send(request("POST", f"{API}/accounts", headers) + b"x" * 2**17)
            found, told, _ = await client.answer()
            assert (found, told["connection"]) == (status, "close")
            assert await client.closed() == b""

    asyncio.run(scenario())


def test_a_body_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    settings = replace(QUIET, deadlines=Deadlines(body=0.2, linger=0.2))

    async def scenario() -> None:
        async with served(tmp_path, settings) as server, raw(server) as client:
            client.send(request("POST", f"{API}/accounts", {**JSON, "Content-Length": "9"}) + b'{"')
            status, told, body = await client.answer()
            assert (status, told["connection"]) == (408, "close")
            assert "0.2 s" in json.loads(body)["detail"]
            assert await client.closed() == b""

    asyncio.run(scenario())


def test_a_packed_message_of_a_websocket_ends_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            url = f"{server.url}{API}/live"
            async with server.http.ws_connect(url, compress=15) as offered:
                assert offered.compress == 0  # the server does not agree to compression
            async with raw_socket(server) as socket:
                await next_json(socket)
                await socket.send_frame(BOMB, aiohttp.WSMsgType.BINARY, compress=15)
                last = await socket.receive(timeout=300)
                assert last.type is aiohttp.WSMsgType.CLOSE
                assert socket.close_code == aiohttp.WSCloseCode.PROTOCOL_ERROR

    asyncio.run(scenario())


def test_deep_messages_of_a_websocket_are_bad_messages(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server, raw_socket(server) as socket:
            await next_json(socket)
            for text in ("[" * 4000, '{"op":' * 600, "[" * 40 + "]" * 40):
                await socket.send_str(text)
                assert (await next_json(socket))["code"] == "bad-message"
            await socket.send_bytes(b"\x91" * 4000)
            assert (await next_json(socket))["code"] == "bad-message"

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "text",
    [
        "[" * DEEPEST + "]" * DEEPEST,
        '{"a":' * DEEPEST + "1" + "}" * DEEPEST,
        "[" + "[]," * 10_000 + "[]]",
        '["' + "[" * 10_000 + '"]',
        '["' + '\\"[' * 10_000 + '"]',
        '["\\\\", "' + "{" * 100 + '"]',
        "}" * DEEPEST,
    ],
)
def test_what_is_flat_is_let_through(text: str) -> None:
    check_depth(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "[" * (2 * DEEPEST + 1),
        "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1),
        '["\\\\"' + ",[" * 100,
        '[{"a":' * 100_000,
        '"\\"' + '"' + "[" * 100,
        "[]" * 1000 + "[{" * 100 + "}]" * 100,
    ],
)
def test_what_is_deep_is_refused(text: str) -> None:
    with pytest.raises(TooDeep):
        check_depth(text.encode())


def test_queries_have_an_end(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            for count, status in ((MOST_PARAMETERS + 1, 422), (4000, 422)):
                path = f"{API}/head-to-head?" + "&".join(["a"] * count)
                async with raw(server) as client:
                    client.send(request("GET", path))
                    assert (await client.answer())[0] == status
            for path in (f"{API}/bots/{'x' * 9000}", f"{API}/bots?after={'x' * 9000}"):
                async with raw(server) as client:
                    client.send(request("GET", path))
                    assert (await client.answer())[0] == 400

    asyncio.run(scenario())
