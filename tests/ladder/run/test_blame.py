"""One bot whose matches all fail keeps nobody else from playing."""

from __future__ import annotations

import asyncio
from pathlib import Path

from keltis_ladder.dispatch.dispatcher import MatchAbandoned, Outcome
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.match.jobs import Job as PlayedJob
from keltis_ladder.matchmaking.matchmaker import Matchmaker
from keltis_ladder.run.blame import SUSPECT_SECONDS, Blame
from keltis_ladder.run.programs import Programs
from keltis_ladder.run.scheduler import MatchAssigned, PlatformTrouble, Scheduler
from keltis_ladder.run.tournaments import Director
from keltis_ladder.run.transactions import Transactions
from tests.ladder.dispatch.support.playing import CORES
from tests.ladder.run.test_scheduler import CONTROL, Ladder, until

HOSTILE = "hostile"
FAILS_BEFORE = 3  # that the dispatcher names nobody


class Aborted(LocalDispatcher):
    """Fails each match of one bot, and plays all others."""

    def __init__(self) -> None:
        super().__init__(CORES[:1], sandboxed=False)
        self.failed = 0

    def submit(self, job: PlayedJob, urgent: bool = False) -> asyncio.Future[Outcome]:
        if HOSTILE not in {entrant.name for entrant in job.entrants}:
            return super().submit(job, urgent)
        self.failed += 1
        suspects = (HOSTILE,) if self.failed > FAILS_BEFORE else ()
        failed: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        failed.set_result(MatchAbandoned(job, "out of memory", suspects=suspects))
        return failed


def test_a_bot_whose_matches_fail_stops_nobody_else(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path)
    hostile = ladder.enter(HOSTILE)
    for name in ("one", "two", "three"):
        ladder.enter(name)
    machine = Aborted()

    async def work() -> None:
        await machine.start()
        transactions = Transactions(ladder.database, Programs(ladder.home, None, print), CONTROL)
        scheduler = Scheduler(
            transactions,
            Director(ladder.database),
            machine,
            Matchmaker(),
            ladder.news.append,
            width=2,
        )
        running = asyncio.create_task(scheduler.run())
        played = 0

        def enough() -> bool:
            nonlocal played
            if machine.failed <= FAILS_BEFORE:
                played = len(ladder.told())
                return False
            return len(ladder.told()) >= played + 12

        try:
            await until(lambda: running.done() or enough())
            scheduler.stop()
            await running
        finally:
            await machine.close()

    asyncio.run(work())
    troubles = [news for news in ladder.news if isinstance(news, PlatformTrouble)]
    # Of the first nobody knows whose fault it is: those who were there wait for a second or so.
    assert all("; no match of " in each.text and HOSTILE in each.text for each in troubles)
    last = next(each for each in troubles if "600 s" in each.text)
    assert last.text == f"out of memory; no match of {HOSTILE} begins for {SUSPECT_SECONDS:.0f} s"
    begun = [
        news for news in ladder.news[ladder.news.index(last) :] if isinstance(news, MatchAssigned)
    ]
    # One more may have been about to begin.
    assert sum(hostile in news.playing.order.versions for news in begun) <= 1
    assert len(begun) >= 12


def test_whoever_was_in_all_matches_that_failed_may_be_to_blame() -> None:
    blame = Blame()
    assert blame.failed((1, 2)) == {1, 2}
    assert blame.failed((1, 3, 4)) == {1}
    assert blame.failed((2, 3)) == set(), "it is the machine"
    assert blame.failed((1, 2)) == set()
    blame.succeeded()
    assert blame.failed((1, 2)) == {1, 2}


def test_matches_that_wait_begin_again() -> None:
    now = 1000.0
    blame = Blame(lambda: now)
    blame.hold_back((1, 2), 10.0)
    blame.hold_back((2,), 1.0)
    blame.hold_back((3,), 5.0)
    now += 6.0
    assert blame.held_back == {1, 2}
    now += 4.0
    assert blame.held_back == frozenset()
    assert blame._until == {}
