"""Tournaments over HTTP: made, played to the end, followed; by their authors only."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from keltis_ladder.match.seeds import mixed_seed, origin_from_plain
from keltis_ladder.run.course import Course
from keltis_ladder.store.bots.accounts import TokenScope
from keltis_ladder.tournaments.standings import Standing
from keltis_server.events import Happening, TournamentChanged
from keltis_server.play.games import GAMES
from keltis_server.settings import Quotas
from tests.ladder.store.support.results import won_by
from tests.server.support.serving import QUIET, Served, served
from tests.server.support.stories import author, bots, pages, quiet, result, status

SOON = 300.0  # seconds for a few matches on a machine that is busy


def test_a_tournament_is_made_started_and_played_to_the_end(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path, replace(QUIET, house=True)) as server:
            assert server.app[GAMES].scheduler.director is server.site.director
            ada = author(server, "ada")
            happened: list[Happening] = []
            server.site.listen(happened.append)
            body = {
                "name": "small-cup",
                "format": "round-robin",
                "bots": ["greedy", "random"],
                "variants": ["kartenspiel", "keltis"],
                "matches": 2,
            }
            made = await server.post("/tournaments", 201, json=body, headers=ada)
            assert (made["state"], made["author"], made["total"]) == ("scheduled", "ada", 2)
            assert (made["seed"], made["lots"]) == (None, None)
            started = await server.post("/tournaments/small-cup/start", headers=ada)
            assert started["state"] == "running"
            over = await asyncio.wait_for(finished(server, "small-cup"), SOON)
            assert TournamentChanged(1) in happened
            assert (over["played"], over["total"]) == (2, 2)
            played = await pages(server, "/matches", tournament="small-cup")
            assert {match["leg"] for match in played} == {"1/1/1", "1/1/2"}
            assert {match["variant"] for match in played} == {"kartenspiel", "keltis"}
            for match in played:  # each deal is drawn by itself
                origin = origin_from_plain(match["origin"])
                assert int(match["seed"]) == mixed_seed(origin, match["origin"]["secret"])
                assert (match["tournament"], match["rated"]) == ("small-cup", False)
            await same_as_in_the_store(server, over)
            [summary] = await pages(server, "/tournaments", state="finished")
            assert {key: over[key] for key in summary} == summary
            assert await pages(server, "/tournaments", state="running") == []
            again = await server.post("/tournaments/small-cup/start", 409, headers=ada)
            assert "finished" in again["detail"]

    asyncio.run(scenario())


async def finished(server: Served, name: str) -> Any:
    """Return a tournament when it is over; its lots are not told before."""
    while True:
        tournament = await server.get(f"/tournaments/{name}")
        if tournament["state"] == "finished" and tournament["lots"] is not None:
            return tournament
        assert tournament["lots"] is None
        await asyncio.sleep(0.2)


async def same_as_in_the_store(server: Served, out: dict[str, Any]) -> None:
    """Compare standings and crosstable with the tournament's own."""

    def read() -> tuple[list[Standing], Course]:
        course = server.site.director.course(1)
        return course.tournament.standings(), course

    standings, course = await server.site.work(read)
    names = [bot["name"] for bot in out["bots"]]
    assert names == [entry.name for entry in course.entries]
    assert [(line["place"], line["bot"], line["score"]) for line in out["standings"]] == [
        (line.place, line.entrant, float(line.score)) for line in standings
    ]
    cells = course.tournament.crosstable().cells
    assert {
        (cell["one"], cell["other"]): cell["points"] for cell in out["crosstable"]["cells"]
    } == {pair: float(cell.points) for pair, cell in cells.items()}


