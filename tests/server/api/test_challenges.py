"""Challenges over HTTP: played at once and for nothing, by those who can, not too many."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlmodel import Session, col, select

from keltis_ladder.match.commitments import commitment
from keltis_ladder.match.orders import AT_ONCE_PRIORITY
from keltis_ladder.match.seeds import mixed_seed, origin_from_plain
from keltis_ladder.store.bots.accounts import TokenScope
from keltis_ladder.store.bots.catalogue import add_version, ensure_author, ensure_bot, set_aside
from keltis_ladder.store.schema.tables import Job, Rating
from keltis_ladder.store.schema.version_states import VersionCause
from keltis_server.http.endpoints import API
from keltis_server.settings import Quotas
from tests.server.support.serving import QUIET, Served, served
from tests.server.support.stories import author, bots, change, quiet

SOON = 300.0  # seconds for a match on a machine that is busy


def test_a_challenge_is_played_at_once_and_moves_no_rating(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path, replace(QUIET, house=True)) as server:
            body = {"bot": "greedy", "opponents": ["random"], "variant": "keltis"}
            match = await server.post("/challenges", 202, json=body, headers=server.local)
            assert (match["purpose"], match["rated"], match["seed"]) == ("challenge", False, None)
            assert [entrant["bot"] for entrant in match["entrants"]] == ["greedy", "random"]
            found = await asyncio.wait_for(finished(server, match["id"]), SOON)
            assert found["number"] >= 1
            assert commitment(found["id"], int(found["seed"])) == found["commitment"]
            origin = origin_from_plain(found["origin"])
            assert mixed_seed(origin, found["origin"]["secret"]) == int(found["seed"])
            assert len(found["games"]) == 2
            assert all(not game["faults"] for game in found["games"])
            listed = await server.get("/matches?purpose=challenge&bot=greedy")
            assert [each["id"] for each in listed["items"]] == [match["id"]]

            def steps(session: Session) -> list[int]:
                query = select(Rating.last_match).where(col(Rating.last_match) == found["number"])
                return list(session.exec(query))

            assert await server.site.read(steps) == []

    asyncio.run(scenario())


async def finished(server: Served, id: str) -> Any:
    """Return a match when it is over."""
    while True:
        match = await server.get(f"/matches/{id}")
        if match["state"] == "finished":
            return match
        assert match["seed"] is None
        await asyncio.sleep(0.1)


def test_a_challenge_that_cannot_be_played_is_refused_with_the_reason(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            bots(server, "mine")
            bots(server, "theirs", "others", author="bob")
            change(server, specialist)
            [gone] = bots(server, "gone", author="bob")
            change(server, lambda session: set_aside(session, gone, VersionCause.TAKEN_BACK))
            ada = author(server, "ada")

            async def refused(status: int, why: str, headers: Any = ada, **changes: Any) -> None:
                body = {"bot": "mine", "opponents": ["theirs"], "variant": "keltis", **changes}
                answer = await server.post("/challenges", status, json=body, headers=headers)
                assert why in answer["detail"], answer

            await refused(401, "token", headers={})
            await refused(403, "scope", headers=author(server, "ada", [TokenScope.READ]))
            await refused(403, "somebody else's", headers=author(server, "bob"))
            await refused(404, "do you mean theirs", opponents=["theirz"])
            await refused(404, "no bot", bot="unknown-bot")
            await refused(409, "gone does not play", opponents=["gone"])
            await refused(409, "narrow does not play keltis", opponents=["narrow"])
            narrow = {"variant": "kartenspiel", "opponents": ["narrow", "theirs"]}
            await refused(409, "narrow does not play with 3 players", **narrow)
            await refused(409, "cannot play itself", opponents=["mine"])
            await refused(409, "cannot play itself", opponents=["theirs", "theirs"])
            await refused(409, "2 bots are named", players=3)
            await refused(422, "variant", variant="chess")
            await refused(422, "opponents", opponents=[])
            await refused(422, "opponents", opponents=["a", "b", "c", "d"])
            assert await server.site.read(jobs) == []

    asyncio.run(scenario())


def specialist(session: Session) -> None:
    """Put a bot on the ladder that plays one game, for two."""
    bot = ensure_bot(session, ensure_author(session, "bob"), "narrow")
    add_version(session, bot, ["kartenspiel"], [2], cause=VersionCause.ENTERED)


def jobs(session: Session) -> list[Job]:
    return list(session.exec(select(Job)))


def test_an_author_has_three_challenges_at_once_and_so_many_in_an_hour(tmp_path: Path) -> None:
    async def scenario() -> None:
        settings = replace(QUIET, quotas=Quotas(challenges_per_hour=4))
        async with served(tmp_path, settings) as server:
            quiet(server)
            bots(server, "mine")
            bots(server, "theirs", author="bob")
            ada = author(server, "ada")
            body = {"bot": "mine", "opponents": ["theirs"], "variant": "keltis", "players": 2}
            for _ in range(3):
                await server.post("/challenges", 202, json=body, headers=ada)
            assert {job.priority for job in await server.site.read(jobs)} == {AT_ONCE_PRIORITY}
            assert await retry_after(server, body, ada) <= 5
            change(server, cancel_all)
            await server.post("/challenges", 202, json=body, headers=ada)
            change(server, cancel_all)
            assert await retry_after(server, body, ada) > 60  # a quarter of an hour for each
            theirs = {**body, "bot": "theirs", "opponents": ["mine"]}
            await server.post("/challenges", 202, json=theirs, headers=author(server, "bob"))

    asyncio.run(scenario())


async def retry_after(server: Served, body: dict[str, Any], headers: dict[str, str]) -> int:
    """Return how long an author who asks for too much has to wait."""
    url = server.url + API + "/challenges"
    async with server.http.post(url, json=body, headers=headers) as response:
        assert response.status == 429
        return int(response.headers["Retry-After"])


def cancel_all(session: Session) -> None:
    for job in jobs(session):
        job.state = "cancelled"
        session.add(job)
