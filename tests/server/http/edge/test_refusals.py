"""Refusals: whoever goes on asking after a refusal waits, and nobody else does."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from keltis_server.http.edge import connections, refusals
from keltis_server.http.endpoints import API
from keltis_server.settings import Quotas, Settings
from keltis_server.site.budgets import Budgets
from tests.server.support.raw import Raw, raw, request
from tests.server.support.serving import QUIET, Served, served

ASK = request("GET", API)
OTHER = "127.0.0.2"
FEW = 3
HELD_SECONDS = 1000.0


class Few(refusals.Refusals):
    """Few refusals, none of them forgotten, and a pause that no test waits out."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, FEW, lambda: 0.0)
        self.pause = HELD_SECONDS


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "Refusals", Few)


def empty(server: Served, address: str, tokens: int) -> None:
    """Let everybody have so many tokens and no more, and an address none."""
    budgets = Budgets.of(tokens, lambda: 0.0)
    server.site.limiters = replace(server.site.limiters, budgets=budgets)
    assert budgets.pay(address, tokens) == 0


async def exhaust(server: Served, client: Raw, address: str) -> None:
    """Be refused as often as is possible on one connection."""
    empty(server, address, 20)
    for _ in range(FEW):
        client.send(ASK)
        status, headers, _ = await client.answer()
        assert status == 429
        assert headers.get("connection") != "close"
    client.send(ASK)
    status, headers, _ = await client.answer()
    assert (status, headers["connection"]) == (429, "close")
    assert await client.closed() == b""


def test_a_connection_is_closed_after_too_many_refusals(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server, raw(server, OTHER) as client:
            await exhaust(server, client, OTHER)
            async with raw(server) as another:
                another.send(ASK)
                assert (await another.answer())[0] == 200

    asyncio.run(scenario())


def test_what_was_sent_behind_the_last_refusal_is_not_answered(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server, raw(server, OTHER) as client:
            empty(server, OTHER, 20)
            client.send(ASK * 1000)
            assert (await client.closed()).count(b"HTTP/1.1 429 ") == FEW + 1

    asyncio.run(scenario())


def test_a_new_connection_of_whoever_was_refused_too_often_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released: list[float] = []

    async def scenario() -> None:
        async with served(tmp_path) as server:
            async with raw(server, OTHER) as client:
                await exhaust(server, client, OTHER)
            later = asyncio.get_running_loop().call_later
            release: list[object] = []

            def keep(seconds: float, step: object, *more: object) -> asyncio.TimerHandle:
                if seconds == HELD_SECONDS:
                    release.append(step)
                return later(seconds, step, *more)  # type: ignore[arg-type]

            monkeypatch.setattr(asyncio.get_running_loop(), "call_later", keep)
            async with raw(server, OTHER) as client, raw(server) as another:
                client.send(ASK)
                answer = asyncio.create_task(client.answer())
                for _ in range(3):
                    another.send(ASK)
                    await another.answer()
                assert not answer.done()
                [step] = release
                step()  # type: ignore[operator]
                status, headers, _ = await answer
                assert (status, headers["connection"]) == (429, "close")
                released.append(1)

    asyncio.run(scenario())
    assert released


def test_no_connection_of_theirs_makes_room_for_another(tmp_path: Path) -> None:
    settings = replace(QUIET, quotas=Quotas(connections=2))

    async def scenario() -> None:
        async with served(tmp_path, settings) as server, AsyncExitStack() as stack:
            async with raw(server, OTHER) as client:
                await exhaust(server, client, OTHER)
            held = [await stack.enter_async_context(raw(server, OTHER)) for _ in range(2)]
            third = await stack.enter_async_context(raw(server, OTHER))
            assert await third.closed() == b""
            another = await stack.enter_async_context(raw(server))
            another.send(ASK)
            assert (await another.answer())[0] == 200
            assert not any(each.reader.at_eof() for each in held)

    asyncio.run(scenario())


@pytest.mark.parametrize("sent", [b"", b"NONSENSE\r\n\r\n"])
def test_connections_that_ask_for_nothing_count_as_refusals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    made: list[Few] = []

    def make(settings: Settings) -> Few:
        made.append(Few(settings))
        return made[0]

    monkeypatch.setattr(connections, "Refusals", make)

    async def scenario() -> None:
        async with served(tmp_path, replace(QUIET, quotas=Quotas(connections=1))) as server:
            for _ in range(FEW):
                async with raw(server, OTHER) as client:
                    client.send(sent)
                    if sent:
                        assert (await client.answer())[0] == 400
            while not made[0].are_too_many(OTHER):  # the last one may not have been noticed yet
                await asyncio.sleep(0.01)
            async with raw(server, OTHER) as held, raw(server, OTHER) as next_one:
                assert await next_one.closed() == b""  # the one before it is held, and stays
                assert not held.reader.at_eof()

    asyncio.run(scenario())


def test_behind_a_proxy_nobody_waits_for_another_client(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path, replace(QUIET, forwarded=True)) as server, raw(server) as proxy:
            empty(server, "192.0.2.1", 1000)
            mine, theirs = (
                request("GET", API, {"X-Forwarded-For": each})
                for each in ("192.0.2.1", "192.0.2.2")
            )
            for _ in range(3 * FEW):
                proxy.send(mine)
                assert (await proxy.answer())[0] == 429
            proxy.send(theirs)
            assert (await proxy.answer())[0] == 200

    asyncio.run(scenario())


def test_between_requests_that_came_together_everybody_else_gets_a_turn(tmp_path: Path) -> None:
    """Handlers that wait for nothing would be run one after the other by Python 3.12."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def scenario() -> None:
        async with served(tmp_path) as server, raw(server) as client:
            counting = asyncio.create_task(count())
            before = turns
            client.send(request("GET", "/healthz") * 300)
            for _ in range(300):
                assert (await client.answer())[0] == 200
            assert turns - before >= 300
            counting.cancel()

    asyncio.run(scenario())
