"""A server with honest and hostile clients for a long time: ``make bench-soak``.

A ladder plays. Honest clients ask for pages, follow matches and upload a bot again and again, each
when the version before is rated. Beside them one address does its worst
(``bench.server.edge_attack``), an author takes all that the quotas allow, and four others upload
hostile archives (``bench.server.soak_hostile``). Everything is on this machine, and is looked at
every ten seconds: does the server grow, do the honest wait, is anything lost?
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final
from urllib.error import URLError
from urllib.request import urlopen

from sqlmodel import Session, col, func, or_, select
from tests.system.support.servers import ServerProcess

from bench.keeping import day_and_machine, keep, table
from bench.server.edge import GOAL, quantiles
from bench.server.shares import Author, Measuring, fill, rated
from keltis_ladder.files.sizes import MIB
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_ladder.store.schema.tables import Bot, Match, Place, Version
from keltis_server.settings import NICE

EVERY: Final = 10.0  # seconds between two samples
PATIENCE: Final = 300.0  # seconds that somebody may take to end after their time
MODEST: Final = "modest"  # the bot of the honest author
MODEST_FROM: Final = "127.0.1.9"
# From the second third to the last one each may grow by so many parts, and by so much.
GROWTH: Final = {
    "resident_mib": (0.05, 8.0),
    "descriptors": (0.10, 16.0),
    "threads": (0.0, 2.0),
    "tasks": (0.10, 16.0),
}
TASKS: Final = re.compile(r"^keltis_tasks (\S+)$", re.MULTILINE)


@dataclass
class Sample:
    """The server at one moment."""

    second: float
    resident_mib: float
    descriptors: int
    threads: int
    tasks: int | None  # of the event loop; none: it could not be asked
    rated: int  # matches, since the beginning
    faults: int  # of bots that make none
    data_mib: float
    no_core_s: float  # that the event loop was ready to run and had no core, since its start
    median_ms: float | None = None  # of the honest requests since the sample before
    p99_ms: float | None = None


class ModestAuthor(threading.Thread):
    """Uploads a bot, waits until it is rated, and begins anew with a small change."""

    def __init__(self, author: Author, measuring: Measuring) -> None:
        super().__init__(daemon=True)
        self.stopped = threading.Event()
        self.seconds: list[float] = []
        self.failures: list[str] = []
        self._author = author
        self._measuring = measuring

    def run(self) -> None:
        """Upload until told to stop."""
        while not self.stopped.is_set():
            begin = time.monotonic()
            wanted = len(self.seconds) + len(self.failures) + 1
            try:
                self._author.upload(MODEST, description=f"upload {wanted}")
            except URLError as error:
                self.failures.append(str(error))
                self.stopped.wait(EVERY)
                continue
            while self._measuring.ask(rated_versions) <= len(self.seconds):
                if self.stopped.wait(0.2):
                    return
            self.seconds.append(round(time.monotonic() - begin, 2))


def rated_versions(session: Session) -> int:
    """Count the versions of the honest author's bot that have a rated match."""
    query = (
        select(func.count(col(Version.id).distinct()))
        .join(Bot, col(Bot.id) == Version.bot_id)
        .join(Place, col(Place.version_id) == Version.id)
        .join(Match, col(Match.number) == Place.match_number)
        .where(Match.rated, Bot.name == MODEST)
    )
    return session.exec(query).one()


def faults(session: Session) -> int:
    """Count the games that bots lost by a fault which make none."""
    query = (
        select(func.coalesce(func.sum(Place.faults), 0))
        .join(Version, col(Version.id) == Place.version_id)
        .join(Bot, col(Bot.id) == Version.bot_id)
        .where(or_(col(Bot.name) == MODEST, col(Bot.name).like("other-%")))
    )
    return session.exec(query).one()


def stored(database: Database) -> list[str]:
    """Return the ids of all matches that have a result."""
    with database.reading() as session:
        return list(session.exec(select(Match.job_id)))


def sample(server: ServerProcess, measuring: Measuring, begin: float) -> Sample:
    """Look at the server."""
    process = Path(f"/proc/{server.process.pid}")
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    return Sample(
        second=round(time.monotonic() - begin, 1),
        resident_mib=round(int(status["VmRSS"].split()[0]) / 1024, 1),
        descriptors=len(list((process / "fd").iterdir())),
        threads=int(status["Threads"]),
        tasks=tasks(server.url),
        rated=measuring.ask(rated),
        faults=measuring.ask(faults),
        data_mib=round(size_of(server.data) / MIB, 2),
        no_core_s=round(int((process / "schedstat").read_text().split()[1]) / 1e9, 1),
    )


