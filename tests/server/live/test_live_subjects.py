"""Channels hear of what they are about, and there are so many of them at most."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from keltis_server.events import Checking, Happening, TournamentChanged
from keltis_server.live import hub
from keltis_server.live.channels.version import VersionChannel
from tests.ladder.store.support.ladders import enter
from tests.server.support.serving import served
from tests.server.support.spectating import next_json, raw_socket
from tests.server.support.stories import quiet


async def follow(socket: Any, topic: str) -> Any:
    await socket.send_json({"op": "subscribe", "topic": topic})
    return await next_json(socket)


def test_a_channel_hears_of_its_own_version_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[tuple[str, Happening]] = []
    take = VersionChannel.take

    def note(self: VersionChannel, happening: Happening) -> None:
        heard.append((self.topic, happening))
        take(self, happening)

    async def scenario() -> None:
        async with served(tmp_path) as server, raw_socket(server) as socket:
            quiet(server)
            one, two = await server.site.write(enter, "one", "two")
            await next_json(socket)
            for topic in ("version/one/1", "version/two/1"):
                assert (await follow(socket, topic))["op"] == "snapshot"
            monkeypatch.setattr(VersionChannel, "take", note)
            first, second = Checking(one, 1, "doing"), Checking(two, 1, "doing")
            server.site.tell(first, TournamentChanged(1), second)
            assert heard == [("version/one/1", first), ("version/two/1", second)]

    asyncio.run(scenario())


def test_there_are_so_many_channels_at_most_and_the_lobby_is_always_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "MOST_CHANNELS", 1)

    async def scenario() -> None:
        async with served(tmp_path) as server, raw_socket(server) as socket:
            quiet(server)
            await server.site.write(enter, "one", "two")
            await next_json(socket)
            assert (await follow(socket, "version/one/1"))["op"] == "snapshot"
            refused = await follow(socket, "version/two/1")
            assert (refused["op"], refused["code"]) == ("error", "too-many")
            for topic in ("version/one/1", "lobby", "leaderboard/all/0"):
                assert (await follow(socket, topic))["op"] == "snapshot"

    asyncio.run(scenario())
