"""Every page, in every dress: by day and at dusk, on a phone, in German, for everybody."""

from __future__ import annotations

import pytest

from keltis_engine import VARIANTS
from tests.system.web.support.ladders import WALKERS, Ladder
from tests.system.web.support.visits import PHONE, WIDE, Visit, Visitors, needs_chromium

COUNTS = (4, 2, 3, 2)  # players of the matches that are looked at

pytestmark = [needs_chromium, pytest.mark.slow]


def addresses(ladder: Ladder) -> list[str]:
    """Return pages of every kind."""
    scopes = [f"variant={variant}&players={n}" for variant, n in zip(VARIANTS, COUNTS, strict=True)]
    matches = [ladder.get(f"/matches?{scope}")["items"][-1] for scope in scopes]
    return [
        "/",
        "/leaderboard",
        "/leaderboard?variant=keltis&players=2",
        "/matrix",
        "/bots",
        "/bots/alder",
        "/bots/heron",
        "/bots/heron/versus/wren",
        "/bots/alder/versus/birch",
        "/matches?players=3",
        "/tournaments",
        "/tournaments/cup",
        "/tournaments/league",
        "/rules",
        "/rules/kartenspiel",
        *(f"/matches/{match['number']}#game=2&ply=40" for match in matches),
        f"/embed/matches/{matches[0]['number']}",
        "/protocol",
        "/about",
        "/submit",
    ]


async def drawn(visit: Visit) -> None:
    """Wait until the page has drawn its board: what is not there yet is never wrong."""
    for place in ("#viewer", "[data-example]"):
        if await visit.page.locator(place).count():
            await visit.page.locator(f"{place} .board-frame svg").first.wait_for()


@pytest.fixture(scope="session")  # like the ladder: tests of other modules may come between
def everywhere(ladder: Ladder) -> list[str]:
    for name, form in (("cup", "single-elimination"), ("league", "round-robin")):
        wanted = {"name": name, "format": form, "variants": ["kartenspiel"]}
        ladder.post("/tournaments", {**wanted, "bots": list(WALKERS)})
    return addresses(ladder)


def test_every_page_serves_everybody_by_day_and_at_dusk_and_fits_a_phone(
    ladder: Ladder, visitors: Visitors, everywhere: list[str]
) -> None:
    async def story() -> list[str]:
        wrong = []
        async with visitors.visit(ladder.url, reduced_motion="reduce") as visit:
            for path in everywhere:
                await visit.page.set_viewport_size(WIDE)
                await visit.page.emulate_media(color_scheme="light")
                await visit.go(path)
                await drawn(visit)
                by_day = await visit.violations()
                wrong += [f"{path}: {text}" for text in by_day]
                await visit.page.emulate_media(color_scheme="dark")
                at_dusk = await visit.violations("color-contrast")  # all else is as by day
                wrong += [f"{path} at dusk: {text}" for text in at_dusk if text not in by_day]
                await visit.page.set_viewport_size(PHONE)
                wrong += [f"{path} is too wide: {text}" for text in await visit.overflows()]
            wrong += visit.mishaps
            visit.mishaps.clear()
        return wrong

    wrong = visitors.run(story())
    assert not wrong, "\n".join(wrong)


def test_every_page_is_german_for_germans_and_fits_their_phones(
    ladder: Ladder, visitors: Visitors, everywhere: list[str]
) -> None:
    async def story() -> list[str]:
        wrong = []
        async with visitors.visit(ladder.url, locale="de-DE", viewport=PHONE) as visit:
            for path in everywhere:
                await visit.go(path)
                wrong += [f"{path} is too wide: {text}" for text in await visit.overflows()]
                if await visit.page.evaluate("document.documentElement.lang") != "de":
                    wrong.append(f"{path} is not in German")
            await visit.go("/leaderboard")
            await visit.page.get_by_role("link", name="English").click()
            await visit.page.get_by_role("heading", name="Leaderboard").wait_for()
        return wrong

    wrong = visitors.run(story())
    assert not wrong, "\n".join(wrong)
