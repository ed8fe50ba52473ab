"""The pages: on an empty ladder and on a full one, in both languages, and all of it our own."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import threading
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from string import Formatter
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from sqlmodel import Session, select

from keltis_engine import VARIANTS
from keltis_engine.state.state import ENDINGS
from keltis_ladder.match.reasons import WORDS, MatchReason
from keltis_ladder.match.table_labels import ONE_OF_SEVERAL, TableCode
from keltis_ladder.match.table_labels import WORDS as LABEL_WORDS
from keltis_ladder.store.schema.tables import Version
from keltis_ladder.store.schema.version_states import TRANSITIONS, VersionCause, VersionState
from keltis_server.live.channels.match import RESTARTED
from keltis_server.models.tournaments import LabelOut
from keltis_server.web.render.assets import DIRECTORY, HASH_MARK, Assets
from keltis_server.web.render.drawing import axis_of, heat, spark
from keltis_server.web.render.markdown import read_markdown
from keltis_server.web.render.modules import Modules, imported
from keltis_server.web.render.rendering import PRINTER, TEMPLATES, as_data
from keltis_server.web.render.words import LANGUAGES, Words, words_of
from tests.ladder.store.support.results import made_up
from tests.server.support.serving import Served
from tests.server.support.stories import bots, change, quiet, real_result, result, results
from tests.server.web.support.pages_app import served_pages

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
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
REAL = 61  # the match that was really played
FIRST_PAGE = 150_000  # bytes over the wire
NASTY = "<script>alert('x')</script><img src=x onerror=alert(1)>"
IMPORTS = re.compile(r"""(?:from|import)\s*\(?\s*["'](\.[^"']+)["']""")

GAME = {"rotation", "seats", "scores", "ranks", "faults"}  # what the viewer reads of one
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


def fill(server: Served) -> None:
    """Put bots on the ladder, enough results for ranks, and a match that can be watched."""
    quiet(server)
    versions = bots(server, "alder", "birch", "crow", "dunlin", author="maeve")
    for k, variant in enumerate(VARIANTS):
        results(server, versions, 15, variant, seed=k)
    assert real_result(server, versions[:3], 5) == REAL


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


def data_of(page: Page, id: str) -> Any:
    """Return what a page has for its scripts."""
    [text] = re.findall(f'<script type="application/json" id="{id}">(.*?)</script>', page.text)
    return json.loads(text)


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


def test_how_a_match_was_decided_is_said(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            quiet(server)
            pair = bots(server, "alder", "birch", author="maeve")
            for games, says in (
                ([[10, 5], [6, 4]], "alder</strong> is ahead by points, 14 to 11"),
                ([[10, 5], [4, 6]], "alder</strong> won 2 of 2 games"),
                ([[10, 5], [10, 5]], "A draw."),
            ):
                number = result(server, pair, made_up("keltis", games))
                assert says in (await fetch(server, f"/matches/{number}")).text
            listed = (await fetch(server, "/matches")).text
            assert listed.count(f">{words_of('en')('match.by_points')}<") == 1

    asyncio.run(scenario())


def test_data_for_scripts_cannot_end_its_element() -> None:
    assert "<" not in as_data({"text": "</script><!--"})


def test_what_is_wrong_is_a_page_for_people_and_plain_for_programs(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            for language in LANGUAGES:
                lost = await fetch(server, "/nothing", language, 404)
                assert words_of(language)("problem.title404") in lost.text
            for path in ("/bots/nobody", "/bots/Nobody", "/tournaments/No%20cup", "/matches/-1"):
                lost = await fetch(server, path, status=404)
                assert words_of("en")("problem.title404") in lost.text
                assert "/" + path.split("/")[1] in lost.links
            await fetch(server, "/matches/99", status=404)
            await fetch(server, "/rules/chess", status=404)
            await fetch(server, "/leaderboard?variant=chess", status=422)
            for path, accept in (("/nothing", "*/*"), ("/api/v1/bots/nobody", HTML["Accept"])):
                headers = {"Accept": accept}
                async with server.http.get(server.url + path, headers=headers) as response:
                    assert response.status == 404
                    assert response.content_type == "application/problem+json"

    asyncio.run(scenario())


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


def test_a_language_is_chosen_once_and_leads_back_but_never_away(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            board = await fetch(server, "/leaderboard?players=2")
            [link] = [each for each in board.links if each.startswith("/language/de")]
            async with server.http.get(server.url + link, allow_redirects=False) as response:
                assert response.status == 303
                assert response.headers["Location"] == "/leaderboard?players=2"
                chosen = {"Cookie": f"language={response.cookies['language'].value}"}
            headers = {**HTML, **chosen, "Accept-Language": "en"}
            async with server.http.get(server.url + "/", headers=headers) as response:
                assert Page(await response.text()).language == "de"
            for away in ("//evil.example", "https://evil.example", "/\\evil.example", ""):
                ask = server.http.get(
                    server.url + "/language/en", params={"to": away}, allow_redirects=False
                )
                async with ask as response:
                    assert response.status == 422, away

    asyncio.run(scenario())


def test_static_files_are_packed_and_kept_only_under_the_right_hash(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            page = await fetch(server, "/")
            assets = Assets.load()
            for load in page.loads:
                assert f"/{HASH_MARK}{assets.hash}/" in load
                async with server.http.get(server.url + urldefrag(load)[0]) as response:
                    assert response.status == 200, load
                    assert "immutable" in response.headers["Cache-Control"]
                    assert response.headers["X-Content-Type-Options"] == "nosniff"
                    etag = response.headers["ETag"]
                headers = {"If-None-Match": etag}
                async with server.http.get(server.url + load, headers=headers) as response:
                    assert response.status == 304
            for other in ("/static/lib/live.js", f"/static/{HASH_MARK}0000/lib/live.js"):
                async with server.http.get(server.url + other) as response:
                    assert response.status == 200
                    assert response.headers["Cache-Control"] == "no-cache"
                    assert response.headers["Content-Encoding"] == "gzip"
            for bad in ("/static/../app.py", "/static/%2e%2e/%2e%2e/app.py", "/static/lib/none.js"):
                async with server.http.get(server.url + bad) as response:
                    assert response.status == 404
            for path, kind in (("/robots.txt", "text/plain"), ("/favicon.svg", "image/svg+xml")):
                async with server.http.get(server.url + path) as response:
                    assert response.status == 200
                    assert response.content_type == kind

    asyncio.run(scenario())


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


def test_modules_import_what_there_is() -> None:
    assets = Assets.load()
    ours = {name for name in assets.files if name.endswith(".js")}
    missing = with_imports(assets, ours) - set(assets.files)
    assert not missing


def test_modules_are_announced_once_and_the_nearest_first(tmp_path: Path) -> None:
    files = {
        "pages/one.js": 'import {\n  a,\n  b,\n} from "../lib/a.js";\nimport "./two.js";\n',
        "pages/two.js": 'import { c } from "../lib/c.js";\nimport { a } from "../lib/a.js";\n',
        "lib/a.js": 'export { b } from "./b.js";\nexport const later = () => import("./d.js");\n',
        "lib/b.js": '/** @import { D } from "./d.js" */\nimport { c } from "./c.js";\n',
        "lib/c.js": 'import { a } from "./a.js"; // and so around\n',
        "lib/d.js": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assets = Assets.load(tmp_path)
    assert imported(assets, ("pages/one.js",)) == [
        "lib/a.js",
        "pages/two.js",
        "lib/b.js",
        "lib/c.js",
    ]
    assert imported(assets, ("pages/one.js", "pages/two.js")) == [
        "lib/a.js",
        "lib/c.js",
        "lib/b.js",
    ]
    written = Modules(assets)("pages/one.js", " ")
    assert written.count("modulepreload") == 4
    assert written.count("<script ") == 1
    with pytest.raises(KeyError, match="none"):
        Modules(assets)("pages/none.js")


def test_the_hash_changes_with_every_file(tmp_path: Path) -> None:
    (tmp_path / "one.js").write_text("1")
    before = Assets.load(tmp_path)
    (tmp_path / "one.js").write_text("2")
    assert Assets.load(tmp_path).hash != before.hash
    with pytest.raises(KeyError, match="none"):
        before.url("none.js")


def fields(text: str) -> set[str]:
    """Return the names of the values that a text has places for."""
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_the_same_texts_with_the_same_places() -> None:
    english, german = (words_of(language).texts for language in ("en", "de"))
    assert english.keys() == german.keys()
    for name, text in english.items():
        assert text.strip(), name
        assert german[name].strip(), name
        assert fields(text) == fields(german[name]), name
        assert re.findall("</?[a-z]+", text) == re.findall("</?[a-z]+", german[name]), name


def test_no_text_is_missing_and_none_is_left_over() -> None:
    known = words_of("en").texts
    templates = "\n".join(path.read_text() for path in TEMPLATES.glob("*.html"))
    modules = [path.read_text() for path in DIRECTORY.rglob("*.js")]
    scripts = "\n".join(text for text in modules if "words.js" in text)
    used = set(re.findall(r"""\bt\('([a-z]+\.\w+)'[,)]""", templates))
    assert used
    assert used <= known.keys(), used - known.keys()
    said = {f"script.{name}" for name in re.findall(r"""\bsay\("(\w+)\"""", scripts)}
    assert said
    assert said <= known.keys(), said - known.keys()
    looked_up = {"variant", "state", "purpose", "fault", "ending", "reason", "format", "bracket"}
    looked_up |= {"label", "source", "component"}
    looked_up |= {"months", "language", "theme", "nav", "scope", "problem", "match", "rules"}
    everything = templates + scripts
    stems = tuple(re.findall(r"`(\w+_)\$\{", scripts))  # of names that scripts put together
    for name in known:
        section, _, last = name.partition(".")
        if section not in looked_up:
            said_whole = re.search(rf"\b{last}\b", everything)
            assert said_whole or last.startswith(stems), f"{name} is said nowhere"


