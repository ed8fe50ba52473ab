"""The server under load, beside matches that are played: ``make bench-server``.

Three questions. How long do 500 leaderboard requests a second take while the ladder plays on all
cores? How long does the simplest request take meanwhile? And how long is it from the upload of a
quick bot to its first rated result on a server with nothing but our own bots?
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

from sqlmodel import Session
from tests.system.support.servers import ServerProcess

from bench.keeping import keep
from bench.store import MadeUp
from keltis_engine import VARIANTS
from keltis_ladder.match.orders import Order
from keltis_ladder.store.bots.catalogue import add_version, ensure_author, ensure_bot
from keltis_ladder.store.home import Home
from keltis_ladder.store.matches.finishing import finish
from keltis_ladder.store.matches.queue import add_job
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.version_states import VersionCause
from keltis_server.settings import NICE

RATE: Final = 500
SEED: Final = 1
GOALS: Final = {
    "leaderboard p99, ms": 50.0,
    "leaderboard of one kind p99, ms": 50.0,
    "simplest request p99, ms": 20.0,
    "upload to first rated result, s": 10.0,
}


def fill(home: Home, bots: int, matches: int) -> None:
    """Put bots with results on a ladder: our own programs under many names and authors.

    All of them are ``random`` and ``greedy``, so that what is played beside the requests is real.
    """
    database = home.open()
    drawn = MadeUp(bots)

    def enter(session: Session) -> list[int]:
        found = []
        for number in range(bots):
            author = ensure_author(session, f"author-{number}")
            program = "greedy 0" if number % 2 else "random 0"
            version, _ = add_version(
                session,
                ensure_bot(session, author, f"bot-{number:04}"),
                variants=list(VARIANTS),
                players=[2, 3, 4],
                program=program,
                cause=VersionCause.ENTERED,
            )
            assert version.id is not None
            found.append(version.id)
        return found

    versions = database.write(enter)
    for number in range(matches):
        variant, entrants = drawn.table()
        with database.writing() as session:
            entered = tuple(versions[entrant] for entrant in entrants)
            order = Order(variant, entered, seed=number + 1)
            job = add_job(session, order, now())
            finish(session, job.id, drawn.rows(variant, entrants), now())
        if number % 500 == 0:
            print(f"\r{number} of {matches} matches", end="", file=sys.stderr)
    print(file=sys.stderr)
    database.close()


def load(url: str, rate: float, seconds: float, *headers: str) -> dict[str, Any]:
    """Send requests at a rate from a process of their own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.server.http_load", url, str(rate), str(seconds), *headers],
        capture_output=True,
        text=True,
        check=True,
        timeout=seconds + 120,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def requests(bots: int, matches: int, seconds: float) -> dict[str, Any]:
    """Measure requests beside a ladder that plays on all cores."""
    with tempfile.TemporaryDirectory(prefix="keltis-server-") as scratch:
        home = Home(Path(scratch), str(Path(scratch) / "ladder.db"))
        fill(home, bots, matches)
        options = ("--port", "0", "--requests-per-minute", "10000000")
        with ServerProcess(Path(scratch), *options, KELTIS_NICE=str(NICE)) as server:
            time.sleep(3)  # let it come to speed
            board = f"{server.url}/api/v1/leaderboard"
            with urlopen(Request(board)) as answer:
                size = len(answer.read())
            before = server.get("/readyz")["matches"]
            begin = time.monotonic()
            found = {
                "lines": bots,
                "body_bytes": size,
                "leaderboard": load(board, RATE, seconds),
                "leaderboard of one kind": load(f"{board}?variant=keltis&players=4", RATE, seconds),
                "simplest request": load(f"{server.url}/healthz", 100, seconds),
                "simplest request of the API": load(f"{server.url}/api/v1", 100, seconds),
            }
            rate = (server.get("/readyz")["matches"] - before) / (time.monotonic() - begin)
            found["matches_per_second_meanwhile"] = round(rate, 2)
            server.stop()
            return found


def submissions(count: int) -> dict[str, Any]:
    """Submit quick bots; return the seconds until their first rated result.

    Half of them each to a server of its own with only our own bots, half to one that plays on all
    cores with those that came before.
    """
    idle = [_to_a_server(1)[0] for _ in range(count)]
    busy = _to_a_server(1 + count)[1:]
    return {
        "idle_s": [round(each, 2) for each in idle],
        "busy_s": [round(each, 2) for each in busy],
        "worst": round(max(idle), 2),
    }


def _to_a_server(count: int) -> list[float]:
    with tempfile.TemporaryDirectory(prefix="keltis-submit-") as scratch:
        data = Path(scratch) / "ladder"
        with ServerProcess(data, "--port", "0", KELTIS_NICE=str(NICE)) as server:
            server.wait_for(lambda: server.get("/readyz")["matches"] >= 1)
            taken = []
            for number in range(count):
                taken.append(_submit(Path(scratch), server, f"quick-{number}"))
                print(f"{taken[-1]:.1f} s", file=sys.stderr)
            server.stop()
    return taken


def _submit(scratch: Path, server: ServerProcess, name: str) -> float:
    command = [sys.executable, "-m", "keltis_cli"]
    directory = scratch / name
    subprocess.run([*command, "init", str(directory)], check=True, capture_output=True)
    manifest = directory / "bot.toml"
    text = re.sub(r"(?m)^name = .*$", f'name = "{name}"', manifest.read_text())
    manifest.write_text(text)
    begin = time.monotonic()
    done = subprocess.run(
        [*command, "submit", str(directory), "--no-check", "--json"],
        env={**os.environ, "KELTIS_DATA": str(server.data)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"submit failed: {done.stdout}{done.stderr}")
    return time.monotonic() - begin


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.server.load", description=__doc__)
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--matches", type=int, default=4_000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--submissions", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="only see whether it runs")
    options = parser.parse_args()
    random.seed(SEED)
    if options.quick:
        options.bots, options.matches, options.seconds, options.submissions = 20, 200, 2.0, 1
    found = {
        "requests": requests(options.bots, options.matches, options.seconds),
        "submission": submissions(options.submissions),
    }
    measured = {
        "leaderboard p99, ms": found["requests"]["leaderboard"]["p99_ms"],
        "leaderboard of one kind p99, ms": found["requests"]["leaderboard of one kind"]["p99_ms"],
        "simplest request p99, ms": found["requests"]["simplest request"]["p99_ms"],
        "upload to first rated result, s": found["submission"]["worst"],
    }
    verdicts = {
        name: {"measured": value, "goal": GOALS[name], "met": value < GOALS[name]}
        for name, value in measured.items()
    }
    print(json.dumps({"verdicts": verdicts, **found}, indent=1))
    if not options.quick:
        keep("server", {"verdicts": verdicts, **found})


if __name__ == "__main__":
    main()
