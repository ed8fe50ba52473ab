"""``watch`` in a terminal: keys and screens, driven as somebody would."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from textual.pilot import Pilot

from keltis_cli.draw.look import Look
from keltis_cli.watch.app import WatchApp
from keltis_cli.watch.model import ALL, PUBLIC
from keltis_cli.watch.screens.lobby_screen import LobbyScreen
from keltis_cli.watch.screens.match_screen import AGAIN, MatchScreen
from keltis_cli.watch.screens.pictures import Canvas, HelpScreen
from keltis_cli.watch.screens.tv_screen import TvScreen
from keltis_cli.watch.tv import RESULT
from tests.cli.support.watch_records import ADA, BOTS, Record, RecordedFeed

Play = Callable[[WatchApp, Pilot[None]], Awaitable[None]]


def lobby_of(*running: Record, recent: tuple[Record, ...] = ()) -> dict[str, Any]:
    """Return the lobby's first message."""
    data = {
        "matches": [record.lobby_entry() for record in running],
        "recent": [record.match_out(over=True) for record in recent],
    }
    return {"op": "snapshot", "topic": "lobby", "seq": 1, "data": data}


def drive(app: WatchApp, play: Play, size: tuple[int, int] = (80, 24)) -> None:
    """Run the program without a terminal, and let somebody use it."""

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await play(app, pilot)

    asyncio.run(run())


def text_of(app: WatchApp) -> str:
    """Return what is on the screen."""
    return app.screen.query_one(Canvas).render().plain


async def until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    """Wait for something that happens by itself."""
    for _ in range(400):
        if true():
            return
        await pilot.pause(0.02)
    raise AssertionError(text_of(pilot.app))  # type: ignore[arg-type]


def test_a_match_is_chosen_in_the_lobby_followed_and_left_again() -> None:
    one, other = Record("keltis", seed=1), Record("weg-der-steine", seed=2)
    feed = RecordedFeed(one, other)
    feed.first = {"lobby": lobby_of(one, other), other.topic: other.snapshot(0, 20)}

    async def play(app: WatchApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "2 matches running" in text_of(app))
        assert isinstance(app.screen, LobbyScreen)
        await pilot.press("down", "down", "up", "down", "enter")
        await until(pilot, lambda: isinstance(app.screen, MatchScreen) and "LIVE" in text_of(app))
        assert "weg-der-steine · turn" in text_of(app)
        assert "20/20" in text_of(app)
        feed.connected = False
        await until(pilot, lambda: "connection lost" in text_of(app))
        assert "weg-der-steine · turn" in text_of(app)  # what was shown stays
        feed.connected = True
        await until(pilot, lambda: "LIVE" in text_of(app))
        await pilot.press("question_mark")
        assert isinstance(app.screen, HelpScreen)
        assert "one decision back" in text_of(app)
        await pilot.press("x")
        await pilot.press("b")
        await until(pilot, lambda: isinstance(app.screen, LobbyScreen))
        await until(pilot, lambda: other.topic not in feed.takers)
        await pilot.press("q")

    app = WatchApp(feed, Look())
    drive(app, play)
    assert app.return_code == 0


def test_keys_go_back_and_forth_while_the_match_goes_on() -> None:
    record = Record("keltis")
    feed = RecordedFeed(record, author=ADA)
    feed.first = {
        "lobby": lobby_of(record),
        record.topic: record.snapshot(1, 30),
        f"{record.topic}/bot/{BOTS[0]}": record.snapshot(1, 40, perspective=BOTS[0]),
    }

    async def play(app: WatchApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "30/30 · LIVE" in text_of(app))
        screen = app.screen
        assert isinstance(screen, MatchScreen)
        place = screen.playback
        await pilot.press("left", "left")
        assert (place.ply, place.playing) == (28, False)
        for ply in range(30, 40):
            feed.tell(record.delta(ply, record.frame(1, ply)))
        await pilot.pause(0.3)
        assert (place.ply, place.end) == (28, 40)
        assert "28/40 · 12 behind" in text_of(app)
        await pilot.press("right", "pageup", "shift+left", "pagedown")
        assert place.ply == 19
        await pilot.press("home")
        assert place.ply == 0
        await pilot.press("end")
        assert (place.ply, place.playing) == (40, True)
        await pilot.press("space")
        assert "paused" in text_of(app)
        await pilot.press("space", "plus", "plus", "minus")
        assert "10/s" in text_of(app)
        # The cards of the own bot: in its seat of this rotation, and of no other.
        await pilot.press("v")
        await until(pilot, lambda: f"hand of {BOTS[0]}" in text_of(app))
        assert "hand A 8 cards" in text_of(app)
        assert "hand B 8 cards" not in text_of(app)
        await pilot.press("v")
        assert place.perspective == PUBLIC
        # The game before was not told: it is asked for.
        await pilot.press("p")
        await until(pilot, lambda: f"/{record.plies(0)} " in text_of(app))
        assert feed.asked == [(record.job.id, 0, PUBLIC)]
        await pilot.press("space", "n")
        assert (place.rotation, place.ply) == (1, 0)
        for event in record.events(1, 40):
            feed.tell(record.delta(99, event))
        feed.tell(record.end())
        await pilot.press("l")
        await until(pilot, lambda: "match over" in text_of(app))
        assert "Game over" in text_of(app)
        await pilot.press("v")
        await until(pilot, lambda: (record.job.id, 1, ALL) in feed.asked)
        await until(pilot, lambda: "hand A" in text_of(app) and " cards," not in text_of(app))

    drive(WatchApp(feed, Look(), match=record.job.id), play)


