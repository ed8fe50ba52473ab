"""Two thousand spectators on one match: ``make bench-spectators``.

Two bots that answer after exactly 50 ms play a match, again and again, in turn without anybody who
watches and with a crowd. What the referee measures of each decision beyond the 50 ms is the price
of everything around it: pipes, the referee's own work, and whatever disturbs them. The referee has
a core of its own; the server shares the other one with the crowd, which is more than it would have
to do in earnest.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tests.ladder.support.small_bots import write_bot
from tests.server.support.serving import QUIET, Served, served

from bench.keeping import keep
from keltis_ladder.dispatch.dispatcher import MatchStreamed
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.orders import AT_ONCE_PRIORITY, Order, Purpose
from keltis_ladder.run.programs import enter_program, keep_program
from keltis_ladder.spectate.batches import Decided
from keltis_ladder.store.bots.catalogue import ensure_author
from keltis_ladder.store.matches.queue import add_job
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.version_states import VersionCause
from keltis_server.events import Happening
from keltis_server.play.games import GAMES
from keltis_server.serve import new_loop
from keltis_server.settings import Quotas

THINKS: Final = 0.050  # seconds
CHOOSE: Final = f"time.sleep({THINKS})\nreturn request.legal[0]"
VARIANT: Final = "keltis"
GOAL: Final = 1.2  # of the p99 without spectators


class Stopwatch:
    """Notes what decisions cost beyond the time that the bots take on purpose."""

    def __init__(self) -> None:
        self.costs: dict[str, list[float]] = {}
        self.ended: set[str] = set()

    def __call__(self, happening: Happening) -> None:
        """Take note of decisions."""
        if isinstance(happening, MatchStreamed):
            costs = self.costs.setdefault(happening.job.id, [])
            for entry in happening.batch:
                if isinstance(entry, Decided):
                    costs += [
                        decision.spent_us / 1000 - THINKS * 1000
                        for decision in entry.decisions
                        if decision.spent_us
                    ]


def enter_bots(server: Served, scratch: Path) -> tuple[int, ...]:
    """Put two metronomes into the store; they are not on the ladder."""
    found = []
    for name in ("tick", "tock"):
        directory = write_bot(scratch / name, CHOOSE, variants=[VARIANT], players=[2])
        manifest, kept = keep_program(server.site.home, directory)
        with server.site.database.writing() as session:
            author = ensure_author(session, name)
            version = enter_program(session, author, manifest, kept, VersionCause.UPLOADED)
            assert version.id is not None
            found.append(version.id)
    return tuple(found)


async def play(server: Served, versions: tuple[int, ...], watch: Stopwatch, crowd: int) -> Any:
    """Have one match played before a crowd; return its costs and what the crowd saw."""
    order = Order(
        VARIANT, versions, Purpose.CHALLENGE, rated=False, seed=7, priority=AT_ONCE_PRIORITY,
        control=TimeControl(bank_ms=60_000, increment_ms=100),
    )  # fmt: skip
    scheduler = server.app[GAMES].scheduler
    scheduler.draining = True  # the crowd takes its seats before the match begins
    await server.site.write(add_job, order, now())
    process = None
    if crowd:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bench.server.spectators_crowd", server.url, f"match/{order.id}",
            str(crowd), stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        seated = json.loads(await process.stdout.readline())
        print(f"  {seated['watching']} spectators", file=sys.stderr)
    scheduler.draining = False
    scheduler.look()
    while (await server.get(f"/matches/{order.id}"))["state"] != "finished":
        await asyncio.sleep(0.5)
    report = None
    if process is not None:
        assert process.stdout is not None
        report = json.loads(await process.stdout.readline())
        await process.wait()
    return watch.costs.pop(order.id), report


def percentile(values: list[float], part: float) -> float:
    """Return the value that this part of all values is not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


@asynccontextmanager
async def stage(core: int) -> AsyncIterator[tuple[Served, Path]]:
    """Open a server whose only referee has a core of its own."""
    quotas = Quotas(requests_per_minute=10**6, sockets=10**5)
    with tempfile.TemporaryDirectory(prefix="keltis-spectators-") as scratch:
        settings = replace(QUIET, cores=(core,), quotas=quotas)
        async with served(Path(scratch) / "ladder", settings) as server:
            yield server, Path(scratch)


async def measure(spectators: int, rounds: int) -> dict[str, Any]:
    """Play in turn without and with spectators."""
    here, *others = sorted(os.sched_getaffinity(0))
    referee = others[0] if others else here
    os.sched_setaffinity(0, {here})
    alone: list[list[float]] = []
    watched: list[list[float]] = []
    crowds = []
    async with stage(referee) as (server, scratch):
        versions = enter_bots(server, scratch)
        watch = Stopwatch()
        server.site.listen(watch)
        await play(server, versions, watch, 0)  # to warm up
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
            costs, _ = await play(server, versions, watch, 0)
            alone.append(costs)
            begin = time.process_time()
            costs, report = await play(server, versions, watch, spectators)
            report["server_cpu_s"] = round(time.process_time() - begin, 2)
            watched.append(costs)
            crowds.append(report)
    return summary(alone, watched, crowds)


def summary(
    alone: list[list[float]], watched: list[list[float]], crowds: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the figures."""
    calm = [cost for costs in alone for cost in costs]
    busy = [cost for costs in watched for cost in costs]
    nominal = THINKS * 1000
    return {
        "decisions": [len(calm), len(busy)],
        "thinking_ms": nominal,
        "latency_p99_ms": [round(nominal + percentile(each, 0.99), 3) for each in (calm, busy)],
        "latency_ratio": round(
            (nominal + percentile(busy, 0.99)) / (nominal + percentile(calm, 0.99)), 4
        ),
        "beyond_p50_ms": [round(percentile(each, 0.50), 3) for each in (calm, busy)],
        "beyond_p99_ms": [round(percentile(each, 0.99), 3) for each in (calm, busy)],
        "beyond_ratio": round(percentile(busy, 0.99) / percentile(calm, 0.99), 3),
        "crowds": crowds,
        "all_in_order": all(
            not crowd["wrong"]
            and crowd["saw_the_end"] == crowd["clients"]
            and len(crowd["last"]) == 1
            for crowd in crowds
        ),
        "goal": f"p99 at most {GOAL} times, every message delivered in order",
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.server.spectators", description=__doc__)
    parser.add_argument("--spectators", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="only see whether it runs")
    options = parser.parse_args()
    spectators, rounds = (50, 1) if options.quick else (options.spectators, options.rounds)
    with asyncio.Runner(loop_factory=new_loop) as runner:
        found = runner.run(measure(spectators, rounds))
    found["met"] = {
        "every message in order": found["all_in_order"],
        "p99 of a decision": found["latency_ratio"] <= GOAL,
        "p99 of what is beyond the bots' own time": found["beyond_ratio"] <= GOAL,
    }
    print(json.dumps(found, indent=1))
    if not options.quick:
        keep("spectators", found)


if __name__ == "__main__":
    main()
