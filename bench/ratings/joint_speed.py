"""How fast the joint rating is: ``python -m bench.ratings.joint_speed``.

Ladders are made up: skills and luck are drawn from the model, tables at random, so that hardly a
pair meets twice and the graph is as large as it gets. Measured in CPU time: a fit from scratch,
what a match costs after that, a standing with its deviations, and the longest time for which no
other thread of the server runs. Beside it, how far skills that went from match to match are from a
fit from scratch.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from bench.keeping import keep
from keltis_cli.bench.machine import this_machine
from keltis_ladder.ratings.joint import graph
from keltis_ladder.ratings.joint.descent import Descent
from keltis_ladder.ratings.joint.fit import Fit, Member
from keltis_ladder.ratings.joint.kinds import KINDS, USUAL_SHARES, scope_weights, variant_number
from keltis_ladder.ratings.joint.numbers import NUMBERS
from keltis_ladder.ratings.joint.scores import TWELFTHS
from keltis_ladder.ratings.joint.standings import leaderboard, rating, standing
from keltis_ladder.ratings.joint.statistics import Match, Statistics
from keltis_ladder.ratings.scopes import OVERALL, Scope

SEED: Final = 2026
ALIKE: Final = 0.8  # correlation of a bot's skills in any two kinds
LATER: Final = 300  # matches that come one by one
SAMPLE: Final = 20  # versions whose standings are measured
LADDERS: Final = ((200, 50_000), (1_000, 200_000))  # bots and matches
MATCH_GOAL_MS: Final = 10.0
SCRATCH_GOAL_S: Final = 10.0
SCOPES: Final = (Scope("keltis", 2), OVERALL)

T = TypeVar("T")


@dataclass(frozen=True)
class Measured:
    """One ladder. Times are CPU time."""

    bots: int
    matches: int
    pairs: int
    statistics_s: float
    scratch_s: float  # statistics included
    product_ms: float  # of a round: the longest that compiled code runs at a stretch
    match_ms: list[float]
    match_rounds: list[int]
    drift: float  # of ratings, from those of a fit from scratch
    ratings_ms: float  # all, in one kind, without deviations
    standing_ms: dict[str, float]  # median, by scope
    ranges_ms: float


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return what work returns, and the seconds of CPU time that it took."""
    gc.collect()
    begin = time.process_time()
    done = work()
    return done, time.process_time() - begin


def made_up(bots: int, count: int) -> list[Match]:
    """Return matches between bots with skills of their own, alike in all kinds."""
    chance = random.Random(SEED + bots)
    skills = []
    for _ in range(bots):
        common = chance.gauss(0, math.sqrt(ALIKE))
        skills.append(
            [spread * chance.gauss(common, math.sqrt(1 - ALIKE)) for spread in NUMBERS.spread]
        )
    weights = [USUAL_SHARES[kind.players] for kind in KINDS]
    found = []
    for kind in chance.choices(range(len(KINDS)), weights, k=count):
        players = KINDS[kind].players
        table = tuple(chance.sample(range(bots), players))
        unit = TWELFTHS * players * NUMBERS.luck[kind]
        scores = tuple(round(unit * (skills[bot][kind] + chance.gauss(0, 1))) for bot in table)
        found.append(Match(kind, table, scores))
    return found


def measure(bots: int, matches: int) -> Measured:
    """Make a ladder up, and fit it."""
    played = made_up(bots, matches + LATER)
    everything = frozenset(range(len(KINDS)))
    members = [Member(version, None, everything) for version in range(bots)]
    counted, counting = timed(lambda: Statistics.of(played[:matches]))
    fit, fitting = timed(lambda: Fit.from_scratch(members, counted))

    descent = Descent(fit.graph, fit.graph.skill[:], fit.graph.rest[:])
    rounds = []
    for _ in range(20):
        begin = time.process_time()
        descent.advance()
        rounds.append(time.process_time() - begin)

    match_ms, match_rounds = [], []
    for match in played[matches:]:
        begin = time.process_time()
        match_rounds.append(fit.count(match))
        match_ms.append(1000 * (time.process_time() - begin))
    cold = Fit.from_scratch(members, Statistics.of(played))
    drift = max(
        NUMBERS.beta[variant_number(kind)] * abs(fit.skill(bot, kind) - cold.skill(bot, kind))
        for bot in range(bots)
        for kind in range(len(KINDS))
    )

    chance = random.Random(SEED)
    sample = chance.sample(range(bots), SAMPLE)
    one_kind = scope_weights(SCOPES[0])
    _, rating_all = timed(lambda: [rating(cold, bot, one_kind) for bot in range(bots)])
    standing_ms = {}
    found = []
    for scope in SCOPES:
        weights = scope_weights(scope)
        times = []
        for bot in sample:
            begin = time.process_time()
            shown = standing(cold, bot, weights)
            times.append(1000 * (time.process_time() - begin))
            if shown is not None:
                found.append(shown)
        standing_ms[str(scope)] = statistics.median(times)
    many = (found * bots)[:bots]
    _, ranging = timed(lambda: leaderboard(many))
    return Measured(
        bots=bots,
        matches=matches,
        pairs=len(counted.pairs),
        statistics_s=counting,
        scratch_s=counting + fitting,
        product_ms=1000 * statistics.median(rounds),
        match_ms=match_ms,
        match_rounds=match_rounds,
        drift=drift,
        ratings_ms=1000 * rating_all,
        standing_ms=standing_ms,
        ranges_ms=1000 * ranging,
    )