def test_a_match_that_is_over_is_replayed_with_all_cards_in_a_wide_terminal() -> None:
    record = Record("neue-wege")
    feed = RecordedFeed(record, over=True)
    feed.first = {"lobby": lobby_of(recent=(record,))}

    async def play(app: WatchApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "replay · all cards" in text_of(app))
        await pilot.press("space", "home", *["right"] * 3)
        await until(pilot, lambda: f"3/{record.plies(0)} " in text_of(app))
        lines = text_of(app).split("\n")
        assert len(lines) == 40
        assert lines[0].startswith("Match 1,234 · neue-wege · ladder")
        first = record.live.decisions(0, "spectators", 0, 1)[0].notation
        assert any(f"│     {first}" in line for line in lines)
        assert record.topic not in feed.takers

    drive(WatchApp(feed, Look(), match=record.job.id, speed=1), play, (120, 40))


def test_what_is_not_there_is_said() -> None:
    feed = RecordedFeed()
    feed.first = {"lobby": lobby_of()}

    async def play(app: WatchApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "There is no match nothing." in text_of(app))
        await pilot.press("escape")
        await until(pilot, lambda: "Nothing is being played." in text_of(app))
        await pilot.press("enter", "up", "down")

    drive(WatchApp(feed, Look(ascii=True), match="nothing"), play)


def test_a_match_is_awaited_and_when_it_is_broken_off_awaited_again() -> None:
    record = Record("keltis")
    feed = RecordedFeed(record)
    waiting = record.snapshot(0, 0)
    waiting["data"] |= {"games": [], "current": None}
    feed.first = {"lobby": lobby_of(), record.topic: waiting}

    async def play(app: WatchApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "has not begun yet" in text_of(app))
        view = record.live.view(0, 0, "spectators")
        deal = {"kind": "game", "rotation": 0, "seats": [0, 1], "view": view, "clocks": [1, 1]}
        frames = [record.frame(0, ply) for ply in range(30)]
        feed.tell(record.delta(2, deal, *frames))
        await pilot.press("l")
        await until(pilot, lambda: "30/30 · LIVE" in text_of(app))
        end = {"state": "withdrawn", "match": record.match_out() | {"state": "waiting"}}
        feed.tell({"op": "end", "topic": record.topic, "seq": 3, "data": end})
        await until(pilot, lambda: "30/30 · aborted" in text_of(app))
        feed.first[record.topic] = record.snapshot(0, 5)
        app.screen.pass_time(AGAIN)  # type: ignore[attr-defined]
        await until(pilot, lambda: "5/5 · LIVE" in text_of(app))

    drive(WatchApp(feed, Look(), match=record.job.id), play)


def test_tv_waits_shows_a_match_to_its_end_and_goes_on() -> None:
    best, second = Record("weg-der-steine", seed=1), Record("weg-der-steine", seed=2)
    feed = RecordedFeed(best, second)
    feed.first = {"lobby": lobby_of()}
    feed.first |= {record.topic: record.snapshot(0, 50) for record in (best, second)}

    async def play(app: WatchApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "waits for the next match" in text_of(app))
        screen = app.screen
        assert isinstance(screen, TvScreen)
        entry = second.lobby_entry()
        entry["entrants"][1]["mu"] = 5.0
        feed.tell({"op": "delta", "topic": "lobby", "seq": 2, "data": [
            {"kind": "began", "match": match} for match in (entry, best.lobby_entry())
        ]})  # fmt: skip
        await until(pilot, lambda: f"Match {best.job.id[:8]}" in text_of(app))
        await until(pilot, lambda: "next: greedy" in text_of(app))
        for event in best.events(0, 50):
            feed.tell(best.delta(99, event))
        feed.tell(best.end())
        screen.pass_time(RESULT)
        assert screen.match == best.job.id  # all of it is shown first
        await pilot.press("l")
        await until(pilot, lambda: "match over" in text_of(app))
        screen.pass_time(RESULT / 2)
        assert screen.match == best.job.id
        screen.pass_time(RESULT / 2)
        assert screen.match == second.job.id
        await until(pilot, lambda: "50/50 · LIVE" in text_of(app))
        await until(pilot, lambda: best.topic not in feed.takers)
        screen.pass_time(2 * RESULT)
        assert screen.match == second.job.id  # it is not over
        await pilot.press("b")
        await until(pilot, lambda: isinstance(app.screen, LobbyScreen))

    drive(WatchApp(feed, Look(), tv=True), play)


def test_a_tournament_that_is_not_there_is_said_and_the_lobby_is_below() -> None:
    feed = RecordedFeed()
    feed.first = {
        "lobby": lobby_of(),
        "tournament/cup": {
            "op": "error",
            "topic": "tournament/cup",
            "code": "not-found",
            "detail": "there is no tournament cup",
        },
    }

    async def play(app: WatchApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "there is no tournament cup" in text_of(app))
        await pilot.press("b")
        await until(pilot, lambda: isinstance(app.screen, LobbyScreen))

    drive(WatchApp(feed, Look(), tournament="cup"), play)