def tasks(url: str) -> int | None:
    """Return how many tasks the event loop has."""
    with contextlib.suppress(OSError), urlopen(f"{url}/metrics", timeout=EVERY) as answer:
        found = TASKS.search(answer.read().decode())
        return None if found is None else int(float(found[1]))
    return None


def size_of(directory: Path) -> int:
    """Return the bytes of all files; what comes and goes meanwhile may be missing."""
    size = 0
    for place, _, names in os.walk(directory):  # silent about directories that have gone
        for name in names:
            with contextlib.suppress(OSError):
                size += Path(place, name).lstat().st_size
    return size


@contextlib.contextmanager
def client(module: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Have a process of the bench run beside us."""
    process = subprocess.Popen(
        [sys.executable, "-m", f"bench.server.{module}", *words],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def answer_of(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Wait for the end of a process; return what it has found, or how it ended without."""
    try:
        output, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return {"unfinished": True}
    lines = output.splitlines()
    found: dict[str, Any] = json.loads(lines[-1]) if lines else {"ended": process.returncode}
    return found


def measure(seconds: float) -> dict[str, Any]:
    """Let all of them at a server."""
    with tempfile.TemporaryDirectory(prefix="keltis-soak-") as scratch:
        data = Path(scratch) / "ladder"
        database = Home(data).open()
        database.write(fill)
        measuring = Measuring(database)
        options = ("--port", "0", "--no-house", "--settled-below", "0")
        unbounded = ("--uploads-per-hour", "1000000")  # it is the archives that are tried
        with ServerProcess(data, *options, *unbounded, KELTIS_NICE=str(NICE)) as server:
            author = Author(server.url, "modest-one", Path(scratch), MODEST_FROM)
            found = beside_each_other(server, measuring, ModestAuthor(author, measuring), seconds)
            found["exit_code"] = server.stop()
        kept = stored(database)
        found["lost"] = sorted(set(found["honest"].pop("finished")) - set(kept))
        found["stored"] = len(kept)
        database.close()
        found["proofs"] = {
            words: prove(data, *words.split())
            for words in ("db check --deep", "ratings recompute", "audit recompute")
        }
    return found


def beside_each_other(
    server: ServerProcess, measuring: Measuring, modest: ModestAuthor, seconds: float
) -> dict[str, Any]:
    """Have everybody do what they do for some time; return what came of it."""
    server.wait_for(lambda: measuring.ask(rated) > 0)
    match = stored(measuring.database)[0]
    samples: list[Sample] = []
    time_text = str(seconds)
    with client("soak_hostile", server.url, str(server.data), time_text) as hostile:
        assert hostile.stdout is not None
        if hostile.stdout.readline() != "ready\n":
            raise RuntimeError("the hostile authors could not begin")
        with (
            client("edge_attack", server.url, match, time_text) as attack,
            client("soak_honest", server.url, time_text) as honest,
        ):
            modest.start()
            begin = time.monotonic()
            while (now := time.monotonic() - begin) < seconds:
                samples.append(sample(server, measuring, begin))
                print(samples[-1], file=sys.stderr, flush=True)
                time.sleep(min(EVERY, max(0.0, seconds - now)))
            answers = answer_of(honest)
            modest.stopped.set()
            modest.join(PATIENCE)
            attacked, uploaded = answer_of(attack), answer_of(hostile)
    times = answers.pop("times")
    add_latencies(samples, times)
    return {
        "seconds": seconds,
        "honest": {
            **quantiles([took for _, took in times]),
            **answers,
            "rated_after_s": modest.seconds,
            "uploads_failed": modest.failures,
        },
        "hostile": {"attack": attacked, **uploaded},
        "rated_per_minute": round(60 * per_second(samples), 1),
        "samples": [asdict(each) for each in samples],
    }


def add_latencies(samples: Sequence[Sample], times: Sequence[tuple[float, float]]) -> None:
    """Add to each sample how long the requests took that were due since the one before."""
    before = 0.0
    for each in samples:
        taken = [took for due, took in times if before <= due < each.second]
        if taken:
            found = quantiles(taken)
            each.median_ms, each.p99_ms = found["median_ms"], found["p99_ms"]
        before = each.second


def per_second(samples: Sequence[Sample]) -> float:
    """Return how many matches a second were rated."""
    first, last = samples[0], samples[-1]
    return (last.rated - first.rated) / max(1e-9, last.second - first.second)


def prove(data: Path, *command: str) -> dict[str, Any]:
    """Run a command that proves what is stored; return its exit code and its last words."""
    done = subprocess.run(
        [sys.executable, "-m", "keltis_cli", *command, "--data", str(data)],
        capture_output=True,
        text=True,
        check=False,
    )
    said = (done.stdout + done.stderr).strip().splitlines()
    return {"code": done.returncode, "last_words": said[-1] if said else ""}


def verdicts(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Hold what was found against what has to be."""
    honest, samples = found["honest"], found["samples"]
    refused = {status for status in honest["statuses"] if status != "200"}
    told = {
        "median of the honest, ms": _at_most(honest["median_ms"], GOAL),
        "honest requests not answered by 200": _at_most(
            sum(honest["statuses"][status] for status in refused), 0
        ),
        "gaps in websockets": _at_most(honest["websockets"].get("gaps", 0), 0),
        "honest uploads refused": _at_most(len(honest["uploads_failed"]), 0),
        "honest uploads rated, at least 1": {
            "measured": len(honest["rated_after_s"]),
            "met": bool(honest["rated_after_s"]),
        },
        "hostile archives answered, at least 1": {
            "measured": (answered := sum(found["hostile"].get("archives", {}).values())),
            "met": answered > 0,
        },
        "faults of innocent bots": _at_most(samples[-1]["faults"], 0),
        "results lost": _at_most(len(found["lost"]), 0),
        "exit code of the server": _at_most(found["exit_code"], 0),
    }
    third = len(samples) // 3
    for what, (parts, more) in GROWTH.items():
        values = [each[what] for each in samples]
        middle, last = (
            median([value for value in part if value is not None] or [0])
            for part in (values[third : 2 * third], values[2 * third :])
        )
        told[f"{what}, last third"] = _at_most(last, round(middle * (1 + parts) + more, 1))
    for words, proof in found["proofs"].items():
        told[words] = _at_most(proof["code"], 0)
    return told


def _at_most(measured: float, most: float) -> dict[str, Any]:
    return {"measured": measured, "at_most": most, "met": measured <= most}


def page(found: dict[str, Any]) -> str:
    """Return the page to keep."""
    honest, samples = found["honest"], found["samples"]
    uploads = honest["rated_after_s"]
    made = (
        f"{day_and_machine()}. Made by `python -m bench.server.soak`, {found['seconds']:.0f} s;"
        f" load before: {found['load_before']}."
    )
    summary = (
        f"{found['rated_per_minute']:,} rated matches a minute, {found['stored']:,} stored;"
        f" {honest['requests']:,} honest requests with a median of {honest['median_ms']} ms, 99 %"
        f" within {honest['p99_ms']} ms; {len(uploads)} honest uploads, rated after"
        f" {fmean(uploads) if uploads else 0:.0f} s in the mean."
    )
    headings = ["s", "memory, MiB", "descriptors", "threads", "tasks", "rated", "data, MiB"]
    headings += ["no core, s", "median, ms", "99 %, ms"]
    lines = [
        "# Honest clients beside hostile ones",
        "",
        made,
        "",
        summary,
        "",
        *table(
            ["what", "measured", "at most", "holds"],
            (
                (name, str(each["measured"]), str(each.get("at_most", "")), _yes(each["met"]))
                for name, each in found["verdicts"].items()
            ),
        ),
        "",
        *table(
            headings,
            (
                [str(value) for name, value in each.items() if name != "faults"]
                for each in samples[:: max(1, len(samples) // 30)]
            ),
        ),
    ]
    return "\n".join(lines) + "\n"


def _yes(met: bool) -> str:
    return "yes" if met else "**no**"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.server.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--machine", metavar="NAME", help="the machine's name in the file names")
    parser.add_argument("--dry-run", action="store_true", help="show, and keep no results")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    found = {"load_before": round(load, 2), **measure(60 * options.minutes)}
    record = {"verdicts": verdicts(found), **found}
    text = page(record)
    print(text)
    if not options.dry_run:
        keep("soak", record, text, options.machine)
    if not all(each["met"] for each in record["verdicts"].values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
