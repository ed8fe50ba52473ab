"""Parts of a page that are asked for again: at the right time, in place, and none is forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from playwright.async_api import expect

from keltis_server.web.render.assets import DIRECTORY
from tests.system.web.support.visits import PATIENCE, Visit, Visitors, needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow]

PAGE = """<!doctype html><html lang="en"><title>A page</title><main>
<ul data-live="list">{items}</ul><p>still</p></main>"""
BEGIN = """async () => {
  window.look = (await import("/static/lib/morph.js")).refresher();
  window.first = document.querySelector("[data-key=a]");
}"""
# A window that nobody sees: what browsers tell a page when its tab is put behind another.
AWAY = """(away) => {
  Object.defineProperty(document, "hidden", { value: away, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
LONG = 10_000  # ms: longer than anything waits


@dataclass
class Desk:
    """Serves a page as it is when it is asked for, and hands it out when it is allowed to."""

    keys: str = "a"
    asked: int = 0
    fails: bool = False
    open: asyncio.Event = field(default_factory=asyncio.Event)

    async def page(self, request: web.Request) -> web.Response:
        """Answer with the list of now."""
        self.asked += 1
        items = "".join(f'<li data-key="{key}">{key}</li>' for key in self.keys)
        await self.open.wait()
        status = 500 if self.fails else 200
        return web.Response(text=PAGE.format(items=items), content_type="text/html", status=status)


async def no_picture(request: web.Request) -> web.Response:
    """Browsers ask for one."""
    return web.Response(status=204)


@asynccontextmanager
async def served(desk: Desk) -> AsyncIterator[str]:
    """Serve a desk's page with our scripts."""
    app = web.Application()
    app.router.add_get("/", desk.page)
    app.router.add_static("/static", DIRECTORY)
    app.router.add_get("/favicon.ico", no_picture)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def wait_for(visit: Visit, desk: Desk, asked: int) -> None:
    """Let time go by until the page has been asked for so often."""
    async with asyncio.timeout(PATIENCE / 1000):
        while desk.asked < asked:
            await visit.page.clock.run_for(500)
            await asyncio.sleep(0.01)
    assert desk.asked == asked


async def show(visit: Visit, keys: str) -> None:
    """Wait until the page shows these."""
    await expect(visit.page.locator("ul")).to_have_text(keys, use_inner_text=False)


def test_whatever_happens_is_looked_at_later_if_not_at_once(visitors: Visitors) -> None:
    async def story() -> None:
        desk = Desk()
        async with served(desk) as url, visitors.visit(url, strict=False) as visit:
            desk.open.set()
            await visit.page.clock.install()
            await visit.go("/")
            await visit.page.evaluate(BEGIN)
            await one_look_for_many_calls(visit, desk)
            await what_happens_during_a_look(visit, desk)
            await what_happens_behind_the_back(visit, desk)
            await a_look_that_fails(visit, desk)
            # What stayed the same was never touched.
            assert await visit.page.evaluate("first === document.querySelector('[data-key=a]')")

    visitors.run(story())


async def one_look_for_many_calls(visit: Visit, desk: Desk) -> None:
    """Events come in bursts: one look is enough for all of them."""
    desk.keys = "ba"
    before = desk.asked
    await visit.page.evaluate("() => { for (let k = 0; k < 20; k++) look(); }")
    await wait_for(visit, desk, before + 1)
    await show(visit, "ba")
    await visit.page.clock.run_for(LONG)
    assert desk.asked == before + 1


async def what_happens_during_a_look(visit: Visit, desk: Desk) -> None:
    """The answer on its way does not have it yet: there is another look, and only one."""
    desk.open.clear()
    before = desk.asked
    await visit.page.evaluate("look()")
    await wait_for(visit, desk, before + 1)
    desk.keys = "cba"
    await visit.page.evaluate("() => { look(); look(); }")
    await visit.page.clock.run_for(LONG)
    assert desk.asked == before + 1  # one at a time
    desk.open.set()
    await wait_for(visit, desk, before + 2)
    await show(visit, "cba")
    await visit.page.clock.run_for(LONG)
    assert desk.asked == before + 2


async def what_happens_behind_the_back(visit: Visit, desk: Desk) -> None:
    """Nobody asks while nobody looks; whoever comes back sees what is."""
    before = desk.asked
    await visit.page.evaluate(AWAY, True)
    desk.keys = "dca"
    await visit.page.evaluate("() => { look(); look(); }")
    await visit.page.clock.run_for(LONG)
    assert desk.asked == before
    await visit.page.evaluate(AWAY, False)
    await wait_for(visit, desk, before + 1)
    await show(visit, "dca")
    # Coming back is no reason to ask if nothing has happened.
    await visit.page.evaluate(AWAY, True)
    await visit.page.evaluate(AWAY, False)
    await visit.page.clock.run_for(LONG)
    assert desk.asked == before + 1


async def a_look_that_fails(visit: Visit, desk: Desk) -> None:
    """What cannot be had now leaves the page as it is, and does not stop the next look."""
    before = desk.asked
    desk.fails = True
    await visit.page.evaluate("look()")
    await wait_for(visit, desk, before + 1)
    await show(visit, "dca")
    desk.fails, desk.keys = False, "ea"
    await visit.page.clock.run_for(LONG)
    await visit.page.evaluate("look()")
    await wait_for(visit, desk, before + 2)
    await show(visit, "ea")
