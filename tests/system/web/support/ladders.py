"""Ladders to look at: bots that take their time, and results that were really played."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

from sqlmodel import Session

from keltis_engine import VARIANTS
from keltis_ladder.match.orders import Order
from keltis_ladder.run.programs import enter_program, keep_program
from keltis_ladder.store.bots.accounts import AUTHOR_SCOPES, add_token
from keltis_ladder.store.bots.catalogue import activate, add_version, ensure_author, ensure_bot
from keltis_ladder.store.home import Home
from keltis_ladder.store.matches.finishing import finish
from keltis_ladder.store.matches.queue import add_job
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.version_states import VersionCause
from keltis_server.site.local_key import FILE
from tests.ladder.store.support.results import real
from tests.ladder.support.arena import processes_with
from tests.ladder.support.small_bots import write_bot
from tests.system.support.servers import PATIENCE, ServerProcess

AUTHOR: Final = "maeve"
RIVAL: Final = "brigid"
WALKERS: Final = {"heron": AUTHOR, "wren": RIVAL}  # they play on the ladder, on and on
# They wait for challenges: bots of one author are not matched. Their games can be watched.
STROLLERS: Final = {"snail": AUTHOR, "tortoise": AUTHOR}
OTHERS: Final = ("alder", "birch", "crow")  # only names and results: they do not play any more
QUICK: Final = 0.01  # seconds for a decision
THINKS: Final = 0.06
WALK: Final = "time.sleep({})\nreturn request.legal[0]"


@dataclass
class Ladder:
    """A ladder that is served, and can be stopped and started again at the same address."""

    server: ServerProcess
    token: str
    options: tuple[str, ...]
    mark: str = ""  # in the commands of those who take their time

    @property
    def url(self) -> str:
        """Where it is."""
        return self.server.url

    def stop(self) -> None:
        """Stop the server; whatever it has stays."""
        assert self.server.stop() == 0, self.server.output

    def start(self) -> None:
        """Start it again, at the same address."""
        self.server = ServerProcess(self.server.data, *self.options)
        self.server.__enter__()

    def get(self, path: str) -> Any:
        """Return what the API answers."""
        return self.server.get(f"/api/v1{path}")

    def post(self, path: str, body: Any, token: str = "") -> Any:
        """Have something done, as the author unless another token is given."""
        request = Request(
            f"{self.url}/api/v1{path}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {token or self.token}"},
        )
        with urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Let nobody play for as long as the block lasts."""
        key = json.loads((self.server.data / FILE).read_text())["key"]
        self.post("/admin/drain", {}, key)
        self.server.wait_for(lambda: not self.get("/matches?state=playing&limit=1")["items"])
        try:
            yield
        finally:
            self.post("/admin/resume", {}, key)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have those who take their time think for as long as the block lasts.

        However slow the browser is, their match gets no further meanwhile.
        """
        stopped = processes_with(self.mark)
        assert stopped, "they do not play"
        try:
            _signal(stopped, signal.SIGSTOP)
            yield
        finally:
            _signal(stopped, signal.SIGCONT)

    def challenge(self, variant: str = "keltis") -> str:
        """Have those who take their time play each other; return the id of the match."""
        one, other = STROLLERS
        asked = self.post("/challenges", {"bot": one, "opponents": [other], "variant": variant})
        id: str = asked["id"]
        return id

    def wait_until(self, match: str, state: str) -> Any:
        """Wait until a match is so far; return it."""
        deadline = time.monotonic() + PATIENCE
        while (found := self.get(f"/matches/{match}"))["state"] != state:
            assert time.monotonic() < deadline, f"waited in vain for {state}: {found}"
            time.sleep(0.05)
        return found


def _signal(processes: Sequence[int], number: signal.Signals) -> None:
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def free_port() -> int:
    """Return a port that nobody has."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def fill(directory: Path, scratch: Path, thinks: float = THINKS, mark: str = "") -> str:
    """Put bots and results of every game on a ladder; return the token of their author."""
    home = Home(directory, str(directory / "ladder.db"))
    database = home.open()
    owners = {**WALKERS, **STROLLERS}
    cards: dict[str, Any] = {"players": [2], "variants": ["kartenspiel", "weg-der-steine"]}
    boards: dict[str, Any] = {"players": [2], "variants": ["keltis", "neue-wege"]}
    bots = [write_bot(scratch / name, WALK.format(QUICK), **cards) for name in WALKERS]
    stroll = WALK.format(thinks)
    bots += [write_bot(scratch / name, stroll, token=mark, **boards) for name in STROLLERS]
    kept = [keep_program(home, bot) for bot in bots]

    def enter(session: Session) -> str:
        author = ensure_author(session, AUTHOR)
        versions = []
        for manifest, program in kept:
            owner = ensure_author(session, owners[manifest.name])
            version = enter_program(session, owner, manifest, program, VersionCause.UPLOADED)
            activate(session, version)
            versions.append(version.id)
        for name in OTHERS:
            version, _ = add_version(
                session,
                ensure_bot(session, author, name),
                variants=list(VARIANTS),
                players=[2, 3, 4],
                program="random 0",
                description=f"{name} goes where the wind goes.",
            )
            versions.append(version.id)
        store_results(session, [each for each in versions if each is not None])
        return add_token(session, author, AUTHOR_SCOPES, now())[1]

    token = database.write(enter)
    database.close()
    return token


def store_results(session: Session, versions: Sequence[int]) -> None:
    """Store matches of every game for every number of players; in one of them heron drops out."""
    seed = 0
    for variant in VARIANTS:
        for players in (2, 2, 2, 3, 4):
            seed += 1
            drops = {0: (0, 20)} if seed == 7 else None
            entrants = tuple(versions[(seed + k) % len(versions)] for k in range(players))
            job = add_job(session, Order(variant, entrants, seed=seed), now())
            finish(session, job.id, real(variant, players, seed, drops), now())


def open_ladder(
    directory: Path, scratch: Path, *more: str, thinks: float = THINKS, **environment: str
) -> Ladder:
    """Fill a ladder and serve it."""
    mark = f"stroller-{uuid.uuid4().hex}"
    token = fill(directory, scratch, thinks, mark)
    options = (
        "--port", str(free_port()), "--no-house", "--requests-per-minute", "100000",
        "--bank", "600000", *more,
    )  # fmt: skip
    server = ServerProcess(directory, *options, **environment)
    server.__enter__()
    return Ladder(server, token, options, mark)
