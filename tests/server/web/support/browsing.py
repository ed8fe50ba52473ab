"""A real browser for tests: it opens a page under the strictest rules and keeps what fails.

``python -m tests.server.web.support.browsing PORT`` serves the gallery to look at:
``/gallery/index.html``, with ``?variant=keltis&players=2&viewer=spectators&stage=middle`` and
``form=small``, ``theme=dark`` or ``language=de`` to choose from it.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from aiohttp import web
from playwright.async_api import Page, async_playwright

import keltis_server
from tests.places import ROOT
from tests.server.web.support.positions import gallery

GALLERY: Final = ROOT / "tests/server/web/gallery"
STATIC: Final = Path(keltis_server.__file__).parent / "web" / "static"
CHROMIUM: Final = shutil.which("chromium")
POLICY: Final = "default-src 'self'"  # no inline styles, no inline scripts, nobody else's files
# In the first one the browser works out which media queries hold, before the second it tells them.
TWO_FRAMES: Final = """async () => {
  for (let k = 0; k < 2; k++) await new Promise(requestAnimationFrame);
}"""

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


class Gallery:
    """The empty gallery in a browser, with a loop of its own: one browser serves many tests."""

    def __init__(self, runner: asyncio.Runner, page: Page) -> None:
        self._runner = runner
        self._page = page
        self.failures: list[str] = []
        page.on("console", lambda line: self.failures.append(f"{line.type}: {line.text}"))
        page.on("pageerror", lambda error: self.failures.append(str(error)))
        page.on("requestfailed", lambda request: self.failures.append(request.url))

    def ask(self, question: str, *arguments: Any) -> Any:
        """Call a function of the page's probe."""
        # As texts: Playwright itself takes much longer to carry views over.
        call = "([name, given]) => Promise.resolve(probe[name](...JSON.parse(given)))"
        answer = self._page.evaluate(
            f"{call}.then(JSON.stringify)", [question, json.dumps(arguments)]
        )
        return json.loads(self._runner.run(_awaited(answer)))

    def set_width(self, width: int) -> None:
        """Make the page so wide."""
        self._runner.run(self._page.set_viewport_size({"width": width, "height": 900}))

    def set_stillness(self, wanted: bool) -> None:
        """Let the reader prefer stillness, or not."""
        motion: Literal["reduce", "no-preference"] = "reduce" if wanted else "no-preference"
        self._runner.run(self._page.emulate_media(reduced_motion=motion))
        self._runner.run(self._page.evaluate(TWO_FRAMES))


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer


@contextmanager
def opened_gallery() -> Iterator[Gallery]:
    """Open the gallery; at the end nothing may have failed in it."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        page = runner.run(_open(stack))
        found = Gallery(runner, page)
        try:
            runner.run(_visit(page))
            yield found
        finally:
            runner.run(stack.aclose())
        assert found.failures == []


async def _open(stack: AsyncExitStack) -> Page:
    address = await stack.enter_async_context(_served())
    playwright = await stack.enter_async_context(async_playwright())
    arguments = ["--disable-dev-shm-usage", "--no-proxy-server"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
    stack.push_async_callback(browser.close)
    return await browser.new_page(base_url=address)


async def _visit(page: Page) -> None:
    await page.goto("/gallery/index.html?empty")
    await page.wait_for_selector("html[data-ready]", state="attached")


@asynccontextmanager
async def _served(port: int = 0) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_static("/static", STATIC)
    app.router.add_static("/gallery", GALLERY)
    app.router.add_get("/positions.json", _positions)
    app.router.add_get("/favicon.ico", _nothing)
    app.on_response_prepare.append(_strict)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def _positions(request: web.Request) -> web.Response:
    return web.json_response(gallery())


async def _nothing(request: web.Request) -> web.Response:
    return web.Response(status=204)


async def _strict(request: web.Request, response: web.StreamResponse) -> None:
    response.headers["Content-Security-Policy"] = POLICY


async def _serve(port: int) -> None:
    async with _served(port) as address:
        print(f"{address}/gallery/index.html")
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
