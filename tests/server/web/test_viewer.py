"""The viewer of matches in a real browser, with a real server and real matches."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from playwright.async_api import Page, ViewportSize, async_playwright, expect

from keltis_server.play.games import GAMES
from tests.ladder.support.small_bots import FIRST, write_bot
from tests.server.support.serving import Served
from tests.server.support.spectating import CALM, PATIENT, Author, Sluice, order, settle_in
from tests.server.web.support.browsing import CHROMIUM, needs_chromium
from tests.server.web.support.pages_app import served_pages

SLOWLY: Final = f"time.sleep(0.01)\n{FIRST}"
PATIENCE: Final = 300_000  # ms for anything that should happen soon
expect.set_options(timeout=PATIENCE)
SHIFT: Final = 0.05  # of the page, that may move in the whole life of a match
PHONE: Final[ViewportSize] = {"width": 360, "height": 740}
FALLS: Final = f"if asked > 9: raise RuntimeError('a stone in the way')\n{FIRST}"
OBSERVE: Final = """
    globalThis.shifted = 0;
    new PerformanceObserver((list) => {
        for (const { value, hadRecentInput } of list.getEntries())
            if (!hadRecentInput) globalThis.shifted += value;
    }).observe({ type: "layout-shift", buffered: true });
"""
HANDS: Final = ".players .hand .card:not(.card-back)"
PROBE: Final = """async (number) => {
    const base = document.querySelector('script[src*="pages/match.js"]').src;
    const { Game } = await import(new URL("../viewer/model.js", base));
    const answer = await fetch(`/api/v1/matches/${number}/games/0/frames?viewer=all`);
    const told = await answer.json();
    let applied = 0; // patches, which is nearly all of the work
    const counted = told.frames.map(({ patch, ...frame }) => ({
        ...frame,
        get patch() {
            applied++;
            return patch;
        },
    }));
    const game = new Game(0, told.seats);
    game.fill(told.view, counted);
    const at = (ply) => {
        applied = 0;
        const text = JSON.stringify(game.viewAt(ply));
        work.push(applied);
        return text;
    };
    let work = [];
    const forth = [];
    for (let ply = 0; ply <= game.plies; ply++) forth.push(at(ply));
    const step = Math.max(...work);
    work = [];
    const back = forth.map((_, ply) => ply).reverse();
    const same = [...back, 70, 3, 71, 40, 39, 64, 32, 31].every((ply) => at(ply) === forth[ply]);
    return { step, leap: Math.max(...work), same, different: new Set(forth).size };
}"""

pytestmark = needs_chromium


class Visit:
    """A page that is looked at, and everything that it was sent or complained about."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.failures: list[str] = []
        self.heard: list[str] = []  # messages of the websocket
        page.on("console", lambda line: self.failures.append(f"{line.type}: {line.text}"))
        page.on("pageerror", lambda error: self.failures.append(str(error)))
        page.on("websocket", lambda socket: socket.on("framereceived", self._hear))

    def _hear(self, payload: str | bytes) -> None:
        self.heard.append(payload if isinstance(payload, str) else payload.decode())

    async def place(self) -> tuple[int, int, int]:
        """Return the game, the ply and how many plies there are, as the page says."""
        text = await self.page.locator(".place").inner_text()
        game, _, ply, plies = map(int, re.findall(r"\d+", text))
        return game, ply, plies

    async def at(self, game: int, ply: int) -> None:
        """Wait until the page is at a place."""
        start = re.compile(rf"^Game {game} of \d, {ply} / ")
        await expect(self.page.locator(".place")).to_have_text(start, timeout=PATIENCE)

    async def hears(self, part: str) -> None:
        """Wait for a message that has this in it."""
        async with asyncio.timeout(PATIENCE / 1000):
            while not any(part in message for message in self.heard):
                await self.page.wait_for_timeout(20)

    async def ready(self) -> None:
        """Wait until there is something to see."""
        await expect(self.page.locator(".moves li").first).to_be_attached(timeout=PATIENCE)


