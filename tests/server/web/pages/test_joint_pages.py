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
from keltis_server.web.render.drawing import even_axis, surprising
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
            words = words_of("en")
            for line in lines:
                joint = line["joint"]
                assert f'data-f="share">{words.percent(joint["share"])}<' in home.text
            assert home.text.count("data-expected") == home.text.count('data-f="other"') == 3
            listed = await fetch(server, "/bots")
            for line in lines:
                low, high = line["joint"]["share_low"], line["joint"]["share_high"]
                share, low, high = map(words.percent, (line["joint"]["share"], low, high))
                assert words("bots.expected", share=share, low=low, high=high) in listed.text
                assert f"TrueSkill {words.number(line['mu'], 1)} ±" in listed.text
            assert words_of("en").number(lines[0]["joint"]["rating"], 1) in listed.text

    asyncio.run(scenario())


def sparks(page: str) -> dict[str, list[float]]:
    """Return the small lines by bot."""
    rows = re.findall(r'data-key="(\w+)/1".*?data-spark="([^"]*)', page, re.DOTALL)
    return {bot: [float(each) for each in line.split()] for bot, line in rows}


def test_small_lines_are_of_the_official_rating_where_it_has_a_history(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            fill(server)
            for _ in range(2):
                result(server, [1, 2], EVEN)
                result(server, [1, 3], EVEN)
                result(server, [2, 3], EVEN)
                publish_all(server.site.database)
            words = words_of("en")
            for path in ("", "variant=keltis", "variant=keltis&players=2"):
                board = await fetch(server, f"/leaderboard?{path}")
                shown = sparks(board.text)
                live = "players" in path  # of such matches the joint rating has no history
                assert (words("leaderboard.lately_live") in board.text) == live
                for bot in ("strong", "one", "two"):
                    kind = "history" if live else "joint-history"
                    steps = await server.get(f"/bots/{bot}/{kind}?{path}")
                    rated = (
                        [step["mu"] for step in steps["items"]]
                        if live
                        else [step["rating"] for step in steps["steps"]]
                    )
                    assert len(rated) == (20 if live else 2)
                    assert shown[bot] == pytest.approx(rated, abs=0.006)
                page = await fetch(server, f"/bots/strong?{path}")
                assert (words("bot.chart_live") in page.text) == live

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
            marked = r'class="heat heat5 above"><a [^>]*data-says="([^"]+)"'
            [surprise] = re.findall(marked, table.text)
            assert surprise.startswith("weird against strong: 8 won, 0 drawn, 0 lost.")
            assert surprise.endswith(words("matrix.above"))
            assert table.text.count(words("matrix.below")) == 1

    asyncio.run(scenario())


def test_two_bots_are_held_against_each_other_on_a_page(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            fill(server)
            before = await fetch(server, "/bots/strong/versus/one")
            assert words_of("en")("pairing.empty") in before.text
            publish_all(server.site.database)
            [held] = (await server.get("/bots/strong/versus?other=one"))["others"]
            for language in LANGUAGES:
                words = words_of(language)
                page = await fetch(server, "/bots/strong/versus/one", language)
                assert words("pairing.certain", bot="strong") in page.text
                assert f"<strong>+{words.number(held['lead'], 1)}</strong>" in page.text
                assert escape(words.likely(held["better"])) in page.text
                assert f"<strong>{words.percent(held['expected'])}</strong>" in page.text
                assert words("pairing.met_says", matches="8") in page.text
                # Over everything, in four games, and with two players: nobody played with more.
                assert page.text.count('class="reach"') == page.text.count('class="awaited"') == 6
                # Their matches are of one game.
                assert page.text.count('class="alone"') == 3
                assert page.text.count(words("pairing.never_short") + "</td>") == 3
                back = await fetch(server, "/bots/one/versus/strong", language)
                assert words("pairing.certain", bot="strong") in back.text
                assert f"<strong>{words.number(-held['lead'], 1)}</strong>" in back.text
                level = await fetch(server, "/bots/one/versus/two", language)
                assert "pairing.certain" not in level.text
                assert words("pairing.title", one="one", other="two") in level.text
            page = await fetch(server, "/bots/strong/versus/one")
            numbers = [link.rpartition("/")[2] for link in page.links if "/matches/" in link]
            assert numbers == [str(number) for number in range(22, 0, -3)]
            links = (await fetch(server, "/bots/strong")).links
            assert "/bots/strong/versus/one" in links
            links = (await fetch(server, "/matrix")).links
            assert {"/bots/strong/versus/one", "/bots/one/versus/strong"} <= set(links)
            await fetch(server, "/bots/strong/versus/nobody", status=404)
            await fetch(server, "/bots/strong/versus/strong", status=404)
            found = (await server.get("/matches?bot=two&other=strong"))["items"]
            assert [match["number"] for match in found] == [*range(23, 0, -3)]

    asyncio.run(scenario())


def test_an_axis_for_leads_has_nothing_in_its_middle() -> None:
    for reach in (0.0, 0.3, 4.9, 12.0, 25.0, 25.1, 33.0, 71.0):
        axis = even_axis(reach)
        assert axis.high == -axis.low >= reach
        assert 0 in axis.marks
        assert axis.at(0) == 50.0


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
