"""An evening of matches that several people watch, and what each of them was told."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp
from sqlmodel import Session

from keltis_engine import VARIANTS
from keltis_ladder.dispatch.child import RefereeChild
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.orders import AT_ONCE_PRIORITY, Order, Purpose
from keltis_ladder.run.programs import keep_program
from keltis_ladder.spectate import patches
from keltis_ladder.spectate.live_match import LiveMatch
from keltis_ladder.store.archives import note_archive
from keltis_ladder.store.bots.accounts import AUTHOR_SCOPES, add_token
from keltis_ladder.store.bots.catalogue import add_version, ensure_author, ensure_bot, set_aside
from keltis_ladder.store.matches.matches import match_row
from keltis_ladder.store.matches.queue import add_job
from keltis_ladder.store.matches.watching import stored_match
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import JobState
from keltis_ladder.store.schema.version_states import VersionCause
from keltis_server.client.live import LiveClient
from keltis_server.http.endpoints import API
from keltis_server.play.games import GAMES
from keltis_server.settings import Quotas
from tests.ladder.support.small_bots import write_bot
from tests.server.support.serving import QUIET, Served, bearer, served

Message = dict[str, Any]

CALM = replace(QUIET, quotas=Quotas(requests_per_minute=1_000_000))
TABLES = [
    ("keltis", 2),
    ("neue-wege", 3),
    ("kartenspiel", 4),
    ("weg-der-steine", 2),
    ("keltis", 4),
    ("kartenspiel", 3),
]
PATIENT = TimeControl(bank_ms=600_000)  # for bots whose referee is held
# Lingers at the beginning of a game: a referee that waits says what it has, so that a game is told
# in many pieces.
STROLL = 'time.sleep(0.02 if request.view["turn"] < 40 else 0.002)\nreturn request.legal[-1]'
PATIENCE = 300.0  # seconds for anything that should happen soon: other tests need the machine, too


@dataclass
class Author:
    """Somebody with an account and a bot."""

    name: str
    token: str
    bot: str
    version: int  # its id


async def settle_in(
    server: Served, name: str, program: str, directory: Path | None = None
) -> Author:
    """Let somebody have an account, and a bot that plays only when it is told to.

    The bot is one of ours, or that of a directory.
    """
    kept = keep_program(server.site.home, directory)[1] if directory else None

    def work(session: Session) -> Author:
        author = ensure_author(session, name)
        _, token = add_token(session, author, AUTHOR_SCOPES, now())
        bot = ensure_bot(session, author, f"{name}-bot")
        if kept is not None:
            note_archive(session, kept)
        version, _ = add_version(
            session,
            bot,
            variants=VARIANTS,
            players=(2, 3, 4),
            archive=kept.digest if kept else None,
            program=None if kept else f"{program} 1",
        )
        assert version.id is not None
        set_aside(session, version.id, VersionCause.TAKEN_BACK, text="for tests")
        return Author(name, token, bot.name, version.id)

    return await server.site.write(work)


async def order(
    server: Served,
    variant: str,
    entrants: Iterable[Author],
    rated: bool = False,
    control: TimeControl | None = None,
    held: bool = False,
) -> str:
    """Have a match played as soon as possible, or held back for ever; return its id."""
    wanted = Order(
        variant,
        tuple(author.version for author in entrants),
        purpose=Purpose.CHALLENGE,
        rated=rated,
        priority=AT_ONCE_PRIORITY,
        control=control or TimeControl(),
    )

    def work(session: Session) -> str:
        job = add_job(session, wanted, now())
        if held:
            job.state = JobState.HELD
            session.add(job)
        return job.id

    return await server.site.write(work)


class Mirror:
    """What a client makes of the messages of a match: the views of its games."""

    def __init__(self) -> None:
        self.views: dict[int, list[Any]] = {}  # by rotation, one after each decision
        self.seqs: list[int] = []
        self.events: list[Message] = []
        self.restarts = 0
        self.attempts: list[str] = []  # to play it, whose games were told
        self.end: Message | None = None

    def take(self, message: Message) -> None:
        """Take a message of the match."""
        match message["op"]:
            case "snapshot":
                self.seqs = [message["seq"]]
                current = message["data"]["current"]
                if current is not None:
                    self._try(message["data"]["attempt"])
                    self._deal(current["rotation"], current["view"])
                    for frame in current["frames"]:
                        self._frame(frame)
            case "delta":
                self.seqs.append(message["seq"])
                for event in message["data"]:
                    self._happen(event)
            case "end":
                self.seqs.append(message["seq"])
                self.end = message["data"]

    def _happen(self, event: Message) -> None:
        self.events.append(event)
        match event["kind"]:
            case "game":
                self._try(event["attempt"])
                self._deal(event["rotation"], event["view"])
            case "frame":
                self._frame(event)
            case "restarted":
                assert event["reason_code"] == "platform"
                self.restarts += 1
                self.views.clear()

    def _try(self, attempt: str) -> None:
        if attempt not in self.attempts[-1:]:
            self.attempts.append(attempt)

    def _deal(self, rotation: int, view: Any) -> None:
        self.views[rotation] = [view]

    def _frame(self, frame: Message) -> None:
        views = self.views[frame["rotation"]]
        assert frame["ply"] == len(views) - 1
        views.append(patches.apply(frame["patch"], views[-1]))


@dataclass
class Watched:
    """One match of the evening."""

    id: str
    variant: str
    players: int
    entrants: list[Author]
    heard: dict[str, list[Message]] = field(default_factory=dict)  # by who listened
    visits: int = 0  # by the spy
    answers: list[tuple[str, str, str]] = field(default_factory=list)  # who, path, body
    truth: LiveMatch | None = None
    seed: str = ""
    secret: str = ""  # the server's part of it


@dataclass
class Evening:
    """All of it."""

    matches: list[Watched]
    lobby: list[Message]
    other: list[Message]  # of leaderboards and versions
    greetings: list[Message]  # what else a server says
    owner: Author


async def listen(
    url: str, token: str | None, form: Any, topics: list[str], until: int, there: asyncio.Event
) -> list[Message]:
    """Return all that a client hears until so many topics have ended; say when it follows all."""
    heard: list[Message] = []
    ended = snapshots = 0
    async with asyncio.timeout(PATIENCE), LiveClient(url, token, form) as live:
        for topic in topics:
            await live.subscribe(topic)
        async for message in live:
            heard.append(message)
            snapshots += message["op"] == "snapshot"
            if snapshots == len(topics):
                there.set()
            ended += message["op"] == "end" and message["topic"].startswith("match/")
            if ended == until:
                return heard
    return heard


async def spy(server: Served, match: Watched, tokens: dict[str, str | None]) -> None:
    """Ask by HTTP for everything about a match that is being played, as everybody."""
    live = server.app[GAMES].live
    bot = match.entrants[0].bot
    for who, token in tokens.items():
        for rotation in (0, match.players - 1):
            for viewer in ("public", "all", "1", bot):
                path = f"/matches/{match.id}/games/{rotation}/frames?viewer={viewer}"
                if match.id in live:
                    await _note(server, match, who, token, path)
        for path in (
            f"/matches/{match.id}",
            "/matches?state=playing",
            f"/matches/{match.id}/replay",
            "/seed-parts",
        ):
            if match.id in live:
                await _note(server, match, who, token, path)


async def _note(server: Served, match: Watched, who: str, token: str | None, path: str) -> None:
    headers = bearer(token) if token else {}
    async with server.http.get(server.url + API + path, headers=headers) as response:
        body = await response.text()
    if match.id in server.app[GAMES].live:  # else it may be over, and everything is told
        match.answers.append((who, path, body))


class Sluice:
    """Lets what the referees of a server tell of their matches through piece by piece.

    However slow or quick anybody is, a match gets no further for the server than a test has let
    it. The ends of referees pass; what a dead one had said is dropped by the dispatcher itself.
    """

    def __init__(self, dispatcher: LocalDispatcher) -> None:
        self._hear = dispatcher.hear
        self._held: deque[tuple[RefereeChild, Message]] = deque()
        self._came = asyncio.Event()
        self._open = False
        self._permits = 0
        dispatcher.hear = self._arrive  # type: ignore[method-assign]

    def let(self, pieces: int) -> None:
        """Let so many more pieces through, now or when they come."""
        self._permits += pieces
        self._flow()

    def open(self) -> None:
        """Hold nothing back any more."""
        self._open = True
        self._flow()

    async def step(self) -> None:
        """Wait for the next piece, and let it through."""
        while not self._held:
            self._came.clear()
            await self._came.wait()
        self.let(1)

    def _arrive(self, child: RefereeChild, message: Message) -> None:
        self._held.append((child, message))
        self._came.set()
        self._flow()

    def _flow(self) -> None:
        while self._held and (self._open or self._permits or not _is_piece(self._held[0][1])):
            if not self._open and _is_piece(self._held[0][1]):
                self._permits -= 1
            self._hear(*self._held.popleft())


def _is_piece(message: Message) -> bool:
    """Return whether a match goes on by it, or is over: it is no sign of life."""
    return message["kind"] == "result" or bool(message.get("entries"))


@cache
def evening() -> Evening:
    """Play one match of each kind, watched by several; once for all tests of a process."""
    with tempfile.TemporaryDirectory() as directory:
        return asyncio.run(_evening(Path(directory)))


async def _evening(directory: Path) -> Evening:
    async with served(directory, CALM) as server:
        games = server.app[GAMES]
        sluice = Sluice(games.dispatcher)
        games.drain(True)
        greetings = await _greetings(server)
        alice = await settle_in(server, "alice", "", write_bot(directory / "bots/alice", STROLL))
        others = [await settle_in(server, name, "random") for name in ("bob", "carol", "dave")]
        matches = []
        for variant, players in TABLES:
            entrants = [alice, *others][:players]
            id = await order(server, variant, entrants, control=PATIENT)
            matches.append(Watched(id, variant, players, entrants))
        public = [f"match/{match.id}" for match in matches]
        own = [f"match/{match.id}/bot/{alice.bot}" for match in matches]
        more = ["lobby", "leaderboard/all/0", f"version/{alice.bot}/1"]
        listeners: dict[str, tuple[str | None, str, list[str]]] = {
            "json": (None, "json", public),
            "msgpack": (others[0].token, "msgpack", public),
            "author": (alice.token, "msgpack", own),
            "lobby": (others[0].token, "json", [*more, *public]),
        }
        tasks: dict[str, asyncio.Task[list[Message]]] = {}
        for name, (token, form, topics) in listeners.items():
            there = asyncio.Event()
            work = listen(server.url, token, form, topics, len(matches), there)
            tasks[name] = asyncio.create_task(work)
            async with asyncio.timeout(PATIENCE):
                await there.wait()  # so that they see the matches from their beginning
        games.drain(False)
        tokens = {"anybody": None, "bob": others[0].token, "alice": alice.token}
        async with asyncio.timeout(PATIENCE):
            while any(match.visits < 2 for match in matches):
                await sluice.step()
                for match in matches:
                    if _worth_a_visit(match, games.live.get(match.id)):
                        match.visits += 1
                        await spy(server, match, tokens)
        sluice.open()
        heard = {name: await task for name, task in tasks.items()}
        for match in matches:
            for name in ("json", "msgpack", "author"):
                topic = f"match/{match.id}" + (f"/bot/{alice.bot}" if name == "author" else "")
                match.heard[name] = [m for m in heard[name] if m.get("topic") == topic]
            match.truth, match.seed, match.secret = await server.site.work(_truth, server, match.id)
        lobby = [m for m in heard["lobby"] if m.get("topic") == "lobby"]
        other = [
            m for m in heard["lobby"] if not str(m.get("topic")).startswith(("match", "lobby"))
        ]
        return Evening(matches, lobby, other, greetings, alice)


def _worth_a_visit(match: Watched, live: LiveMatch | None) -> bool:
    """Return whether there is something new: the first game, or the last, when most can be seen."""
    if live is None or match.visits == 2:
        return False
    return bool(live.games[-1].plies if match.visits else live.games[0].plies)


async def _greetings(server: Served) -> list[Message]:
    """Return what a client hears that goes and comes, and asks for what does not exist."""
    async with raw_socket(server) as socket:
        heard = [await next_json(socket)]
        again = {"epoch": heard[0]["epoch"], "since": 0}
        for wish in (
            {"op": "ping"},
            {"op": "subscribe", "topic": "nothing"},
            {"op": "subscribe", "topic": "lobby"},
            {"op": "subscribe", "topic": "lobby", **again},
        ):
            await socket.send_json(wish)
            heard.append(await next_json(socket))
        return heard


def _truth(server: Served, job_id: str) -> tuple[LiveMatch, str, str]:
    with server.site.database.reading() as session:
        row = match_row(session, job_id)
        assert row is not None
        assert row.secret is not None
        return stored_match(session, row), row.job.seed, row.secret


@asynccontextmanager
async def raw_socket(
    server: Served, **kwargs: Any
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """Open a websocket that does only what it is told."""
    async with server.http.ws_connect(server.url + API + "/live", **kwargs) as socket:
        yield socket


async def next_json(socket: aiohttp.ClientWebSocketResponse) -> Message:
    """Return the next message as JSON."""
    message: Message = json.loads(await socket.receive_str(timeout=PATIENCE))
    return message
