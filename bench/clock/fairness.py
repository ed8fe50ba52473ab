"""Whether the clock is fair, and cannot be cheated: ``python -m bench.clock.fairness``, as root.

*Fair*: search, greedy, a starter, a bot that sleeps too long and one that computes too long meet
each other, while the machine is kept busy in several ways. The last two must be timed out in every
game, and nobody else ever. *Cheating*: bots that try to think for longer than their clock allows,
each compared with one that simply computes until it is timed out, in the same run.

Matches on a crowded core take minutes, so no row takes longer than it may, and says how many of its
matches there was time for. ``--add`` goes on with the rows of an earlier run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import combinations, count
from pathlib import Path
from typing import Any, Final

from tests.ladder.support.busy import bursts, busy_processes

import keltis_bots
from bench.keeping import day_and_machine, keep, table
from keltis_cli.bench.machine import this_machine
from keltis_ladder.dispatch.pool import RefereePool
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import Entrant, built_in
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.match.jobs import Job, seed_of_match
from keltis_ladder.match.results import MatchResult

HOSTILE: Final = Path(__file__).parents[2] / "tests" / "ladder" / "hostile"
STARTER: Final = Path(keltis_bots.__file__).parent / "starters" / "python"
SEED: Final = 47
VARIANT: Final = "weg-der-steine"


@dataclass(frozen=True)
class Games:
    """What is played."""

    turn_limit: int
    control: TimeControl

    def job(self, number: int, pair: tuple[Entrant, Entrant]) -> Job:
        """Return one match."""
        options = {"turn_limit": self.turn_limit}
        return Job(VARIANT, options, seed_of_match(SEED, number), pair, control=self.control)


# Short games on short clocks: a crowded core leaves a hundredth of its time to a match, and what is
# too much by mistake weighs more on a short clock.
GAMES: Final = Games(12, TimeControl(bank_ms=200, increment_ms=5, start_ms=5000))
NICES: Final = (10, 0)
LOADS: Final = ("nothing else", "16 busy at nice 0", "8 busy at nice -10", "real-time bursts")
WAYS: Final = ("helpers", "threads", "kernel", "chatter", "affinity", "naps", "paused")
MOST_GAIN: Final = 1.05


def thinker(way: str) -> Entrant:
    """Return a bot that thinks about its first decision for far too long, in some way."""
    return Entrant(way, way, ("python3", "thinks.py", "-", way), HOSTILE)


# Whom cheaters meet: it takes its time for every decision, so that there is some to run while they
# are paused.
HONEST: Final = Entrant("works", "works", ("python3", "works.py"), HOSTILE)


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
    asked: int = 0  # matches
    matches: int = 0  # that there was time for
    seconds: float = 0.0
    games: Counter[str] = field(default_factory=Counter)  # by bot
    timeouts: Counter[str] = field(default_factory=Counter)
    other_faults: Counter[str] = field(default_factory=Counter)
    platform_faults: int = 0  # matches that were given up, which is nobody's fault
    longest: float = 0.0  # seconds that one decision was charged
    cards: list[dict[str, Any]] = field(default_factory=list)  # crash cards of the innocent

    def as_plain(self) -> dict[str, Any]:
        """Return it for JSON; ``asdict`` would count the pairs of a counter."""
        return {
            name: dict(value) if isinstance(value, Counter) else value
            for name, value in vars(self).items()
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Way:
        """Return what ``as_plain`` was made of."""
        counters = ("games", "timeouts", "other_faults")
        return cls(**{**plain, **{name: Counter(plain[name]) for name in counters}})

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


# Who meets whom; two that are timed out at once would show nothing.
PAIRS: Final = [
    pair for pair in combinations(BOTS, 2) if not all(bot.name in GUILTY for bot in pair)
]


def play(
    way: Way, minutes: float, pairs: Sequence[tuple[Entrant, Entrant]] = PAIRS, games: Games = GAMES
) -> None:
    """Play what is missing of a row on all cores; begin no match when its time is over."""
    begin, before = time.monotonic(), way.seconds
    jobs = (
        games.job(number, pairs[number % len(pairs)])
        for number in range(way.matches, way.asked)
        if time.monotonic() - begin < 60 * minutes
    )
    with RefereePool(nice=way.nice) as pool, load(way.load):
        while True:
            try:
                for job, result in pool.play(jobs):
                    note(way, [entrant.name for entrant in job.entrants], result)
                    way.seconds = before + time.monotonic() - begin
                    progress(way)
                break
            except PlatformFault as fault:
                way.platform_faults += 1
                print(f"\n{fault}", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def progress(way: Way) -> None:
    """Show how far a row is."""
    told = f"{way.load}, nice {way.nice}: {way.matches} of {way.asked} matches"
    told += f" in {way.seconds / 60:.1f} minutes, timeouts {dict(way.timeouts)}"
    print(f"\r{told}", end="", file=sys.stderr, flush=True)


def note(way: Way, names: list[str], result: MatchResult) -> None:
    """Count what happened in a match."""
    way.matches += 1
    for game in result.games:
        for name in names:
            way.games[name] += 1
        way.longest = max(way.longest, *(each.longest for each in game.times))
        for loss in game.losses:
            counts = way.timeouts if loss.fault.kind == "timeout" else way.other_faults
            name = names[game.entrants[loss.seat]]
            counts[name] += 1
            if name not in GUILTY:
                way.cards.append({"bot": name, **loss.card})


@dataclass(frozen=True)
class Gain:
    """How long bots thought in one way, compared with just computing."""

    way: str
    games: int
    cpu_ms: float  # the median
    ratio: float


Tries = dict[str, list[float]]  # by way, the CPU time of each fatal decision in milliseconds


def try_to_gain(tries: Tries, matches: int) -> None:
    """Let bots try to gain time; all ways by turns, so that a busy moment meets each of them."""
    ways = ("alone", *WAYS)
    tried = len(tries.get("alone", [])) // 2  # games in a match
    jobs = (GAMES.job(tried + n, (thinker(way), HONEST)) for n in range(matches) for way in ways)
    with RefereePool() as pool:
        for done, (job, result) in zip(count(1), pool.play(jobs), strict=False):
            for game in result.games:
                cards = [loss.card for loss in game.losses if loss.fault.kind == "timeout"]
                found = tries.setdefault(job.entrants[0].name, [])
                found += [card["fatal"]["cpu_ms"] for card in cards]
            told = f"cheating: {done} of {matches * len(ways)} matches"
            print(f"\r{told}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def gains(tries: Tries) -> list[Gain]:
    """Compare all ways with the one that just computes."""
    base = statistics.median(tries["alone"])
    return [
        Gain(way, len(each), statistics.median(each), statistics.median(each) / base)
        for way, each in tries.items()
        if each
    ]


@dataclass
class FairnessReport:
    """All that was found, in one run or in several."""

    ways: list[Way]
    tries: Tries = field(default_factory=dict)

    def as_plain(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "settings": settings(),
            "ways": [way.as_plain() for way in self.ways],
            "tries": self.tries,
            "gains": [asdict(gain) for gain in gains(self.tries)],
        }


def settings() -> dict[str, Any]:
    """Return what two runs must have in common if their figures are to be added."""
    return {"variant": VARIANT, "seed": SEED, **asdict(GAMES)}


def read_report(file: Path) -> FairnessReport:
    """Return the results of an earlier run; raise ``ValueError`` if they cannot be added to."""
    try:
        plain = json.loads(file.read_text("utf-8"))
        machine = this_machine()
        if (plain["machine"]["cpu"], plain["machine"]["cores"]) != (machine.cpu, machine.cores):
            raise ValueError("it was measured on another machine")
        if plain["settings"] != settings():
            raise ValueError("it was measured with other settings")
        return FairnessReport([Way.from_plain(each) for each in plain["ways"]], plain["tries"])
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from None


def markdown(report: FairnessReport) -> str:
    """Return the page to keep."""
    control = GAMES.control
    names = [bot.name for bot in BOTS]
    headings = ["beside it", "referees' niceness", "matches", "minutes", *names]
    headings += ["other faults", "matches given up", "most charged at once", "fair"]
    lines = [
        "# Is the clock fair?",
        "",
        f"{day_and_machine()}. Made by `python -m bench.clock.fairness`: {VARIANT} with",
        f"{GAMES.turn_limit} turns at most, {control.bank_ms} + {control.increment_ms} ms.",
        "`sleeps` and `alone` (which computes) take two minutes for their first decision.",
        "Matches: how many there was time for, of those that were asked for. Columns of bots:",
        "timeouts of games played.",
        "",
    ]
    rows = []
    for way in report.ways:
        cells = [way.load, str(way.nice), f"{way.matches} of {way.asked}"]
        cells += [f"{way.seconds / 60:.1f}"]
        cells += [f"{way.timeouts[name]} of {way.games[name]}" for name in names]
        cells += [str(sum(way.other_faults.values())), str(way.platform_faults)]
        cells += [f"{way.longest:.1f} s", "yes" if way.is_fair else "no"]
        rows.append(cells)
    lines += [
        *table(headings, rows),
        "",
        "CPU time of the fatal decision, compared with a bot that just computes (`alone`):",
        "",
        "| way | games | median, ms | times `alone` |",
        "|---|--:|--:|--:|",
    ]
    lines += [
        f"| {g.way} | {g.games} | {g.cpu_ms:.0f} | {g.ratio:.3f} |" for g in gains(report.tries)
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.clock.fairness", description=__doc__)
    parser.add_argument("--matches", type=int, default=500, help="under each load and niceness")
    parser.add_argument("--minutes", type=float, default=60.0, help="for each of them, in this run")
    parser.add_argument("--tries", type=int, default=10, help="more matches of each way to cheat")
    parser.add_argument("--add", type=Path, metavar="FILE", help="go on with this JSON")
    parser.add_argument("--quick", action="store_true", help="a few matches; keep no results")
    parser.add_argument("--machine", metavar="NAME", help="the machine's name in the file names")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("this needs root, for real-time processes and negative niceness")
    report = FairnessReport([Way(name, nice) for name in LOADS for nice in NICES])
    if arguments.add:
        try:
            report = read_report(arguments.add)
        except ValueError as error:
            sys.exit(str(error))
    matches, minutes, tries = arguments.matches, arguments.minutes, arguments.tries
    if arguments.quick:
        matches, minutes, tries = 9, 0.1, 2
    try_to_gain(report.tries, tries)
    for gain in gains(report.tries):
        print(gain, file=sys.stderr, flush=True)
    for way in report.ways:
        way.asked = max(matches, way.matches)
        play(way, minutes)
        if not arguments.quick:  # after each row, so that whoever stops it keeps the others
            keep("fairness", report.as_plain(), markdown(report), arguments.machine)
    print(markdown(report))
    if not all(way.is_fair for way in report.ways):
        sys.exit("somebody was blamed who is innocent, or somebody guilty was not")
    if any(gain.ratio > MOST_GAIN for gain in gains(report.tries)):
        sys.exit("somebody gained time")


if __name__ == "__main__":
    main()
