"""Watching without a screen: lines for a pipe, or the messages themselves for programs."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from keltis_cli.draw.look import Look
from keltis_cli.draw.printable import printable
from keltis_cli.draw.tables.standings import standings_lines
from keltis_cli.remote.connect.troubles import Refused
from keltis_cli.watch.feed import Feed
from keltis_cli.watch.lobby import LobbyModel, now
from keltis_cli.watch.model import ALL, MatchModel, Message
from keltis_cli.watch.screens.match_picture import result_text
from keltis_cli.watch.teller import Teller, head, tail
from keltis_cli.watch.tournament import TournamentModel
from keltis_cli.watch.tv import choose

LOBBY: Final = "lobby"
WIDTH: Final = 120  # cells of a table that nobody measures
LOOK_AGAIN: Final = 0.5  # seconds
SIGN_OF_LIFE_SECONDS: Final = 60.0  # of silence until we say that we still watch; then ever longer


@asynccontextmanager
async def heard(feed: Feed, *topics: str) -> AsyncIterator[asyncio.Queue[Message | None]]:
    """Collect what is told of topics; after the last message, or if it breaks, comes ``None``."""
    queue: asyncio.Queue[Message | None] = asyncio.Queue()
    running = asyncio.create_task(feed.run())
    running.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        for topic in topics:
            await feed.follow(topic, queue.put_nowait)
        yield queue
    finally:
        running.cancel()
        for topic in topics:
            await feed.leave(topic)
        await asyncio.gather(running, return_exceptions=True)
    if not running.cancelled():
        running.result()


async def next_message(messages: asyncio.Queue[Message | None]) -> Message | None:
    """Return the next message, none after the last; say on the error output that we still wait."""
    begin = time.monotonic()
    pause = SIGN_OF_LIFE_SECONDS
    while True:
        try:
            return await asyncio.wait_for(messages.get(), pause)
        except TimeoutError:
            silence = time.monotonic() - begin
            print(f"still watching, nothing new for {silence:.0f} s", file=sys.stderr, flush=True)
            pause = silence


def say(line: str) -> None:
    """Print a line at once: somebody may be reading it as it comes."""
    print(line, flush=True)


async def tell_match(feed: Feed, match: str, look: Look) -> None:
    """Tell a match to its end; one that is over from its beginning."""
    plain = await feed.match(match)
    model = MatchModel()
    if plain is not None:
        model.expect(plain)
    if model.over:
        await _tell_again(feed, match, model, look)
        return
    model = MatchModel()
    teller = Teller(model, look)
    async with heard(feed, f"match/{match}") as messages:
        while not teller.done and (message := await next_message(messages)) is not None:
            model.take(message)
            if model.problem:
                raise Refused(model.problem)
            for line in teller.lines():
                say(line)


async def _tell_again(feed: Feed, match: str, model: MatchModel, look: Look) -> None:
    teller = Teller(model, look, ALL)
    for rotation in model.begun:
        model.load(await feed.frames(match, rotation, ALL), ALL)
    for line in teller.lines():
        say(line)


async def tell_lobby(feed: Feed, look: Look) -> None:
    """Tell what begins and what ends, until somebody has heard enough."""
    lobby = LobbyModel()
    known: set[str] = set()
    async with heard(feed, LOBBY) as messages:
        while (message := await next_message(messages)) is not None:
            before = set(lobby.running) | {past.facts.id for past in lobby.recent}
            lobby.take(message)
            if message["op"] == "snapshot":
                known.update(past.facts.id for past in lobby.recent)
            for running in lobby.running.values():
                if running.facts.id not in before:
                    say(head(running.facts))
            for past in reversed(lobby.recent):
                if past.facts.id not in known:
                    known.add(past.facts.id)
                    say(tail(past.facts, look))


async def tell_tv(feed: Feed, look: Look) -> None:
    """Tell one match after the other, the most interesting first, until somebody has enough."""
    lobby = LobbyModel()
    shown: dict[str, None] = {}
    while True:
        async with heard(feed, LOBBY) as messages:
            choice = None
            while choice is None:
                try:
                    message = await asyncio.wait_for(messages.get(), LOOK_AGAIN)
                except TimeoutError:
                    message = {"op": "nothing"}
                if message is None:
                    return
                lobby.take(message)
                choice = choose(lobby, now(), shown)
        shown[choice.facts.id] = None
        await tell_match(feed, choice.facts.id, look)


async def tell_tournament(feed: Feed, name: str, look: Look) -> None:
    """Tell the results of a tournament as they come, and the table in the end."""
    model, lobby = TournamentModel(), LobbyModel()
    told: set[str] = set()
    topic = f"tournament/{name}"
    async with heard(feed, topic, LOBBY) as messages:
        while not model.ended and (message := await next_message(messages)) is not None:
            if message.get("topic") == topic:
                first = model.course is None
                model.take(message)
                if model.problem:
                    raise Refused(model.problem)
                if first and model.course is not None:
                    course = model.course
                    say(f"{course.name}: {course.played} of {course.total} matches played.")
            else:
                lobby.take(message)
                new = [one for one in lobby.recent_of(name) if one.facts.id not in told]
                told.update(one.facts.id for one in new)
                for past in reversed(new if message["op"] == "delta" else []):
                    facts = past.facts
                    say(f"{facts.reason}: {result_text(facts, look)}")
    if model.course is not None:
        for line in standings_lines(model.course.tables, WIDTH, look):
            say(line.plain)


async def print_messages(feed: Feed, topic: str) -> None:
    """Print the messages of a topic as JSON, one in a line, to the last one."""
    async with heard(feed, topic) as messages:
        while (message := await messages.get()) is not None:
            say(_line(message))
            if message["op"] == "error":
                raise Refused(printable(str(message.get("detail") or message.get("code"))))
            if message["op"] == "end":
                return


async def print_match(feed: Feed, match: str) -> None:
    """Print the messages of a match; of one that is over its games as well, before the end."""
    plain = await feed.match(match)
    if plain is not None and plain["state"] == "finished":
        for game in plain["games"]:
            frames = await feed.frames(match, game["rotation"], ALL)
            say(_line({"op": "frames", "topic": f"match/{match}", "data": frames}))
    await print_messages(feed, f"match/{match}")


def _line(message: Message) -> str:
    plain: dict[str, Any] = dict(message)
    return json.dumps(plain, separators=(",", ":"))


def say_connection(connected: bool) -> None:
    """Say that the connection is lost, or there again; not as a part of the output."""
    text = "connected again" if connected else "connection lost, trying again"
    print(text, file=sys.stderr, flush=True)


def print_connection(connected: bool) -> None:
    """Print the same for programs."""
    say(_line({"op": "back" if connected else "lost"}))
