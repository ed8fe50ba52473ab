"""Administration over HTTP: only for administrators, felt at once, and written down."""

from __future__ import annotations

import asyncio
import gzip
import logging
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import Session, select

from keltis_ladder.findings import Finding, Mark
from keltis_ladder.run.course import Entry
from keltis_ladder.store.archives import note_archive
from keltis_ladder.store.audit.soundness import check
from keltis_ladder.store.bots.catalogue import HOUSE, ensure_house_bots
from keltis_ladder.store.ratings.memory import active_ids
from keltis_ladder.store.schema.tables import Bot, Rating, Version
from keltis_ladder.store.schema.version_states import VersionChanged
from keltis_ladder.tournaments.plan import Plan
from keltis_server.events import Happening
from keltis_server.http.endpoints import API
from keltis_server.play.games import GAMES
from tests.ladder.store.support.ladders import enter, store
from tests.ladder.store.support.results import real, won_by
from tests.server.support.serving import Served, bearer, served

Headers = dict[str, str]
SPAM = {"reason": "it mines coins"}


async def new_admin(server: Served) -> Headers:
    """Return what an administrator with a token sends, who is another than runs the server."""
    wish = {"label": "office", "scopes": ["admin"]}
    made = await server.post("/account/tokens", 201, json=wish, headers=server.local)
    return bearer(made["token"])


def acts(caplog: pytest.LogCaptureFixture) -> list[tuple[Any, ...]]:
    """Return what was written down: who did what to whom, and why."""
    return [
        (record.__dict__["by"], record.__dict__["act"], record.__dict__["whom"])
        for record in caplog.records
        if "act" in record.__dict__
    ]


def test_only_administrators_may_do_any_of_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            ada = await server.register("ada")
            document = await server.get("/openapi.json")
            paths = [path for path in document["paths"] if path.startswith(f"{API}/admin")]
            assert len(paths) == 13
            for path in paths:
                method = "GET" if path.endswith(("status", "audit")) else "POST"
                url = server.url + path.format(bot="a", author="ada")
                for headers, status in [({}, 401), (ada, 403)]:
                    async with server.http.request(method, url, headers=headers) as response:
                        assert response.status == status, path

    asyncio.run(scenario())