def markdown(measured: list[Measured], date: datetime, machine: str) -> str:
    """Return the page to keep."""
    rows: list[tuple[str, Callable[[Measured], str]]] = [
        ("matches", lambda one: f"{one.matches:,}"),
        ("pairs that met, by kind", lambda one: f"{one.pairs:,}"),
        (
            "from scratch, s (statistics alone)",
            lambda one: f"{one.scratch_s:.2f} ({one.statistics_s:.2f})",
        ),
        ("after a match, ms, median", lambda one: f"{statistics.median(one.match_ms):.1f}"),
        ("after a match, ms, 95 % (worst)", _tail),
        (
            "rounds after a match, median (most)",
            lambda one: f"{statistics.median(one.match_rounds):.0f} ({max(one.match_rounds)})",
        ),
        ("one round, ms", lambda one: f"{one.product_ms:.2f}"),
        (f"off after {LATER} matches, rating points", lambda one: f"{one.drift:.4f}"),
        ("all ratings of a kind, ms", lambda one: f"{one.ratings_ms:.0f}"),
        ("a standing in keltis/2, ms", lambda one: f"{one.standing_ms['keltis/2']:.0f}"),
        ("a standing in all/any, ms", lambda one: f"{one.standing_ms['all/any']:.0f}"),
        ("order and rank ranges of all, ms", lambda one: f"{one.ranges_ms:.0f}"),
    ]
    lines = [
        "# The joint rating, measured",
        "",
        f"{date:%Y-%m-%d}, {machine}. Made by `python -m bench.ratings.joint_speed`:",
        f"{len(KINDS)} kinds of match, random tables. CPU time of one core. A standing is a rating",
        "and a share of wins, both with their deviations: two solutions.",
        "",
        f"| | {' | '.join(f'{one.bots:,} bots' for one in measured)} |",
        "|---" + "|--:" * len(measured) + "|",
    ]
    for name, cell in rows:
        lines.append(f"| {name} | {' | '.join(cell(one) for one in measured)} |")
    lines += ["", "| goal, with 1,000 bots | | |", "|---|--:|---|"]
    for name, goal, value in goals(measured[-1]):
        verdict = "met" if value <= goal else "**missed**"
        lines.append(f"| {name} | {goal:g} | {value:.2f}: {verdict} |")
    return "\n".join(lines) + "\n"


def _tail(one: Measured) -> str:
    ordered = sorted(one.match_ms)
    return f"{ordered[len(ordered) * 95 // 100]:.1f} ({ordered[-1]:.1f})"


def goals(one: Measured) -> list[tuple[str, float, float]]:
    """Return names, limits and figures."""
    return [
        ("after a match, median, ms", MATCH_GOAL_MS, statistics.median(one.match_ms)),
        ("from scratch with 200,000 matches, s", SCRATCH_GOAL_S, one.scratch_s),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.ratings.joint_speed", description=__doc__
    )
    parser.add_argument("--machine", metavar="NAME", help="the machine's name in the file names")
    parser.add_argument("--dry-run", action="store_true", help="small ladders, write nothing")
    options = parser.parse_args()
    if options.dry_run:
        ladders: tuple[tuple[int, int], ...] = ((30, 300), (60, 1000))
    else:
        ladders = LADDERS
        if Path(graph.__file__).suffix == ".py":
            sys.exit("the joint fit is not compiled: its figures would mean nothing")
    measured = [measure(bots, matches) for bots, matches in ladders]
    date, machine = datetime.now(UTC), this_machine()
    page = markdown(measured, date, f"{machine.cpu}, {machine.cores} cores")
    if not options.dry_run:
        keep("joint-speed", {"measured": [asdict(one) for one in measured]}, page, options.machine)
    print(page)


if __name__ == "__main__":
    os.nice(5)
    main()
