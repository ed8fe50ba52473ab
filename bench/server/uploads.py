"""How long the server stands still while strangers upload: ``make bench-uploads``.

A thousand archives, ordinary and hostile, are uploaded by four authors at once, in rounds. Another
process asks for /healthz every 5 ms meanwhile, and between the rounds, when nobody uploads.

An answer may be late because the event loop did something else, which is ours, or because the
machine had no core for the server or for the client. The kernel counts the latter for each thread
(the run delay in ``schedstat``): what is left without it is ``ours``. A third process only sleeps
and wakes, as a control of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import bz2
import contextlib
import gzip
import http.client
import json
import lzma
import os
import random
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
from tests.server.support import archives
from tests.system.support.servers import ServerProcess

from bench.keeping import keep

AUTHORS: Final = 4
EVERY: Final = 0.005  # seconds between two questions
QUIET: Final = 5.0  # seconds of each pause between two rounds
GOAL: Final = 50.0  # ms by which an answer may be late, without what is the machine's
MIB: Final = 1 << 20
SEED: Final = 1
HERE: Final = "127.0.0.1"

Maker = Callable[[random.Random, int], bytes]
COMPRESS: Final = tuple(archives.COMPRESSIONS.values())
PLAYS_FIRST: Final = b"from keltis_bots import run\nrun(lambda request: request.legal[0])\n"


def bot_of(author: int) -> list[tuple[str, bytes]]:
    """Return the files of an author's one bot."""
    manifest = f"""
name = "bot-{author}"
run = ["python3", "bot.py"]
variants = ["weg-der-steine"]
players = [2]
"""
    book = ("book", bytes(range(256)) * 512)
    return [("bot.toml", manifest.encode()), ("bot.py", PLAYS_FIRST), book]


def ordinary(draw: random.Random, author: int) -> bytes:
    """Return the author's bot, packed in one way or another: it is a new version once."""
    files = bot_of(author)
    if draw.random() < 0.3:
        return archives.zipped(files)
    return draw.choice(COMPRESS)(archives.tarred(files))