def test_a_bot_is_disabled_and_enabled(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    told: list[Happening] = []

    async def scenario() -> None:
        async with served(tmp_path) as server:
            site, admin = server.site, await new_admin(server)
            await server.app[GAMES].stop()  # these bots have no programs to play with
            versions = await site.write(enter, "a", "b", "c", author="ada")
            plan = Plan("round-robin", entrants=3)
            entries = [Entry(id, name) for id, name in zip(versions, "abc", strict=True)]
            cup = await site.work(site.director.create, "cup", plan, entries)
            await site.work(site.director.start, cup)
            site.listen(told.append)

            done = await server.post("/admin/bots/a/disable", json=SPAM, headers=admin)
            assert done == {
                "name": "a",
                "disabled": True,
                "versions": [{"bot": "a", "number": 1, "state": "retired"}],
            }
            assert await site.read(active_ids) == versions[1:]
            [change] = [each for each in told if isinstance(each, VersionChanged)]
            assert (change.bot, change.state) == ("a", "retired")
            course = await site.work(site.director.course, cup)
            assert list(course.tournament.withdrawals) == [0]

            done = await server.post("/admin/bots/a/enable", headers=admin)
            assert done["versions"] == [{"bot": "a", "number": 1, "state": "checking"}]
            await server.post("/admin/bots/nobody/disable", 404, json=SPAM, headers=admin)
            await server.post("/admin/bots/nobody/enable", 404, headers=admin)
            for bad in ({}, {"reason": ""}, {"reason": "a\0b"}, {"reason": "x", "also": 1}):
                await server.post("/admin/bots/b/disable", 422, json=bad, headers=admin)

    asyncio.run(scenario())
    name = acts(caplog)[0][0]
    assert acts(caplog) == [(name, "disable bot", "a"), (name, "enable bot", "a")]
    assert any(record.__dict__.get("why") == SPAM["reason"] for record in caplog.records)


def test_a_bot_of_the_house_can_be_disabled_but_not_its_author(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            await server.app[GAMES].stop()
            await server.site.write(ensure_house_bots)
            playing = await server.site.read(active_ids)
            await server.post("/admin/bots/random/disable", json=SPAM, headers=server.local)
            assert len(await server.site.read(active_ids)) == len(playing) - 1
            done = await server.post("/admin/bots/random/enable", headers=server.local)
            assert done["versions"][0]["state"] == "active"
            assert await server.site.read(active_ids) == playing
            me = (await server.get("/account", headers=server.local))["name"]
            for name in (HOUSE, me):
                path = f"/admin/authors/{name}"
                await server.post(f"{path}/disable", 409, json=SPAM, headers=server.local)
                await server.post(f"{path}/remove", 409, headers=server.local)
            assert await server.site.read(active_ids) == playing

    asyncio.run(scenario())


def test_an_author_is_disabled_enabled_and_removed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    def set_up(session: Session, server: Served) -> str:
        kept = server.site.home.archives.put(gzip.compress(bytes(1024)))
        note_archive(session, kept)
        [mine] = enter(session, "mine", author="ada")
        [other] = enter(session, "other", author="bob")
        version = session.get_one(Version, mine)
        version.archive_digest, version.description = kept.digest, "Ada's words"
        session.add(version)
        store(session, [mine, other], real("keltis", 2, 5), seed=5)
        return kept.digest

    async def scenario() -> None:
        async with served(tmp_path) as server:
            site = server.site
            await server.app[GAMES].stop()
            ada = await server.register("ada")
            digest = await site.write(set_up, server)
            await server.post("/admin/authors/ada/disable", json=SPAM, headers=server.local)
            async with server.http.get(f"{server.url}{API}/account", headers=ada) as response:
                assert response.status == 401
            await server.post("/accounts", 409, json={"name": "ada"})
            done = await server.post("/admin/authors/ada/enable", headers=server.local)
            assert done["versions"] == [{"bot": "mine", "number": 1, "state": "checking"}]
            assert (await server.get("/account", headers=ada))["bots"] == ["mine"]

            done = await server.post("/admin/authors/ada/remove", headers=server.local)
            assert done["name"].startswith("removed-")
            assert done["disabled"] is True
            assert not site.home.archives.path(digest).exists()
            pruned = await server.post("/admin/prune", json={}, headers=server.local)
            assert set(pruned.values()) == {0}  # it went at once
            await server.post(f"/admin/authors/{done['name']}/enable", 409, headers=server.local)
            await server.post("/admin/authors/ada/remove", 404, headers=server.local)
            await server.post("/admin/authors/ada/disable", 404, json=SPAM, headers=server.local)
            await server.post("/admin/authors/ada/enable", 404, headers=server.local)
            async with server.http.get(f"{server.url}{API}/account", headers=ada) as response:
                assert response.status == 401
            await server.register("ada")  # the name is free
            names = await site.read(lambda session: set(session.exec(select(Bot.name))))
            assert "mine" not in names
            assert "other" in names

            events = await site.work(lambda: list(check(site.home, site.database, deep=True)))
            findings = [each for each in events if isinstance(each, Finding)]
            assert [each for each in findings if each.mark is not Mark.OK] == []

    asyncio.run(scenario())
    assert [act for _, act, whom in acts(caplog) if whom == "ada"] == [
        "disable author",
        "enable author",
        "remove author",
    ]


def test_ratings_are_worked_out_again_and_matches_drained(tmp_path: Path) -> None:
    def spoil(session: Session) -> None:
        a, b = enter(session, "a", "b")
        store(session, [a, b], won_by("keltis", 2, 0))
        for rating in session.exec(select(Rating).where(Rating.version_id == a)):
            rating.mu += 1
            session.add(rating)

    async def scenario() -> None:
        async with served(tmp_path) as server:
            status = await server.post("/admin/drain", headers=server.local)
            assert status["draining"] is True
            async with server.http.get(f"{server.url}/readyz") as response:
                assert (await response.json())["draining"] is True
            await server.site.write(spoil)
            rerated = await server.post("/admin/rerate", headers=server.local)
            assert rerated == {"matches": 1, "changed": 4}  # a rating in each of four scopes
            rerated = await server.post("/admin/rerate", headers=server.local)
            assert rerated == {"matches": 1, "changed": 0}
            status = await server.get("/admin/status", headers=server.local)
            assert (status["matches"], status["bots"], status["playing"]) == (1, 2, [])
            assert status["referees"] == 1
            status = await server.post("/admin/resume", headers=server.local)
            assert status["draining"] is False

    asyncio.run(scenario())
