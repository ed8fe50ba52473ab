"""On a machine that is too busy no tournament loses a match, and nothing spins."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlmodel import select

from keltis_ladder.dispatch.dispatcher import MatchPostponed, Outcome
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.match.jobs import Job as PlayedJob
from keltis_ladder.run import resting, scheduler
from keltis_ladder.run.course import Entry
from keltis_ladder.run.programs import Programs
from keltis_ladder.run.resting import REST_SECONDS, Resting
from keltis_ladder.run.scheduler import PlatformTrouble, Scheduler
from keltis_ladder.run.tournaments import Director
from keltis_ladder.run.transactions import Transactions
from keltis_ladder.store.matches.queue import MOST_TRIES
from keltis_ladder.store.schema.tables import Job, TournamentState
from keltis_ladder.tournaments.plan import Plan
from tests.ladder.dispatch.support.playing import CORES
from tests.ladder.run.test_scheduler import CONTROL, Ladder, until

OFTEN = 3 * MOST_TRIES


class BusyMachine(LocalDispatcher):
    """Is too busy for each match so often, and then plays it."""

    def __init__(self) -> None:
        super().__init__(CORES[:1], sandboxed=False)
        self.postponed: list[str] = []

    def submit(self, job: PlayedJob, urgent: bool = False) -> asyncio.Future[Outcome]:
        if self.postponed.count(job.id) == OFTEN:
            return super().submit(job, urgent)
        self.postponed.append(job.id)
        outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        outcome.set_result(MatchPostponed(job, "the machine is too busy"))
        return outcome


@pytest.fixture
def ladder(tmp_path: Path) -> Ladder:
    return Ladder(tmp_path)


def test_no_match_of_a_tournament_is_void_because_the_machine_was_too_busy(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "LONGEST_PAUSE", 0.01)
    monkeypatch.setattr(resting, "REST_SECONDS", 0.0)
    versions = [ladder.enter(name) for name in ("one", "two", "three")]
    entries = [Entry(version, f"bot{version}") for version in versions]
    plan = Plan("round-robin", entrants=3, variants=("weg-der-steine",))
    machine = BusyMachine()

    async def work() -> None:
        await machine.start()
        transactions = Transactions(ladder.database, Programs(ladder.home, None, print), CONTROL)
        director = Director(ladder.database)
        running = Scheduler(transactions, director, machine, None, ladder.news.append, width=2)
        id = director.create("cup", plan, entries, CONTROL)
        director.start(id)
        task = asyncio.create_task(running.run())
        try:
            await until(lambda: task.done() or len(ladder.told()) == 3)
            running.stop()
            await task
        finally:
            await machine.close()
        course = director.advance(id)
        assert course.record.state == TournamentState.FINISHED
        assert list(course.tournament.voids) == []

    asyncio.run(work())
    assert len(machine.postponed) == 3 * OFTEN
    with ladder.database.reading() as session:
        assert [job.tries for job in session.exec(select(Job))] == [1, 1, 1]
    troubles = [news.text for news in ladder.news if isinstance(news, PlatformTrouble)]
    assert len(troubles) == 3 * OFTEN
    assert all("too busy; no match" in text for text in troubles)


def test_a_match_that_was_postponed_lets_others_go_first() -> None:
    now = 1000.0
    waits = Resting(lambda: now)
    waits.add("the final")
    now += 1.0
    waits.add("another")
    assert waits.ids == {"the final", "another"}
    now += REST_SECONDS - 1.0
    assert waits.ids == {"another"}
    now += 1.0
    assert waits.ids == frozenset()
    assert waits._until == {}
