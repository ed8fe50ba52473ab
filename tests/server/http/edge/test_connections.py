"""Connections: nobody holds one for ever, and nobody has all of them."""

from __future__ import annotations

import asyncio
import resource
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from keltis_server.http.edge import connections
from keltis_server.http.edge.running import EdgeRunner
from keltis_server.http.endpoints import API
from keltis_server.settings import Deadlines, Quotas, Settings
from tests.server.support.raw import PATIENCE, raw, request
from tests.server.support.serving import QUIET, Served, served
from tests.server.support.spectating import next_json, raw_socket

LONG = 100.0  # seconds: this deadline does not matter
HEALTH = request("GET", "/healthz")
OTHER = "127.0.0.2"  # another client: every address of 127.0.0.0/8 is this machine


def only(**deadlines: float) -> Settings:
    """Return settings in which only some deadlines are short."""
    all_long = {"head": LONG, "body": LONG, "idle": LONG, "answer": LONG}
    return replace(QUIET, deadlines=Deadlines(**{**all_long, "linger": 0.2, **deadlines}))


@pytest.mark.parametrize("sent", [b"", b"GET ", b"GET / HTTP/1.1\r\nHost: localhost\r\n"])
def test_the_head_of_a_request_has_a_deadline(tmp_path: Path, sent: bytes) -> None:
    async def scenario() -> None:
        async with served(tmp_path, only(head=0.2)) as server, raw(server) as client:
            client.send(sent)
            assert (await client.closed()).startswith(b"HTTP/1.1 408 ")

    asyncio.run(scenario())


def test_a_byte_now_and_then_does_not_put_the_deadline_off(tmp_path: Path) -> None:
    async def drip(client: object) -> None:
        while True:
            client.send(b"x")  # type: ignore[attr-defined]
            await asyncio.sleep(0.02)

    async def scenario() -> None:
        async with served(tmp_path, only(head=0.3)) as server, raw(server) as client:
            client.send(b"GET / HTTP/1.1\r\nX-Slow: ")
            dripping = asyncio.create_task(drip(client))
            assert (await client.closed()).startswith(b"HTTP/1.1 408 ")
            dripping.cancel()

    asyncio.run(scenario())


def test_the_head_of_a_later_request_has_a_deadline_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path, only(head=0.3)) as server, raw(server) as client:
            for _ in range(2):
                client.send(HEALTH)
                assert (await client.answer())[0] == 200
            client.send(b"GET ")
            assert (await client.closed()).startswith(b"HTTP/1.1 408 ")

    asyncio.run(scenario())


def test_an_idle_connection_is_closed_but_not_before_its_time(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path, only(head=0.3, idle=0.9)) as server, raw(server) as client:
            client.send(HEALTH)
            assert (await client.answer())[0] == 200
            begin = time.monotonic()
            assert await client.closed() == b""
            assert time.monotonic() - begin >= 0.8  # the deadline of a head is not meant here

    asyncio.run(scenario())


def test_a_slow_handler_is_no_fault_of_the_client(tmp_path: Path) -> None:
    """What only takes the server long is waited for, longer than any deadline."""

    async def slow(request: web.Request) -> web.Response:
        await asyncio.sleep(0.5)
        return web.Response(text="done")

    async def scenario() -> None:
        app = web.Application()
        app.router.add_get("/", slow)
        settings = only(head=0.1, idle=0.1, answer=0.1)
        runner = EdgeRunner(app, settings, shutdown_timeout=5.0)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            port = runner.addresses[0][1]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request("GET", "/"))
            async with asyncio.timeout(PATIENCE):
                assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
            writer.close()
        finally:
            await runner.cleanup()

    asyncio.run(scenario())


async def big(request: web.Request) -> web.Response:
    return web.Response(body=bytes(32 * 2**20))


async def stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(512):
        await response.write(bytes(2**16))
    return response


