"""What spectators are told is what happened: all of it, in order, and the same to all."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keltis_engine import SPECTATORS
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.run.course import Entry
from keltis_ladder.store.schema.version_states import VersionCause, VersionChanged, VersionState
from keltis_ladder.tournaments.plan import Plan
from keltis_server.client.live import LiveClient
from keltis_server.events import Checking, TournamentChanged
from keltis_server.live import hub as live_module
from keltis_server.play.games import GAMES
from tests.ladder.support.small_bots import write_bot
from tests.places import ROOT
from tests.server.support.serving import served
from tests.server.support.spectating import (
    CALM,
    PATIENCE,
    PATIENT,
    STROLL,
    TABLES,
    Message,
    Mirror,
    Sluice,
    evening,
    next_json,
    order,
    raw_socket,
    settle_in,
)

SLOW = TimeControl(bank_ms=600, increment_ms=5)  # for the search bot, which uses it


def mirrored(messages: list[Message]) -> Mirror:
    mirror = Mirror()
    for message in messages:
        mirror.take(message)
    return mirror


@pytest.mark.parametrize("index", range(len(TABLES)))
def test_a_match_that_is_followed_to_its_end_is_the_one_that_is_stored(index: int) -> None:
    match = evening().matches[index]
    truth = match.truth
    assert truth is not None
    mirror = mirrored(match.heard["json"])
    assert mirror.seqs == list(range(mirror.seqs[0], mirror.seqs[0] + len(mirror.seqs)))
    assert sorted(mirror.views) == list(range(match.players))
    for rotation, views in mirror.views.items():
        assert len(views) == truth.plies(rotation) + 1
        for ply, view in enumerate(views):
            assert view == truth.view(rotation, ply, SPECTATORS)
    ended = [event for event in mirror.events if event["kind"] == "ended"]
    assert [event["rotation"] for event in ended] == list(range(match.players))
    assert mirror.end is not None
    assert mirror.end["state"] == mirror.end["match"]["state"] == "finished"
    assert mirror.end["match"]["seed"] == match.seed


@pytest.mark.parametrize("index", range(len(TABLES)))
def test_both_forms_say_the_same(index: int) -> None:
    match = evening().matches[index]
    assert match.heard["json"] == match.heard["msgpack"]


@pytest.mark.parametrize("index", range(len(TABLES)))
def test_an_author_sees_the_own_hand_in_the_last_game_and_no_other(index: int) -> None:
    match = evening().matches[index]
    truth = match.truth
    assert truth is not None
    mirror = mirrored(match.heard["author"])
    last = match.players - 1
    for rotation, views in mirror.views.items():
        viewer = (0 - rotation) % match.players if rotation == last else SPECTATORS
        for ply, view in enumerate(views):
            assert view == truth.view(rotation, ply, viewer)


def test_the_lobby_tells_of_every_match_when_it_begins_and_ends() -> None:
    lobby = evening().lobby
    assert lobby[0]["op"] == "snapshot"
    events = [event for message in lobby[1:] for event in message["data"]]
    for match in evening().matches[:-1]:  # of the last one the end may come too late
        mine = [
            event["kind"]
            for event in events
            if match.id in (event.get("id"), event.get("match", {}).get("id"))
        ]
        assert mine[:2] == ["committed", "began"]
        assert mine[-1] == "finished"
        assert set(mine[2:-1]) <= {"moved"}


async def until(live: LiveClient, wanted: Callable[[Message], bool]) -> Message:
    """Return the first message that is wanted."""
    async with asyncio.timeout(PATIENCE):
        async for message in live:
            if wanted(message):
                return message
    raise AssertionError("unreachable")


def test_a_client_that_is_cut_off_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "LINGER", PATIENCE)  # however long it takes to come back

    async def scenario() -> None:
        async with served(tmp_path, CALM) as server:
            sluice = Sluice(server.app[GAMES].dispatcher)
            alice = await settle_in(server, "alice", "", write_bot(tmp_path / "alice", STROLL))
            bob = await settle_in(server, "bob", "greedy")
            id = await order(server, "kartenspiel", [alice, bob], control=PATIENT)
            topic, mirror, ops = f"match/{id}", Mirror(), []
            cuts, away = 0, False
            async with (
                asyncio.timeout(PATIENCE),
                LiveClient(server.url, first_pause=0.05) as live,
            ):
                await live.subscribe(topic)
                async for message in live:
                    ops.append(message["op"])
                    mirror.take(message)
                    match message["op"]:
                        case "snapshot" | "resumed":
                            sluice.let(1)
                        case "delta" if cuts < 3 and not away:
                            cuts, away = cuts + 1, True
                            await cut(live)
                            sluice.let(1)  # which is missed, unless the client is quick
                        case "back":
                            away = False
                            if cuts == 3:
                                sluice.open()
                        case "end":
                            break
                assert ops.count("lost") == ops.count("back") == ops.count("resumed") == cuts == 3
                assert ops.count("snapshot") == 1
                first = mirror.seqs[0]
                assert mirror.seqs == list(range(first, first + len(mirror.seqs)))

                # Of a match that is over there is a snapshot and the end, at once.
                await live.subscribe(topic)
                again = [await anext(aiter(live)) for _ in range(2)]
                assert [message["op"] for message in again] == ["snapshot", "end"]
                assert again[1]["data"]["match"]["number"] == 1
                assert [game["ended"] for game in again[0]["data"]["games"]] == [True, True]
            end = mirror.end
            assert end is not None
            assert end["match"] == await server.get(f"/matches/{id}")

            # Whoever was away for too long, or knows another server, begins anew.
            async with raw_socket(server) as socket:
                await next_json(socket)
                for epoch, since in (("0" * 16, 1), (live.epoch, 10_000)):
                    wish = {"op": "subscribe", "topic": "lobby", "epoch": epoch, "since": since}
                    await socket.send_json(wish)
                    assert (await next_json(socket))["op"] == "snapshot"

    asyncio.run(scenario())


async def cut(live: LiveClient) -> None:
    """Break a client's connection, without a word to either side."""
    socket = live._socket
    assert socket is not None
    connection = socket._response.connection
    assert connection is not None
    assert connection.transport is not None
    connection.transport.abort()


