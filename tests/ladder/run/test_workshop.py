"""A platform that fails breaks no bot, and a program that takes long to build holds up nobody."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import shlex
from pathlib import Path
from typing import Any

import pytest

from keltis_ladder.dispatch.dispatcher import MatchAbandoned, Outcome
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.match.jobs import Job as PlayedJob
from keltis_ladder.match.orders import AT_ONCE_PRIORITY, Order, Purpose
from keltis_ladder.run.backoff import FIRST_PAUSE_SECONDS, Backoff
from keltis_ladder.run.programs import Lacking, Programs, Unready
from keltis_ladder.run.scheduler import PlatformTrouble, Scheduler
from keltis_ladder.run.tournaments import Director
from keltis_ladder.run.transactions import Transactions
from keltis_ladder.sandbox.sandbox import Sandbox
from keltis_ladder.store.bots.version_words import reason_of
from keltis_ladder.store.matches.queue import add_job
from keltis_ladder.store.schema.job_troubles import JobTrouble
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import Bot, Job, JobState, Version
from keltis_ladder.store.schema.version_states import VersionCause, VersionChanged, VersionState
from tests.ladder.dispatch.support.playing import CORES
from tests.ladder.run.test_scheduler import CONTROL, Ladder, submit, until
from tests.ladder.support.disks import full_disk
from tests.ladder.support.small_bots import write_bot

VARIANT = "weg-der-steine"
TABLE: dict[str, Any] = {"variants": [VARIANT], "players": [2]}


@pytest.fixture
def ladder(tmp_path: Path) -> Ladder:
    """Give a ladder with two bots of the house."""
    ladder = Ladder(tmp_path / "ladder")
    for name in ("one", "two"):
        ladder.enter(name)
    return ladder


def state_of(ladder: Ladder, version: int) -> tuple[str, str]:
    with ladder.database.reading() as session:
        found = session.get_one(Version, version)
        return found.state, reason_of(found)


def troubles(ladder: Ladder) -> list[str]:
    return [news.text for news in ladder.news if isinstance(news, PlatformTrouble)]


def played(ladder: Ladder, version: int) -> int:
    return sum(version in told.playing.order.versions for told in ladder.told())


def archive_of(ladder: Ladder, version: int) -> Path:
    with ladder.database.reading() as session:
        digest = session.get_one(Version, version).archive_digest
    assert digest is not None
    return ladder.home.archives.path(digest)


def challenge(ladder: Ladder, *versions: int) -> str:
    with ladder.database.writing() as session:
        order = Order(VARIANT, versions, Purpose.CHALLENGE, rated=False, priority=AT_ONCE_PRIORITY)
        return add_job(session, order, now()).id


def job_of(ladder: Ladder, id: str) -> Job:
    with ladder.database.reading() as session:
        return session.get_one(Job, id)


def test_a_missing_archive_is_our_fault_and_the_bot_plays_when_it_is_back(
    ladder: Ladder, tmp_path: Path
) -> None:
    mine = submit(ladder, write_bot(tmp_path / "mine", **TABLE))
    archive = archive_of(ladder, mine)
    kept = archive.rename(tmp_path / "kept")
    job = challenge(ladder, mine, 1)

    def enough(ladder: Ladder, scheduler: Scheduler) -> bool:
        if len(troubles(ladder)) >= 2 and len(ladder.told()) >= 3 and kept.exists():
            assert state_of(ladder, mine) == (VersionState.ACTIVE, "")
            waits = job_of(ladder, job)
            assert (waits.state, waits.tries, waits.holder) == (JobState.WAITING, 0, None)
            assert scheduler.workshop.failing == {mine}
            kept.rename(archive)
        return played(ladder, mine) >= 2 and job_of(ladder, job).state == JobState.DONE

    ladder.run(enough)
    told = [text for text in troubles(ladder) if "mine version 1" in text]
    assert "is missing: restore a backup" in told[0]
    assert "not its fault" in told[0]
    assert [text.rpartition("in ")[2] for text in told][:2] == ["1 s", "2 s"]
    assert state_of(ladder, mine) == (VersionState.ACTIVE, "")


def test_a_full_disk_is_our_fault_and_the_bot_plays_when_there_is_room(
    ladder: Ladder, tmp_path: Path
) -> None:
    mine = submit(ladder, write_bot(tmp_path / "mine", **TABLE))
    with contextlib.ExitStack() as stack:
        stack.enter_context(full_disk(ladder.home.directory / "bots"))

        def enough(ladder: Ladder, _: Scheduler) -> bool:
            if troubles(ladder) and len(ladder.told()) >= 3:
                assert state_of(ladder, mine) == (VersionState.ACTIVE, "")
                stack.close()
            return played(ladder, mine) >= 1

        ladder.run(enough)
    assert "not its fault" in troubles(ladder)[0]
    assert state_of(ladder, mine) == (VersionState.ACTIVE, "")


def test_a_build_that_fails_is_the_bots_fault(ladder: Ladder, tmp_path: Path) -> None:
    build = ["sh", "-c", "echo no compiler >&2; exit 1"]
    mine = submit(ladder, write_bot(tmp_path / "mine", build=build, **TABLE))
    job = challenge(ladder, mine, 1)

    def enough(ladder: Ladder, _: Scheduler) -> bool:
        is_broken = state_of(ladder, mine)[0] == VersionState.BROKEN
        return is_broken and len(ladder.told()) >= 3 and job_of(ladder, job).trouble != ""

    ladder.run(enough)
    assert "no compiler" in state_of(ladder, mine)[1]
    [change] = [each for each in ladder.news if isinstance(each, VersionChanged)]  # all are told
    assert (change.version_id, change.cause) == (mine, VersionCause.UNPREPARED)
    failed = job_of(ladder, job)
    assert failed.state == JobState.FAILED
    assert failed.trouble == JobTrouble.UNPREPARED
    assert failed.trouble_details is not None
    assert "no compiler" in failed.trouble_details["text"]
    assert troubles(ladder) == []
    assert played(ladder, mine) == 0


def waiting_build(sign: Path, begun: Path) -> list[str]:
    wait = f"touch {shlex.quote(str(begun))}; until [ -e {shlex.quote(str(sign))} ]"
    return ["sh", "-c", f"{wait}; do sleep 0.02; done"]


def test_a_slow_build_holds_up_nobody_else(ladder: Ladder, tmp_path: Path) -> None:
    sign, begun = tmp_path / "sign", tmp_path / "begun"
    slow = submit(
        ladder, write_bot(tmp_path / "slow", build=waiting_build(sign, begun), **TABLE), "Ada"
    )
    quick = submit(ladder, write_bot(tmp_path / "quick", build=["true"], **TABLE), "Bea")
    job = challenge(ladder, slow, 1)

    def enough(ladder: Ladder, scheduler: Scheduler) -> bool:
        others = [told for told in ladder.told() if slow not in told.playing.order.versions]
        if not sign.exists() and begun.exists() and len(others) >= 8 and played(ladder, quick) > 1:
            assert slow in scheduler.workshop.waiting
            assert played(ladder, slow) == 0
            waits = job_of(ladder, job)  # whoever could play it might have it meanwhile
            assert (waits.state, waits.tries) == (JobState.WAITING, 0)
            sign.touch()
        return job_of(ladder, job).state == JobState.DONE and played(ladder, slow) >= 2

    ladder.run(enough)
    assert troubles(ladder) == []


def test_builds_without_end_do_not_keep_the_ladder_from_stopping(
    ladder: Ladder, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    never = waiting_build(tmp_path / "never", begun)
    mine = submit(ladder, write_bot(tmp_path / "mine", build=never, **TABLE))
    ladder.run(lambda *_: begun.exists())
    assert state_of(ladder, mine) == (VersionState.ACTIVE, "")
    assert troubles(ladder) == []
    assert [path.name for path in (ladder.home.directory / "bots").iterdir()] == []


def test_a_program_is_built_once_for_all_matches_that_want_it(
    ladder: Ladder, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    build = ["sh", "-c", f"echo built >> {shlex.quote(str(count))}; sleep 0.2"]
    mine = submit(ladder, write_bot(tmp_path / "mine", build=build, **TABLE))
    jobs = [challenge(ladder, mine, other) for other in (1, 2, 1, 2)]
    ladder.run(lambda ladder, _: all(job_of(ladder, job).state == "done" for job in jobs))
    assert count.read_text() == "built\n"


def test_where_there_is_no_sandbox_guests_wait_and_are_not_broken(
    ladder: Ladder, tmp_path: Path
) -> None:
    mine = submit(ladder, write_bot(tmp_path / "mine", **TABLE))
    programs = Programs(ladder.home, None, print, house_only="bubblewrap is not installed")
    with ladder.database.reading() as session:
        version = session.get_one(Version, mine)
        bot = session.get_one(Bot, version.bot_id)
    with pytest.raises(Lacking):
        programs.find(version, bot)
    with pytest.raises(MachineFailed, match="bubblewrap is not installed"):
        programs.entrant(version, bot)


def test_a_bubblewrap_that_vanished_is_our_fault(
    sandbox: Sandbox, ladder: Ladder, tmp_path: Path
) -> None:
    mine = submit(ladder, write_bot(tmp_path / "mine", build=["true"], **TABLE))
    with ladder.database.reading() as session:
        version = session.get_one(Version, mine)
        bot = session.get_one(Bot, version.bot_id)
    busy = tmp_path / "bwrap"
    busy.write_text("#!/bin/sh\necho 'bwrap: Resource temporarily unavailable' >&2; exit 1\n")
    busy.chmod(0o755)
    for bubblewrap, words in (("/no/such/bwrap", "No such file"), (str(busy), "temporarily")):
        broken = Sandbox(sandbox.groups, bubblewrap, sandbox.mount, sandbox.setpriv)
        with pytest.raises(MachineFailed, match=words):
            Programs(ladder.home, broken, print).entrant(version, bot)
    assert Programs(ladder.home, sandbox, print).entrant(version, bot).home is not None


def test_a_bad_manifest_and_a_missing_compiler_are_the_bots_fault(
    sandbox: Sandbox, ladder: Ladder, tmp_path: Path
) -> None:
    for number, build in enumerate((["no-such-compiler"], ["false"])):
        mine = submit(ladder, write_bot(tmp_path / f"bot{number}", build=build, **TABLE))
        with ladder.database.reading() as session:
            version = session.get_one(Version, mine)
            bot = session.get_one(Bot, version.bot_id)
        with pytest.raises(Unready) as caught:
            Programs(ladder.home, sandbox, print).entrant(version, bot)
        assert caught.value.version_id == mine


class FailingDispatcher(LocalDispatcher):
    """Fails as often as it is told to, and then plays."""

    def __init__(self, failures: int) -> None:
        super().__init__(CORES[:1], sandboxed=False)
        self.failures = failures
        self.moments: list[float] = []

    def submit(self, job: PlayedJob, urgent: bool = False) -> asyncio.Future[Outcome]:
        loop = asyncio.get_running_loop()
        self.moments.append(loop.time())
        if len(self.moments) > self.failures:
            return super().submit(job, urgent)
        failed: asyncio.Future[Outcome] = loop.create_future()
        failed.set_result(MatchAbandoned(job, "no more processes"))
        return failed


def test_matches_that_fail_through_us_are_tried_again_less_and_less_often(ladder: Ladder) -> None:
    job = challenge(ladder, 1, 2)
    dispatcher = FailingDispatcher(3)

    async def work() -> None:
        await dispatcher.start()
        transactions = Transactions(ladder.database, Programs(ladder.home, None, print), CONTROL)
        scheduler = Scheduler(
            transactions,
            Director(transactions.database),
            dispatcher,
            None,
            ladder.news.append,
            width=1,
        )
        running = asyncio.create_task(scheduler.run())
        try:
            await until(lambda: running.done() or bool(ladder.told()))
            scheduler.stop()
            await running
        finally:
            await dispatcher.close()

    asyncio.run(work())
    assert job_of(ladder, job).state == JobState.DONE
    moments = dispatcher.moments
    pauses = [later - sooner for sooner, later in itertools.pairwise(moments)]
    assert all(pause >= 2**n for n, pause in enumerate(pauses))
    assert [text.rpartition("; ")[2] for text in troubles(ladder)] == [
        f"no match of one, two begins for {2**n} s" for n in range(3)
    ]


def test_pauses_double_up_to_a_limit_and_begin_anew() -> None:
    backoff = Backoff(longest=10)
    assert [backoff.failed() for _ in range(6)] == [1, 2, 4, 8, 10, 10]
    backoff.failures = 10_000
    assert backoff.failed() == 10
    backoff.succeeded()
    assert backoff.failed() == FIRST_PAUSE_SECONDS