@pytest.mark.parametrize("handler", [big, stream])
def test_whoever_does_not_take_an_answer_is_cut_off(handler: object) -> None:
    async def scenario() -> None:
        app = web.Application()
        app.router.add_get("/", handler)  # type: ignore[arg-type]
        runner = EdgeRunner(app, only(answer=0.4), shutdown_timeout=5.0)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            here = "127.0.0.1", runner.addresses[0][1]
            reader, writer = await asyncio.open_connection(*here, limit=4096)
            writer.write(request("GET", "/"))
            async with asyncio.timeout(PATIENCE):
                assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
                assert runner.server is not None
                while runner.server.connections:  # nobody reads meanwhile
                    await asyncio.sleep(0.01)
            writer.transport.abort()
            # Whoever takes it gets all of it.
            reader, writer = await asyncio.open_connection(*here)
            writer.write(request("GET", "/", {"Connection": "close"}))
            async with asyncio.timeout(PATIENCE):
                assert len(await reader.read()) > 32 * 2**20
            writer.close()
        finally:
            await runner.cleanup()

    asyncio.run(scenario())


def test_a_slow_but_steady_reader_makes_progress() -> None:
    class Wire:
        """A transport that holds so much."""

        size = 1_000_000

        def get_write_buffer_size(self) -> int:
            return self.size

    async def scenario() -> None:
        app = web.Application()
        runner = EdgeRunner(app, QUIET, shutdown_timeout=5.0)
        await runner.setup()
        assert runner.server is not None
        found = runner.server()
        assert isinstance(found, connections.Connection)
        wire = Wire()
        found._wire = wire  # type: ignore[assignment]
        for at in range(0, 300, 20):  # a step every twenty seconds
            assert not found.is_stuck(float(at), 30.0)
            wire.size -= connections.STEP
        wire.size = 5000
        assert not found.is_stuck(1000.0, 30.0)
        wire.size = 4000  # too little, too late
        assert not found.is_stuck(1029.0, 30.0)
        assert found.is_stuck(1030.0, 30.0)
        wire.size = 0
        assert not found.is_stuck(1031.0, 30.0)
        await runner.cleanup()

    asyncio.run(scenario())


def test_one_address_has_so_many_connections_and_the_idlest_goes_first(tmp_path: Path) -> None:
    settings = replace(only(), quotas=Quotas(connections=3))

    async def scenario() -> None:
        async with served(tmp_path, settings) as server, AsyncExitStack() as stack:
            clients = []
            for _ in range(3):
                client = await stack.enter_async_context(raw(server, OTHER))
                client.send(HEALTH)
                assert (await client.answer())[0] == 200
                clients.append(client)
            clients[0].send(HEALTH)  # now the second is the one that waits longest
            assert (await clients[0].answer())[0] == 200
            newcomer = await stack.enter_async_context(raw(server, OTHER))
            newcomer.send(HEALTH)
            assert (await newcomer.answer())[0] == 200
            assert await clients[1].closed() == b""
            for client in (clients[0], clients[2], newcomer):
                client.send(HEALTH)
                assert (await client.answer())[0] == 200
            async with raw(server) as honest:  # another address is not concerned
                honest.send(HEALTH)
                assert (await honest.answer())[0] == 200

    asyncio.run(scenario())


async def occupy(server: Served, stack: AsyncExitStack, source: str) -> None:
    """Open a connection whose request is being handled, until the stack is closed."""
    client = await stack.enter_async_context(raw(server, source))
    headers = {"Content-Type": "application/json", "Content-Length": "9", "Expect": "100-continue"}
    client.send(request("POST", f"{API}/accounts", headers))
    async with asyncio.timeout(PATIENCE):
        assert b" 100 " in await client.reader.readline()


def test_who_has_only_busy_connections_gets_no_more_of_them(tmp_path: Path) -> None:
    settings = replace(only(), quotas=Quotas(connections=2))

    async def scenario() -> None:
        async with served(tmp_path, settings) as server, AsyncExitStack() as stack:
            for _ in range(2):
                await occupy(server, stack, OTHER)
            newcomer = await stack.enter_async_context(raw(server, OTHER))
            status, headers, _ = await newcomer.answer()
            assert (status, headers["retry-after"]) == (503, "10")
            assert await newcomer.closed() == b""
            async with raw(server) as honest:
                honest.send(HEALTH)
                assert (await honest.answer())[0] == 200

    asyncio.run(scenario())


