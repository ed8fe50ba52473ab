"""A real browser that notes whatever a page does wrong."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import (
    Browser,
    ConsoleMessage,
    Page,
    Request,
    Response,
    ViewportSize,
    WebSocket,
    async_playwright,
    expect,
)

T = TypeVar("T")

CHROMIUM: Final = shutil.which("chromium")
ARGUMENTS: Final = ("--disable-dev-shm-usage", "--no-proxy-server", "--no-sandbox")
PATIENCE: Final = 300_000.0  # ms for what takes a moment: other tests need the machine, too
expect.set_options(timeout=PATIENCE)
WIDE: Final[ViewportSize] = {"width": 1280, "height": 900}
PHONE: Final[ViewportSize] = {"width": 360, "height": 740}
TOO_WIDE: Final = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  const clipped = (node) => {
    for (let each = node.parentElement; each && each !== document.body; each = each.parentElement)
      if (getComputedStyle(each).overflowX !== "visible") return true;
    return false;
  };
  return [...document.querySelectorAll("body *")]
    .filter((node) => node.getBoundingClientRect().right > width + 1 && !clipped(node))
    .map((node) => `${node.tagName} ${node.getAttribute("class")}`);
}"""

AXE: Final = Axe()

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


@dataclass
class Visit:
    """A page somebody has open, and all that went wrong or over the wire."""

    page: Page
    host: str
    mishaps: list[str] = field(default_factory=list)
    frames: list[str] = field(default_factory=list)  # that the websocket brought
    bodies: list[str] = field(default_factory=list)  # that requests of scripts brought
    reading: set[asyncio.Task[None]] = field(default_factory=set)

    def listen(self) -> None:
        """Note everything from now on."""
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.mishaps.append(f"error: {error}"))
        self.page.on("request", self._request)
        self.page.on("response", self._response)
        self.page.on("websocket", self._socket)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.mishaps.append(f"{message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.host, "data:", "blob:")):
            self.mishaps.append(f"another host: {request.url}")

    def _response(self, response: Response) -> None:
        if response.request.resource_type in ("fetch", "xhr", "document"):
            task = asyncio.ensure_future(self._read(response))
            self.reading.add(task)
            task.add_done_callback(self.reading.discard)

    async def _read(self, response: Response) -> None:
        try:
            self.bodies.append(await response.text())
        except Exception as error:  # the page has gone on: it cannot have read it either
            if "response" not in str(error).lower() and "closed" not in str(error).lower():
                raise

    def _socket(self, socket: WebSocket) -> None:
        if not socket.url.startswith(self.host.replace("http", "ws", 1)):
            self.mishaps.append(f"another host: {socket.url}")
        socket.on("framereceived", lambda data: self.frames.append(_text(data)))

    @property
    def messages(self) -> list[dict[str, Any]]:
        """What the websocket brought, read."""
        return [json.loads(frame) for frame in self.frames]

    async def go(self, path: str) -> None:
        """Open a page, and wait until it shows all that it has."""
        await self.page.goto(path)
        await self.page.wait_for_load_state("load")

    async def overflows(self) -> list[str]:
        """Return what makes the page wider than the window."""
        found: list[str] = await self.page.evaluate(TOO_WIDE)
        return found

    async def violations(self, *rules: str) -> list[str]:
        """Return what keeps people from using the page, by these rules or every one there is."""
        options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
        if rules:
            options["runOnly"] = list(rules)
        found = await AXE.run(self.page, options=options)
        return [
            f"{violation['id']}: {node['target']} {node['failureSummary']}"
            for violation in found.response["violations"]
            for node in violation["nodes"]
        ]


def _text(data: str | bytes) -> str:
    return data if isinstance(data, str) else data.decode()


@dataclass
class Visitors:
    """One browser for many visits; each has cookies and a cache of its own."""

    runner: asyncio.Runner
    browser: Browser

    def run(self, story: Coroutine[Any, Any, T]) -> T:
        """Let a story happen."""
        return self.runner.run(story)

    @asynccontextmanager
    async def visit(self, url: str, strict: bool = True, **options: Any) -> AsyncIterator[Visit]:
        """Open an empty page; at the end of a strict visit nothing may have gone wrong."""
        options = {"viewport": WIDE, "locale": "en-GB", **options}
        context = await self.browser.new_context(base_url=url, **options)
        try:
            context.set_default_timeout(PATIENCE)
            visit = Visit(await context.new_page(), url)
            visit.listen()
            yield visit
            await asyncio.gather(*visit.reading)
        finally:
            await context.close()
        if strict:
            assert not visit.mishaps, "\n".join(visit.mishaps)


@contextmanager
def open_browser() -> Iterator[Visitors]:
    """Start a browser, with a loop of its own."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        browser = runner.run(_launch(stack))
        try:
            yield Visitors(runner, browser)
        finally:
            runner.run(stack.aclose())


async def _launch(stack: AsyncExitStack) -> Browser:
    playwright = await stack.enter_async_context(async_playwright())
    browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
    stack.push_async_callback(browser.close)
    return browser
