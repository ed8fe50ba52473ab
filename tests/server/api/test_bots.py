"""Bots over HTTP: everybody sees how they do, only their authors see why."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import Session

from keltis_ladder.ratings.scopes import OVERALL, Scope
from keltis_ladder.store.bots.accounts import TokenScope
from keltis_ladder.store.bots.catalogue import set_aside
from keltis_ladder.store.ratings.leaderboards import leaderboard
from keltis_ladder.store.schema.version_states import VersionCause
from tests.ladder.store.support.results import CRASH, faulty, won_by
from tests.server.support.serving import Served, served
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


def test_bots_are_listed_by_name_and_found_with_their_ratings(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            names = [f"bot{number:02}" for number in range(11)]
            versions = bots(server, *names)
            [other] = bots(server, "a_bot", author="bob")
            results(server, [*versions[:3], other], 60)
            listed = await pages(server, "/bots", limit=4)
            assert [bot["name"] for bot in listed] == ["a_bot", *names]
            by_bob = await pages(server, "/bots", author="bob")
            assert [bot["name"] for bot in by_bob] == ["a_bot"]
            ten = await pages(server, "/bots", prefix="bot1")
            assert [bot["name"] for bot in ten] == ["bot10"]
            assert await pages(server, "/bots", prefix="a_") == by_bob  # _ is no wildcard
            assert await pages(server, "/bots", prefix="_") == []
            assert await pages(server, "/bots", state="retired") == []
            bot = await server.get("/bots/bot00")
            assert (bot["author"], bot["house"], bot["version"]) == ("ada", False, 1)
            assert [(each["variant"], each["players"]) for each in bot["ratings"]] == [
                ("all", 0), ("all", 2), ("keltis", 0), ("keltis", 2),
            ]  # fmt: skip
            for scope in (OVERALL, Scope("keltis", 2)):
                lines = await server.site.read(leaderboard, scope)
                ranks = {line.bot: line.rank for line in lines}
                for name in ranks:
                    found = (await server.get(f"/bots/{name}"))["ratings"]
                    mine = [each for each in found if each["variant"] == scope.variant]
                    assert mine[-1 if scope.players else 0]["rank"] == ranks[name]
            assert listed[1]["ratings"] == bot["ratings"][:1]

    asyncio.run(scenario())


def test_what_does_not_exist_is_not_found_and_close_names_are_suggested(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            bots(server, "greedy")
            code, detail = await problem(server, "/bots/gredy")
            assert (code, "do you mean greedy?" in detail) == (404, True)
            for path in (
                "/bots/nobody",
                "/bots/nobody/versions",
                "/bots/greedy/versions/2",
                "/bots/nobody/history",
                "/bots/greedy/history?version=2",
                "/bots/greedy/history?after=x",
                "/bots/nobody/opponents",
                "/bots/greedy/opponents?version=2",
                "/bots/nobody/components",
                "/bots/greedy/components?version=2",
                "/bots/nobody/faults",
                "/authors/nobody",
            ):
                assert await status(server, path) == 404, path
            assert await status(server, "/bots/Greedy") == 422

    asyncio.run(scenario())


def test_only_its_author_sees_why_a_bot_fails(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            [mine] = bots(server, "mine", author="ada")
            [theirs] = bots(server, "theirs", author="bob")
            for _ in range(3):
                result(server, [mine, theirs], faulty(2, culprit=0))
            change(server, lambda session: take_off(session, mine))
            strangers: list[Any] = [
                {},
                author(server, "bob"),
                author(server, "ada", [TokenScope.SUBMIT]),  # hers, but not to read with
            ]
            for headers in strangers:
                assert await reasons(server, headers) == {None}
                faults = (await server.get("/bots/mine/faults", headers=headers))["items"]
                assert [fault["text"] for fault in faults] == [None] * 3
                assert {(fault["kind"], fault["code"]) for fault in faults} == {("crash", "exit")}
                for path in (f"/bots/mine/faults/{faults[0]['id']}/card", "/bots/mine/times"):
                    code, detail = await problem(server, path, headers=headers)
                    assert code == (403 if headers else 401)
                    assert "secret" not in detail
            for headers in (author(server, "ada"), server.local):
                assert await reasons(server, headers) == {"a secret reason"}
                faults = await page_by_page(server, headers)
                assert {fault["text"] for fault in faults} == {CRASH.text}
                assert [fault["match"] for fault in faults] == [3, 2, 1]
                path = f"/bots/mine/faults/{faults[0]['id']}/card"
                card = await server.get(path, headers=headers)
                assert card["stderr"] == "so long"
                profile = (await server.get("/bots/mine/times", headers=headers))["profile"]
                [line] = profile
                assert (line["variant"], line["matches"], line["asked"]) == ("keltis", 3, 180)
                assert line["mean_ms"] == pytest.approx(3 * 12.5 / 180)
                others = f"/bots/theirs/faults/{faults[0]['id']}/card"
                expected = 404 if headers == server.local else 403
                assert await status(server, others, headers=headers) == expected

    async def reasons(server: Served, headers: dict[str, str]) -> set[str | None]:
        listed = await server.get("/bots/mine/versions", headers=headers)
        single = await server.get("/bots/mine/versions/1", headers=headers)
        return {version["reason"] for version in (*listed["items"], single)}

    async def page_by_page(server: Served, headers: dict[str, str]) -> list[Any]:
        found: list[Any] = []
        after = ""
        while True:
            query = {"limit": 2, "after": after}
            page = await server.get("/bots/mine/faults", headers=headers, params=query)
            found += page["items"]
            if page["next"] is None:
                return found
            after = page["next"]

    asyncio.run(scenario())


def take_off(session: Session, version: int) -> None:
    set_aside(session, version, VersionCause.UNPREPARED, text="a secret reason")


def test_a_history_goes_over_all_versions_and_pages(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            [one] = bots(server, "one")
            [two] = bots(server, "two")
            for number in range(5):
                variant = "keltis" if number % 2 else "neue-wege"
                result(server, [one, two], won_by(variant, 2, winner=0))
            [second] = bots(server, "one")
            for _ in range(4):
                result(server, [second, two], won_by("keltis", 2, winner=1))
            result(server, [second, two], won_by("keltis", 2, winner=1), rated=False)
            steps = await pages(server, "/bots/one/history", limit=3)
            assert [step["match"] for step in steps] == list(range(1, 10))
            assert [step["version"] for step in steps] == [1] * 5 + [2] * 4
            first = [step for step in steps if step["version"] == 1]
            assert await pages(server, "/bots/one/history", version=1) == first
            narrow = await pages(server, "/bots/one/history", variant="keltis", players=2)
            assert [step["match"] for step in narrow] == [2, 4, 6, 7, 8, 9]
            for query in ({}, {"variant": "keltis"}, {"players": 2}):
                steps = await pages(server, "/bots/one/history", **query)
                scope = Scope(str(query.get("variant", "all")), int(query.get("players", 0)))
                lines = await server.site.read(leaderboard, scope)
                [line] = [line for line in lines if line.bot == "one"]
                assert (steps[-1]["mu"], steps[-1]["sigma"]) == (line.mu, line.sigma)
            assert (await server.get("/bots/one"))["version"] == 2
            met = await server.get("/bots/one/opponents")
            expected = {"bot": "two", "version": 1, "wins": 0, "draws": 0, "losses": 4}
            assert met == {"opponents": [expected]}
            before = await server.get("/bots/one/opponents?version=1&variant=keltis")
            assert [each["wins"] for each in before["opponents"]] == [2]
            both = await server.get("/bots/two/opponents")
            assert {(each["bot"], each["version"]) for each in both["opponents"]} == {
                ("one", 1), ("one", 2),
            }  # fmt: skip
            assert (await server.get("/bots/one/components"))["variants"] == []  # made up
            real_result(server, [second, two], 3)
            made = await server.get("/bots/one/components?variant=keltis&players=2")
            assert made["version"] == 2
            [keltis] = made["variants"]
            assert (keltis["variant"], keltis["matches"], keltis["games"]) == ("keltis", 1, 2)
            names = [part["name"] for part in keltis["components"]]
            assert names == ["tiles", "figures", "wish_stones"]
            last = await server.get("/matches/11")
            for side, entrant in zip(("own", "field"), last["entrants"], strict=True):
                assert keltis[side] == entrant["points"] / 2
                assert sum(part[side] for part in keltis["components"]) == keltis[side]
            for empty in ("?version=1", "?players=3", "?variant=neue-wege"):
                assert (await server.get(f"/bots/one/components{empty}"))["variants"] == []
            assert (await server.get("/authors/ada"))["bots"] == ["one", "two"]
            versions = (await server.get("/bots/one/versions"))["items"]
            assert [(v["number"], v["state"]) for v in versions] == [
                (2, "active"), (1, "superseded"),
            ]  # fmt: skip
            first = await server.get("/bots/one/versions?limit=1")
            assert (first["items"], first["next"]) == (versions[:1], "2")
            rest = await server.get("/bots/one/versions?limit=1&after=2")
            assert (rest["items"], rest["next"]) == (versions[1:], None)

    asyncio.run(scenario())
