"""One author who does the worst that the quotas allow, and all others: ``make bench-shares``.

A real server with a ladder that plays at full pace. First it is measured without the greedy
author: how many rated matches a second, and how long from an upload to its first rated result.
Then that author has slow builds in the queue, tournaments of thousands of matches, and challenges
without end, and the same is measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import HTTPHandler, Request, build_opener

from sqlmodel import Session, func, select
from tests.ladder.support.small_bots import write_bot
from tests.server.support.archives import packed
from tests.system.support.servers import ServerProcess

from bench.keeping import keep
from keltis_ladder.store.bots.catalogue import add_version, ensure_author, ensure_bot
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_ladder.store.schema.tables import Bot, Match, Place, Version
from keltis_ladder.store.schema.version_states import VersionCause
from keltis_server.settings import NICE

SLOWER: Final = 3.0  # times: an upload may take so much longer
LEFT: Final = 0.5  # of the rated matches that must still be played
VARIANT: Final = "weg-der-steine"
TABLE: Final = {"variants": [VARIANT], "players": [2]}
SLOW_BUILD: Final = ["sh", "-c", "while :; do :; done"]  # until the limit of builds
TOURNAMENTS: Final = 3
OTHERS: Final = 8  # bots of as many authors that are on the ladder
PATIENCE: Final = 600.0  # seconds for an upload to be rated


class From(HTTPHandler):
    """Connects from an address of this machine."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self._source = source

    def http_open(self, request: Request) -> HTTPResponse:
        """Send a request."""
        return self.do_open(HTTPConnection, request, source_address=(self._source, 0))


class Author:
    """Somebody with an account."""

    def __init__(self, url: str, name: str, scratch: Path, source: str = "127.0.0.1") -> None:
        self._url = url
        self._scratch = scratch
        self._opener = build_opener(From(source))
        opened = json.loads(self.post("/accounts", json.dumps({"name": name}).encode()))
        self._token = opened["token"]

    _token = ""

    def post(self, path: str, body: bytes, kind: str = "application/json") -> bytes:
        """Return what the API answers to POST."""
        headers = {"Content-Type": kind}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        request = Request(f"{self._url}/api/v1{path}", body, headers)
        with self._opener.open(request, timeout=PATIENCE) as answer:
            found: bytes = answer.read()
            return found

    def upload(self, name: str, **fields: Any) -> None:
        """Upload a small bot."""
        bot = write_bot(self._scratch / name, **{**TABLE, **fields})
        self.post("/bots", packed(bot), "application/octet-stream")


class GreedyAuthor(threading.Thread):
    """Takes all that one author can get, until told to stop."""

    def __init__(self, author: Author) -> None:
        super().__init__(daemon=True)
        self.author = author
        self.stopped = threading.Event()
        self.challenges = 0

    def prepare(self, wait_until_rated: Callable[[str], float]) -> None:
        """Have a bot on the ladder, then slow builds in the queue and tournaments under way."""
        self.author.upload("grabber")
        wait_until_rated("grabber")
        for number in range(8):
            self.author.upload(f"sluggish-{number}", build=SLOW_BUILD)
        for number in range(TOURNAMENTS):
            plan = {
                "name": f"endless-{number}",
                "format": "round-robin",
                "bots": ["grabber", "other-2", "other-3"],
                "variants": [VARIANT],
                "matches": 1000,
            }
            self.author.post("/tournaments", json.dumps(plan).encode())
            self.author.post(f"/tournaments/endless-{number}/start", b"{}")

    def run(self) -> None:
        """Have as many challenges under way as there may be."""
        body = {"bot": "grabber", "opponents": ["other-2"], "variant": VARIANT}
        while not self.stopped.wait(0.05):
            try:
                self.author.post("/challenges", json.dumps(body).encode())
                self.challenges += 1
            except HTTPError as error:
                error.read()
                self.stopped.wait(0.5)  # too many at once, or in this hour


def fill(session: Session) -> None:
    """Put bots on a ladder: ``random`` under many names and authors, with the quickest game."""
    for number in range(OTHERS):
        add_version(
            session,
            ensure_bot(session, ensure_author(session, f"author-{number}"), f"other-{number}"),
            variants=[VARIANT],
            players=[2],
            program="random 0",
            cause=VersionCause.ENTERED,
        )


def rated(session: Session) -> int:
    """Count the rated matches that are stored."""
    return session.exec(select(func.count()).select_from(Match).where(Match.rated)).one()