def damaged(draw: random.Random, author: int) -> bytes:
    """Return an ordinary archive with some bytes changed."""
    data = bytearray(ordinary(draw, author))
    for _ in range(draw.randrange(1, 6)):
        data[draw.randrange(len(data))] = draw.randrange(256)
    return bytes(data[: draw.randrange(len(data) // 2, len(data) + 1)])


def many_files(draw: random.Random, author: int) -> bytes:
    """Return as many empty files as are allowed, or a few more."""
    count = draw.choice([2_000, 9_999, 12_000])
    return gzip.compress(archives.tarred([(f"{n % 100}/{n}", b"") for n in range(count)]), 1)


def slow_manifest(draw: random.Random, author: int) -> bytes:
    """Return a bot.toml that takes a minute to read: a name of very many parts."""
    return archives.zipped([("bot.toml", b".".join([b"a"] * 20_000) + b" = 1")])


def many_streams(draw: random.Random, author: int) -> bytes:
    """Return a compressed tar with thousands of empty streams behind it."""
    kinds: list[Callable[[bytes], bytes]] = [gzip.compress, bz2.compress, lzma.compress]
    return archives.many_streams(draw.choice(kinds), 20_000)


# How often each comes among a thousand.
KINDS: Final[dict[str, tuple[int, Maker]]] = {
    "ordinary": (400, ordinary),
    "damaged": (300, damaged),
    "digits in a header": (60, lambda *_: archives.digits()),
    "digits in a comment": (60, lambda _, author: archives.digits_in_a_comment(bot_of(author))),
    "many streams": (30, many_streams),
    "remarks in a zip": (30, lambda *_: archives.many_extras(100)),
    "holes": (20, lambda *_: archives.endless_holes()),
    "headers about headers": (20, lambda *_: archives.deep_headers()),
    "greedy xz": (20, lambda *_: archives.greedy_xz()),
    "zip bomb": (20, lambda *_: archives.zip_bomb(2 * archives.GIB)),
    "tar bomb": (20, lambda *_: archives.tar_bomb(archives.GIB, 0)),
    "many files": (18, many_files),
    "slow bot.toml": (2, slow_manifest),
}


def drawn(count: int, draw: random.Random) -> list[str]:
    """Return the kinds of so many archives in a random order, each at least once."""
    total = sum(weight for weight, _ in KINDS.values())
    found = [
        kind
        for kind, (weight, _) in KINDS.items()
        for _ in range(max(1, round(count * weight / total)))
    ]
    draw.shuffle(found)
    return found


class RunDelay:
    """For how long the threads of a process were ready to run and got no core."""

    def __init__(self, pid: int) -> None:
        self._tasks = Path(f"/proc/{pid}/task")
        self._before = self._now()

    def _now(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for task in os.listdir(self._tasks):  # noqa: PTH208 - quicker, often read
            with contextlib.suppress(OSError):  # it has ended
                found[task] = int((self._tasks / task / "schedstat").read_bytes().split()[1])
        return found

    def since(self) -> float:
        """Return the most ms that one thread waited since this was asked last.

        The event loop may wait for a core itself, or for a thread that holds the interpreter.
        """
        before, self._before = self._before, self._now()
        waited = (now - before.get(task, 0) for task, now in self._before.items())
        return max(waited, default=0) / 1e6


def poll(url: str, pid: int) -> None:
    """Ask for /healthz until stdin ends; print by how many ms each answer came after it was due.

    And for how many of these the machine had no core for the server or for us.
    """
    parts = urlsplit(url)
    assert parts.hostname is not None
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=300)
    late: list[tuple[float, float]] = []
    server, here = RunDelay(pid), RunDelay(os.getpid())
    due = time.perf_counter()
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], max(0.0, due - time.perf_counter()))[0]:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        came = 1000 * (time.perf_counter() - due)
        late.append((round(came, 3), round(min(came, server.since() + here.since()), 3)))
        due = max(due + EVERY, time.perf_counter())  # what a pause makes late is counted once
    json.dump(late, sys.stdout)


def control() -> None:
    """Sleep and wake as often as the other asks; print by how many ms each waking was late."""
    late: list[tuple[float, float]] = []
    due = time.perf_counter()
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], max(0.0, due - time.perf_counter()))[0]:
        late.append((round(1000 * (time.perf_counter() - due), 3), 0.0))
        due = max(due + EVERY, time.perf_counter())
    json.dump(late, sys.stdout)


class Watcher:
    """A process that measures for as long as the block lasts."""

    def __init__(self, *options: str) -> None:
        self.late: list[tuple[float, float]] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.server.uploads", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Watcher:
        """Wait until it has begun."""
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"
        return self

    def __exit__(self, *_: object) -> None:
        """Have it tell what it has seen."""
        said, _words = self._process.communicate()
        self.late = [(came, machine) for came, machine in json.loads(said)]


class Watch:
    """What was seen in all rounds, or in all pauses."""

    def __init__(self, server: ServerProcess) -> None:
        self._poll = ["--poll", server.url, "--pid", str(server.process.pid)]
        self.late: list[float] = []  # answers of /healthz
        self.ours: list[float] = []  # without what was the machine's
        self.control: list[float] = []

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Measure while the block lasts."""
        with Watcher("--control") as control, Watcher(*self._poll) as poller:
            yield
        self.late += [came for came, _ in poller.late]
        self.ours += [came - machine for came, machine in poller.late]
        self.control += [came for came, _ in control.late]

    def to_plain(self) -> dict[str, dict[str, float]]:
        """Return it in a few figures."""
        parts = {"answers": self.late, "ours": self.ours, "control": self.control}
        return {name: summary(values) for name, values in parts.items()}


def client(source: str) -> aiohttp.ClientSession:
    """Return a client at an address of this machine, which waits for as long as it takes."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(local_addr=(source, 0)),
        timeout=aiohttp.ClientTimeout(total=None),
    )


async def register(url: str, source: str = HERE, who: str = "author") -> list[dict[str, str]]:
    """Open the accounts; return what each author sends as a header."""
    found = []
    async with client(source) as session:
        for number in range(AUTHORS):
            name = {"name": f"{who}-{number}"}
            async with session.post(f"{url}/api/v1/accounts", json=name) as answer:
                found.append({"Authorization": f"Bearer {(await answer.json())['token']}"})
    return found