@pytest.mark.parametrize("flush", [live_module.FLUSH, 0.5])
def test_a_match_that_the_platform_broke_off_begins_again_and_keeps_its_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flush: float
) -> None:
    async def scenario() -> None:
        async with served(tmp_path, CALM) as server:
            alice = await settle_in(server, "alice", "greedy")
            bob = await settle_in(server, "bob", "search")
            games = server.app[GAMES]
            sluice = Sluice(games.dispatcher)
            id = await order(server, "keltis", [alice, bob], control=SLOW)
            own, public = f"match/{id}/bot/{alice.bot}", f"match/{id}"
            mirrors = {own: Mirror(), public: Mirror()}
            killed = False
            async with asyncio.timeout(PATIENCE), LiveClient(server.url, alice.token) as live:
                for topic in mirrors:
                    await live.subscribe(topic)
                async for message in live:
                    mirrors[message["topic"]].take(message)
                    if message["topic"] == own and not killed:
                        sluice.let(1)
                    frames = mirrors[own].views.get(1, [])
                    if len(frames) > 3 and not killed:
                        assert hands(frames[-1])[seat_of_alice(1)] is not None
                        killed = True
                        # Told slowly enough, the last game is told when the result is stored.
                        monkeypatch.setattr(live_module, "FLUSH", flush)
                        (pid,) = games.dispatcher.pids
                        os.kill(pid, signal.SIGKILL)
                        while pid in games.dispatcher.pids:
                            await asyncio.sleep(0.005)
                        sluice.open()
                    if all(mirror.end for mirror in mirrors.values()):
                        break
            one, other = [mirror.attempts for mirror in mirrors.values()]
            assert one == other
            assert len(set(one)) == 2  # who comes back in the second knows it from the first
            for mirror in mirrors.values():
                assert mirror.restarts == 1
                assert sorted(mirror.views) == [0, 1]
                # The deal was shown before: now nobody sees a hand, not even the own one.
                for views in mirror.views.values():
                    assert all(hands(view) == [None, None] for view in views)

    asyncio.run(scenario())


def hands(view: Any) -> list[Any]:
    return [hand["cards"] for hand in view["hands"]]


def seat_of_alice(rotation: int) -> int:
    return (0 - rotation) % 2


def numbers(messages: list[Message]) -> list[int]:
    """Return the matches that a version's messages tell of."""
    events = [event for message in messages for event in message["data"]]
    return [event["match"]["number"] for event in events if event["kind"] == "match"]


