"""What was removed because it is too old says so, and results stay; the pace is told."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from aiohttp import ClientWebSocketResponse
from sqlalchemy import update
from sqlmodel import Session, col, select

from keltis_ladder.run.pace import PaceRules, Tempo
from keltis_ladder.run.scheduler import PaceChanged
from keltis_ladder.store.retention import Retention
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import FaultRecord, Match
from keltis_server.http.endpoints import API
from keltis_server.play.games import GAMES
from tests.ladder.store.support.results import made_up
from tests.server.support.serving import QUIET, Served, served
from tests.server.support.stories import (
    author,
    bots,
    change,
    problem,
    quiet,
    real_result,
    result,
    status,
)

KEPT = Retention(replays=timedelta(days=90), logs=timedelta(days=90))


def grow_old(session: Session) -> None:
    """Let what was played be a hundred days ago."""
    session.execute(update(Match).values(finished=now() - timedelta(days=100)))


async def page(server: Served, path: str, language: str = "en") -> str:
    headers = {"Accept": "text/html", "Accept-Language": language}
    async with server.http.get(server.url + path, headers=headers) as response:
        assert response.status == 200
        return await response.text()


def test_a_replay_that_was_removed_says_so_and_the_result_stays(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path, replace(QUIET, retention=KEPT)) as server:
            quiet(server)
            versions = bots(server, "one", "two")
            old = real_result(server, versions, 5)
            change(server, grow_old)
            young = real_result(server, versions, 6)
            before = await server.get(f"/matches/{old}")
            assert not before["replay_removed"]
            told = await server.post("/admin/prune", json={"dry_run": True}, headers=server.local)
            assert await status(server, f"/matches/{old}/replay") == 200
            done = await server.post("/admin/prune", json={}, headers=server.local)
            assert done == told
            assert done["replays"] == 2
            assert done["size"] > 0

            code, detail = await problem(server, f"/matches/{old}/replay")
            assert code == 410
            assert detail == (
                f"the replay of match {old} was removed: it was older than the operator of this "
                "ladder keeps replays; the result stays"
            )
            assert (await problem(server, f"/matches/{old}/games/0/frames")) == (410, detail)
            after = await server.get(f"/matches/{old}")
            assert after["replay_removed"]
            for each in (before, after):
                del each["replay_removed"]
                for entrant in each["entrants"]:  # rating steps are kept for 90 days, too
                    del entrant["mu"], entrant["sigma"]
            assert after == before
            shown = await page(server, f"/matches/{old}")
            assert "The replay was removed after 90 days" in shown
            assert f"/api/v1/matches/{old}/replay" not in shown
            assert "nach 90 Tagen gelöscht" in await page(server, f"/matches/{old}", "de")
            assert await status(server, f"/matches/{young}/replay") == 200
            assert f"/api/v1/matches/{young}/replay" in await page(server, f"/matches/{young}")

    asyncio.run(scenario())


def test_a_crash_card_that_was_removed_says_so_and_the_fault_stays(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path, replace(QUIET, retention=KEPT)) as server:
            quiet(server)
            ada = author(server, "ada")
            versions = bots(server, "one", "two")
            result(server, versions, made_up("keltis", [[3, 1], [2, 4]], [(0, 0)]))
            fault = change(server, lambda session: session.exec(select(FaultRecord.id)).one())
            path = f"/bots/one/faults/{fault}/card"
            assert await status(server, path, headers=ada) == 200
            change(server, grow_old)
            done = await server.post("/admin/prune", json={}, headers=server.local)
            assert done["cards"] == 1
            code, detail = await problem(server, path, headers=ada)
            assert code == 410
            assert "was removed" in detail
            faults = await server.get("/bots/one/faults", headers=ada)
            assert [each["id"] for each in faults["items"]] == [fault]
            kept = select(FaultRecord).where(col(FaultRecord.id) == fault)
            assert change(server, lambda session: session.exec(kept).one().text)

    asyncio.run(scenario())


async def until_op(socket: ClientWebSocketResponse, op: str) -> Any:
    """Return the next message of a kind."""
    async with asyncio.timeout(300):
        while (message := await socket.receive_json())["op"] != op:
            pass
    return message


def test_the_pace_of_the_ladder_is_told_with_its_reason(tmp_path: Path) -> None:
    async def scenario() -> None:
        limited = replace(QUIET, pace=PaceRules(matches_per_minute=7.5))
        async with served(tmp_path, limited) as server:
            quiet(server)  # nobody judges the pace but we
            state = await server.get("/admin/status", headers=server.local)
            assert state["tempo"] == "limited"
            assert state["matches_per_minute"] == 7.5
            assert state["expected_gain"] is None
            assert "as this ladder&#39;s operator decided: at most 7.5" in await page(server, "/")
            assert "höchstens 7,5" in await page(server, "/", "de")
            async with server.http.ws_connect(f"{server.url}{API}/live") as socket:
                await socket.send_json({"op": "subscribe", "topic": "lobby"})
                snapshot = await until_op(socket, "snapshot")
                assert snapshot["data"]["pace"] == {"tempo": "limited", "per_minute": 7.5}
                server.app[GAMES].pace.judge(0.0, house_only=False)
                server.site.tell(PaceChanged(Tempo.SETTLED, 6.0))
                delta = await until_op(socket, "delta")  # we look, so it plays a little more
                assert delta["data"] == [{"kind": "pace", "tempo": "settled", "per_minute": 6.0}]
            assert "The ratings are settled" in await page(server, "/")
            async with server.http.get(server.url + "/readyz") as response:
                assert (await response.json())["tempo"] == "settled"
            async with server.http.get(server.url + "/metrics") as response:
                lines = (await response.text()).splitlines()
            assert 'keltis_tempo{tempo="settled"} 1.0' in lines
            assert 'keltis_tempo{tempo="full"} 0.0' in lines
            assert "keltis_expected_gain 0.0" in lines

    asyncio.run(scenario())
