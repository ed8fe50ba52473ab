"""A channel in which something of ours fails says so, and whoever subscribes again is told all."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from keltis_ladder.dispatch.dispatcher import MatchStarted
from keltis_ladder.match.entrants import built_in
from keltis_ladder.match.jobs import Job
from keltis_ladder.store.schema.moments import now
from keltis_server.http import metrics
from keltis_server.live import channel
from keltis_server.live.channels import lobby
from keltis_server.live.channels.lobby import LobbyChannel
from keltis_server.play import watching
from keltis_server.play.watching import Beginnings
from tests.server.support.serving import Served, served
from tests.server.support.spectating import order, raw_socket, settle_in

PATIENCE = 300.0  # seconds: only a channel that is frozen makes us wait for so long


def broken(*_: Any, **__: Any) -> Any:
    raise RuntimeError("an internal error")


def failures(kind: str) -> float:
    value: float = metrics.CHANNELS_FAILED.labels(kind)._value.get()
    return value


async def next_json(socket: aiohttp.ClientWebSocketResponse) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(await socket.receive_str(timeout=PATIENCE))
    return message


async def next_that(
    socket: aiohttp.ClientWebSocketResponse, wanted: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    while not wanted(message := await next_json(socket)):
        pass
    return message


async def follow_lobby(socket: aiohttp.ClientWebSocketResponse) -> dict[str, Any]:
    await socket.send_json({"op": "subscribe", "topic": "lobby"})
    return await next_json(socket)


async def assert_lobby_lives(server: Served, socket: aiohttp.ClientWebSocketResponse) -> None:
    """Subscribe again, and hear of a match that is played from then on."""
    assert (await follow_lobby(socket))["op"] == "snapshot"
    alice, bob = (
        await settle_in(server, "carol", "greedy"),
        await settle_in(server, "dave", "greedy"),
    )
    id = await order(server, "weg-der-steine", [alice, bob])
    finished = {"kind": "finished", "id": id}
    await next_that(
        socket,
        lambda message: (
            message["op"] == "delta"
            and any(finished.items() <= event.items() for event in message["data"])
        ),
    )


# What fails: a task that looks matches up, and a timer that tells how far they are.
@pytest.mark.parametrize("name", ["match_rows", "_where"])
def test_a_channel_whose_background_fails_ends_with_an_error_and_comes_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server, raw_socket(server) as socket:
            alice = await settle_in(server, "alice", "greedy")
            bob = await settle_in(server, "bob", "greedy")
            assert (await next_json(socket))["op"] == "welcome"
            assert (await follow_lobby(socket))["op"] == "snapshot"
            before = failures("lobby")
            with monkeypatch.context() as patched:
                patched.setattr(lobby, name, broken)
                await order(server, "weg-der-steine", [alice, bob])
                error = await next_that(socket, lambda message: message["op"] == "error")
            assert error == {
                "op": "error",
                "topic": "lobby",
                "code": "failed",
                "detail": channel.FAILED_DETAIL,
            }
            assert failures("lobby") == before + 1
            await assert_lobby_lives(server, socket)
        told = [record for record in caplog.records if "lobby failed" in record.getMessage()]
        assert [record.levelno for record in told] == [logging.ERROR]
        assert told[0].exc_info is not None

    asyncio.run(scenario())


@pytest.mark.parametrize("name", ["open", "snapshot"])
def test_a_channel_that_cannot_be_joined_costs_nobody_the_connection(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server, raw_socket(server) as socket:
            assert (await next_json(socket))["op"] == "welcome"
            before = failures("lobby")
            with monkeypatch.context() as patched:
                patched.setattr(LobbyChannel, name, broken)
                error = await follow_lobby(socket)
            assert (error["op"], error["topic"], error["code"]) == ("error", "lobby", "failed")
            assert failures("lobby") == before + 1
            await assert_lobby_lives(server, socket)

    asyncio.run(scenario())


def test_an_inbox_that_is_full_fails_its_channel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job("keltis", {}, 1, (built_in("greedy"),) * 2)

    async def never(_: object) -> None:
        await asyncio.Event().wait()  # the database is down

    async def scenario() -> None:
        async with served(tmp_path) as server, raw_socket(server) as socket:
            assert (await next_json(socket))["op"] == "welcome"
            assert (await follow_lobby(socket))["op"] == "snapshot"
            with monkeypatch.context() as patched:
                patched.setattr(lobby, "patiently", never)
                patched.setattr(lobby, "MOST_NEWS", 5)
                for _ in range(2):  # the first is looked up at once
                    server.site.tell(MatchStarted(job, "core 0", 1))
                    await asyncio.sleep(0)
                for _ in range(5):
                    server.site.tell(MatchStarted(job, "core 0", 1))
                error = await next_that(socket, lambda message: message["op"] == "error")
            assert (error["topic"], error["code"]) == ("lobby", "failed")
            await assert_lobby_lives(server, socket)

    asyncio.run(scenario())


def test_what_never_came_to_a_result_is_forgotten_and_counts_as_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watching, "MOST_BEGUN", 10)
    beginnings = Beginnings()
    created = now()
    jobs = [Job("keltis", {}, number, (built_in("greedy"),) * 2) for number in range(25)]
    for job in jobs:
        beginnings.note(MatchStarted(job, "core 0", 1))
    assert len(beginnings._begun) == 10
    assert beginnings.last_begun(jobs[0].id) is None
    assert beginnings.last_begun(jobs[-1].id) is not None
    assert not beginnings.first_play(jobs[0].id, created)  # nobody knows any more
    assert beginnings.first_play("one that is new", now() + timedelta(seconds=1))
