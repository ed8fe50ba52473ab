"""The first page: the big table and the wall, with real matches in a real browser."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from playwright.async_api import ViewportSize

from keltis_server.models.leaderboards import LineOut
from keltis_server.models.matches import EntrantOut, MatchOut
from keltis_server.web.pages.home import most_interesting
from tests.ladder.support.small_bots import FIRST, write_bot
from tests.server.support.serving import Served
from tests.server.support.spectating import CALM, PATIENT, Author, order, settle_in
from tests.server.web.support.browsing import needs_chromium
from tests.server.web.support.pages_app import served_pages
from tests.server.web.test_viewer import PATIENCE, browser, finished

Standing = tuple[tuple[str, ...], tuple[int, ...]]  # names and points, by seat

SLOWLY: Final = f"time.sleep(0.008)\n{FIRST}"
TALL: Final[ViewportSize] = {"width": 1280, "height": 1800}
SHIFT: Final = 0.05  # of the page, that may move while data arrives
# Whenever something changes at a table: what is on it.
RECORD: Final = """
    globalThis.seen = [];
    const texts = (nodes) => [...nodes].map((node) => node.textContent);
    const note = () => {
        const tables = [...document.querySelectorAll("[data-featured], [data-slot]")];
        seen.push(tables.map((table) => ({
            isBig: "featured" in table.dataset,
            link: table.querySelector("a").getAttribute("href"),
            names: texts(table.querySelectorAll(".seat .name")),
            scores: texts(table.querySelectorAll(".seat .score")),
            pegs: [...table.querySelectorAll(".seat .figure")].map((node) => node.classList[1]),
            drawn: texts(table.querySelectorAll(".area-name")),
            said: table.querySelector("[data-said]")?.textContent ?? "",
        })));
    };
    addEventListener("DOMContentLoaded", () => {
        note();
        const wanted = { childList: true, characterData: true, subtree: true };
        new MutationObserver(note).observe(document.querySelector("main"), wanted);
    });
