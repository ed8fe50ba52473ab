"""A bot is submitted, its crash explained, a tournament followed: all in the browser."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.ladder.support.small_bots import write_bot
from tests.system.web.support.ladders import WALKERS, Ladder
from tests.system.web.support.visits import PATIENCE, Visitors, needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow]


def test_pages_follow_by_themselves_what_happens_on_the_ladder(
    ladder: Ladder, visitors: Visitors, tmp_path: Path
) -> None:
    async def story() -> None:
        async with (
            visitors.visit(ladder.url) as author,
            visitors.visit(ladder.url) as onlooker,
            visitors.visit(ladder.url) as reader,
        ):
            await asyncio.gather(
                submit(author.page, packed(tmp_path)),
                follow_a_tournament(ladder, onlooker.page),
                see_the_leaderboard_change(reader.page),
            )
            # The new bot, too, came to those who were looking.
            await expect(reader.page.get_by_role("link", name="rook")).to_be_visible()

    visitors.run(story())


def packed(directory: Path) -> Path:
    """Return the archive of a small bot."""
    bot = write_bot(directory / "rook", variants=["weg-der-steine"], players=[2])
    return Path(shutil.make_archive(str(directory / "rook"), "zip", bot))


async def submit(page: Page, archive: Path) -> None:
    """Open an account, submit a bot, and go to its first match."""
    await page.goto("/submit")
    await page.locator("[data-upload-form] input").set_input_files(archive)
    await page.locator("[data-upload-form] button").click()
    await expect(page.locator("[data-token-form] input")).to_be_focused()  # who are you?
    await page.locator("[data-register-form] input[name=name]").fill("nuala")
    await page.locator("[data-register-form] button").click()
    await expect(page.locator("[data-known-text]")).to_contain_text("nuala")
    token = await page.locator("[data-token-text]").inner_text()
    assert len(token) > 20
    await page.locator("[data-upload-form] button").click()
    await expect(page.locator("[data-doing]")).to_contain_text("passed", timeout=PATIENCE)
    assert await page.locator("[data-findings] li").count() > 3
    first = page.locator("[data-first] a").first
    await first.click(timeout=PATIENCE)
    await expect(page.locator("h1")).to_contain_text("rook")
    await expect(page.locator(".match-head")).to_contain_text("· rated")
    await expect(page.locator(".facts dd").first).to_have_text("A new version: its first matches")
    await expect(page.locator("#viewer.is-ready")).to_be_visible()
    number = page.url.rpartition("/")[2].partition("#")[0].partition("?")[0]
    # The bot has a rating now, and what its points were made of; the match is in its list.
    await page.goto("/bots/rook")
    await expect(page.locator("[data-live=rating]")).to_contain_text(
        re.compile("provisional rating|joint rating")
    )
    await expect(page.locator(".made th[scope=row]")).to_have_text(
        ["Rows", "Wish stones", "Bonus points", "Together"]
    )
    assert await page.locator(f".matches a[href='/matches/{number}']").count() == 1
    # The token is this tab's: it shows an author what others do not see.
    await page.locator("[data-token-form] button").first.click()
    await expect(page.locator("[data-own-here]")).to_contain_text("1", timeout=PATIENCE)


def test_an_author_fetches_a_crash_card_and_nobody_else_does(
    ladder: Ladder, visitors: Visitors
) -> None:
    async def story() -> None:
        async with visitors.visit(ladder.url, strict=False) as visit:
            page = visit.page
            await visit.go("/bots/heron")
            await expect(page.locator("[data-faults] li")).to_have_count(1)
            cards = page.locator("[data-own-here] details")
            await show_what_is_hers(page, "a-token-that-nobody-has")
            await expect(page.locator("[data-own-status]")).to_contain_text("not valid")
            assert await cards.count() == 0
            await show_what_is_hers(page, ladder.token)
            await expect(page.locator("[data-own-status]")).to_have_text("You are maeve.")
            await cards.get_by_text("Fault").click()
            await expect(cards.locator("pre")).to_contain_text("the bot ended in a game")
            async with page.expect_download() as download:
                await cards.get_by_role("button", name="Crash card").click()
            file = await download.value
            [fault] = ladder.get("/bots/heron/faults")["items"]
            assert file.suggested_filename == f"card-{fault['id']}.json"
            card = json.loads(Path(await file.path()).read_text())
            assert card["bot"] == "seat 0"
            assert "Ouch" in card["stderr"]
            await expect(cards).to_contain_text("keltis-ladder reproduce")
            # Somebody else's bot shows nothing, with the same token.
            await visit.go("/bots/wren")
            await expect(page.locator("[data-own-status]")).to_contain_text("somebody else")
            assert await cards.count() == 0
            assert "Ouch" not in await page.content()

    visitors.run(story())


async def show_what_is_hers(page: Page, token: str) -> None:
    """Say who is asking."""
    await page.locator("[data-own] input[name=token]").fill(token)
    await page.locator("[data-own] [data-token-form] button").first.click()


async def follow_a_tournament(ladder: Ladder, page: Page) -> None:
    """Look at a tournament from before its beginning to its end, without touching anything."""
    plan = {"format": "round-robin", "variants": ["weg-der-steine"], "matches": 2}
    ladder.post("/tournaments", {"name": "spring", "bots": list(WALKERS), **plan})
    await page.goto("/tournaments/spring")
    await expect(page.locator("main")).to_contain_text("not begun")
    await page.evaluate("window.untouched = true")
    await asyncio.to_thread(ladder.post, "/tournaments/spring/start", {})
    await expect(page.locator("main")).to_contain_text("under way", timeout=PATIENCE)
    await expect(page.locator("main")).to_contain_text("2 of 2 matches", timeout=2 * PATIENCE)
    await expect(page.locator("h2").first).to_contain_text("Final standings", timeout=PATIENCE)
    assert await page.evaluate("window.untouched")


async def see_the_leaderboard_change(page: Page) -> None:
    """Wait until somebody has played once more."""
    await page.goto("/leaderboard")
    row = page.locator("tr[data-key^='heron/']")
    before = await row.inner_text()
    await page.evaluate("window.untouched = true")
    await expect(row).not_to_have_text(before, use_inner_text=True, timeout=2 * PATIENCE)
    await page.locator("tr[data-key^='rook/']").wait_for(timeout=2 * PATIENCE)
    assert await page.evaluate("window.untouched")