async def upload(
    url: str,
    authors: list[dict[str, str]],
    queues: list[list[tuple[str, bytes]]],
    source: str = HERE,
) -> Counter[str]:
    """Let each author upload one after the other; return how each kind was answered."""
    answers: Counter[str] = Counter()

    async def one_author(headers: dict[str, str], queue: list[tuple[str, bytes]]) -> None:
        for kind, data in queue:
            async with session.post(f"{url}/api/v1/bots", data=data, headers=headers) as answer:
                await answer.read()
                answers[f"{kind}: {answer.status}"] += 1

    async with client(source) as session:
        await asyncio.gather(*map(one_author, authors, queues))
    return answers


def is_checked(server: ServerProcess, author: int) -> bool:
    """Return whether the bot of an author may play."""
    state: str = server.get(f"/api/v1/bots/bot-{author}")["state"]
    return state == "active"


def measure(count: int, rounds: int) -> dict[str, Any]:
    """Upload in rounds, and compare with the pauses between them."""
    draw = random.Random(SEED)
    kinds = drawn(count, draw)
    answers: Counter[str] = Counter()
    seconds = 0.0
    # Nothing is played beside it: that would be measured, too.
    options = ["--port", "0", "--no-house", "--matches-per-minute", "0.01"]
    options += ["--uploads-per-hour", "1000000", "--requests-per-minute", "1000000"]
    with (
        tempfile.TemporaryDirectory(prefix="keltis-uploads-") as scratch,
        ServerProcess(Path(scratch), *options) as server,
    ):
        authors = asyncio.run(register(server.url))
        quiet, uploads = Watch(server), Watch(server)
        # What comes first is checked. Afterwards nothing is new any more.
        first = [[("first", ordinary(draw, author))] for author in range(AUTHORS)]
        asyncio.run(upload(server.url, authors, first))
        server.wait_for(lambda: all(is_checked(server, author) for author in range(AUTHORS)))
        for number in range(rounds):
            made: list[list[tuple[str, bytes]]] = [[] for _ in authors]
            for place, kind in enumerate(kinds[number::rounds]):
                author = place % AUTHORS
                made[author].append((kind, KINDS[kind][1](draw, author)))
            with quiet.on():
                time.sleep(QUIET)
            begin = time.perf_counter()
            with uploads.on():
                answers += asyncio.run(upload(server.url, authors, made))
            seconds += time.perf_counter() - begin
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
        server.stop()
    return {
        "archives": len(kinds),
        "seconds": round(seconds, 1),
        "answers": dict(sorted(answers.items())),
        "quiet": quiet.to_plain(),
        "uploads": uploads.to_plain(),
        "worst_beyond_quiet_ms": round(max(uploads.late) - max(quiet.late), 2),
        "worst_of_ours_ms": round(max(uploads.ours), 2),
    }


def summary(late: list[float]) -> dict[str, float]:
    """Return some quantiles."""
    ordered = sorted(late)
    parts = {
        f"p{p:g}_ms": round(ordered[int(p * (len(ordered) - 1) / 100)], 3) for p in (50, 99, 99.9)
    }
    return {"asked": len(ordered), **parts, "worst_ms": round(ordered[-1], 3)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.server.uploads", description=__doc__)
    parser.add_argument("--archives", type=int, default=1000, help="how many (default 1000)")
    parser.add_argument("--rounds", type=int, default=10, help="in so many rounds (default 10)")
    parser.add_argument("--dry-run", action="store_true", help="show, and keep no results")
    parser.add_argument("--poll", metavar="URL", help="be the process that polls")
    parser.add_argument("--pid", type=int, help="the process of the server that is polled")
    parser.add_argument("--control", action="store_true", help="be the process that sleeps")
    options = parser.parse_args()
    if options.poll:
        poll(options.poll, options.pid)
        return
    if options.control:
        control()
        return
    load = os.getloadavg()[0]
    found = measure(options.archives, options.rounds)
    record = {
        "load_before": round(load, 2),
        "goal_ms": GOAL,
        "met": found["worst_of_ours_ms"] < GOAL,
        **found,
    }
    print(json.dumps(record, indent=1))
    if not options.dry_run:
        keep("uploads", record)


if __name__ == "__main__":
    main()
