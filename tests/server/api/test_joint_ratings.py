"""The joint rating over HTTP: beside the live one, in the order that the operator chose."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keltis_ladder.ratings.official import Official
from keltis_ladder.ratings.ranking import provisional
from keltis_ladder.ratings.scopes import OVERALL, Scope
from keltis_ladder.store.ratings.joint.publishing import publish_all
from keltis_ladder.store.ratings.joint.reading import standings
from tests.ladder.store.support.results import made_up
from tests.server.support.serving import QUIET, Served, served
from tests.server.support.stories import bots, quiet, result, status

FAR = made_up("keltis", [[80, 20], [20, 80]])  # the first entrant, by sixty in each game
EVEN = made_up("keltis", [[31, 30], [31, 30]])  # a game each: scores are by seat
BY_A_POINT = made_up("keltis", [[31, 30], [30, 31]])


def played(server: Served) -> list[int]:
    """Let three play: strong is far ahead of both others, who are level; nobody else has played."""
    quiet(server)
    strong, one, two, _ = versions = bots(server, "strong", "one", "two", "newcomer")
    for _ in range(12):
        result(server, [strong, one], FAR)
        result(server, [strong, two], FAR)
        result(server, [one, two], EVEN)
    return versions


def test_both_ratings_are_on_a_leaderboard_as_they_were_published(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            played(server)
            before = await server.get("/leaderboard")
            assert before["as_of"] is None
            assert [line["joint"] for line in before["lines"]] == [None] * 3
            publish_all(server.site.database)
            server.site.boards.forget()
            after = await server.get("/leaderboard?everybody=true")
            assert (after["official"], after["as_of"]) == ("joint", 36)
            published = await server.site.read(standings, OVERALL)
            assert published is not None
            figures = {line.figures.rating: line for line in published.lines}
            for line in after["lines"]:
                joint = line["joint"]
                stored = figures[joint["rating"]]
                assert (joint["best"], joint["worst"]) == (stored.best, stored.worst)
                shares = [joint["share"], joint["share_low"], joint["share_high"]]
                assert shares == pytest.approx(stored.figures[2:5])
                assert joint["low"] == pytest.approx(stored.figures.rating_low)
                assert joint["own"] + joint["others"] + joint["before"] == pytest.approx(1)
                assert line["provisional"] == joint["provisional"] == stored.figures.provisional
                assert line["rank"] == (None if line["provisional"] else joint["best"])
            live = {line["bot"]: (line["mu"], line["sigma"]) for line in before["lines"]}
            assert {line["bot"]: (line["mu"], line["sigma"]) for line in after["lines"]} == live
            assert after["lines"][0]["bot"] == "strong"
            assert after["lines"][0]["joint"]["share"] > 0.8

    asyncio.run(scenario())


def test_the_operator_chooses_which_rating_orders(tmp_path: Path) -> None:
    """Won by a point twelve times, and lost by sixty three times: ranks and margins disagree."""

    async def orders(official: Official) -> tuple[list[str], list[Any]]:
        settings = replace(QUIET, official=official)
        async with served(tmp_path / official, settings) as server:
            quiet(server)
            lucky, steady = bots(server, "lucky", "steady")
            for _ in range(3):
                result(server, [steady, lucky], FAR)
            for _ in range(12):
                result(server, [lucky, steady], BY_A_POINT)
            publish_all(server.site.database)
            board = await server.get("/leaderboard")
            assert board["official"] == official
            listed = await server.get("/bots")
            return [line["bot"] for line in board["lines"]], [
                bot["ratings"][0] for bot in listed["items"]
            ]

    names, ratings = asyncio.run(orders(Official.JOINT))
    assert names == ["steady", "lucky"]
    for each in ratings:
        assert each["provisional"] == each["joint"]["provisional"]
    names, ratings = asyncio.run(orders(Official.TRUESKILL))
    assert names == ["lucky", "steady"]
    for each in ratings:
        assert each["provisional"] == provisional(each["sigma"], each["matches"])


def test_a_bot_has_the_same_figures_as_its_line_on_each_leaderboard(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            played(server)
            publish_all(server.site.database)
            for name in ("strong", "one"):
                bot = await server.get(f"/bots/{name}")
                assert bot["ratings"]
                for rating in bot["ratings"]:
                    path = f"/leaderboard?variant={rating['variant']}&players={rating['players']}"
                    [line] = [
                        line for line in (await server.get(path))["lines"] if line["bot"] == name
                    ]
                    for field in ("rank", "provisional", "joint", "mu", "sigma"):
                        assert line[field] == rating[field], (path, field)
            listed = await server.get("/bots")
            ratings = {bot["name"]: bot["ratings"] for bot in listed["items"]}
            assert ratings["newcomer"] == []
            assert (
                ratings["one"][0]["joint"] == (await server.get("/bots/one"))["ratings"][0]["joint"]
            )

    asyncio.run(scenario())


def test_two_bots_are_held_against_each_other(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            played(server)
            assert (await server.get("/bots/one/versus"))["others"] == []  # not published yet
            publish_all(server.site.database)
            versus = await server.get("/bots/one/versus?variant=keltis&players=2")
            assert versus["as_of"] == 36
            found = {each["bot"]: each for each in versus["others"]}
            assert next(iter(found)) == "strong"
            assert set(found) == {"strong", "two", "newcomer"}
            strong, two = found["strong"], found["two"]
            assert strong["certain"]
            assert strong["better"] < 0.01
            assert strong["high"] < 0 < -strong["lead"]
            assert (strong["wins"], strong["draws"], strong["losses"]) == (0, 0, 12)
            assert strong["expected"] < 0.1
            assert strong["mean_lead"] < 0
            assert not two["certain"]
            assert two["better"] == pytest.approx(0.5, abs=0.01)
            assert two["expected"] == pytest.approx(0.5, abs=0.01)
            assert two["low"] < 0 < two["high"]
            assert found["newcomer"]["mean_lead"] is None
            # The other side sees the same.
            back = await server.get("/bots/strong/versus?variant=keltis&players=2&other=one")
            [one] = back["others"]
            assert one["lead"] == -strong["lead"]
            assert one["better"] == pytest.approx(1 - strong["better"])
            assert (one["wins"], one["losses"]) == (12, 0)
            assert await status(server, "/bots/nobody/versus") == 404
            assert await status(server, "/bots/one/versus?other=nobody") == 404

    asyncio.run(scenario())


def test_a_table_of_who_beats_whom_says_what_was_expected(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            played(server)
            path = "/head-to-head?bot=strong&bot=one&bot=two"
            assert [each["expected"] for each in (await server.get(path))["pairs"]] == [None] * 3
            publish_all(server.site.database)
            pairs = (await server.get(path))["pairs"]
            expected = {(pair["one"], pair["other"]): pair["expected"] for pair in pairs}
            assert expected[0, 1] > 0.9
            assert expected[1, 2] == pytest.approx(0.5, abs=0.02)

    asyncio.run(scenario())


def test_the_history_of_the_joint_rating_goes_over_all_versions(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            strong, *_ = played(server)
            publish_all(server.site.database)
            [next_one] = bots(server, "one")
            result(server, [strong, next_one], FAR)
            publish_all(server.site.database)
            steps = (await server.get("/bots/one/joint-history"))["steps"]
            assert [(step["match"], step["version"]) for step in steps] == [(36, 1), (37, 2)]
            published = await server.site.read(standings, Scope("all", 0))
            assert published is not None
            assert steps[-1]["rating"] == published.by_version()[next_one].figures.rating
            only = await server.get("/bots/one/joint-history?version=1&variant=keltis")
            assert [step["match"] for step in only["steps"]] == [36]

    asyncio.run(scenario())
