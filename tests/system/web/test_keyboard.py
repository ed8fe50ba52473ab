"""Everything can be done without a mouse."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.system.web.support.ladders import Ladder
from tests.system.web.support.visits import Visitors, needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow]

# All that can be used with a mouse; of radio buttons that belong together the keyboard reaches one.
USABLE = """() => {
  window.reached = new Set();
  window.unseen = [];
  document.addEventListener("focusin", ({ target }) => {
    reached.add(target);
    const { outlineStyle, boxShadow } = getComputedStyle(target);
    if (outlineStyle === "none" && boxShadow === "none")
      unseen.push(target.outerHTML.slice(0, 200));
  });
  return document.querySelectorAll("a, button, input, select, summary, [tabindex='0']").length;
}"""
MISSED = """() => {
  const kinds = "a, button, input, select, summary, [tabindex='0']";
  return [...document.querySelectorAll(kinds)]
    .filter((node) => node.checkVisibility({ visibilityProperty: true }) && !node.disabled)
    .filter((node) => node.type !== "radio" || node.checked)
    .filter((node) => !reached.has(node))
    .map((node) => node.outerHTML.slice(0, 200));
}"""


def test_a_match_is_found_and_watched_with_the_keyboard_alone(
    ladder: Ladder, visitors: Visitors
) -> None:
    async def story() -> None:
        async with visitors.visit(ladder.url) as visit:
            page = visit.page
            for path in ("/leaderboard", "/submit", "/bots/alder"):
                await visit.go(path)
                await walk_through(page)
            await visit.go("/")
            await tab_to(page, "nav a[href='/matches']")
            await page.keyboard.press("Enter")
            await page.wait_for_url("**/matches")
            await tab_to(page, "table.matches th a")
            await page.keyboard.press("Enter")
            await expect(page.locator("#viewer.is-ready")).to_be_visible()
            await expect(page.locator(".game-entry:enabled")).to_have_count(2)
            await walk_through(page)
            await watch(page)
            await visit.go("/matrix")
            await tab_to(page, "[data-matrix] [tabindex='0'], .wide")

    visitors.run(story())


async def walk_through(page: Page) -> None:
    """Go through a page by Tab: everything is reached, and one sees where one is."""
    count: int = await page.evaluate(USABLE)
    for _ in range(count + 5):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement === document.body"):
            break
    assert await page.evaluate(MISSED) == []
    assert await page.evaluate("unseen") == []


async def tab_to(page: Page, selector: str) -> None:
    """Press Tab until something has the focus."""
    for _ in range(80):
        await page.keyboard.press("Tab")
        if await page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
            return
    raise AssertionError(f"no way to {selector} by Tab")


async def watch(page: Page) -> None:
    """Play, pause and step with keys."""
    track = page.locator("input.track")
    await page.locator("body").focus()
    await page.reload()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")  # skip to the content
    await expect(page.locator("#viewer")).to_be_focused()
    await expect(track).to_be_enabled()  # the moves have come
    await page.keyboard.press("Home")
    await expect(track).to_have_value("0")
    await page.keyboard.press("ArrowRight")
    await expect(track).to_have_value("1")
    await page.keyboard.press("PageDown")
    await expect(track).to_have_value("11")
    await page.keyboard.press("ArrowLeft")
    await expect(track).to_have_value("10")
    await page.keyboard.press("Space")
    await page.wait_for_function("() => document.querySelector('input.track').valueAsNumber > 11")
    await page.keyboard.press("Space")
    stood = await track.input_value()
    await page.wait_for_timeout(500)
    await expect(track).to_have_value(stood)
    await page.keyboard.press("n")
    await expect(page.locator(".game-entry").nth(1)).to_have_attribute("aria-pressed", "true")
    await page.keyboard.press("End")
    await expect(track).to_have_value(await track.get_attribute("max") or "")
    await page.keyboard.press("?")
    await expect(page.locator("dialog.help")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.locator("dialog.help")).to_be_hidden()