def rated_of(session: Session, bot: str) -> int:
    """Count the rated matches of a bot."""
    query = (
        select(func.count())
        .select_from(Place)
        .join(Match, Match.number == Place.match_number)  # type: ignore[arg-type]
        .join(Version, Version.id == Place.version_id)  # type: ignore[arg-type]
        .join(Bot, Bot.id == Version.bot_id)  # type: ignore[arg-type]
        .where(Match.rated, Bot.name == bot)
    )
    return session.exec(query).one()


class Measuring:
    """Looks at the ladder's database while the server works."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def ask(self, question: Callable[[Session], int]) -> int:
        with self.database.reading() as session:
            return question(session)

    def rated_per_second(self, seconds: float) -> float:
        """Return how many rated matches a second are stored."""
        before, begin = self.ask(rated), time.monotonic()
        time.sleep(seconds)
        return (self.ask(rated) - before) / (time.monotonic() - begin)

    def until_rated(self, bot: str) -> float:
        """Return after how many seconds a bot has its first rated result."""
        begin = time.monotonic()
        while not self.ask(lambda session: rated_of(session, bot)):
            if time.monotonic() - begin > PATIENCE:
                raise RuntimeError(f"{bot} is not rated after {PATIENCE:.0f} s")
            time.sleep(0.05)
        return time.monotonic() - begin

    def upload_seconds(self, author: Author, names: list[str]) -> list[float]:
        """Upload bots, each when the one before is rated; return how long each took."""
        taken = []
        for name in names:
            begin = time.monotonic()
            author.upload(name)
            self.until_rated(name)
            taken.append(round(time.monotonic() - begin, 2))
            print(f"{name}: rated after {taken[-1]} s", file=sys.stderr)
        return taken


def measure(uploads: int, seconds: float, nice: int) -> dict[str, Any]:
    """Measure a server without and with a greedy author."""
    with tempfile.TemporaryDirectory(prefix="keltis-shares-") as scratch:
        data = Path(scratch) / "ladder"
        home = Home(data, str(data / "ladder.db"))
        database = home.open()
        database.write(fill)
        options = ("--port", "0", "--no-house", "--settled-below", "0")
        with ServerProcess(data, *options, KELTIS_NICE=str(nice)) as server:
            measuring = Measuring(database)
            modest = Author(server.url, "modest-one", Path(scratch))
            measuring.upload_seconds(modest, ["warm-up"])
            quiet = {
                "upload_s": measuring.upload_seconds(modest, [f"calm-{n}" for n in range(uploads)]),
                "rated_per_s": round(measuring.rated_per_second(seconds), 2),
            }
            greedy = GreedyAuthor(Author(server.url, "greedy-one", Path(scratch)))
            greedy.prepare(measuring.until_rated)
            greedy.start()
            time.sleep(3)  # let it come to speed
            crowded: dict[str, Any] = {
                "rated_per_s": round(measuring.rated_per_second(seconds), 2),
                "upload_s": measuring.upload_seconds(modest, [f"busy-{n}" for n in range(uploads)]),
            }
            greedy.stopped.set()
            greedy.join()
            crowded["challenges"] = greedy.challenges
            measuring.database.close()
            server.stop()
    return {"quiet": quiet, "beside a greedy author": crowded}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.server.shares", description=__doc__)
    parser.add_argument("--uploads", type=int, default=4, help="in each half")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--nice", type=int, default=NICE, help="as for serve")
    parser.add_argument("--quick", action="store_true", help="only see whether it runs")
    options = parser.parse_args()
    if options.quick:
        options.uploads, options.seconds = 1, 10.0
    load = os.getloadavg()[0]
    found = measure(options.uploads, options.seconds, options.nice)
    quiet, crowded = found["quiet"], found["beside a greedy author"]
    slower = max(crowded["upload_s"]) / (sum(quiet["upload_s"]) / len(quiet["upload_s"]))
    left = crowded["rated_per_s"] / quiet["rated_per_s"]
    verdicts = {
        "upload, times slower": {"measured": round(slower, 2), "met": slower <= SLOWER},
        "rated matches left": {"measured": round(left, 2), "met": left >= LEFT},
    }
    record = {
        "load_before": round(load, 2),
        "verdicts": verdicts,
        **found,
    }
    print(json.dumps(record, indent=1))
    if not options.quick:
        keep("shares", record)
    sys.exit(0 if all(verdict["met"] for verdict in verdicts.values()) else 1)


if __name__ == "__main__":
    main()