@pytest.mark.parametrize(
    ("language", "value", "digits", "text"),
    [
        ("en", 1234567, 0, "1\u202f234\u202f567"),
        ("de", 1234.56, 1, "1\u202f234,6"),
        ("en", -3.25, 1, "\u22123.2"),
        ("en", -0.01, 1, "0.0"),
    ],
)
def test_numbers_are_written_as_people_write_them(
    language: str, value: float, digits: int, text: str
) -> None:
    assert words_of(language).number(value, digits) == text


@pytest.mark.parametrize(
    ("code", "details", "text"),
    [
        ("winners-round", {"number": 2, "table": 1}, "Runde 2 der Sieger, Tisch 1"),
        ("round-of", {"number": 16, "table": 3}, "Runde der letzten 16, Tisch 3"),
        ("round-of", {"number": 16}, "Runde der letzten 16"),
        ("semi-final", {"table": 2}, "Halbfinale 2"),
        ("grand-final-again", {}, "Großes Finale, noch einmal"),
    ],
)
def test_what_a_table_is_called_is_said_in_the_language_of_the_reader(
    code: str, details: dict[str, str | int], text: str
) -> None:
    assert words_of("de").table(code, details) == text
    label = LabelOut(code=code, details=details)
    assert words_of("de").source("winner", None, label) == f"Sieger: {text}"
    assert words_of("de").source("seed", 3, None) == "Gesetzt: 3"