def test_seeds_come_from_ratings_and_the_best_can_be_taken(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            names = ["one", "two", "three", "four", "five"]
            versions = bots(server, *names)
            for stronger in range(4):  # one beats two, two beats three...
                pair = versions[stronger : stronger + 2]
                for _ in range(6):
                    result(server, pair, won_by("keltis", 2, winner=0))
            bots(server, "new")
            ada = author(server, "ada")
            named = {
                "name": "cup",
                "format": "single-elimination",
                "bots": ["new", "four", "one"],
                "variants": ["keltis"],
            }
            cup = await server.post("/tournaments", 201, json=named, headers=ada)
            assert [bot["bot"] for bot in cup["bots"]] == ["one", "four", "new"]
            assert cup["crosstable"] is None
            labels = {table["label"] for each in cup["bracket"] for table in each["tables"]}
            assert "Final" in labels
            final = cup["bracket"][-1]["tables"][0]
            assert final["label_coded"] == {"code": "final", "details": {}}
            assert final["comes_from"] == ["Seed 1", "Winner of Semi-final"]
            semi_final = {"code": "semi-final", "details": {}}
            assert final["comes_from_coded"] == [
                {"kind": "seed", "seed": 1, "table": None},
                {"kind": "winner", "seed": None, "table": semi_final},
            ]
            semi = cup["bracket"][0]["tables"][0]
            assert (semi["label_coded"], semi["winner_to"]) == (semi_final, "Final")
            assert semi["winner_to_coded"] == final["label_coded"]
            assert semi["loser_to_coded"] is None
            assert {line["eliminated_in_coded"] for line in cup["standings"]} == {None}
            best = {**named, "name": "best", "format": "swiss", "bots": [], "top": 4}
            swiss = await server.post("/tournaments", 201, json=best, headers=ada)
            assert {bot["bot"] for bot in swiss["bots"]} == {"one", "two", "three", "four"}
            assert swiss["bots"][0]["bot"] == "one"
            assert swiss["bracket"] is None
            trial = {**named, "name": "trial", "format": "gauntlet", "bots": ["new"], "top": 3}
            gauntlet = await server.post("/tournaments", 201, json=trial, headers=ada)
            assert gauntlet["bots"][0]["bot"] == "new"  # the challenger, whatever its rating
            assert {standing["group"] for standing in gauntlet["standings"]} == {
                "challengers", "opponents",
            }  # fmt: skip
            fourth = {**named, "name": "fourth"}
            answer = await server.post("/tournaments", 429, json=fourth, headers=ada)
            assert "3 tournaments" in answer["detail"]
            listed = await pages(server, "/tournaments", limit=2)
            assert [each["name"] for each in listed] == ["trial", "best", "cup"]
            assert [each["entrants"] for each in listed] == [4, 4, 3]
            # Once one is over, there is room for another.
            await server.post("/tournaments/cup/cancel", headers=ada)
            await server.post("/tournaments", 201, json=fourth, headers=ada)

    asyncio.run(scenario())


def test_what_cannot_be_a_tournament_is_refused_and_so_are_strangers(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            bots(server, "one", "two", "three")
            ada, bob = author(server, "ada"), author(server, "bob")
            good = {
                "name": "cup", "format": "round-robin", "bots": ["one", "two"],
                "variants": ["keltis"],
            }  # fmt: skip

            async def refused(status: int, why: str, headers: Any = ada, **changes: Any) -> None:
                body = {**good, **changes}
                answer = await server.post("/tournaments", status, json=body, headers=headers)
                assert why in answer["detail"], answer

            await refused(401, "token", headers={})
            await refused(403, "scope", headers=author(server, "ada", [TokenScope.READ]))
            await refused(403, "administrators", rated=True)
            await refused(404, "do you mean", bots=["one", "twoo"])
            await refused(409, "once", bots=["one", "one"])
            await refused(409, "1 entrants", bots=["one"])
            await refused(409, "smaller top", top=5)
            await refused(409, "named twice", variants=["keltis", "keltis"])
            await refused(409, "limit", rounds=1000, matches=1000)
            await refused(409, "tables of 2", format="double-elimination", players=3)
            past = (datetime.now(UTC) - timedelta(days=1)).isoformat()
            await refused(409, "past", starts=past)
            await refused(409, "past", starts="0001-01-01T00:00:00+14:00")
            await refused(422, "starts", starts="tomorrow")
            await refused(422, "format", format="tennis")

            rated = {**good, "rated": True, "name": "rated"}
            made = await server.post("/tournaments", 201, json=rated, headers=server.local)
            assert made["rated"] is True
            soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
            cup = await server.post("/tournaments", 201, json={**good, "starts": soon}, headers=ada)
            assert cup["starts"] is not None
            await refused(409, "already", headers=bob)
            for what in ("start", "pause", "cancel"):
                await server.post(f"/tournaments/cup/{what}", 403, headers=bob)
                await server.post(f"/tournaments/cup/{what}", 401)
                await server.post(f"/tournaments/none/{what}", 404, headers=ada)
            assert await status(server, "/tournaments/none") == 404
            assert await status(server, "/tournaments?after=x") == 404
            not_yet = await server.post("/tournaments/cup/pause", 409, headers=ada)
            assert "not running" in not_yet["detail"]
            assert (await server.post("/tournaments/cup/start", headers=ada))["state"] == "running"
            assert (await server.post("/tournaments/cup/pause", headers=ada))["state"] == "paused"
            held = await server.get("/matches?state=waiting&tournament=cup")
            assert [match["state"] for match in held["items"]] == ["waiting"]
            over = await server.post("/tournaments/cup/cancel", headers=server.local)
            assert (over["state"], over["seed"]) == ("cancelled", None)
            [job] = held["items"]
            match = await server.get(f"/matches/{job['id']}")
            assert (match["state"], match["seed"]) == ("cancelled", None)

    asyncio.run(scenario())


def test_tournaments_are_limited_by_the_hour_also_those_that_were_cancelled(tmp_path: Path) -> None:
    wanted = {"format": "round-robin", "bots": ["one", "two"], "variants": ["keltis"]}

    async def scenario() -> None:
        settings = replace(QUIET, quotas=Quotas(tournaments_per_hour=3))
        async with served(tmp_path, settings) as server:
            quiet(server)
            bots(server, "one", "two")
            ada, bob = author(server, "ada"), author(server, "bob")
            for number in range(3):
                cup = {**wanted, "name": f"cup{number}"}
                await server.post("/tournaments", 201, json=cup, headers=ada)
                if number < 2:  # what fails does not count
                    await server.post("/tournaments", 409, json=cup, headers=ada)
                await server.post(f"/tournaments/cup{number}/cancel", headers=ada)
            answer = await server.post(
                "/tournaments", 429, json={**wanted, "name": "more"}, headers=ada
            )
            assert "too many tournaments" in answer["detail"]
            for headers in (bob, server.local):
                name = "bobs" if headers is bob else "operators"
                body = {**wanted, "name": name}
                await server.post("/tournaments", 201, json=body, headers=headers)

    asyncio.run(scenario())