"""


def test_the_best_ranks_are_at_the_big_table_and_of_equals_the_longest_match() -> None:
    noon = datetime(2026, 11, 16, 12, tzinfo=UTC)

    def match(id: str, minutes: int, *bots: str) -> MatchOut:
        entrants = [EntrantOut.model_construct(bot=bot, version=1) for bot in bots]
        created = noon + timedelta(minutes=minutes)
        return MatchOut.model_construct(id=id, created=created, entrants=entrants)

    ranks = {"first": 1, "second": 2, "third": 3, "newcomer": None}
    lines = [LineOut.model_construct(bot=bot, version=1, rank=rank) for bot, rank in ranks.items()]
    low = match("low", 0, "second", "third")
    high = match("high", 5, "newcomer", "first")
    higher = match("higher", 6, "third", "first")
    again = match("again", 9, "first", "third")
    unknown = match("unknown", 0, "stranger", "newcomer")
    assert most_interesting([unknown, low], lines) is low
    assert most_interesting([low, high, unknown], lines) is high
    assert most_interesting([again, high, higher, low], lines) is higher
    assert most_interesting([], lines) is None


async def three(server: Served, scratch: Path) -> list[Author]:
    """Let three people have bots that take a little time."""
    names = ("alice", "bob", "carol")
    bots = {name: write_bot(scratch / f"{name}-bot", SLOWLY) for name in names}
    return [await settle_in(server, name, "", directory) for name, directory in bots.items()]


@needs_chromium
def test_names_figures_and_points_belong_together_in_every_rotation(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path, CALM) as server, browser(server.url) as visit:
            await visit.page.context.add_init_script(RECORD)
            await visit.page.set_viewport_size(TALL)  # what nobody sees is not drawn
            players = await three(server, tmp_path)
            await visit.page.goto("/")
            bots, won = ("alice-bot ", "bob-bot ", "carol-bot "), "Games won: "
            known: dict[Standing, int] = {}
            said: set[str] = set()
            seen: dict[bool, set[int]] = {}
            pictures: Any = []
            async with asyncio.timeout(PATIENCE / 1000):
                # A browser that is slow may miss a game: then there are others.
                while not has_shown_all(seen):
                    known |= await play_two(server, players)
                    while not any(won in text for text in said):
                        await visit.page.wait_for_timeout(100)
                        said = big_words(await visit.page.evaluate("seen"))
                    pictures = await visit.page.evaluate("seen")
                    seen = check_standings(pictures, known | standings(visit.heard))
                    check_tables(pictures)
            assert any(text.startswith(bots) for text in big_words(pictures))
            assert await visit.page.evaluate("shifted") < SHIFT

    asyncio.run(scenario())


async def play_two(server: Served, players: list[Author]) -> dict[Standing, int]:
    """Have two matches played; return the standings of their first games, as the server has them.

    A match that was over before much of it was seen is shown once more, its first game alone.
    """
    ids = [await order(server, "kartenspiel", players, control=PATIENT) for _ in range(2)]
    found: dict[Standing, int] = {}
    for id in ids:
        match = await finished(server, id)
        assert match["number"]
        names = [entrant["bot"] for entrant in match["entrants"]]
        game = await server.get(f"/matches/{id}/games/0/frames")
        seated = tuple(names[position] for position in game["seats"])
        for told in (game["view"], *game["frames"], game):
            found[seated, tuple(told["scores"])] = 0
    return found


def big_words(pictures: list[list[dict[str, Any]]]) -> set[str]:
    """Return all that was said at the big table."""
    return {table["said"] for picture in pictures for table in picture if table["isBig"]}


def has_shown_all(seen: dict[bool, set[int]]) -> bool:
    """Tell whether every rotation was at the big table; the wall may have any of them."""
    return bool(seen) and seen[True] == {0, 1, 2} and bool(seen[False])


def standings(heard: list[str]) -> dict[Standing, int]:
    """Return who had how many points on which seat, as the server told it, with the rotation."""
    found: dict[Standing, int] = {}
    names: dict[str, list[str]] = {}

    def note(match: str, rotation: int, scores: list[int]) -> None:
        bots = names[match]
        seated = tuple(bots[(seat + rotation) % len(bots)] for seat in range(len(bots)))
        found[seated, tuple(scores)] = rotation

    for message in map(json.loads, heard):
        topic, _, id = message.get("topic", "").partition("/")
        data = message.get("data")
        if topic == "lobby":
            matches = data["matches"] if message["op"] == "snapshot" else data
            for event in matches:
                match = event.get("match", event)
                if "entrants" in match:
                    names[match["id"]] = [entrant["bot"] for entrant in match["entrants"]]
                if "rotation" in match:
                    note(match["id"], match["rotation"], match["scores"])
        elif topic == "match" and message["op"] == "snapshot" and (current := data["current"]):
            for scores in (current["view"]["scores"], *(f["scores"] for f in current["frames"])):
                note(id, current["rotation"], scores)
        elif topic == "match" and message["op"] == "delta":
            for event in data:
                if "rotation" in event and (told := event.get("scores") or event.get("view")):
                    scores = told if isinstance(told, list) else told["scores"]
                    note(id, event["rotation"], scores)
    return found


def check_standings(
    pictures: list[list[dict[str, Any]]], known: dict[Standing, int]
) -> dict[bool, set[int]]:
    """Whatever was on a table, the names, the figures and the points are those of one game.

    Return the rotations that were at the big table, and on the wall.
    """
    rotations: dict[bool, set[int]] = {True: set(), False: set()}
    for picture in pictures:
        for table in picture:
            seats = range(len(table["names"]))
            if table["pegs"]:
                assert table["pegs"] == [f"player-{seat}" for seat in seats]
            if table["drawn"]:
                assert table["drawn"] == table["names"]
            if all(table["scores"]) and table["scores"]:
                scores = tuple(int(text.replace("\u2212", "-")) for text in table["scores"])
                standing = (tuple(table["names"]), scores)
                assert standing in known, standing
                rotations[table["isBig"]].add(known[standing])
    return rotations


def check_tables(pictures: list[list[dict[str, Any]]]) -> None:
    """No match is at two tables at once."""
    for picture in pictures:
        links = [table["link"] for table in picture if table["names"]]
        assert len(links) == len(set(links)), links