def test_leaderboard_version_and_tournament_are_told_as_they_change(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path, CALM) as server:
            alice = await settle_in(server, "alice", "greedy")
            bob = await settle_in(server, "bob", "random")
            site = server.site
            version = f"version/{alice.bot}/1"
            async with (
                LiveClient(server.url, alice.token) as owner,
                LiveClient(server.url, bob.token) as other,
            ):
                for live in (owner, other):
                    await live.subscribe(version)
                first = await until(owner, lambda m: m["op"] == "snapshot")
                told = first["data"]["version"]
                assert (told["reason"], told["reason_code"]) == ("for tests", "taken-back")
                assert told["reason_details"] == {"text": "for tests"}
                first = await until(other, lambda m: m["op"] == "snapshot")
                told = first["data"]["version"]
                assert {told["reason"], told["reason_code"], told["reason_details"]} == {None}

                # The check is for the author, the state for everybody.
                id = alice.version
                site.tell(Checking(id, 1, "doing", {"text": "secret building"}))
                site.tell(Checking(id, 1, "output", {"text": "secret words"}))
                site.tell(Checking(id, 1, "finding", {"check": "x", "text": "secret"}))
                async with LiveClient(server.url, alice.token) as late:
                    await late.subscribe(version)
                    snapshot = await until(late, lambda m: m["op"] == "snapshot")
                    assert snapshot["data"]["report"] == {
                        "findings": [{"check": "x", "text": "secret"}],
                        "output": "secret words",
                    }
                site.tell(
                    VersionChanged(
                        alice.version,
                        alice.bot,
                        number=1,
                        author_id=1,
                        before=VersionState.CHECKING,
                        state=VersionState.BROKEN,
                        cause=VersionCause.FAILED,
                        details={"text": "secret why"},
                    )
                )
                heard: list[Message] = []
                for live, mine in ((owner, True), (other, False)):
                    events: list[Message] = []
                    async with asyncio.timeout(PATIENCE):
                        async for message in live:
                            heard += [message] if not mine else []
                            events += message["data"]
                            if events[-1]["kind"] == "state":
                                break
                    kinds = [event["kind"] for event in events]
                    assert kinds == (["doing", "output", "finding"] if mine else []) + ["state"]
                assert "secret" not in repr(heard)

                # A rated match moves the leaderboard, and is told to who follows the version.
                for topic in ("leaderboard/all/0", "leaderboard/neue-wege/3"):
                    await other.subscribe(topic)
                    snapshot = await until(other, lambda m: m["op"] == "snapshot")
                    assert snapshot["data"]["lines"] == []
                tables = await site.work(_tournament, server, [alice.version, bob.version])
                site.tell(TournamentChanged(tables))
                await other.subscribe("tournament/cup")
                seen: dict[str, list[Message]] = {version: [], "tournament/cup": []}
                async with asyncio.timeout(PATIENCE):
                    async for message in other:
                        seen.setdefault(message["topic"], []).append(message)
                        # Topics are told each in its own time: the last word may be of either.
                        ended = any(m["op"] == "end" for m in seen["tournament/cup"])
                        if ended and len(numbers(seen[version])) == 2:
                            break
                cup = seen["tournament/cup"]
                assert cup[0]["op"] == "snapshot"
                assert cup[0]["data"]["played"] < cup[-1]["data"]["tournament"]["played"] == 2
                assert cup[-1]["data"]["tournament"]["state"] == "finished"
                assert all(
                    m["data"][0]["tournament"]["seed"] is None
                    for m in cup[1:-1]
                    if m["data"][0]["tournament"]["state"] != "finished"
                )
                assert cup[-1]["data"]["tournament"] == await server.get("/tournaments/cup")
                assert numbers(seen[version]) == [1, 2]

    asyncio.run(scenario())


def _tournament(server: Any, versions: list[int]) -> int:
    director = server.site.director
    plan = Plan("round-robin", entrants=2, players=2, variants=("keltis",), matches=2)
    names = ("one", "two")
    entries = [Entry(version, name) for version, name in zip(versions, names, strict=True)]
    id: int = director.create("cup", plan, entries, rated=True)
    director.start(id)
    return id


DOCUMENT = ROOT / "docs/clients" / "live.md"


def examples() -> list[Message]:
    """Return the messages of the server that the document shows."""
    blocks = re.findall(r"```json\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    return [json.loads(block) for block in blocks]


def kind_of(message: Message) -> tuple[str, str, str]:
    """Return what kind of message it is: its op, its kind of topic, and that of its event."""
    data = message.get("data")
    event = data[0]["kind"] if isinstance(data, list) else ""
    return message["op"], str(message.get("topic")).split("/")[0], event


def one_by_one(messages: list[Message]) -> list[Message]:
    """Return messages that have one event each."""
    return [
        {**message, "data": [event]} if event is not None else message
        for message in messages
        for event in (message["data"] if message["op"] == "delta" else [None])
    ]


def check_fits(example: Any, real: Any, levels: int) -> None:
    """Raise unless an example has the names of what is sent; below some levels it may have less."""
    if isinstance(example, dict):
        assert isinstance(real, dict)
        assert example.keys() == real.keys() if levels else example.keys() <= real.keys()
        for name, value in example.items():
            check_fits(value, real[name], max(0, levels - 1))
    elif isinstance(example, list) and example and isinstance(real, list) and real:
        check_fits(example[0], real[0], levels)


def test_the_document_shows_messages_as_they_are() -> None:
    watched = evening()
    sent = [*watched.greetings, *watched.lobby, *watched.other, *watched.matches[0].heard["json"]]
    real = {kind_of(message): message for message in reversed(one_by_one(sent))}
    shown = examples()
    pace = {"op": "delta", "topic": "lobby", "seq": 1, "data": [{"kind": "pace"}]}
    tempo = {"kind": "pace", "tempo": "calm", "per_minute": None}
    real.setdefault(kind_of(pace), {**pace, "data": [tempo]})  # it may change before anybody looks
    for example in shown:
        check_fits(example, real[kind_of(example)], 2)
    documented = {kind_of(example) for example in shown}
    assert documented == set(real)
