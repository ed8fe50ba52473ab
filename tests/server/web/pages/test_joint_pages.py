"""Pages with joint ratings: places, expected wins and both ratings, in both languages."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest

from keltis_ladder.ratings.official import Official
from keltis_ladder.store.ratings.joint.publishing import publish_all
from keltis_server.web.render.drawing import surprising
from keltis_server.web.render.words import LANGUAGES, words_of
from tests.ladder.store.support.results import made_up
from tests.server.support.serving import QUIET, Served
from tests.server.support.stories import bots, quiet, result
from tests.server.web.support.pages import data_of, fetch
from tests.server.web.support.pages_app import served_pages

FAR = made_up("keltis", [[80, 20], [20, 80]])
EVEN = made_up("keltis", [[31, 30], [31, 30]])


def fill(server: Served) -> None:
    """Strong is far ahead of both others, who are level."""
    quiet(server)
    strong, one, two = bots(server, "strong", "one", "two")
    for _ in range(8):
        result(server, [strong, one], FAR)
        result(server, [strong, two], FAR)
        result(server, [one, two], EVEN)


def stones(text: str) -> list[str]:
    return re.findall(r'data-f="rank">([^<]+)<', text)


def test_before_anything_is_published_pages_say_so_and_show_the_live_rating(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            fill(server)
            live = (await server.get("/leaderboard"))["lines"][0]
            for language in LANGUAGES:
                words = words_of(language)
                board = await fetch(server, "/leaderboard", language)
                assert re.search(r"data-not-yet>", board.text)  # not hidden
                assert words("leaderboard.not_yet") in board.text
                assert f'data-f="rating">{words.number(live["mu"], 1)}<' in board.text
                assert board.text.count('data-f="share">–<') == 3
                bot = await fetch(server, "/bots/strong", language)
                assert words("bot.not_yet") in bot.text
            assert 'class="heat' in (await fetch(server, "/matrix")).text
            publish_all(server.site.database)
            server.site.boards.forget()
            bot = await fetch(server, "/bots/strong")
            assert words_of("en")("bot.not_yet") not in bot.text

    asyncio.run(scenario())


def test_a_leaderboard_shows_places_expected_wins_and_both_ratings(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            fill(server)
            publish_all(server.site.database)
            lines = (await server.get("/leaderboard"))["lines"]
            for language in LANGUAGES:
                words = words_of(language)
                board = await fetch(server, "/leaderboard", language)
                assert "data-not-yet hidden" in board.text
                assert stones(board.text) == ["1", "2–3", "2–3"]
                for line in lines:
                    joint = line["joint"]
                    assert f'data-f="rating">{words.number(joint["rating"], 1)}<' in board.text
                    assert f'data-f="share">{words.percent(joint["share"])}<' in board.text
                    reach = words.number(line["high"] - line["mu"], 1)
                    live = f"{words.number(line['mu'], 1)} ±{reach}"
                    assert f'data-f="other">{live}<' in board.text
                # Only where other kinds of matches have a say.
                assert "data-rests" not in board.text
                narrow = await fetch(server, "/leaderboard?variant=keltis&players=2", language)
                assert narrow.text.count("data-rests") == 3
            home = await fetch(server, "/")
            assert stones(home.text) == ["1", "2–3", "2–3"]
            listed = await fetch(server, "/bots")
            assert words_of("en").number(lines[0]["joint"]["rating"], 1) in listed.text

    asyncio.run(scenario())


def test_an_operator_may_order_pages_by_the_live_rating(tmp_path: Path) -> None:
    async def scenario() -> None:
        settings = replace(QUIET, official=Official.TRUESKILL)
        async with served_pages(tmp_path, settings) as server:
            fill(server)
            publish_all(server.site.database)
            first = (await server.get("/leaderboard"))["lines"][0]
            board = await fetch(server, "/leaderboard")
            assert 'data-official="trueskill"' in board.text
            assert f'data-f="rating">{first["mu"]:.1f}<' in board.text
            assert f'data-f="other">{first["joint"]["rating"]:.1f} ±' in board.text

    asyncio.run(scenario())


def test_a_bot_has_both_ratings_its_history_and_what_is_expected_of_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            fill(server)
            publish_all(server.site.database)
            strong, *_ = (await server.get("/leaderboard"))["lines"]
            for language in LANGUAGES:
                words = words_of(language)
                bot = await fetch(server, "/bots/strong", language)
                for text in (words("bot.joint"), words("bot.live"), words("bot.chart_both")):
                    assert text in bot.text
                assert words.percent(strong["joint"]["share"]) in bot.text
                assert words("bot.better") in bot.text
                assert escape(words.likely(1.0)) in bot.text  # that it is better than either
                assert bot.text.count('class="awaited"') == 2
            history = data_of(await fetch(server, "/bots/strong"), "history")
            assert [step["joint"] is None for step in history] == [True] * 15 + [False]
            rating, sigma = history[-1]["joint"]
            assert rating == pytest.approx(strong["joint"]["rating"], abs=0.001)
            assert sigma == pytest.approx(strong["joint"]["sigma"], abs=0.001)

    asyncio.run(scenario())


def test_a_matrix_says_what_was_expected_and_marks_surprises(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            fill(server)
            [weird] = bots(server, "weird")
            versions = {"strong": 1, "one": 2, "two": 3}
            for _ in range(8):
                result(server, [weird, versions["strong"]], made_up("keltis", [[31, 30], [30, 31]]))
                result(server, [versions["one"], weird], FAR)
                result(server, [versions["two"], weird], FAR)
            publish_all(server.site.database)
            table = await fetch(server, "/matrix")
            words = words_of("en")
            assert "were expected." in table.text
            [surprise] = re.findall(r'class="heat heat5 above" data-says="([^"]+)"', table.text)
            assert surprise.startswith("weird against strong: 8 won, 0 drawn, 0 lost.")
            assert surprise.endswith(words("matrix.above"))
            assert table.text.count(words("matrix.below")) == 1

    asyncio.run(scenario())


def test_a_surprise_is_far_from_what_was_expected_for_so_many_matches() -> None:
    assert surprising(1.0, 0.5, 2) == 0  # two matches say little
    assert surprising(1.0, 0.5, 20) == 1
    assert surprising(0.2, 0.7, 20) == -1
    assert surprising(0.0, 0.99, 1) == -1
    assert surprising(0.9, 0.95, 10) == 0
    assert surprising(1.0, None, 20) == 0


def test_the_page_about_the_ratings_explains_both(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            for language in LANGUAGES:
                page = await fetch(server, "/about", language)
                for part in ("two", "share", "places", "limits"):
                    assert f'<h2 id="{part}">' in page.text
                assert page.text.count('<figure class="drawn">') == 3
                assert "TrueSkill" in page.text

    asyncio.run(scenario())
