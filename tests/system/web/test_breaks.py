"""A server that goes away and comes back: pages say so, keep what they have, and go on."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from urllib.error import HTTPError

import pytest
from playwright.async_api import Page, expect
from sqlmodel import Session, col, delete, update

from keltis_ladder.store.home import Home
from keltis_ladder.store.schema.tables import Job, JobEntrant, JobState, SeedPart
from tests.system.web.support.ladders import Ladder
from tests.system.web.support.visits import PATIENCE, Visitors, needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow]

LOST = "The connection is lost"
FIGURES = """() => [...document.querySelectorAll(".board-part [data-figure]")].map(
  ({ dataset }) => `${dataset.figure} ${dataset.size} ${dataset.field}`,
)"""


def test_pages_outlive_a_server_that_is_stopped_and_started_again(
    ladder: Ladder, visitors: Visitors
) -> None:
    async def story() -> None:
        kept = ladder.challenge()
        await asyncio.to_thread(ladder.wait_until, kept, "playing")
        async with (
            visitors.visit(ladder.url, strict=False) as watcher,
            visitors.visit(ladder.url, strict=False) as idler,
            visitors.visit(ladder.url, strict=False) as reader,
            visitors.visit(ladder.url, strict=False) as unlucky,
        ):
            await watcher.go(f"/matches/{kept}")
            await come(watcher.page, 1)
            with ladder.held():  # else the match may be over before the others have come
                await idler.go(f"/matches/{kept}")
                await reader.go("/leaderboard")
            for visit in (watcher, idler):
                await come(visit.page, 10)
            with ladder.held():
                gone = ladder.challenge("neue-wege")
                await unlucky.go(f"/matches/{gone}")
                before = await reader.page.locator("table.ranking").inner_text()
                await asyncio.to_thread(ladder.stop)
            for visit in (watcher, idler, reader, unlucky):
                await expect(visit.page.locator("#connection")).to_contain_text(LOST)
            await scrub_what_is_there(watcher.page)
            figures = await idler.page.evaluate(FIGURES)
            assert len(figures) == 10  # the board stays as it was
            assert await reader.page.locator("table.ranking").inner_text() == before
            forget(ladder, gone)
            put(ladder, kept, JobState.HELD)  # until everybody is back: it lasts a few seconds only
            await asyncio.to_thread(ladder.start)
            for visit in (watcher, idler, reader):
                shown = visit.page.locator("#connection")
                await expect(shown).not_to_contain_text(LOST, timeout=PATIENCE)
            await expect(unlucky.page.locator(".viewer-status a")).to_be_visible(timeout=PATIENCE)
            put(ladder, kept, JobState.WAITING)
            await asyncio.to_thread(ladder.server.wait_for, lambda: has_begun(ladder, kept))
            # Who came back only when it is over could not know that it was begun again.
            with ladder.held():
                status = idler.page.locator(".viewer-status")
                await expect(status).to_contain_text("begun again", timeout=PATIENCE)
            await asyncio.gather(
                go_on(ladder, watcher.page, kept),
                see_more(idler.page, figures),
                new_results(reader.page, before),
            )
            for visit in (watcher, idler, reader, unlucky):
                others = [each for each in visit.mishaps if not is_of_the_network(each)]
                assert not others, others

    visitors.run(story())


async def come(page: Page, least: int) -> None:
    """Wait until so many decisions have come."""
    seen = "(least) => Number(document.querySelector('input.track')?.max ?? 0) >= least"
    await page.wait_for_function(seen, arg=least)


async def scrub_what_is_there(page: Page) -> None:
    """Go through what has come before the break."""
    await page.locator("input.track").fill("4")
    await expect(page.locator(".moves [aria-current=step]")).to_have_attribute("data-ply", "4")
    await expect(page.locator(".board-frame svg").first).to_be_visible()


async def go_on(ladder: Ladder, page: Page, match: str) -> None:
    """The match is played after all, and the page sees its end."""
    await page.locator(".go-live").click()
    await asyncio.to_thread(ladder.wait_until, match, "finished")
    await expect(page.locator("[data-outcome]")).to_contain_text("Match", timeout=PATIENCE)
    await come(page, 40)


async def see_more(page: Page, figures: list[str]) -> None:
    """The board goes on by itself: nobody has touched this page."""
    await page.wait_for_function(
        f"(before) => ({FIGURES})().join() !== before.join()", arg=figures, timeout=PATIENCE
    )
    await come(page, 20)


async def new_results(page: Page, before: str) -> None:
    """The leaderboard changes again by itself."""
    table = page.locator("table.ranking")
    await expect(table).not_to_have_text(before, use_inner_text=True, timeout=2 * PATIENCE)


@contextmanager
def books(ladder: Ladder) -> Iterator[Session]:
    """Open the database of a ladder, to change something."""
    directory = ladder.server.data
    database = Home(directory, str(directory / "ladder.db")).open()
    try:
        with database.writing() as session:
            yield session
    finally:
        database.close()


def has_begun(ladder: Ladder, match: str) -> bool:
    """Return whether a match is being played, and somebody has decided already."""
    try:
        return bool(ladder.get(f"/matches/{match}/games/0/frames")["frames"])
    except HTTPError as error:
        if error.code != HTTPStatus.NOT_FOUND:
            raise
        return False


def forget(ladder: Ladder, match: str) -> None:
    """Take a match that waits out of the books, as an operator might."""
    with books(ladder) as session:
        session.exec(update(SeedPart).where(col(SeedPart.job_id) == match).values(job_id=None))
        session.exec(delete(JobEntrant).where(col(JobEntrant.job_id) == match))
        session.exec(delete(Job).where(col(Job.id) == match))


def put(ladder: Ladder, match: str, state: JobState) -> None:
    """Hold a match that waits, or let it be played."""
    with books(ladder) as session:
        session.exec(update(Job).where(col(Job.id) == match).values(state=state))


def is_of_the_network(mishap: str) -> bool:
    """Whether the browser itself complains that nobody answers, or that there is no such match."""
    return any(text in mishap for text in ("WebSocket", "Failed to load resource", "ERR_"))


def test_a_match_that_never_was_is_a_page_that_leads_on(ladder: Ladder, visitors: Visitors) -> None:
    async def story() -> None:
        async with visitors.visit(ladder.url, strict=False) as visit:
            for path in (f"/matches/{uuid.uuid4()}", "/matches/99999", "/nothing/at/all"):
                answer = await visit.page.goto(path)
                assert answer is not None
                assert answer.status == 404
                await expect(visit.page.locator("h1")).to_have_text("There is nothing here")
                assert await visit.violations() == []
            await visit.page.get_by_role("link", name="To the first page").click()
            await expect(visit.page).to_have_title("keltis-ladder")

    visitors.run(story())
