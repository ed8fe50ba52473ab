"""A match is watched while it is played, and nothing hidden is ever seen."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.system.web.support.ladders import Ladder
from tests.system.web.support.truth import Truth, views_in_bodies, views_in_messages
from tests.system.web.support.visits import PATIENCE, Visit, Visitors, needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow]

HANDS = """() => [...document.querySelectorAll("#viewer .players-part .hand")].map((hand) => ({
  open: [...hand.querySelectorAll("[data-card]:not([data-seen])")].map((each) => each.dataset.card),
  seen: [...hand.querySelectorAll("[data-seen]")].map((each) => each.dataset.card),
  backs: hand.querySelectorAll("[data-back]").length,
}))"""
COME = "(least) => Number(document.querySelector('input.track')?.max ?? 0) >= least"
# The most that moved at once while five decisions were shown.
MOVING = """async () => {
  const place = () => document.querySelector("input.track").valueAsNumber;
  let most = 0;
  for (const end = place() + 5; place() < end; ) {
    most = Math.max(most, document.getAnimations().length);
    await new Promise(requestAnimationFrame);
  }
  return most;
}"""


def test_a_match_is_watched_scrubbed_linked_to_and_seen_to_its_end(
    ladder: Ladder, visitors: Visitors
) -> None:
    async def story() -> None:
        match = ladder.challenge()
        async with visitors.visit(ladder.url) as watcher, visitors.visit(ladder.url) as guest:
            await watcher.go(f"/matches/{match}")
            await watcher.page.wait_for_function(COME, arg=12)
            with ladder.held():
                await scrub(watcher)
            await go_on_without(watcher)
            with ladder.held():
                await follow_link(guest, await link_to(watcher))
                await peek(watcher, guest, match)
            await see_the_end(watcher, match)
            await asyncio.gather(*watcher.reading, *guest.reading)
            truth = Truth(ladder, match)
            for visit in (watcher, guest):
                check_traffic(visit, match, truth)
            await see_all_cards(watcher.page, truth)

    visitors.run(story())


async def scrub(watcher: Visit) -> None:
    """Go back in a match that is being played."""
    track = watcher.page.locator("input.track")
    await track.fill("5")
    await expect(track).to_have_value("5")


async def go_on_without(watcher: Visit) -> None:
    """Let the match go on: we stay where we are."""
    come = len(watcher.frames)
    async with asyncio.timeout(PATIENCE / 1000):
        while len(watcher.frames) < come + 5:
            await watcher.page.wait_for_timeout(50)
    await expect(watcher.page.locator("input.track")).to_have_value("5")


async def link_to(watcher: Visit) -> str:
    """Go to and fro; return the address of the place."""
    page = watcher.page
    track = page.locator("input.track")
    await page.wait_for_url("**ply=5*")
    await track.press("ArrowRight")
    await expect(track).to_have_value("6")
    await page.get_by_role("button", name="One decision back").first.click()
    await expect(track).to_have_value("5")
    await page.wait_for_url("**ply=5*")
    return page.url


async def follow_link(guest: Visit, link: str) -> None:
    """Open a link to a position, with a perspective that nobody may have yet."""
    await guest.page.goto(f"{link}&seat=0")
    await expect(guest.page.locator("input.track")).to_have_value("5")
    moves = guest.page.locator(".moves [aria-current=step]")
    await expect(moves).to_have_attribute("data-ply", "5")


async def peek(watcher: Visit, guest: Visit, match: str) -> None:
    """Try every perspective while the match is played: all hands stay covered."""
    for _ in range(3):
        await watcher.page.locator("body").press("v")
        await guest.page.locator("body").press("v")
        for page in (watcher.page, guest.page):
            hands: list[Any] = await page.evaluate(HANDS)
            assert len(hands) == 2
            assert all(not hand["open"] and hand["backs"] > 0 for hand in hands), hands
    for viewer in ("all", "0", "1"):
        path = f"/api/v1/matches/{match}/games/0/frames?viewer={viewer}"
        game = await guest.page.evaluate("(path) => fetch(path).then((r) => r.json())", path)
        assert game["viewer"] == "public"


async def see_the_end(watcher: Visit, match: str) -> None:
    """Go to the newest position and on to the end; the page tells the result by itself."""
    page = watcher.page
    await page.locator(".go-live").click()
    open_cards = 0
    while not any(m["op"] == "end" and m["topic"].endswith(match) for m in watcher.messages):
        hands = await page.evaluate(HANDS)
        open_cards += sum(len(hand["open"]) for hand in hands)
        await page.wait_for_timeout(200)
    await expect(page.locator("[data-outcome]")).to_contain_text("Match", timeout=PATIENCE)
    assert open_cards == 0


def check_traffic(visit: Visit, match: str, truth: Truth) -> None:
    """Whatever came before the end must be what everybody may see, and nothing else."""
    before = []
    for message in visit.messages:
        if message["op"] == "end":
            break
        if message.get("topic") == f"match/{match}":
            before.append(message)
    seen = views_in_messages(before)
    assert len(seen) > 12
    assert all(truth.public[place] == view for place, view in seen.items())
    told = visit.frames[: next(k for k, f in enumerate(visit.frames) if '"op":"end"' in f)]
    assert not [frame for frame in told if truth.seed in frame]
    # Requests are answered for all who ask while the match is played, and after it with all cards.
    for place, view in views_in_bodies(visit.bodies).items():
        if view["viewer"] == "spectators":
            assert view == truth.public[place]


async def see_all_cards(page: Page, truth: Truth) -> None:
    """When the match is over, all hands are open; and they are those that there really were."""
    sight = page.locator(".choice select").nth(1)
    await sight.select_option("all")
    await page.locator(".game-entry").first.click()
    await page.locator("input.track").fill("20")
    await expect(page.locator(".place")).to_contain_text("Game 1 of 2, 20 /")
    await page.wait_for_function(f"() => ({HANDS})().every((hand) => hand.backs === 0)")
    hands = await page.evaluate(HANDS)
    real = truth.hands[0, 20]
    assert [sorted(hand["open"] + hand["seen"]) for hand in hands] == [sorted(h) for h in real]
    await sight.select_option("1")
    await page.wait_for_function(
        f"() => {{ const [a, b] = ({HANDS})(); return a.backs && !b.backs }}"
    )
    hands = await page.evaluate(HANDS)
    assert hands[0]["open"] == []
    assert sorted(hands[1]["open"] + hands[1]["seen"]) == sorted(real[1])


def test_things_move_unless_the_reader_prefers_stillness_and_are_told_in_german(
    ladder: Ladder, visitors: Visitors
) -> None:
    async def story() -> None:
        [match] = ladder.get("/matches?variant=keltis&players=3")["items"]
        for motion in ("no-preference", "reduce"):
            async with visitors.visit(
                ladder.url, reduced_motion=motion, locale="de-DE", color_scheme="dark"
            ) as visit:
                await visit.go(f"/matches/{match['number']}#game=1&ply=30")
                await expect(visit.page.locator("input.track")).to_have_value("30")
                await visit.page.locator("#viewer").press("Space")
                moving = await visit.page.evaluate(MOVING)
                assert (moving > 0) == (motion == "no-preference")
                assert await visit.page.evaluate("document.documentElement.lang") == "de"
                told = await visit.page.locator(".moves li").all_inner_texts()
                assert any(re.search(r"\b(legt|zieht|nimmt|geht)\b", line) for line in told)
                assert not any("undefined" in line or "view_" in line for line in told)
                body = await visit.page.locator("body").inner_text()
                assert not re.search(r"\bview_\w+", body)

    visitors.run(story())
