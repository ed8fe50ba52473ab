"""A ladder under siege: its processes are killed again and again, and it must lose nothing.

The tests strike a hundred times, ``python -m bench.server.kills`` as often as one likes.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from sqlmodel import select

from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.run.programs import Programs
from keltis_ladder.run.scheduler import Scheduler
from keltis_ladder.run.tournaments import Director
from keltis_ladder.run.transactions import Transactions
from keltis_ladder.sandbox.child import descendants
from keltis_ladder.sandbox.strays import is_stray
from keltis_ladder.store.bots.catalogue import HOUSE, add_version, ensure_author, ensure_bot
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_ladder.store.ratings.recomputing import Comparison, compare
from keltis_ladder.store.schema.tables import FaultRecord, Job, JobState, Ledger, Match
from keltis_ladder.store.schema.version_states import VersionCause
from tests.preloaded.process import start_command

BOTS = ("random", "random", "greedy", "random", "greedy")  # quick ones: many matches per second
PATIENCE = 300.0  # seconds for a ladder to store its next result
LIVES = (2, 8)  # strikes before the whole runner is killed

Strike = Callable[["Runner"], None]


@dataclass
class Runner:
    """One life of ``keltis-ladder ladder run``."""

    process: subprocess.Popen[bytes]
    reader: threading.Thread | None = None
    told: list[tuple[int, str]] = field(default_factory=list)  # number and job of stored results

    def read(self, lines: IO[bytes]) -> None:
        """Note what it says; the last line may have been cut off."""
        with lines:
            for line in lines:
                if line.endswith(b"\n"):
                    record = json.loads(line)
                    self.told.append((record["match"], record["job"]))

    def wait_for_result(self) -> None:
        """Wait until it has stored one more result."""
        before = len(self.told)
        deadline = time.monotonic() + PATIENCE
        while len(self.told) == before:
            if self.process.poll() is not None:
                raise AssertionError(f"the ladder ended by itself: {self.process.returncode}")
            if time.monotonic() > deadline:
                raise AssertionError("the ladder has stopped playing")
            time.sleep(0.01)

    @property
    def referees(self) -> list[int]:
        """The processes of its referees that have bots."""
        return [
            pid
            for pid in descendants(self.process.pid)
            if "keltis_ladder.referee.worker" in _command(pid) and len(descendants(pid)) > 1
        ]


@dataclass
class Siege:
    """A ladder, and what was done to it."""

    home: Home
    chance: random.Random
    strikes: Counter[str] = field(default_factory=Counter)
    told: list[tuple[int, str]] = field(default_factory=list)

    def prepare(self) -> None:
        """Put bots on the ladder."""
        database = self.home.open()
        with database.writing() as session:
            author = ensure_author(session, HOUSE, house=True)
            for number, program in enumerate(BOTS):
                add_version(
                    session,
                    ensure_bot(session, author, f"{program}-{number}"),
                    variants=("keltis", "weg-der-steine"),
                    players=(2, 3),
                    program=f"{program} 0",
                    cause=VersionCause.ENTERED,
                )
        database.close()

    def endure(self, count: int, kinds: dict[str, Strike], show: Callable[[int], None]) -> None:
        """Start the ladder and strike it, again and again."""
        while self.strikes.total() < count:
            runner = self._start()
            try:
                runner.wait_for_result()
                for _ in range(self.chance.randint(*LIVES)):
                    time.sleep(self.chance.uniform(0.0, 0.3))
                    kind = self.chance.choice(sorted(kinds))
                    kinds[kind](runner)
                    self.strikes[kind] += 1
                    if self.chance.random() < 0.5:
                        runner.wait_for_result()
            finally:
                self._kill(runner)
            show(self.strikes.total())

    def _start(self) -> Runner:
        command = ["ladder", "run", "--no-house", "--json"]
        command += ["--data", str(self.home.directory), "--database", self.home.url]
        process = start_command(*command, stdout=subprocess.PIPE, start_new_session=True)
        runner = Runner(process)
        assert process.stdout is not None
        runner.reader = threading.Thread(target=runner.read, args=(process.stdout,), daemon=True)
        runner.reader.start()
        return runner

    def _kill(self, runner: Runner) -> None:
        """Kill the runner, and see all that it started end with it."""
        family = descendants(runner.process.pid)
        runner.process.send_signal(signal.SIGKILL)
        runner.process.wait()
        self.strikes["runner"] += 1
        deadline = time.monotonic() + PATIENCE
        # A sandbox that was just being set up may stay; the next referee ends it.
        while left := [pid for pid in family if _command(pid) and not is_stray(pid)]:
            if time.monotonic() > deadline:
                raise AssertionError(f"processes were left behind: {[_command(p) for p in left]}")
            time.sleep(0.02)
        assert runner.reader is not None
        runner.reader.join(10)
        self.told += runner.told

    def finish(self) -> None:
        """Play what is left in the queue, without starting anything new."""
        database = self.home.open()
        asyncio.run(_drain(self.home, database))
        database.close()

    def verdict(self) -> list[str]:
        """Return what is wrong with the ladder now: nothing, one hopes."""
        database = self.home.open()
        found = []
        with database.reading() as session:
            stored = {match.job_id: match.number for match in session.exec(select(Match))}
            ledger = session.get(Ledger, 1)
            states = Counter(session.exec(select(Job.state)))
            faults = len(session.exec(select(FaultRecord.id)).all())
            comparison: Comparison = compare(session)[0]
        database.close()
        lost = [job for number, job in self.told if stored.get(job) != number]
        if lost:
            found.append(f"{len(lost)} results were told and are not stored")
        if len(self.told) != len(set(self.told)):
            found.append("a result was told twice")
        if ledger is None or ledger.matches != len(stored):
            found.append(f"the ledger has {ledger}, there are {len(stored)} matches")
        if sorted(stored.values()) != list(range(1, len(stored) + 1)):
            found.append("the numbers of the matches have gaps")
        if states != {JobState.DONE: len(stored)}:
            found.append(f"jobs are {dict(states)}, there are {len(stored)} matches")
        if faults:
            found.append(f"{faults} faults were blamed on bots")
        if not comparison.equal:
            found += comparison.examples
        return found


async def _drain(home: Home, database: Database) -> None:
    programs = Programs(home, None, print)
    dispatcher = LocalDispatcher(sandboxed=False)
    await dispatcher.start()
    transactions = Transactions(database, programs)
    scheduler = Scheduler(
        transactions, Director(transactions.database), dispatcher, None, lambda news: None, width=2
    )
    running = asyncio.create_task(scheduler.run())
    deadline = time.monotonic() + PATIENCE
    while await asyncio.to_thread(_unfinished, database):
        if time.monotonic() > deadline:
            break
        await asyncio.sleep(0.05)
    scheduler.stop()
    await running
    await dispatcher.close()


def _unfinished(database: Database) -> int:
    with database.reading() as session:
        query = select(Job.id).where(Job.state != JobState.DONE)
        return len(session.exec(query).all())


def kill_a_referee(runner: Runner) -> None:
    """Kill one referee, if one is playing at this moment."""
    referees = runner.referees
    if referees:
        os.kill(referees[len(runner.told) % len(referees)], signal.SIGKILL)


def die_with_the_lock(file: Path) -> Strike:
    """Return a strike: somebody takes the only lock of an SQLite file, and is killed with it."""
    program = (
        "import sqlite3, sys, time\n"
        "held = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=300)\n"
        "held.execute('BEGIN IMMEDIATE')\n"
        "held.execute('UPDATE ledger SET matches = matches + 1000')\n"
        "print('held', flush=True)\n"
        "time.sleep(60)\n"
    )

    def strike(_: Runner) -> None:
        command = [sys.executable, "-c", program, str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
            assert other.stdout is not None
            other.stdout.readline()
            time.sleep(0.05)
            other.kill()

    return strike


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""