def test_when_all_are_taken_the_address_with_the_most_gives_one_up(tmp_path: Path) -> None:
    settings = replace(only(), quotas=Quotas(connections=4, all_connections=5))

    async def scenario() -> None:
        async with served(tmp_path, settings) as server, AsyncExitStack() as stack:
            honest = await stack.enter_async_context(raw(server))
            honest.send(HEALTH)
            assert (await honest.answer())[0] == 200
            greedy = []
            for _ in range(4):
                client = await stack.enter_async_context(raw(server, OTHER))
                client.send(b"GET ")
                greedy.append(client)
            third = await stack.enter_async_context(raw(server, "127.0.0.3"))
            third.send(HEALTH)
            assert (await third.answer())[0] == 200
            assert await greedy[0].closed() == b""
            honest.send(HEALTH)  # the oldest of all, but of a modest address
            assert (await honest.answer())[0] == 200

    asyncio.run(scenario())


def test_websockets_are_not_counted_twice_and_never_crowded_out(tmp_path: Path) -> None:
    settings = replace(only(head=0.2, idle=0.2), quotas=Quotas(connections=1, all_connections=3))

    async def scenario() -> None:
        async with served(tmp_path, settings) as server, AsyncExitStack() as stack:
            sockets = []
            for _ in range(2):
                socket = await stack.enter_async_context(raw_socket(server))
                await next_json(socket)
                sockets.append(socket)
            for _ in range(3):
                async with raw(server) as client:
                    client.send(HEALTH)
                    assert (await client.answer())[0] == 200
                    assert await client.closed() == b""  # longer than the deadlines
            for socket in sockets:
                await socket.send_json({"op": "ping"})
                assert (await next_json(socket))["op"] == "pong"
            sockets.append(await stack.enter_async_context(raw_socket(server)))
            await next_json(sockets[-1])
            async with raw(server) as late:  # all are websockets now
                assert (await late.answer())[0] == 503

    asyncio.run(scenario())


def test_behind_a_proxy_its_connections_are_not_those_of_one_client(tmp_path: Path) -> None:
    settings = replace(only(), forwarded=True, quotas=Quotas(connections=1))

    async def scenario() -> None:
        async with served(tmp_path, settings) as server, AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(raw(server)) for _ in range(5)]
            for client in clients:
                client.send(HEALTH)
                assert (await client.answer())[0] == 200

    asyncio.run(scenario())


def test_no_more_connections_than_there_are_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    for soft, most in ((1024, 768), (20_000, 4096), (100, connections.FEWEST), (-1, 4096)):
        limits = (soft, 20_000)
        monkeypatch.setattr(resource, "getrlimit", lambda _, found=limits: found)
        assert connections.Crowd(QUIET).most == most


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00" * 20,  # TLS
        b"GET / HTTP/1.1\r\n\r\n",  # no host
        b"GET / HTTP/1.1\r\nA B\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused_and_fills_no_log(
    tmp_path: Path, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server, raw(server) as client:
            client.send(sent)
            assert (await client.closed()).startswith(b"HTTP/1.0 400 ")

    asyncio.run(scenario())
    assert "Error handling request" not in caplog.text


def test_the_rest_of_an_unwanted_body_is_not_read_for_long(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path, only(linger=PATIENCE)) as server, raw(server) as client:
            client.send(request("GET", "/healthz", {"Transfer-Encoding": "chunked"}))
            assert (await client.answer())[0] == 200
            client.send(b"1\r\nx\r\n" * 100_000)  # each of these is parsed by itself
            await client.closed()

    asyncio.run(scenario())


FRAMES = {"pings": b"\x89\x80abcd", "pongs": b"\x8a\x80abcd", "pieces": b"\x00\x80abcd"}


@pytest.mark.parametrize("kind", FRAMES)
def test_an_address_that_floods_its_websockets_is_cut_off(tmp_path: Path, kind: str) -> None:
    async def scenario() -> None:
        async with served(tmp_path, QUIET) as server, raw(server) as client:
            client.send(
                request(
                    "GET",
                    "/api/v1/live",
                    {
                        "Upgrade": "websocket",
                        "Connection": "Upgrade",
                        "Sec-WebSocket-Version": "13",
                        "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
                    },
                )
            )
            assert (await client.answer())[0] == 101
            begin = b"\x01\x80abcd" if kind == "pieces" else b""
            client.send(begin + FRAMES[kind] * 50_000)
            await client.closed()

    asyncio.run(scenario())
