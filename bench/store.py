"""How fast the store is with a large ladder in it: ``python -m bench.store``.

A ladder of 1,000 bots and 200,000 matches is made up (results drawn from known skills, games of
realistic size), then measured: storing a result with all the ratings it moves, the leaderboard,
alone and while results are stored, the head-to-head table, a full recomputation and the refit.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from sqlalchemy import insert, text

from bench.keeping import day_and_machine, keep
from keltis_cli.bench.machine import this_machine
from keltis_engine import VARIANTS, find_variant
from keltis_ladder.match.orders import Order
from keltis_ladder.match.rotation import seat_of
from keltis_ladder.ratings.model import MU, SIGMA, noise_of
from keltis_ladder.ratings.scopes import ALL, ANY, Scope
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.finishing import finish
from keltis_ladder.store.matches.queue import add_job
from keltis_ladder.store.matches.records import MatchRows, pack_moves
from keltis_ladder.store.ratings.leaderboards import head_to_head, leaderboard
from keltis_ladder.store.ratings.recomputing import compare, replace
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import (
    Author,
    Bot,
    Game,
    Job,
    JobEntrant,
    Ledger,
    Match,
    Place,
    Version,
    table_of,
)
from keltis_ladder.store.schema.upkeep import upgrade
from keltis_ladder.store.schema.version_states import VersionCause, VersionState

SEED: Final = 2026
MATCHES_PER_INSERT: Final = 2_000
DECISIONS: Final = 90  # of a game, about as many as in keltis
NEAR: Final = 60  # opponents come from so many places around

GOALS: Final = {
    "leaderboard, p99, ms": 20.0,
    "leaderboard while results are stored, p99, ms": 20.0,
    "result stored, p99, ms": 5.0,
    "recomputation, matches/s": 2_000.0,
}


@dataclass(frozen=True)
class Timing:
    """Many calls of one thing, in milliseconds."""

    what: str
    calls: int
    median: float
    p99: float
    worst: float


class MadeUp:
    """Draws results from known skills."""

    def __init__(self, bots: int) -> None:
        self.chance = random.Random(SEED)
        self.skills = sorted(self.chance.gauss(MU, SIGMA) for _ in range(bots))
        self.packed = [
            pack_moves([self.chance.randrange(300) for _ in range(DECISIONS)]) for _ in range(50)
        ]

    def table(self) -> tuple[str, list[int]]:
        """Draw a variant and who plays, by number."""
        players = self.chance.choice((2, 2, 3, 4))
        middle = self.chance.randrange(len(self.skills))
        low = max(0, min(middle - NEAR // 2, len(self.skills) - NEAR))
        high = min(len(self.skills), low + NEAR)
        return self.chance.choice(list(VARIANTS)), self.chance.sample(range(low, high), players)

    def rows(self, variant: str, entrants: list[int]) -> MatchRows:
        """Draw a result."""
        players = len(entrants)
        beta = noise_of(variant, players).beta
        strength = [self.skills[entrant] + self.chance.gauss(0, beta) for entrant in entrants]
        wins = [[0] * players for _ in entrants]
        for rotation in range(players):
            best = max(range(players), key=lambda k: strength[k] + self.chance.gauss(0, beta))
            wins[best][seat_of(best, rotation, players)] = 12
        shares = [sum(won) for won in wins]
        points = [int(10 * value) for value in strength]
        order = list(zip(shares, points, strict=True))
        return MatchRows(
            variant=variant,
            players=players,
            decisions=DECISIONS * players,
            places=[
                {
                    "position": k,
                    "rank": 1 + sum(other > order[k] for other in order),
                    "twelfths": shares[k],
                    "points": points[k],
                    "faults": 0,
                    "asked": DECISIONS,
                    "wall_ms": 12.5,
                    "cpu_ms": 11.5,
                    "slowest_ms": 1.25,
                    **{
                        f"seat{seat}": wins[k][seat] if seat < players else None
                        for seat in range(4)
                    },
                }
                for k in range(players)
            ],
            games=[
                {
                    "rotation": rotation,
                    "ending": "pile",
                    "scores": points,
                    "ranks": list(range(1, players + 1)),
                    "moves": self.chance.choice(self.packed),
                    "digest": "0" * 64,
                }
                for rotation in range(players)
            ],
            faults=[],
        )


def fill(database: Database, made_up: MadeUp, matches: int) -> None:
    """Store bots and matches in bulk, then rate them all at once."""
    bots = len(made_up.skills)
    began = now() - timedelta(days=30)
    with database.writing() as session:
        authors = [
            {"id": k + 1, "name": f"author{k}", "house": False} for k in range(bots // 3 + 1)
        ]
        for author in authors:
            author |= {"disabled": False, "created": began}
        session.execute(insert(table_of(Author)), authors)
        session.execute(
            insert(table_of(Bot)),
            [
                {"id": k + 1, "author_id": k // 3 + 1, "name": f"bot{k}", "created": began}
                for k in range(bots)
            ],
        )
        session.execute(
            insert(table_of(Version)),
            [
                {
                    "id": k + 1,
                    "bot_id": k + 1,
                    "number": 1,
                    "variants": list(VARIANTS),
                    "players": [2, 3, 4],
                    "state": VersionState.ACTIVE,
                    "cause": VersionCause.ENTERED,
                    "details": {},
                    "created": began,
                }
                for k in range(bots)
            ],
        )
    versions = {variant: find_variant(variant).version for variant in VARIANTS}
    for first in range(1, matches + 1, MATCHES_PER_INSERT):
        rows: dict[Any, list[dict[str, Any]]] = {
            table: [] for table in (Job, JobEntrant, Match, Place, Game)
        }
        for number in range(first, min(first + MATCHES_PER_INSERT, matches + 1)):
            variant, entrants = made_up.table()
            when = began + timedelta(days=30) * (number / matches)
            _add(rows, number, versions[variant], made_up.rows(variant, entrants), entrants, when)
        with database.writing() as session:
            for table, values in rows.items():
                session.execute(insert(table_of(table)), values)
        if first % (20 * MATCHES_PER_INSERT) == 1:
            say(f"{first - 1:,} matches made up")
    with database.writing() as session:
        ledger = session.get(Ledger, 1)
        assert ledger is not None
        ledger.matches = matches
        session.add(ledger)
    with database.writing() as session:
        replace(session)
    with database.engine.connect() as connection:
        connection.execute(text("ANALYZE"))
        connection.commit()


def _add(
    rows: dict[Any, list[dict[str, Any]]],
    number: int,
    version: int,
    made: MatchRows,
    entrants: list[int],
    when: datetime,
) -> None:
    id = str(uuid.UUID(int=number))
    rows[Job].append(
        {
            "id": id,
            "purpose": "ladder",
            "rated": True,
            "variant": made.variant,
            "ruleset_version": version,
            "options": {},
            "players": made.players,
            "seed": str(number),
            "bank_ms": 1000,
            "increment_ms": 20,
            "start_ms": 5000,
            "priority": 0,
            "reason": "close",
            "created": when,
            "state": "done",
            "tries": 1,
            "trouble": "",
        }
    )
    rows[JobEntrant] += [
        {"job_id": id, "position": k, "version_id": entrant + 1}
        for k, entrant in enumerate(entrants)
    ]
    rows[Match].append(
        {
            "number": number,
            "job_id": id,
            "variant": made.variant,
            "players": made.players,
            "rated": True,
            "decisions": made.decisions,
            "finished": when,
        }
    )
    of_match = {"match_number": number}
    rows[Place] += [
        of_match | {"version_id": entrants[place["position"]] + 1} | place for place in made.places
    ]
    rows[Game] += [of_match | game for game in made.games]


def timed(what: str, calls: int, work: Callable[[int], object]) -> Timing:
    """Call something many times."""
    took = []
    for number in range(calls):
        begin = time.perf_counter()
        work(number)
        took.append(1000 * (time.perf_counter() - begin))
    took.sort()
    return Timing(what, calls, statistics.median(took), took[int(calls * 0.99)], took[-1])


def scopes() -> Iterator[Scope]:
    """Return the scopes in turn, the overall one every other time."""
    kinds = [Scope(variant, players) for variant in (*VARIANTS, ALL) for players in (ANY, 2, 3, 4)]
    while True:
        for kind in kinds:
            yield Scope(ALL, ANY)
            yield kind


def measure(database: Database, made_up: MadeUp, calls: int) -> tuple[list[Timing], dict[str, Any]]:
    """Measure everything once."""
    which = scopes()

    def show(_: int) -> None:
        with database.reading() as session:
            leaderboard(session, next(which))

    def store(_: int) -> None:
        variant, entrants = made_up.table()
        rows = made_up.rows(variant, entrants)
        order = Order(variant, tuple(entrant + 1 for entrant in entrants), seed=1)
        database.write(lambda session: add_job(session, order, now()))
        begin = time.perf_counter()
        stored = database.write(lambda session: finish(session, order.id, rows, now()))
        storing.append(1000 * (time.perf_counter() - begin))
        assert stored.fresh

    def matrix(number: int) -> None:
        with database.reading() as session:
            head_to_head(session, range(1 + 20 * (number % 40), 21 + 20 * (number % 40)))

    storing: list[float] = []
    timings = [timed("leaderboard", calls, show)]
    timed("store", calls, store)
    storing.sort()
    timings.append(
        Timing(
            "result stored", calls, statistics.median(storing), storing[int(calls * 0.99)],
            storing[-1],
        )
    )  # fmt: skip
    timings.append(timed("head to head of 20", calls, matrix))
    timings.append(_while_storing(show, store, calls))
    rates = _recompute(database)
    return timings, rates


def _while_storing(show: Callable[[int], None], store: Callable[[int], None], calls: int) -> Timing:
    ended = threading.Event()

    def keep_storing() -> None:
        while not ended.is_set():
            store(0)
            time.sleep(0.02)  # about as busy as a ladder on two cores

    writer = threading.Thread(target=keep_storing)
    writer.start()
    try:
        return timed("leaderboard while results are stored", calls, show)
    finally:
        ended.set()
        writer.join()


def _recompute(database: Database) -> dict[str, Any]:
    say("recomputing")
    begin = time.perf_counter()
    with database.reading() as session:
        found, _ = compare(session)
    took = time.perf_counter() - begin
    assert found.equal, found.examples
    return {"matches": found.matches, "seconds": took, "rate": found.matches / took}


def say(words: str) -> None:
    print(words, file=sys.stderr)


def markdown(report: dict[str, Any]) -> str:
    """Return the report for people."""
    where = f"{day_and_machine()}, {this_machine().python}"
    what = f"{report['bots']:,} bots, {report['matches']:,} matches, {report['kind']}"
    recomputed = report["recomputation"]
    lines = [
        "# The store",
        "",
        f"{where}. {what}, {report['size'] / 2**20:.0f} MiB.",
        "",
        "| | calls | median ms | p99 ms | worst ms |",
        "|---|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {row['what']} | {row['calls']:,} | {row['median']:.2f} | {row['p99']:.2f} | "
        f"{row['worst']:.2f} |"
        for row in report["timings"]
    ]
    lines += [
        "",
        (
            f"Recomputing {recomputed['matches']:,} matches, every stored number compared: "
            f"{recomputed['seconds']:.1f} s, {recomputed['rate']:,.0f} matches/s."
        ),
        "",
        "| goal | | |",
        "|---|--:|---|",
    ]
    lines += [
        f"| {goal['what']} | {goal['goal']:,g} | {goal['found']:,.1f}: "
        f"{'met' if goal['met'] else '**missed**'} |"
        for goal in report["goals"]
    ]
    return "\n".join(lines) + "\n"


def goals(timings: list[Timing], rate: float) -> list[dict[str, Any]]:
    """Hold the figures against the goals."""
    found = {f"{timing.what}, p99, ms": timing.p99 for timing in timings}
    found["recomputation, matches/s"] = rate
    return [
        {
            "what": what,
            "goal": goal,
            "found": found[what],
            "met": found[what] >= goal if "/s" in what else found[what] <= goal,
        }
        for what, goal in GOALS.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.store", description=__doc__)
    parser.add_argument("--bots", type=int, default=1_000)
    parser.add_argument("--matches", type=int, default=200_000)
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--database", help="an empty PostgreSQL database; SQLite unless given")
    parser.add_argument("--no-file", action="store_true", help="only show the results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="keltis-bench-") as scratch:
        database = Database(options.database or str(Path(scratch) / "ladder.db"))
        upgrade(database)
        made_up = MadeUp(options.bots)
        fill(database, made_up, options.matches)
        say("measuring")
        gc.collect()
        gc.freeze()  # as ``serve`` does
        timings, recomputed = measure(database, made_up, options.calls)
        size = database.file.stat().st_size if database.file else 0
        kind = "SQLite" if database.is_sqlite else "PostgreSQL"
        database.close()
    report = {
        "kind": kind,
        "bots": options.bots,
        "matches": options.matches,
        "size": size,
        "timings": [asdict(timing) for timing in timings],
        "recomputation": recomputed,
        "goals": goals(timings, recomputed["rate"]),
    }
    shown = markdown(report)
    print(shown)
    if not options.no_file:
        keep(f"store-{kind.lower()}", report, shown)


if __name__ == "__main__":
    main()
