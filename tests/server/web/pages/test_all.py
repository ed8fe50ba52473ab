"""All pages: on an empty ladder and on a full one, in both languages, and all of it our own."""

from __future__ import annotations

import asyncio
import gzip
import re
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

from sqlmodel import Session, select

from keltis_engine import VARIANTS
from keltis_ladder.store.schema.tables import Version
from keltis_server.web.render.assets import Assets
from keltis_server.web.render.rendering import PRINTER
from keltis_server.web.render.words import LANGUAGES, words_of
from tests.server.support.serving import Served
from tests.server.support.stories import change
from tests.server.web.support.pages import REAL, Page, data_of, fetch, fill, with_imports
from tests.server.web.support.pages_app import served_pages

EVERYWHERE = [
    "/",
    "/leaderboard",
    "/matrix",
    "/bots",
    "/matches",
    "/matches?state=playing",
    "/matches?state=waiting",
    "/tournaments",
    "/rules",
    *(f"/rules/{variant}" for variant in VARIANTS),
    "/protocol",
    "/about",
    "/submit",
]
FIRST_PAGE = 150_000  # bytes over the wire
NASTY = "<script>alert('x')</script><img src=x onerror=alert(1)>"
GAME = {"rotation", "seats", "scores", "ranks", "faults"}  # what the viewer reads of one


def note_who_prints(server: Served) -> list[threading.Thread]:
    """Return a list to which the thread of each page is added that is made from now on."""
    printer, threads = server.app[PRINTER], list[threading.Thread]()
    printed = printer.page

    def page(*arguments: Any, **context: Any) -> str:
        threads.append(threading.current_thread())
        return printed(*arguments, **context)

    printer.page = page  # type: ignore[method-assign]
    return threads


async def cup(server: Served, name: str, form: str) -> None:
    """Make a tournament."""
    wanted = {"name": name, "format": form, "top": 4, "variants": ["keltis"]}
    await server.post("/tournaments", 201, json=wanted, headers=server.local)


def test_every_page_says_something_on_an_empty_ladder(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            for language in LANGUAGES:
                for path in EVERYWHERE:
                    await fetch(server, path, language)
                board = await fetch(server, "/leaderboard", language)
                assert words_of(language)("leaderboard.empty") in board.text

    asyncio.run(scenario())


def test_a_full_ladder_is_shown_and_every_link_leads_somewhere(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            fill(server)
            for name, form in (("cup", "single-elimination"), ("lives", "double-elimination")):
                await cup(server, name, form)
            await cup(server, "league", "round-robin")
            bot = await fetch(server, "/bots/alder?variant=keltis&players=2", "de")
            assert "Wen er getroffen hat" in bot.text
            assert '<script type="application/json" id="history">[{' in bot.text
            assert "data-faults" in bot.text
            assert "Woraus seine Punkte bestehen" in bot.text
            assert words_of("de")("bot.made_empty") in bot.text  # made up results have no parts
            played = await fetch(server, "/bots/alder?variant=keltis&players=3")
            for part in ("Tiles", "Figures", "Wish stones", "Together"):
                assert f'<th scope="row">{part}</th>' in played.text
            board = await fetch(server, "/leaderboard")
            assert board.text.count("data-interval") == 4
            older = await fetch(server, "/matches?variant=keltis&after=9")
            [newest] = [link for link in older.links if "state=" in link and "after" not in link]
            assert "variant=keltis" in newest
            assert words_of("en")("site.newest") in older.text
            printed_by = note_who_prints(server)
            assert "Semi-final 1" in (await fetch(server, "/tournaments/cup")).text
            assert threading.main_thread() not in printed_by  # it may be long: others go on
            assert (await fetch(server, "/matrix")).text.count('class="heat ') == 12
            match = await fetch(server, f"/matches/{REAL}")
            assert '<main id="viewer" tabindex="-1"></main>' in match.text
            assert data_of(match, "match")["games"][0].keys() == GAME
            assert data_of(played, "history")[0].keys() == {
                "match",
                "version",
                "mu",
                "sigma",
                "joint",
            }
            await fetch(server, f"/embed/matches/{REAL}")
            await crawl(server)
            await check_weight(server)
            await check_escaping(server)

    asyncio.run(scenario())


async def crawl(server: Served) -> None:
    """Follow every link of ours from the first page; none may lead nowhere."""
    waiting, pages, anchors = ["/"], dict[str, Page](), set[tuple[str, str, str]]()
    seen = {"/"}
    while waiting:
        path = waiting.pop()
        page = pages[path] = await fetch(server, path)
        for link in page.links:
            url, anchor = urldefrag(urljoin(server.url + path, link))
            if not url.startswith(server.url):
                assert link.startswith("https://"), link
                continue
            target = url.removeprefix(server.url)
            if target.endswith("/replay") and f"/{REAL}/" not in target:
                continue  # made up results have none
            if target.startswith(("/api/", "/language/")):
                async with server.http.get(url, allow_redirects=False) as response:
                    assert response.status in (200, 303), (path, link, response.status)
                continue
            if anchor:
                anchors.add((path, target, anchor))
            # Matches, and mixtures of a variant and a number of players, are all alike.
            many = re.fullmatch(r"/matches/\d+|.*variant=[a-z-]+&players=[234].*", target)
            if target not in seen and not (many and len(seen) > 30):
                seen.add(target)
                waiting.append(target)
    assert len(pages) > 50
    for path, target, anchor in anchors:
        if target in pages:
            assert anchor in pages[target].ids, (path, target, anchor)


async def check_escaping(server: Served) -> None:
    """What authors write must be text, whatever they write."""

    def deface(session: Session) -> None:
        for version in session.exec(select(Version)):
            version.description = NASTY
            session.add(version)

    change(server, deface)
    for path in ("/bots", "/bots/alder"):
        page = await fetch(server, path)
        assert NASTY not in page.text
        assert "&lt;script&gt;alert" in page.text


async def check_weight(server: Served) -> None:
    """The first page must be light, with everything that it loads by and by."""
    page = await fetch(server, "/")
    assets = Assets.load()
    names = {urlsplit(load).path.partition(assets.hash + "/")[2] for load in page.loads}
    needed = with_imports(assets, names)
    assert "boards/board.js" in needed  # loaded later, but loaded
    total = len(gzip.compress(page.text.encode()))
    total += sum(len(assets.files[name].packed or b"") for name in needed)
    assert total < FIRST_PAGE, total


def test_a_page_ignores_what_it_does_not_know_and_the_api_does_not(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            for path in ("/", "/leaderboard", "/bots", "/matches", "/tournaments", "/rules"):
                await fetch(server, f"{path}?utm_source=mail&fbclid=x&fbclid=y&players.x=%00")
            # What it does know still has to make sense.
            await fetch(server, "/leaderboard?utm_source=mail&players=9", status=422)
            board = await fetch(server, "/leaderboard?utm_source=mail&players=2")
            assert "players=2" in "".join(board.links)
            async with server.http.get(f"{server.url}/api/v1/bots?utm_source=mail") as response:
                assert response.status == 422

    asyncio.run(scenario())
