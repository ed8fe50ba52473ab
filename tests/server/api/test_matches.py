"""Matches over HTTP: all of them once, nothing hidden before the end, replays for ever."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
from itertools import product
from pathlib import Path
from typing import Any

from sqlmodel import Session

from keltis_engine.records.replay import read_replay, verify
from keltis_ladder.dispatch.dispatcher import MatchFinished, MatchStarted
from keltis_ladder.match.commitments import commitment
from keltis_ladder.match.orders import Order, Purpose
from keltis_ladder.store.matches.queue import add_job, hold
from keltis_ladder.store.schema.moments import now
from keltis_server.client.live import LiveClient
from keltis_server.events import Happening
from keltis_server.http.endpoints import API
from keltis_server.play.games import GAMES
from tests.ladder.store.support.results import any_result
from tests.server.support.serving import Served, served
from tests.server.support.spectating import PATIENCE, Sluice, order, settle_in
from tests.server.support.stories import (
    author,
    bots,
    change,
    pages,
    problem,
    quiet,
    real_result,
    result,
    results,
    status,
)


def test_pages_have_everything_once_even_when_results_come_between(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            versions = bots(server, "one", "two", "three")
            results(server, versions, 23)
            found: list[int] = []
            after = ""
            while True:
                query: dict[str, Any] = {"limit": 5, "after": after}
                page = await server.get("/matches", params=query)
                found += [match["number"] for match in page["items"]]
                results(server, versions, 2, seed=len(found))
                if page["next"] is None:
                    break
                after = page["next"]
            assert found == list(range(23, 0, -1))

    asyncio.run(scenario())


def test_matches_are_found_by_bot_game_players_and_purpose(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            one, two, three, four = bots(server, "one", "two", "three", "four")
            chance = random.Random(5)
            stored: list[tuple[int, set[str], str, int, str]] = []
            for number in range(40):
                table = chance.sample([(one, "one"), (two, "two"), (three, "three")], 2)
                if chance.random() < 0.3:
                    table.append((four, "four"))
                if number == 20:  # the rest is played by its next version
                    [one] = bots(server, "one")
                table = [(one if name == "one" else id, name) for id, name in table]
                variant = chance.choice(["keltis", "kartenspiel"])
                purpose = chance.choice([Purpose.LADDER, Purpose.LADDER, Purpose.CHALLENGE])
                ids = [id for id, _ in table]
                rows = any_result(chance, variant, len(ids))
                stored_number = result(server, ids, rows, purpose=purpose, rated=False)
                names = {name for _, name in table}
                stored.append((stored_number, names, variant, len(ids), purpose.value))
            stored.reverse()
            for bot, game, players, aim in product(
                ("", "one", "four"), ("", "keltis"), (0, 3), ("", "ladder", "challenge")
            ):
                query = {"bot": bot, "variant": game, "players": players, "purpose": aim}
                found = await pages(server, "/matches", limit=7, **query)
                assert [match["number"] for match in found] == [
                    number
                    for number, names, what, count, why in stored
                    if (not bot or bot in names)
                    and game in ("", what)
                    and players in (0, count)
                    and aim in ("", why)
                ], query
            assert await status(server, "/matches?bot=nobody") == 404
            assert await status(server, "/matches?tournament=none") == 404
            assert await status(server, "/matches?after=abc") == 404
            assert await status(server, "/matches?state=playing&after=12") == 404
            assert await status(server, "/matches?purpose=fun") == 422

    asyncio.run(scenario())


def test_nothing_hidden_is_told_before_the_end_and_everything_after_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            one, two = bots(server, "one", "two")
            seed = 987654321987654321
            secret: dict[str, Any] = {"seed": seed, "id": "00000000-0000-4000-8000-000000000001"}
            waiting = [secret["id"], *(ask(server, one, two) for _ in range(4))]
            ask(server, one, two, **secret)
            everybody: list[dict[str, str]] = [{}, author(server, "ada"), server.local]
            for state in ("waiting", "playing"):
                if state == "playing":
                    change(server, lambda session: lease(session, waiting))
                listed = await pages(server, "/matches", state=state, limit=2)
                assert {match["id"] for match in listed} == set(waiting)
                assert len(listed) == len(waiting)
                assert await pages(server, "/matches", state=state, bot="one") == listed
                assert await pages(server, "/matches", state=state, variant="neue-wege") == []
                for headers in everybody:
                    path = f"/matches/{secret['id']}"
                    match = await server.get(path, headers=headers)
                    assert str(seed) not in json.dumps(match)
                    assert (match["state"], match["seed"], match["games"]) == (state, None, [])
                    assert match["commitment"] == commitment(secret["id"], seed)
                    code, detail = await problem(server, path + "/replay", headers=headers)
                    assert code == 409
                    assert str(seed) not in detail
            number = real_result(server, [one, two], drops={1: (0, 20)}, **secret)
            match = await server.get(f"/matches/{number}")
            assert match == await server.get(f"/matches/{secret['id']}")
            assert match["seed"] == str(seed)
            assert commitment(match["id"], int(match["seed"])) == match["commitment"]
            assert [game["seats"] for game in match["games"]] == [[0, 1], [1, 0]]
            [fault] = match["games"][1]["faults"]
            assert (fault["seat"], fault["kind"], fault["code"]) == (0, "crash", "exit")
            assert "text" not in fault
            assert match["entrants"][1]["faults"] == 1
            assert sum(entrant["wins"] for entrant in match["entrants"]) == 2
            assert await status(server, "/matches/2") == 404
            assert await status(server, "/matches/00000000-0000-4000-8000-00000000000f") == 404

    asyncio.run(scenario())


def ask(server: Served, *versions: int, **more: Any) -> str:
    """Put a match in the queue; return its id."""
    order = Order("keltis", versions, **more)
    return change(server, lambda session: add_job(session, order, now()).id)


def lease(session: Session, ids: list[str]) -> None:
    """Let somebody play these matches."""
    for id in ids:
        job = add_job(session, Order("keltis", (), id=id), now())
        hold(session, job, "somebody", now())


def test_the_ratings_of_a_match_are_those_before_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            versions = bots(server, "one", "two")
            results(server, versions, 5)
            steps = await pages(server, "/bots/one/history")
            for number in range(1, 6):
                entrants = (await server.get(f"/matches/{number}"))["entrants"]
                [mine] = [entrant for entrant in entrants if entrant["bot"] == "one"]
                before = steps[number - 2]["mu"] if number > 1 else None
                assert mine["mu"] == before
            waiting = await server.get(f"/matches/{ask(server, *versions)}")
            [mine] = [entrant for entrant in waiting["entrants"] if entrant["bot"] == "one"]
            assert mine["mu"] == steps[-1]["mu"]

    asyncio.run(scenario())


def test_a_replay_is_the_same_every_time_and_plays_out(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            versions = bots(server, "one", "two", "three")
            number = real_result(server, versions, seed=77, drops={0: (1, 30)})
            url = f"{server.url}{API}/matches/{number}/replay"
            async with server.http.get(url) as response:
                assert response.status == 200
                assert response.content_type == "application/x-ndjson"
                assert f"match-{number}.jsonl" in response.headers["Content-Disposition"]
                assert "immutable" in response.headers["Cache-Control"]
                etag, body = response.headers["ETag"], await response.read()
            assert not etag.startswith("W/")
            match = await server.get(f"/matches/{number}")
            lines = body.decode().splitlines()
            assert len(lines) == 3
            for line, game in zip(lines, match["games"], strict=True):
                verify(read_replay(line))
                record = json.loads(line)
                assert record["digest"] == game["digest"]
                assert (record["job"], record["commitment"]) == (match["id"], match["commitment"])
                assert all("text" not in fault for fault in record["faults"])
            assert json.loads(lines[0])["faults"][0]["code"] == "exit"
            async with server.http.get(f"{server.url}{API}/matches/{match['id']}/replay") as again:
                assert (again.headers["ETag"], await again.read()) == (etag, body)
            known = {"If-None-Match": etag}
            assert await status(server, f"/matches/{number}/replay", headers=known) == 304
            assert await status(server, f"/matches/{number + 1}/replay") == 404

    asyncio.run(scenario())


def test_a_match_that_no_referee_has_yet_is_one_that_waits(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            games = server.app[GAMES]
            sluice = Sluice(games.dispatcher)  # nothing gets any further
            entrants = [await settle_in(server, name, "random") for name in ("alice", "bob")]
            ids = {await order(server, "weg-der-steine", entrants) for _ in range(3)}
            async with asyncio.timeout(PATIENCE):
                while not (games.live and len(games.playing) > len(games.live)):
                    await asyncio.sleep(0.01)
            [playing] = games.live
            assigned = min(games.playing.keys() - games.live.keys())
            for state, wanted in (("playing", {playing}), ("waiting", ids - {playing})):
                found = await pages(server, "/matches", state=state, limit=1)
                # The ladder may want a match of the two by itself, behind these.
                assert {match["id"] for match in found} & ids == wanted
                assert {match["state"] for match in found} == {state}
                for id in wanted:
                    assert (await server.get(f"/matches/{id}"))["state"] == state
            async with LiveClient(server.url) as live:
                for id, state in ((playing, "playing"), (assigned, "waiting")):
                    await live.subscribe(f"match/{id}")
                    message = await anext(aiter(live))
                    while message["op"] != "snapshot" or message["topic"] != f"match/{id}":
                        message = await anext(aiter(live))
                    assert message["data"]["match"]["state"] == state
            sluice.open()

    asyncio.run(scenario())


def test_a_game_is_there_also_while_the_result_of_its_match_is_stored(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            entrants = [await settle_in(server, name, "random") for name in ("alice", "bob")]
            somebody = sqlite3.connect(tmp_path / "ladder.db", isolation_level=None)
            finished = asyncio.Event()

            def hear(happening: Happening) -> None:
                if isinstance(happening, MatchStarted):  # from now on nothing can be stored
                    somebody.execute("BEGIN IMMEDIATE")
                elif isinstance(happening, MatchFinished):
                    finished.set()

            server.site.listen(hear)
            id = await order(server, "weg-der-steine", entrants)
            await asyncio.wait_for(finished.wait(), PATIENCE)
            asked = asyncio.create_task(server.get(f"/matches/{id}/games/0/frames?viewer=all"))
            await asyncio.sleep(0.3)
            somebody.execute("ROLLBACK")
            somebody.close()
            game = await asked
            assert game["ended"]
            assert game["viewer"] == "all"

    asyncio.run(scenario())
