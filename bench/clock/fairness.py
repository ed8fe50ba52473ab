"""Whether the clock is fair, and cannot be cheated: ``python -m bench.clock.fairness``, as root.

*Fair*: search, greedy, a starter, a bot that sleeps too long and one that computes too long meet
each other, while the machine is kept busy in several ways. The last two must be timed out in every
game, and nobody else ever. *Cheating*: bots that try to think for longer than their clock allows,
each compared with one that simply computes until it is timed out, in the same run.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import combinations, cycle, islice
from pathlib import Path
from typing import Any, Final

from tests.ladder.support.busy import bursts, busy_processes

import keltis_bots
from bench.keeping import day_and_machine, keep, table
from keltis_ladder.dispatch.pool import RefereePool
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import Entrant, built_in
from keltis_ladder.match.jobs import Job, seed_of_match
from keltis_ladder.match.results import MatchResult

HOSTILE: Final = Path(__file__).parents[2] / "tests" / "ladder" / "hostile"
STARTER: Final = Path(keltis_bots.__file__).parent / "starters" / "python"
SEED: Final = 47
VARIANT: Final = "weg-der-steine"
# Short games on short clocks: a crowded core leaves a hundredth of its time to a match, and what is
# too much by mistake weighs more on a short clock.
OPTIONS: Final = {"turn_limit": 12}
CONTROL: Final = TimeControl(bank_ms=200, increment_ms=5, start_ms=5000)
NICES: Final = (10, 0)
LOADS: Final = ("nothing else", "16 busy at nice 0", "8 busy at nice -10", "real-time bursts")
WAYS: Final = ("helpers", "threads", "kernel", "chatter", "affinity", "naps")
MOST_GAIN: Final = 1.05


def thinker(way: str) -> Entrant:
    """Return a bot that thinks about its first decision for far too long, in some way."""
    return Entrant(way, way, ("python3", "thinks.py", "-", way), HOSTILE)


GUILTY: Final = ("sleeps", "alone")
BOTS: Final = (
    built_in("search"),
    built_in("greedy"),
    Entrant("starter", "starter", ("python3", "bot.py"), STARTER),
    *(thinker(way) for way in GUILTY),
)


@dataclass
class Way:
    """What happened while the machine was busy in one way."""

    load: str
    nice: int
    matches: int = 0
    seconds: float = 0.0
    games: Counter[str] = field(default_factory=Counter)  # by bot
    timeouts: Counter[str] = field(default_factory=Counter)
    other_faults: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0  # seconds that one decision was charged

    def as_plain(self) -> dict[str, Any]:
        """Return it for JSON; ``asdict`` would count the pairs of a counter."""
        return {
            name: dict(value) if isinstance(value, Counter) else value
            for name, value in vars(self).items()
        }

    @property
    def is_fair(self) -> bool:
        """Whether who is guilty was timed out in every game, and nobody else in any."""
        return not self.other_faults and all(
            self.timeouts[name] == (games if name in GUILTY else 0)
            for name, games in self.games.items()
        )


@contextmanager
def load(name: str) -> Iterator[None]:
    """Keep the machine busy in one of the ways."""
    with ExitStack() as stack:
        if "16" in name:
            stack.enter_context(busy_processes(16))
        elif "8" in name:
            stack.enter_context(busy_processes(8, nice=-10))
        elif "bursts" in name:
            stack.enter_context(bursts(1.8, 0.7))
        yield


def pairs() -> Iterator[tuple[Entrant, Entrant]]:
    """Return who meets whom, for ever; two that are timed out at once would show nothing."""
    meetings = [
        pair for pair in combinations(BOTS, 2) if not all(bot.name in GUILTY for bot in pair)
    ]
    return cycle(meetings)


def play(load_name: str, nice: int, matches: int, most_seconds: float) -> Way:
    """Play matches, or as many as there is time for, on all cores."""
    way = Way(load_name, nice)
    begin = time.monotonic()
    jobs = (
        Job(VARIANT, OPTIONS, seed_of_match(SEED, number), pair, control=CONTROL)
        for number, pair in enumerate(islice(pairs(), matches))
        if time.monotonic() - begin < most_seconds
    )
    with load(load_name), RefereePool(nice=nice) as pool:
        for job, result in pool.play(jobs):
            note(way, [entrant.name for entrant in job.entrants], result)
            told = f"{load_name}, nice {nice}: {way.matches} matches, {dict(way.timeouts)}"
            print(f"\r{told}", end="", file=sys.stderr, flush=True)
    way.seconds = time.monotonic() - begin
    print(file=sys.stderr)
    return way


def note(way: Way, names: list[str], result: MatchResult) -> None:
    """Count what happened in a match."""
    way.matches += 1
    for game in result.games:
        for name in names:
            way.games[name] += 1
        way.longest = max(way.longest, *(each.longest for each in game.times))
        for loss in game.losses:
            counts = way.timeouts if loss.fault.kind == "timeout" else way.other_faults
            counts[names[game.entrants[loss.seat]]] += 1


@dataclass(frozen=True)
class Gain:
    """How long bots thought in one way, compared with just computing."""

    way: str
    games: int
    cpu_ms: float  # the median
    ratio: float


def gains(matches: int) -> list[Gain]:
    """Let bots try to gain time; all ways by turns, so that a busy moment meets each of them."""
    cpu: dict[str, list[float]] = {way: [] for way in ("alone", *WAYS)}
    honest = built_in("greedy")
    jobs = (
        Job(VARIANT, OPTIONS, seed_of_match(SEED, number), (thinker(way), honest), control=CONTROL)
        for number in range(matches)
        for way in cpu
    )
    with RefereePool() as pool:
        for job, result in pool.play(jobs):
            for game in result.games:
                cards = [loss.card for loss in game.losses if loss.fault.kind == "timeout"]
                cpu[job.entrants[0].name] += [card["fatal"]["cpu_ms"] for card in cards]
    base = statistics.median(cpu["alone"])
    return [
        Gain(way, len(each), statistics.median(each), statistics.median(each) / base)
        for way, each in cpu.items()
        if each
    ]


def markdown(ways: list[Way], found: list[Gain]) -> str:
    """Return the page to keep."""
    names = [bot.name for bot in BOTS]
    headings = ["beside it", "referees' niceness", "matches", "minutes", *names]
    headings += ["other faults", "most charged at once", "fair"]
    lines = [
        "# Is the clock fair?",
        "",
        f"{day_and_machine()}. Made by `python -m bench.clock.fairness`: {VARIANT} with",
        f"{OPTIONS['turn_limit']} turns at most, {CONTROL.bank_ms} + {CONTROL.increment_ms} ms.",
        "`sleeps` and `alone` (which computes) take two minutes for their first decision.",
        "Columns of bots: timeouts of games played.",
        "",
    ]
    rows = []
    for way in ways:
        cells = [way.load, str(way.nice), str(way.matches), f"{way.seconds / 60:.1f}"]
        cells += [f"{way.timeouts[name]} of {way.games[name]}" for name in names]
        cells += [str(sum(way.other_faults.values())), f"{way.longest:.1f} s"]
        cells += ["yes" if way.is_fair else "no"]
        rows.append(cells)
    lines += [
        *table(headings, rows),
        "",
        "CPU time of the fatal decision, compared with a bot that just computes (`alone`):",
        "",
        "| way | games | median, ms | times `alone` |",
        "|---|--:|--:|--:|",
    ]
    lines += [f"| {g.way} | {g.games} | {g.cpu_ms:.0f} | {g.ratio:.3f} |" for g in found]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.clock.fairness", description=__doc__)
    parser.add_argument("--matches", type=int, default=500, help="under each load and niceness")
    parser.add_argument("--minutes", type=float, default=60.0, help="no longer for each of them")
    parser.add_argument("--tries", type=int, default=10, help="matches of each way to cheat")
    parser.add_argument("--quick", action="store_true", help="a few matches; keep no results")
    parser.add_argument("--machine", metavar="NAME", help="the machine's name in the file names")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("this needs root, for real-time processes and negative niceness")
    matches, tries = (9, 2) if arguments.quick else (arguments.matches, arguments.tries)
    found = gains(tries)
    for gain in found:
        print(gain, file=sys.stderr, flush=True)
    ways = [play(name, nice, matches, 60 * arguments.minutes) for name in LOADS for nice in NICES]
    page = markdown(ways, found)
    print(page)
    if not arguments.quick:
        report = {
            "ways": [way.as_plain() for way in ways],
            "gains": [asdict(gain) for gain in found],
        }
        keep("fairness", report, page, arguments.machine)
    if not all(way.is_fair for way in ways):
        sys.exit("somebody was blamed who is innocent, or somebody guilty was not")
    if any(gain.ratio > MOST_GAIN for gain in found):
        sys.exit("somebody gained time")


if __name__ == "__main__":
    main()
