"""What the log says when something goes wrong with a request, and what it leaves out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.store.database import OutcomeUnknown
from keltis_server.http.problems import Handler, tell_problems


@asynccontextmanager
async def answering(handler: Handler) -> AsyncIterator[str]:
    """Serve one handler behind ``tell_problems``; yield its address."""
    app = web.Application(middlewares=[tell_problems])
    app.router.add_get("/", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}/"
    finally:
        await runner.cleanup()


def leave(request: web.Request) -> None:
    """Let the client be gone: its connection closes, and nobody has told the handler yet."""
    assert request.transport is not None
    request.transport.abort()


async def greet_as_websocket(request: web.Request) -> web.StreamResponse:
    leave(request)
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    return socket


async def stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    leave(request)
    for _ in range(3):
        await response.write(b"x")
    return response


@pytest.mark.parametrize("handler", [greet_as_websocket, stream])
def test_whoever_leaves_before_the_answer_is_no_mistake_of_ours(
    handler: Handler, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with answering(handler) as url, aiohttp.ClientSession() as http:
            with pytest.raises(aiohttp.ClientError):
                await http.ws_connect(url)

    asyncio.run(scenario())
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


def test_a_connection_of_ours_that_breaks_is_written_down(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        raise ConnectionResetError("a referee went away")

    async def scenario() -> None:
        async with (
            answering(handler) as url,
            aiohttp.ClientSession() as http,
            http.get(url) as response,
        ):
            assert response.status == 500
            assert "a referee" not in await response.text()

    asyncio.run(scenario())
    [record] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert record.exc_info is not None


def test_nobody_is_told_to_try_again_what_may_have_been_done() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        raise OutcomeUnknown(None, None, Exception("the connection is lost"))

    async def scenario() -> None:
        async with (
            answering(handler) as url,
            aiohttp.ClientSession() as http,
            http.get(url) as response,
        ):
            assert response.status == 503
            assert "Retry-After" not in response.headers
            problem = await response.json(content_type="application/problem+json")
            assert problem["type"].endswith(":outcome-unknown")
            assert "look before you try again" in problem["detail"]

    asyncio.run(scenario())


def test_a_failing_machine_is_told_to_the_operator_and_blamed_on_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail(_: web.Request) -> web.StreamResponse:
        raise MachineFailed("cannot copy /data/incoming/bot.py: No space left on device")

    async def scenario() -> None:
        async with answering(fail) as url, aiohttp.ClientSession() as http, http.get(url) as answer:
            assert answer.status == 503
            text = await answer.text()
            assert "a fault of its own" in text
            assert "/data" not in text

    asyncio.run(scenario())
    assert "No space left on device" in caplog.text
