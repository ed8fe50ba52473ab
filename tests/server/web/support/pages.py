"""Pages as tests look at them, and a ladder that fills them."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

from keltis_engine import VARIANTS
from keltis_server.web.render.assets import Assets
from tests.server.support.serving import Served
from tests.server.support.stories import bots, quiet, real_result, results

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
REAL = 61  # the match that was really played
IMPORTS = re.compile(r"""(?:from|import)\s*\(?\s*["'](\.[^"']+)["']""")
STATEMENTS = re.compile(r"^(?:import|export) ?[{\"*][^;]*;", re.MULTILINE)


class Page(HTMLParser):
    """What a test wants to know of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.language = ""
        self.links: list[str] = []
        self.loads: list[str] = []
        self.modules: list[str] = []
        self.preloads: list[str] = []
        self.inline: list[str] = []  # what a strict policy would not let run
        self.headings: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.inline += [f"{tag} {name}" for name in found if name == "style" or name[:2] == "on"]
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "html":
            self.language = found["lang"]
        elif tag == "a":
            self.links.append(found["href"])
        elif tag == "script":
            if "src" in found:
                self.loads.append(found["src"])
                if found.get("type") == "module":
                    self.modules.append(found["src"])
            elif found.get("type") != "application/json":
                self.inline.append("script")
        elif tag == "style":
            self.inline.append("style")
        elif tag in ("link", "use"):
            self.loads.append(found["href"])
            if found.get("rel") == "modulepreload":
                self.preloads.append(found["href"])
        elif re.fullmatch("h[1-6]", tag):
            self.headings.append(tag)


async def fetch(server: Served, path: str, language: str = "en", status: int = 200) -> Page:
    """Return a page that has this status, and check what holds for every page."""
    headers = {**HTML, "Accept-Language": language}
    async with server.http.get(server.url + path, headers=headers) as response:
        text = await response.text()
        assert response.status == status, (path, text[:500])
        assert response.content_type == "text/html", path
        policy = response.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "object-src 'none'" in policy
    assert "base-uri 'none'" in policy
    assert "unsafe" not in policy
    assert ("frame-ancestors *" in policy) == path.startswith("/embed/"), path
    page = Page(text)
    assert page.language == language
    assert not page.inline, (path, page.inline)
    assert len(page.ids) == len(set(page.ids)), (path, page.ids)
    assert page.headings.count("h1") == 1, path
    assert all(load.startswith("/") and not load.startswith("//") for load in page.loads), path
    check_preloads(page)
    return page


def check_preloads(page: Page) -> None:
    """Everything that the scripts of a page import is announced, once, where it will be found."""
    assets = load_assets()
    entries = {name for name in assets.files if assets.url(name) in page.modules}
    assert len(entries) == len(page.modules) > 0
    wanted = with_imports(assets, entries, at_once=True) - entries
    assert sorted(page.preloads) == sorted(assets.url(name) for name in wanted)


@cache
def load_assets() -> Assets:
    """Return the static files, read once."""
    return Assets.load()


def with_imports(assets: Assets, names: set[str], at_once: bool = False) -> set[str]:
    """Return these files with all that they import, or only what they import at once."""
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        if name.endswith(".js"):
            text = assets.files[name].plain.decode()
            if at_once:
                text = "".join(STATEMENTS.findall(text))
            waiting += [urljoin("/" + name, each)[1:] for each in IMPORTS.findall(text)]
    return found


def data_of(page: Page, id: str) -> Any:
    """Return what a page has for its scripts."""
    [text] = re.findall(f'<script type="application/json" id="{id}">(.*?)</script>', page.text)
    return json.loads(text)


def fill(server: Served) -> None:
    """Put bots on the ladder, enough results for ranks, and a match that can be watched."""
    quiet(server)
    versions = bots(server, "alder", "birch", "crow", "dunlin", author="maeve")
    for k, variant in enumerate(VARIANTS):
        results(server, versions, 15, variant, seed=k)
    assert real_result(server, versions[:3], 5) == REAL