def test_every_table_has_words_in_each_language() -> None:
    for language in ("en", "de"):
        words = words_of(language)
        for code in TableCode:
            assert words.table(code, {"number": 2})
        for code in ONE_OF_SEVERAL:
            assert words.table(code, {"number": 2, "table": 3})
    english = words_of("en").texts
    assert {f"label.{code}": text for code, text in LABEL_WORDS.items()} == {
        name: text
        for name, text in english.items()
        if name.startswith("label.") and not name.endswith("-table")
    }


@pytest.mark.parametrize(
    ("code", "details", "text"),
    [
        ("", {}, ""),
        ("not-met", {}, "Sie haben sich lange nicht getroffen"),
        ("first-of-variant", {"variant": "keltis"}, "Ein erstes Match: Keltis"),
        ("share", {"variant": "kartenspiel", "players": 3}, "An der Reihe: Das Kartenspiel zu 3"),
        ("challenge", {"author": "maeve"}, "Eine Herausforderung von maeve"),
        ("challenge", {}, "Eine Herausforderung"),
        ("tournament", {"tournament": "b: c", "label": "final"}, "b: c: Finale"),
        (
            "tournament",
            {"tournament": "cup", "label": "round", "number": 2, "table": 1},
            "cup: Runde 2, Tisch 1",
        ),
    ],
)
def test_why_a_match_is_played_is_said_in_the_language_of_the_reader(
    code: str, details: dict[str, str | int], text: str
) -> None:
    assert words_of("de").reason(code, details) == text


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_reason_has_words_in_each_language(language: str) -> None:
    texts = words_of(language).texts
    assert {f"reason.{code}" for code in MatchReason} <= texts.keys()
    assert WORDS.keys() == set(MatchReason)


