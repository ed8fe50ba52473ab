"""Honest requests beside an attack from another address: ``make bench-edge``.

A client from 127.0.0.1 asks for ordinary things, first alone and then while 127.0.0.2 does its
worst (``bench.server.edge_attack``). The ladder has 200 bots and does not play: the server is
measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import aiohttp
from tests.system.support.servers import ServerProcess

from bench.keeping import keep
from bench.server.costs import BOT, drain, furnish
from bench.server.load import fill
from keltis_ladder.store.home import Home
from keltis_server.http.endpoints import API

PER_SECOND: Final = 8  # requests, which one address may ask for in the long run
ORDINARY: Final = (API, f"{API}/leaderboard", f"{API}/bots/{BOT}", "/rules", "/healthz")
GOAL: Final = 50.0  # milliseconds, the median while there is an attack


class Asked:
    """What became of requests."""

    def __init__(self) -> None:
        self.times: list[tuple[float, float]] = []  # when each was due (s), how long it took (ms)
        self.statuses: Counter[str] = Counter()

    async def ask(
        self,
        http: aiohttp.ClientSession,
        url: str,
        seconds: float,
        paths: Sequence[str] = ORDINARY,
        per_second: float = PER_SECOND,
    ) -> None:
        """Ask at a steady rate; a request's time counts from when it was due."""
        begin = time.perf_counter()
        tasks = []
        for number, path in enumerate(cycle(paths)):
            due = begin + number / per_second
            if due > begin + seconds:
                break
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(asyncio.create_task(self._one(http, url + path, begin, due)))
        await asyncio.gather(*tasks)

    async def _one(self, http: aiohttp.ClientSession, url: str, begin: float, due: float) -> None:
        try:
            async with http.get(url) as response:
                await response.read()
                self.statuses[str(response.status)] += 1
        except (OSError, aiohttp.ClientError) as error:
            self.statuses[type(error).__name__] += 1
        self.times.append((due - begin, 1000 * (time.perf_counter() - due)))


async def ask(url: str, seconds: float) -> dict[str, Any]:
    """Ask for ordinary things; return how long that took."""
    asked = Asked()
    async with aiohttp.ClientSession() as http:
        await asked.ask(http, url, seconds)
    statuses = dict(asked.statuses)
    return {"statuses": statuses, **quantiles([took for _, took in asked.times])}


def quantiles(times: Iterable[float]) -> dict[str, float]:
    """Return how many times there are, their median and what is beyond."""
    ordered = sorted(times)
    return {
        "requests": len(ordered),
        "median_ms": round(ordered[len(ordered) // 2], 2),
        "p99_ms": round(ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))], 2),
        "max_ms": round(ordered[-1], 2),
    }


def measure(seconds: float, bots: int, matches: int) -> dict[str, Any]:
    """Measure without and with an attack."""
    with tempfile.TemporaryDirectory(prefix="keltis-edge-") as scratch:
        home = Home(Path(scratch), str(Path(scratch) / "ladder.db"))
        fill(home, bots, matches)
        match = furnish(home)
        with ServerProcess(Path(scratch), "--port", "0", "--no-house") as server:
            drain(server)
            calm = asyncio.run(ask(server.url, seconds / 3))
            words = [sys.executable, "-m", "bench.server.edge_attack", server.url, match]
            # Its beginning is measured, too: then it has its whole budget to spend.
            attack = subprocess.Popen([*words, str(seconds)], stdout=subprocess.PIPE, text=True)
            attacked = asyncio.run(ask(server.url, seconds))
            output, _ = attack.communicate(timeout=seconds + 120)
            server.stop()
    return {"calm": calm, "attacked": attacked, "attack": json.loads(output)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.server.edge", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="of the attack")
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--matches", type=int, default=1_000)
    parser.add_argument("--dry-run", action="store_true", help="keep no results")
    parser.add_argument("--quick", action="store_true", help="only see whether it runs")
    options = parser.parse_args()
    if options.quick:
        options.seconds, options.bots, options.matches = 4.0, 20, 50
    load_before = os.getloadavg()[0]
    found = measure(options.seconds, options.bots, options.matches)
    median = found["attacked"]["median_ms"]
    verdict = {"measured": median, "goal": GOAL, "met": median < GOAL}
    record = {
        "load_before": round(load_before, 2),
        "verdicts": {"median while attacked, ms": verdict},
        **found,
    }
    print(json.dumps(record, indent=1))
    if not (options.quick or options.dry_run):
        keep("edge", record)


if __name__ == "__main__":
    main()
