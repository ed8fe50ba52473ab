"""What a match is bound to is public before its first decision, whoever lags."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keltis_ladder.dispatch.dispatcher import MatchStarted, MatchStreamed
from keltis_ladder.match.commitments import commitment
from keltis_ladder.match.seeds import mixed_seed, origin_from_plain, part_commitment
from keltis_ladder.run.scheduler import MatchAssigned
from keltis_ladder.store.matches.matches import match_row, match_rows
from keltis_server.client.live import LiveClient
from keltis_server.events import Happening
from keltis_server.play.games import GAMES
from keltis_server.site.site import Site
from tests.server.support.serving import Served, served
from tests.server.support.spectating import CALM, order, settle_in
from tests.server.support.stories import pages

PATIENCE = 300.0
MATCHES = 9  # three of each variant
SLOW = 0.25  # seconds that the lobby waits for the database


def lag(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let whoever looks matches up for a channel wait, as on a busy machine."""
    read: Callable[..., Awaitable[Any]] = Site.read

    async def late(self: Site, work: Callable[..., Any], *args: Any) -> Any:
        if work in (match_rows, match_row):
            await asyncio.sleep(SLOW)
        return await read(self, work, *args)

    monkeypatch.setattr(Site, "read", late)


def test_no_decision_comes_before_the_commitment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with served(tmp_path, CALM) as server:
            games = server.app[GAMES]
            games.drain(True)
            players = [await settle_in(server, name, "random") for name in ("alice", "bob")]
            variants = ("keltis", "kartenspiel", "weg-der-steine")
            ids = [await order(server, variants[k % 3], players) for k in range(MATCHES)]
            for id in ids[:3]:  # nothing is known of a match that waits
                waiting = await server.get(f"/matches/{id}")
                assert (waiting["commitment"], waiting["origin"]) == (None, None)
            lag(monkeypatch)
            async with asyncio.timeout(PATIENCE), LiveClient(server.url) as live:
                for topic in ("lobby", *(f"match/{id}" for id in ids)):
                    await live.subscribe(topic)
                noted, decided = await spectate(server, live, set(ids))
            assert set(noted) == decided == set(ids)
            for id in ids:
                match = await server.get(f"/matches/{id}")
                assert match["commitment"] == noted[id]["commitment"]
                assert match["commitment"] == commitment(id, int(match["seed"]))
                secret = match["origin"].pop("secret")
                assert {**match["origin"], "secret": None} == noted[id]["origin"]
                assert mixed_seed(origin_from_plain(match["origin"]), secret) == int(match["seed"])

    asyncio.run(scenario())


async def spectate(
    server: Served, live: LiveClient, ids: set[str]
) -> tuple[dict[str, Any], set[str]]:
    """Take down what comes in which order, until all matches have ended."""
    noted: dict[str, Any] = {}  # what the lobby said of each match, and when it did first
    decided: set[str] = set()
    subscribed, left = 0, set(ids)
    async for message in live:
        assert message["op"] != "error", message
        topic = str(message.get("topic"))
        if message["op"] == "snapshot":
            subscribed += 1
            if subscribed == len(ids) + 1:
                server.app[GAMES].drain(False)
        if message["op"] == "end":
            left.discard(topic.removeprefix("match/"))
            if not left:
                break
        elif message["op"] == "delta":
            for event in message["data"]:
                if topic == "lobby" and event["kind"] == "committed":
                    noted[event["id"]] = event
                elif topic.startswith("match/"):
                    id = topic.removeprefix("match/")
                    assert id in noted, f"{event['kind']} came before the commitment"
                    if event["kind"] == "game":
                        assert event["commitment"] == noted[id]["commitment"]
                    decided.add(id)
    return noted, decided


def test_the_api_shows_what_a_match_is_bound_to_before_a_referee_has_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path, CALM) as server:
            games = server.app[GAMES]
            games.drain(True)
            players = [await settle_in(server, name, "random") for name in ("alice", "bob")]
            ids = [await order(server, "keltis", players) for _ in range(6)]
            parts = await pages(server, "/seed-parts")
            happened: list[Happening] = []
            stored: dict[str, Any] = {}

            def listen(happening: Happening) -> None:
                happened.append(happening)
                if isinstance(
                    happening, MatchAssigned
                ):  # what a reader of the database sees by now
                    with server.site.database.reading() as session:
                        row = match_row(session, happening.playing.job.id)
                        assert row is not None
                        stored[row.job.id] = (row.job.seed, row.job.origin, row.secret)

            server.site.listen(listen)
            games.drain(False)
            async with asyncio.timeout(PATIENCE):
                for id in ids:
                    while (match := await server.get(f"/matches/{id}"))["state"] != "finished":
                        if match["state"] == "playing":
                            assert len(match["commitment"]) == 64
                            assert match["origin"]["secret"] is None
                        await asyncio.sleep(0.02)
                    seed, origin, secret = stored[id]
                    assert (seed, secret) == (match["seed"], None)
                    assert {**origin, "secret": match["origin"]["secret"]} == match["origin"]
            for id in ids:  # in this order, each time
                order_of = [type(each) for each in happened if job_id(each) == id]
                assert (
                    order_of.index(MatchAssigned)
                    < order_of.index(MatchStarted)
                    < order_of.index(MatchStreamed)
                )
            after = {part["number"]: part for part in await pages(server, "/seed-parts")}
            for part in parts:
                assert after[part["number"]]["commitment"] == part["commitment"]
            drawn = [part for part in after.values() if part["match"] is not None]
            assert {part["match"] for part in drawn} == set(ids)
            for part in drawn:
                assert part["match_state"] == "finished"
                made = part_commitment(part["number"], part["after"], part["secret"])
                assert part["commitment"] == made
            assert all(part["secret"] is None for part in after.values() if not part["match"])

    asyncio.run(scenario())


def job_id(happening: Happening) -> str | None:
    match happening:
        case MatchAssigned(playing=playing):
            return playing.job.id
        case MatchStarted(job=job) | MatchStreamed(job=job):
            return job.id
    return None


def test_whoever_comes_while_matches_run_finds_all_commitments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with served(tmp_path, replace(CALM)) as server:
            players = [await settle_in(server, name, "random") for name in ("alice", "bob")]
            lag(monkeypatch)
            games = server.app[GAMES]
            ids = {await order(server, "keltis", players) for _ in range(8)}
            async with asyncio.timeout(PATIENCE):
                while not games.playing:
                    await asyncio.sleep(0.005)
                async with LiveClient(server.url) as live:
                    await live.subscribe("lobby")
                    known: set[str] = set()
                    seen: set[str] = set()
                    async for message in live:
                        if message["op"] == "snapshot":
                            data = message["data"]
                            known |= {each["id"] for each in data["committed"]}
                            known |= {each["id"] for each in data["recent"]}
                            seen |= {each["id"] for each in data["matches"]}
                        elif message["op"] == "delta":
                            for event in message["data"]:
                                if event["kind"] == "committed":
                                    known.add(event["id"])
                                elif event["kind"] in ("moved", "finished"):
                                    seen.add(event["id"])
                                assert seen <= known
                        if ids <= known:
                            break

    asyncio.run(scenario())
