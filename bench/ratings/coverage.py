"""Do ratings mean what they say: ``python -m bench.ratings.coverage``.

Live TrueSkill, its refit and the joint rating see the same matches of ladders whose truth is known,
and are held against it. The bots are real players on the real engine, their true strength measured
on other deals; larger fields are made up from what was measured. Then bots try to cheat.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from typing import Any, Final

from bench.keeping import day_and_machine, keep
from bench.proof.attacks import ATTACKS, attack, gains_of
from bench.proof.boards import BOARDS, SCOPES
from bench.proof.ladders import OWN, RANDOM
from bench.proof.measures import Tally, measure
from bench.proof.numbers import find_numbers
from bench.proof.report import Case, Report, page_of
from bench.proof.simulated import SimulatedWorld, mixed, real_ones
from bench.proof.sizes import LONG, QUICK, USUAL, Size
from bench.proof.truth import Truth, opposite_orders, play_truth
from bench.proof.worlds import RealWorld, World
from keltis_ladder.ratings.joint.kinds import KINDS

STRONG: Final = 2.5  # times the measured interplay
PROCESSES: Final = 2


class Workers:
    """A few processes, and how far they are."""

    def __init__(self, processes: int) -> None:
        self.pool = ProcessPoolExecutor(processes)
        self.begin = time.perf_counter()

    def all(
        self, what: str, work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]
    ) -> list[Any]:
        """Do all tasks; return what they return, in their order."""
        futures: list[Future[Any]] = [self.pool.submit(work, *task) for task in tasks]
        for done, _ in enumerate(as_completed(futures), 1):
            if sys.stderr.isatty() or done == len(futures):
                seconds = time.perf_counter() - self.begin
                end = "\n" if done == len(futures) else ""
                print(
                    f"\r{what}: {done} of {len(futures)}, {seconds:.0f} s", end=end, file=sys.stderr
                )
        return [future.result() for future in futures]


def real_truths(size: Size, workers: Workers) -> dict[range, Truth]:
    """Return the truth of every field of real bots."""
    tasks = [
        (field, kind, effort)
        for field, effort in size.fields
        for kind in sorted(range(len(KINDS)), key=lambda kind: -KINDS[kind].players)
    ]
    found: dict[range, Truth] = {field: {} for field, _ in size.fields}
    for (field, kind, _), truth in zip(
        tasks, workers.all("the truth", play_truth, tasks), strict=True
    ):
        found[field][kind] = truth
    return found


def watch(world: World, tables: str, matches: tuple[int, ...], seed: int) -> dict[Case, Tally]:
    """Run a ladder, and hold all ratings against the truth on the way."""
    outcomes = world.ladder(tables, max(matches), seed)
    found = {}
    for count in matches:
        for rating, boards in BOARDS.items():
            board = boards(world.size, outcomes[:count])
            for scope in SCOPES:
                case = Case(world.name, tables, count, rating, str(scope))
                found[case] = measure(world, scope, board(scope), seed)
    return found


def worlds_of(size: Size, truths: dict[range, Truth]) -> list[tuple[World, int]]:
    """Return all worlds, each with its number of ladders."""
    worlds: list[tuple[World, int]] = [
        (RealWorld(field, truth), size.ladders) for field, truth in truths.items()
    ]
    models = real_ones(truths[size.fields[-1][0]])
    for bots, ladders in size.simulated:
        made = mixed(models, bots, bots)
        worlds.append((SimulatedWorld(f"{bots} simulated bots", made), ladders))
        strong = f"{bots} simulated bots, interplay {STRONG} times"
        worlds.append((SimulatedWorld(strong, made, STRONG), ladders))
    return worlds


def run(size: Size, processes: int) -> Report:
    """Measure everything."""
    workers = Workers(processes)
    truths = real_truths(size, workers)
    largest, effort = size.fields[-1]
    numbers = workers.all(
        "the model's numbers",
        find_numbers,
        [(largest, kind, effort, truths[largest][kind]) for kind in range(len(KINDS))],
    )
    tasks = [
        (world, tables, size.matches, seed)
        for world, ladders in worlds_of(size, truths)
        for tables in (RANDOM, OWN)
        for seed in range(ladders)
    ]
    tallies: dict[Case, Tally] = {}
    for found in workers.all("ladders", watch, tasks):
        for case, tally in found.items():
            tallies.setdefault(case, Tally()).add(tally)
    models = real_ones(truths[largest])
    attacks = workers.all(
        "attacks",
        attack,
        [
            (name, mixed(models, size.attack_bots, 1000 + seed), size.attack_matches, seed)
            for name in ATTACKS
            for seed in range(size.attacked)
        ],
    )
    return Report(
        tallies=tallies,
        numbers=numbers,
        orders=opposite_orders(truths[largest]),
        gains=gains_of(attacks),
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.ratings.coverage", description=__doc__)
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--quick", action="store_true", help="a few matches, to see that it runs")
    sizes.add_argument("--long", action="store_true", help="hours, for narrower figures")
    parser.add_argument("--processes", type=int, default=PROCESSES, metavar="N")
    parser.add_argument("--machine", metavar="NAME", help="the machine's name in the file names")
    parser.add_argument("--dry-run", action="store_true", help="write no files to bench/results")
    options = parser.parse_args()
    size = QUICK if options.quick else LONG if options.long else USUAL
    begin = time.perf_counter()
    report = run(size, options.processes)
    seconds = round(time.perf_counter() - begin)
    page = page_of(report, size, f"{day_and_machine()}, {seconds} s")
    if not options.dry_run:
        found = {"seconds": seconds, "size": size.name, **report.plain()}
        keep("coverage", found, page, options.machine)
    print(page)


if __name__ == "__main__":
    os.nice(5)
    main()