@asynccontextmanager
async def browser(url: str) -> AsyncIterator[Visit]:
    """Open a browser; at the end nothing may have failed in it."""
    arguments = ["--disable-dev-shm-usage", "--no-proxy-server"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        try:
            size: Any = {"width": 1280, "height": 900}
            context = await chromium.new_context(
                base_url=url, viewport=size, locale="en", reduced_motion="reduce"
            )
            context.set_default_timeout(PATIENCE)
            await context.add_init_script(OBSERVE)
            visit = Visit(await context.new_page())
            yield visit
        finally:
            await chromium.close()
    assert visit.failures == []


async def authors(server: Served) -> list[Author]:
    """Let two people have bots that play at once what they are told to."""
    return [await settle_in(server, "alice", "greedy"), await settle_in(server, "bob", "random")]


async def slow_authors(server: Served, scratch: Path) -> list[Author]:
    """Let two people have bots that take their time, so that a match can be met under way."""
    bots = {name: write_bot(scratch / f"{name}-bot", SLOWLY) for name in ("alice", "bob")}
    return [await settle_in(server, name, "", directory) for name, directory in bots.items()]


async def begun(server: Served, id: str, plies: int, sluice: Sluice) -> int:
    """Let so much of the first game be played, or a little more; return how much."""
    games = server.app[GAMES]
    async with asyncio.timeout(PATIENCE / 1000):
        while (live := games.live.get(id)) is None or live.games[0].plies < plies:
            await sluice.step()
    return live.games[0].plies


async def finished(server: Served, id: str) -> dict[str, Any]:
    """Wait for the result of a match."""
    async with asyncio.timeout(PATIENCE / 1000):
        while True:
            match: dict[str, Any] = await server.get(f"/matches/{id}")
            if match["state"] == "finished":
                return match
            await asyncio.sleep(0.05)


def written(score: int) -> str:
    """Return points as the page writes them."""
    return str(score).replace("-", "\N{MINUS SIGN}")


def hands_told(heard: list[str]) -> list[Any]:
    """Return the cards of hands in all messages of a websocket, as far as they are told."""
    found: list[Any] = []
    for text in heard:
        message = json.loads(text)
        if message["op"] == "snapshot" and message["data"].get("current"):
            current = message["data"]["current"]
            found += [hand["cards"] for hand in current["view"]["hands"]]
            events = current["frames"]
        else:
            events = message["data"] if message["op"] == "delta" else []
        for event in events:
            if event["kind"] == "game":
                found += [hand["cards"] for hand in event["view"]["hands"]]
            for path, value in event.get("patch", ()):
                if path[0] == "hands" and path[-1] == "cards":
                    found.append(value)
                elif path == ["hands"]:
                    found += [hand["cards"] for hand in value]
    return found


def test_a_running_match_is_followed_to_its_end_and_can_be_looked_through_meanwhile(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path, CALM) as server, browser(server.url) as visit:
            games = server.app[GAMES]
            games.drain(True)
            players = await slow_authors(server, tmp_path)
            id = await order(server, "keltis", players, control=PATIENT)
            page = visit.page
            await page.goto(f"/matches/{id}")
            await expect(page.locator(".viewer-status")).to_contain_text("waits for a free table")
            author = await open_as(visit, players[0], id)
            sluice = Sluice(games.dispatcher)
            games.drain(False)
            await check_running(visit, await begun(server, id, 20, sluice))
            sluice.open()
            match = await finished(server, id)
            await page.keyboard.press("l")
            await expect(page.locator(".go-live")).to_be_hidden(timeout=PATIENCE)
            ranks = {entrant["rank"] for entrant in match["entrants"]}
            over = "won" if len(ranks) > 1 else "A draw"
            await expect(page.locator(".outcome")).to_contain_text(over, timeout=PATIENCE)
            for rotation, game in enumerate(match["games"]):
                entry = page.locator(".game-entry").nth(rotation)
                scores = [written(score) for score in game["scores"]]
                numbers = entry.locator(".game-score .number")
                await expect(numbers).to_have_text(scores, timeout=PATIENCE)
                await expect(entry.locator(".cause-points")).to_contain_text("by points")
            assert any(json.loads(text)["op"] == "end" for text in visit.heard)
            told = hands_told(visit.heard)
            assert told
            assert told == [None] * len(told)
            await expect(author.page.locator(".go-live")).to_be_hidden(timeout=PATIENCE)
            own = [text for text in author.heard if f"match/{id}/bot/{players[0].bot}" in text]
            assert any(cards is not None for cards in hands_told(own))
            assert author.failures == []
            await expect(author.page.locator(".outcome")).to_contain_text(over, timeout=PATIENCE)
            for each in (page, author.page):  # the one is wide, the other a phone
                assert await each.evaluate("shifted") < SHIFT

    asyncio.run(scenario())


async def open_as(visit: Visit, author: Author, id: str) -> Visit:
    """Open a match in another tab, as its author, who wants to see the hand of the own bot."""
    page = await visit.page.context.new_page()
    await page.set_viewport_size(PHONE)
    own = Visit(page)
    await page.add_init_script(f"sessionStorage.setItem('token', {json.dumps(author.token)})")
    await page.goto(f"/matches/{id}")
    sight = page.locator(".choice select").last
    await sight.select_option(author.bot, timeout=PATIENCE)
    await expect(sight).to_have_value(author.bot)
    return own


async def check_running(visit: Visit, played: int) -> None:
    """Look through a match that goes no further than so many decisions."""
    page = visit.page
    await visit.ready()
    await page.keyboard.press("l")
    await expect(page.locator(".go-live")).to_have_class(re.compile("is-live"), timeout=PATIENCE)
    await visit.at(1, played)
    game, ply, plies = await visit.place()
    assert (game, ply) == (1, plies)
    assert plies == played
    await page.locator(".track").fill("3")
    await visit.at(1, 3)
    assert (await visit.place())[2] == plies
    await expect(page.locator(".go-live")).to_have_text(f"To live: {plies - 3} behind")
    await expect(page.locator(".moves [aria-current]")).to_have_attribute("data-ply", "3")
    assert await page.locator(HANDS).count() == await page.locator(".hand [data-seen]").count()
    assert await page.locator(".players .hand .card-back").count() >= 14
    options = await page.locator(".choice").last.locator("option").all_inner_texts()
    assert options == ["the public ones"]


def test_a_match_that_is_begun_again_is_begun_again_on_the_page_which_says_why(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path, CALM) as server, browser(server.url) as visit:
            games = server.app[GAMES]
            sluice = Sluice(games.dispatcher)
            players = await slow_authors(server, tmp_path)
            id = await order(server, "weg-der-steine", players, control=PATIENT)
            await begun(server, id, 10, sluice)
            page = visit.page
            await page.goto(f"/matches/{id}")
            await visit.hears(f'"snapshot","topic":"match/{id}"')
            (referee,) = games.dispatcher.pids
            os.kill(referee, signal.SIGKILL)
            while referee in games.dispatcher.pids:
                await asyncio.sleep(0.01)
            sluice.open()
            status = page.locator(".viewer-status")
            await expect(status).to_contain_text("was begun again", timeout=PATIENCE)
            match = await finished(server, id)
            await expect(page.locator(".go-live")).to_be_hidden(timeout=PATIENCE)
            await page.keyboard.press("n")
            await page.keyboard.press("End")
            scores = [written(score) for score in match["games"][1]["scores"]]
            await expect(page.locator(".player-score")).to_have_text(scores, timeout=PATIENCE)

    asyncio.run(scenario())


def test_a_bot_that_drops_out_is_marked_where_it_did_and_why(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path, CALM) as server, browser(server.url) as visit:
            falling = write_bot(tmp_path / "bob-bot", FALLS)
            players = [
                await settle_in(server, "alice", "", write_bot(tmp_path / "alice-bot", SLOWLY)),
                await settle_in(server, "bob", "", falling),
            ]
            id = await order(server, "keltis", players, control=PATIENT)
            page = visit.page
            await page.goto(f"/matches/{id}")
            match = await finished(server, id)
            await expect(page.locator(".outcome")).to_contain_text("alice-bot won")
            await expect(page.locator("table.games .mark")).to_have_count(2)
            for rotation, game in enumerate(match["games"]):
                [fault] = game["faults"]
                badge = page.locator(".game-entry").nth(rotation).locator(".cause-fault")
                await expect(badge).to_have_text("Crash", timeout=PATIENCE)
                await check_fault(visit, rotation, fault)
            assert await page.evaluate("shifted") < SHIFT

    asyncio.run(scenario())


async def check_fault(visit: Visit, rotation: int, fault: dict[str, Any]) -> None:
    """Look at a game before and after somebody dropped out of it."""
    page, ply = visit.page, fault["decision"]
    await page.locator(".game-entry").nth(rotation).click()
    await page.keyboard.press("Home")  # it may be playing, or in this game already
    await visit.at(rotation + 1, 0)
    await expect(page.locator(".track-fault")).to_have_count(1)
    line = page.locator(".moves .move-fault")
    await expect(line).to_contain_text("bob-bot is out: Crash")
    clock = page.locator(f".player[data-seat='{fault['seat']}'] .player-clock")
    for place, is_out in ((ply - 1, False), (ply, True)):
        await page.locator(".track").fill(str(place))
        await visit.at(rotation + 1, place)
        assert ("cause-fault" in (await clock.get_attribute("class") or "")) == is_out
    await expect(clock).to_have_text("Crash")
    other = page.locator(f".player[data-seat='{1 - fault['seat']}'] .player-clock")
    await expect(other).not_to_have_class(re.compile("cause-fault"))
    await page.keyboard.press("Home")
    await page.keyboard.press("e")  # the next event is no later than the fault
    assert (await visit.place())[1] <= ply


def test_a_finished_match_can_be_looked_at_from_every_place_and_side(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path, CALM) as server, browser(server.url) as visit:
            players = await authors(server)
            ids = [await order(server, name, players) for name in ("keltis", "kartenspiel")]
            numbers = [(await finished(server, id))["number"] for id in ids]
            await check_links(server, visit, numbers[0])
            await check_keys(visit)
            await check_perspectives(server, visit, numbers[0])
            await check_pictures(visit)
            await check_seat(visit, numbers[0])
            await check_speed(visit, numbers[1])
            await visit.page.goto(f"/embed/matches/{numbers[1]}")
            await expect(visit.page.locator(".place")).to_contain_text("Game 1 of 2, 0 / ")
            await visit.page.locator(".track").fill("7")
            await visit.at(1, 7)
            assert await visit.page.locator(".moves, .game-entry, .extras").count() == 0
            assert visit.heard == []  # nothing comes any more, so nothing is followed

    asyncio.run(scenario())


async def check_links(server: Served, visit: Visit, number: int) -> None:
    """An address with a game and a ply opens that position, and is kept up to date."""
    page = visit.page
    await page.goto(f"/matches/{number}?game=2&ply=40&seat=public")
    await visit.at(2, 40)
    told = await server.get(f"/matches/{number}/games/1/frames")
    scores = [written(score) for score in told["frames"][39]["scores"]]
    await expect(page.locator(".player-score")).to_have_text(scores)
    await expect(page.locator("#position")).to_contain_text("draw pile", timeout=PATIENCE)
    await page.keyboard.press("ArrowRight")
    await page.wait_for_url(re.compile(r"game=2&ply=41&seat=public$"))
    await page.goto(f"/matches/{number}#game=1&ply=5")  # an older link
    await visit.at(1, 5)


async def check_keys(visit: Visit) -> None:
    """Keys go where they say."""
    page = visit.page
    _, _, plies = await visit.place()
    for key, ply in (
        ("PageDown", 15),
        ("ArrowLeft", 14),
        ("PageUp", 4),
        ("End", plies),
        ("ArrowRight", plies),
        ("Home", 0),
    ):
        await page.keyboard.press(key)
        await visit.at(1, ply)
    await page.keyboard.press("e")
    await expect(page.locator(".place")).not_to_contain_text(", 0 /")
    _, event, _ = await visit.place()
    assert 0 < event < plies
    await page.keyboard.press("n")
    await visit.at(2, 0)
    await expect(page.locator(".game-entry").nth(1)).to_have_attribute("aria-pressed", "true")
    await page.keyboard.press("p")
    await visit.at(1, 0)
    for _ in range(5):
        await page.keyboard.press("+")
    await expect(page.locator(".choice select").first).to_have_value("0")
    await page.keyboard.press("-")
    await expect(page.locator(".choice select").first).to_have_value("30")
    await page.keyboard.press("Space")
    await expect(page.locator(".place")).to_have_text(re.compile(r", ([6-9]|\d\d+) / "))
    await page.keyboard.press("Space")
    await expect(page.locator(".play")).to_have_attribute("aria-label", "Play")
    await expect(page.locator("[aria-live]")).not_to_be_empty()
    await page.keyboard.press("?")
    await expect(page.locator("dialog")).to_be_visible()
    await page.keyboard.press("n")
    assert (await visit.place())[0] == 1  # keys of the page rest while the dialog is open
    await page.keyboard.press("Escape")
    await expect(page.locator("dialog")).to_be_hidden()


async def check_perspectives(server: Served, visit: Visit, number: int) -> None:
    """After the end: no hand, one, or all of them."""
    page = visit.page
    sight = page.locator(".choice select").last
    await page.locator(".track").fill("0")
    told = await server.get(f"/matches/{number}/games/0/frames?viewer=all")
    hands = [len(hand["cards"]) for hand in told["view"]["hands"]]
    for value, wanted in (("all", hands), ("public", [0, 0]), ("0", [hands[0], 0])):
        await sight.select_option(value)
        for seat, count in enumerate(wanted):
            cards = page.locator(f".player[data-seat='{seat}'] .hand .card:not(.card-back)")
            await expect(cards).to_have_count(count)
    await page.locator(".play").focus()
    await page.keyboard.press("v")
    await expect(sight).to_have_value("1")
    await expect(page.locator(".player[data-seat='1'] .hand .card-back")).to_have_count(0)


async def check_seat(visit: Visit, number: int) -> None:
    """A link to a seat shows that hand and no other, and tells what came into it alone."""
    page = visit.page
    await page.goto(f"/matches/{number}?game=2&ply=0&seat=1")
    await visit.at(2, 0)
    await expect(page.locator(".choice select").last).to_have_value("1")
    own, other = (page.locator(f".player[data-seat='{seat}'] .hand") for seat in (1, 0))
    await expect(own.locator(".card:not(.card-back)")).to_have_count(8)
    await expect(other.locator(".card-back")).to_have_count(8)
    assert await own.locator(".card").count() == await other.locator(".card").count() == 8
    drawn = page.locator(".moves li", has_text=re.compile(r" draws [RYVGB]\d"))
    names = await drawn.locator(".move-words").all_inner_texts()
    seated = await page.locator(".player-name").all_inner_texts()
    assert names
    assert all(text.startswith(seated[1]) for text in names)  # what others drew is hidden


async def check_pictures(visit: Visit) -> None:
    """A position is saved as a picture that needs nothing else."""
    page = visit.page
    await page.locator(".track").fill("30")
    await visit.at(1, 30)
    async with page.expect_download() as waiting:
        await page.get_by_role("button", name="Save as SVG").click()
    download = await waiting.value
    assert download.suggested_filename.endswith("-game-1-ply-30.svg")
    text = Path(await download.path()).read_text()
    picture = ElementTree.fromstring(text)
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(" not in text
    assert "class=" not in text.partition("</defs>")[2]
    used = set(re.findall(r'href="#([\w-]+)"', text)) | set(re.findall(r"url\(#([\w-]+)\)", text))
    assert used
    assert used <= set(re.findall(r'\bid="([\w-]+)"', text))
    async with page.expect_download() as waiting:
        await page.get_by_role("button", name="Save as PNG").click()
    data = Path(await (await waiting.value).path()).read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) > 20_000  # there is something on it


async def check_speed(visit: Visit, number: int) -> None:
    """Going through a game is little work, and every way to a position leads to the same one."""
    page = visit.page
    await page.goto(f"/matches/{number}")
    await visit.ready()
    result = await page.evaluate(PROBE, number)
    assert result["same"]
    assert result["different"] > 70
    assert result["step"] == 1  # its milliseconds are measured by bench.server.pages
    assert result["leap"] < 32  # from the last position that is kept
