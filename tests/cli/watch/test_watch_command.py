"""``watch`` with a real server: lines for people who read, and messages for programs."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from keltis_cli.draw.look import Look
from keltis_cli.errors import BadRequest
from keltis_cli.remote.connect.servers import Place
from keltis_cli.watch.feed import ServerFeed
from keltis_cli.watch.finding import find_match
from keltis_cli.watch.model import MatchModel
from keltis_cli.watch.plain import print_match, tell_match, tell_tournament
from keltis_cli.watch.playback import Playback
from keltis_ladder.match.clock import TimeControl
from keltis_server.settings import Settings
from keltis_server.site.local_key import read_address
from tests.cli.support.inside import Inside
from tests.server.support.serving import QUIET, Served, served

QUICK = Settings(port=0, control=TimeControl(bank_ms=60, increment_ms=1), audit_look=0)
BOTS = ("random", "greedy", "search")


async def running(server: Served) -> dict[str, Any]:
    """Return a match that is being played."""
    for _ in range(400):
        page = await server.get("/matches?state=playing&limit=1")
        if page["items"]:
            match: dict[str, Any] = page["items"][0]
            return match
        await asyncio.sleep(0.02)
    raise AssertionError("nothing is played")


def test_matches_are_told_and_printed_from_a_real_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def scenario() -> None:
        async with served(tmp_path, QUICK) as server, ServerFeed(lambda: Place(server.url)) as feed:
            match = await running(server)
            await tell_match(feed, match["id"], Look())
            lines = capsys.readouterr().out.splitlines()
            assert lines[0].startswith("Match ")
            assert match["variant"] in lines[0]
            assert any(line.startswith("Turn ") for line in lines)
            done = await server.get(f"/matches/{match['id']}")
            assert lines[-1].startswith(f"Match {done['number']}: ")

            # Who follows it by JSON can make every position of it.
            await print_match(feed, (await running(server))["id"])
            messages = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
            assert messages[-2]["op"] in ("snapshot", "delta")
            assert messages[-1]["op"] == "end"
            await check_positions(feed, messages)

            await find_matches(feed, done)
            await run_the_command(server, done)
            await follow_a_tournament(server, feed)
            told = capsys.readouterr().out.splitlines()
            assert told[0].startswith("cup: ")
            assert all(any(bot in line for line in told[-3:]) for bot in BOTS)

    asyncio.run(scenario())


async def check_positions(feed: ServerFeed, messages: list[dict[str, Any]]) -> None:
    """Compare what was told live with what the server says afterwards."""
    model = MatchModel()
    for message in messages:
        if message["op"] != "frames":
            model.take(message)
    assert model.over
    assert model.facts is not None
    assert Playback(model).model.begun == list(range(model.facts.players))
    again = MatchModel()
    for rotation in model.begun:
        again.load(await feed.frames(model.facts.id, rotation, "public"), "public")
        one, other = model.longest(rotation), again.longest(rotation)
        assert one is not None
        assert other is not None
        assert other.ended
        if one.views:  # else it was over when we came
            assert one.views == other.views
            assert [frame.notation for frame in one.frames] == [
                frame.notation for frame in other.frames
            ]


async def find_matches(feed: ServerFeed, match: dict[str, Any]) -> None:
    """A match is found by whatever somebody may know of it."""
    assert await find_match(feed.server, str(match["number"])) == match["id"]
    assert await find_match(feed.server, match["id"].upper()) == match["id"]
    assert await find_match(feed.server, match["id"][:13]) == match["id"]
    assert await find_match(feed.server, "random")
    for nothing in ("nobody", "999999999", "ffffffff-ffff", "../secrets"):
        with pytest.raises(BadRequest):
            await find_match(feed.server, nothing)


async def run_the_command(server: Served, match: dict[str, Any]) -> None:
    """The command itself, without a terminal."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "keltis_cli", "watch", str(match["number"]), "--server", server.url,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    out, _ = await process.communicate()
    assert process.returncode == 0
    lines = out.decode().splitlines()
    games = [line for line in lines if line.startswith("Game ") and ": seat 0 " in line]
    assert len(games) == match["players"]
    assert "draws a card" not in out.decode()  # it is over: all cards may be named
    assert lines[-1].startswith(f"Match {match['number']}: ")


async def follow_a_tournament(server: Served, feed: ServerFeed) -> None:
    """A tournament is told to its end."""
    plan = {
        "name": "cup",
        "format": "round-robin",
        "bots": list(BOTS),
        "players": 2,
        "variants": ["weg-der-steine"],
        "matches": 1,
    }
    await server.post("/tournaments", 201, json=plan, headers=server.local)
    await server.post("/tournaments/cup/start", json={}, headers=server.local)
    await tell_tournament(feed, "cup", Look())


def test_the_feed_survives_a_server_that_starts_anew_with_another_key(tmp_path: Path) -> None:
    heard: list[str] = []

    def find() -> Place:
        address = read_address(tmp_path)
        assert address is not None
        return Place(address.url, address.key)

    async def until(op: str, count: int) -> None:
        for _ in range(1000):
            if heard.count(op) >= count:
                return
            await asyncio.sleep(0.02)
        raise AssertionError(heard)

    async def scenario() -> None:
        async with served(tmp_path) as server:
            port = urlsplit(server.url).port
            assert port is not None
            feed = await ServerFeed(find, lambda there: heard.append(str(there))).__aenter__()
            await feed.follow("lobby", lambda message: heard.append(message["op"]))
            reading = asyncio.create_task(feed.run())
            await until("snapshot", 1)
        await until("False", 1)
        assert not feed.connected
        async with served(tmp_path, replace(QUIET, port=port)):
            await until("snapshot", 2)
            assert feed.connected
            assert heard[-2:] == ["True", "snapshot"]
            assert await feed.match("1") is None  # questions are asked with the new key, too
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await feed.__aexit__(None, None, None)

    asyncio.run(scenario())


def test_what_cannot_be_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("KELTIS_DATA", str(tmp_path))
    inside = Inside(capsys, monkeypatch)
    for arguments, words in (
        (["watch", "7", "--tv"], "choose one"),
        (["watch", "--speed", "3"], "is not one of 1, 2, 5"),
        (["watch", "--tv", "--json"], "--json alone"),
        (["watch"], "no server was found"),
        (["watch", "--server", "http://127.0.0.1:1"], "cannot watch http://127.0.0.1:1"),
    ):
        done = inside.run(*arguments)
        assert done.code != 0
        assert words in done.err
        assert done.err.count("\n") == 1