@pytest.mark.parametrize("language", LANGUAGES)
def test_scripts_can_say_why_a_version_is_broken_and_how_a_game_ended(language: str) -> None:
    said = words_of(language).for_scripts
    causes = {cause for (_, cause), to in TRANSITIONS.items() if to is VersionState.BROKEN}
    details: dict[VersionCause, set[str]] = {
        VersionCause.FAILED: {"text"},
        VersionCause.UNPREPARED: {"text"},
        VersionCause.FAULTS: {"faults", "matches"},
    }
    assert causes == details.keys()
    for cause in causes:
        wanted = {"bot", "number", *details[cause]}
        assert fields(said[f"broken_{cause}"]) == wanted
    assert fields(said["broken_faults_rated"]) == fields(said["broken_faults"])
    assert {f"ending.{ending}" for ending in ENDINGS} <= said.keys()
    assert f"view_restarted_{RESTARTED['reason_code']}" in said


def test_values_in_texts_with_tags_cannot_bring_tags() -> None:
    words = Words("en", {"a": {"b_html": "<b>{name}</b>"}})
    assert words("a.b_html", name="<i>") == "<b>&lt;i&gt;</b>"


def test_documents_keep_links_that_lead_somewhere_and_drop_the_others() -> None:
    text = read_markdown(
        "# Title\n\n## One *two*\n\n## One two\n\n[a](protocol.md#x) [b](../operators/store.md) "
        "[c](#one-two) [e](../readers/rules.md) [d](https://example.org) <script>"
        "\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    assert text.title == "Title"
    assert [heading.id for heading in text.headings] == ["one-two", "one-two-1"]
    assert '<a href="/protocol#x">a</a> b <a href="#one-two">c</a>' in text.html
    assert '<a href="/rules">e</a>' in text.html
    assert 'rel="noreferrer"' in text.html
    assert "<script>" not in text.html
    assert '<div class="wide" tabindex="0" role="group">' in text.html


def test_an_axis_has_room_for_everything_on_it() -> None:
    axis = axis_of([(11.0, 18.0), (22.0, 31.5)])
    assert (axis.low, axis.high, axis.marks) == (10, 35, [10, 15, 20, 25, 30, 35])
    assert (axis.at(10), axis.at(22.5), axis.at(99)) == (0.0, 50.0, 100.0)
    assert axis_of([]).low < axis_of([]).high
    assert spark([1.0]) == ""
    assert spark([1.0, 1.0]) == "0.0,12.0 100.0,12.0"
    assert [heat(share) for share in (0.0, 0.5, 1.0)] == [-5, 0, 5]
