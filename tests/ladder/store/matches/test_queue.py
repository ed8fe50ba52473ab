"""A match is asked for once, and played by whoever holds its lease: one at a time."""

import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from threading import Barrier

import pytest
from sqlmodel import Session, col, select

from keltis_engine import EngineError
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.orders import Order, Purpose
from keltis_ladder.match.reasons import MatchReason, Reason
from keltis_ladder.matchmaking.fair_shares import Flow
from keltis_ladder.store.bots.catalogue import Refused
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.job_rows import order_of
from keltis_ladder.store.matches.lease_holders import is_gone, release_gone, this_process
from keltis_ladder.store.matches.queue import (
    LEASE,
    MOST_TRIES,
    add_job,
    claim,
    give_up_waiting,
    release,
    renew,
    versions_of,
    waiting_flows,
)
from keltis_ladder.store.schema.job_troubles import JobTrouble
from keltis_ladder.store.schema.tables import Job, JobEntrant, JobState
from tests.ladder.store.support.crowd import together
from tests.ladder.store.support.ladders import NOON, ask_for, enter, entered, later

ME, YOU = "me", "you"


@pytest.fixture
def pair(database: Database) -> list[int]:
    return entered(database, "one", "other")


def job_of(session: Session, id: str) -> Job:
    job = session.get(Job, id)
    assert job is not None
    return job


def test_an_order_becomes_a_job_that_waits(database: Database, pair: list[int]) -> None:
    order = Order(
        variant="kartenspiel",
        versions=(pair[1], pair[0]),
        purpose=Purpose.CHALLENGE,
        rated=False,
        control=TimeControl(500, 10, 3000),
        priority=3,
        reason=Reason(MatchReason.SHARE, {"variant": "kartenspiel", "players": 2}),
    )
    with database.writing() as session:
        add_job(session, order, NOON)
    with database.reading() as session:
        job = job_of(session, order.id)
        assert job.state == JobState.WAITING
        assert (job.variant, job.players, job.rated, job.purpose) == (
            "kartenspiel", 2, False, "challenge",
        )  # fmt: skip
        assert job.options == {"turn_limit": 1000, "end_card_opens_row": 1}
        assert (job.seed, job.origin) == ("", None)  # drawn when it begins
        assert job.created == NOON
        assert order_of(job, order.versions) == order
        assert versions_of(session, [order.id]) == {order.id: (pair[1], pair[0])}


def test_the_same_order_twice_is_one_job(database: Database, pair: list[int]) -> None:
    order = Order("keltis", tuple(pair))
    for _ in range(2):
        with database.writing() as session:
            add_job(session, order, NOON)
    with database.reading() as session:
        assert len(session.exec(select(Job)).all()) == 1
        assert len(session.exec(select(JobEntrant)).all()) == 2


def test_the_same_order_by_many_at_the_same_time_is_one_job(url: str, database: Database) -> None:
    pair = entered(database, "one", "other")
    ids = [str(uuid.uuid4()) for _ in range(5)]

    def work(mine: Database, _: int) -> None:
        for id in ids:
            mine.write(partial(ask_for, versions=pair, id=id))

    together(url, 4, work)
    with database.reading() as session:
        assert sorted(session.exec(select(Job.id)).all()) == sorted(ids)
        assert len(session.exec(select(JobEntrant)).all()) == 2 * len(ids)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda versions: (versions[0], 999), "there is no version with the id 999"),
        (lambda versions: versions[:1], "keltis is for 2, 3, 4 players, not 1"),
        (lambda versions: versions[:2] * 3, "keltis is for 2, 3, 4 players, not 6"),
        (lambda versions: versions[1:3], "between different bots, not versions of one"),
    ],
)
def test_an_order_that_cannot_be_played_is_refused(
    database: Database, change: Callable[[list[int]], list[int]], text: str
) -> None:
    versions = entered(database, "one", "other") + entered(database, "other")
    with database.writing() as session, pytest.raises(Refused, match=text):
        ask_for(session, change(versions))
    with database.reading() as session:
        assert session.exec(select(Job)).all() == []


def test_an_unknown_variant_is_refused(database: Database, pair: list[int]) -> None:
    with database.writing() as session, pytest.raises(EngineError, match="no variant 'chess'"):
        ask_for(session, pair, "chess")


def test_versions_of_one_bot_may_meet_unrated(database: Database) -> None:
    old, new = entered(database, "one") + entered(database, "one")
    with database.writing() as session:
        ask_for(session, [old, new], rated=False)


def test_the_most_urgent_is_played_first_and_then_the_oldest(
    database: Database, pair: list[int]
) -> None:
    with database.writing() as session:
        for name, priority, seconds in [
            ("third", 0, 1), ("first", 5, 3), ("fourth", 0, 2), ("second", 2, 0),
        ]:  # fmt: skip
            order = Order("keltis", tuple(pair), priority=priority, id=name)
            add_job(session, order, later(seconds))
    with database.writing() as session:
        assert [job.id for job in claim(session, ME, later(9), limit=3)] == [
            "first", "second", "third",
        ]  # fmt: skip
    with database.writing() as session:
        assert [job.id for job in claim(session, ME, later(9), limit=3)] == ["fourth"]


def test_many_who_claim_at_the_same_time_get_different_jobs(url: str, database: Database) -> None:
    pair = entered(database, "one", "other")
    with database.writing() as session:
        asked = {ask_for(session, pair) for _ in range(60)}
    start = Barrier(6)

    def work(mine: Database, number: int) -> list[str]:
        got: list[str] = []
        start.wait()
        while True:
            jobs = mine.write(lambda session: _claimed(session, f"holder {number}"))
            if not jobs:
                return got
            got += jobs

    found = together(url, 6, work)
    assert sorted(id for ids in found for id in ids) == sorted(asked)
    with database.reading() as session:
        for number, ids in enumerate(found):
            assert {job_of(session, id).holder for id in ids} <= {f"holder {number}"}


def _claimed(session: Session, holder: str) -> list[str]:
    return [job.id for job in claim(session, holder, NOON, limit=3)]


def test_a_lease_that_has_ended_is_given_to_somebody_else(
    database: Database, pair: list[int]
) -> None:
    with database.writing() as session:
        id = ask_for(session, pair)
        assert [job.id for job in claim(session, ME, NOON)] == [id]
    with database.writing() as session:
        assert claim(session, YOU, NOON + LEASE) == []
    with database.writing() as session:
        (job,) = claim(session, YOU, NOON + LEASE + timedelta(seconds=1))
        assert (job.holder, job.tries) == (YOU, 2)
    with database.writing() as session:
        assert renew(session, [id], ME, later(62)) == []  # too late
        release(session, id, ME)  # not mine any more
        assert job_of(session, id).holder == YOU


def test_a_lease_that_is_renewed_is_kept(database: Database, pair: list[int]) -> None:
    with database.writing() as session:
        mine, lost = ask_for(session, pair), ask_for(session, pair)
        claim(session, ME, NOON, limit=2)
    with database.writing() as session:
        release(session, lost, ME)
    for minute in range(1, 6):
        with database.writing() as session:
            assert renew(session, [mine, lost, "unheard of"], ME, later(60 * minute)) == [mine]
    with database.writing() as session:
        assert [job.id for job in claim(session, YOU, later(330), limit=9)] == [lost]


def test_a_lease_given_back_without_trouble_was_no_try(database: Database, pair: list[int]) -> None:
    with database.writing() as session:
        id = ask_for(session, pair)
    for _ in range(2 * MOST_TRIES):
        with database.writing() as session:
            assert [job.id for job in claim(session, ME, NOON)] == [id]
        with database.writing() as session:
            release(session, id, ME)
    with database.reading() as session:
        job = job_of(session, id)
        assert (job.state, job.tries, job.holder, job.lease_until) == ("waiting", 0, None, None)
        assert (job.trouble, job.trouble_details) == ("", None)


def test_a_busy_machine_uses_up_no_tries(database: Database, pair: list[int]) -> None:
    with database.writing() as session:
        id = ask_for(session, pair)
    for number in range(3 * MOST_TRIES):
        with database.writing() as session:
            assert [job.id for job in claim(session, ME, NOON)] == [id]
        with database.writing() as session:
            release(session, id, ME, JobTrouble.BUSY, f"too busy {number}")
        with database.reading() as session:
            job = job_of(session, id)
            assert (job.state, job.tries, job.holder) == (JobState.WAITING, 0, None)
            assert (job.trouble, job.trouble_details) == ("busy", {"text": f"too busy {number}"})
    for _ in range(MOST_TRIES):  # what is not the machine's doing still comes to an end
        with database.writing() as session:
            claim(session, ME, NOON)
        with database.writing() as session:
            release(session, id, ME, JobTrouble.PLATFORM)
    with database.reading() as session:
        assert job_of(session, id).state == JobState.FAILED


def test_jobs_that_rest_are_left_where_they_are(database: Database, pair: list[int]) -> None:
    with database.writing() as session:
        first, second = ask_for(session, pair, priority=1), ask_for(session, pair)
        assert waiting_flows(session, NOON, resting=[first, second]) == set()
        assert waiting_flows(session, NOON, resting=[first]) == {Flow(Purpose.LADDER)}
        assert [job.id for job in claim(session, ME, NOON, limit=9, resting=[first])] == [second]
        assert [job.id for job in claim(session, ME, NOON, limit=9)] == [first]


def test_a_job_with_too_much_trouble_has_failed(database: Database, pair: list[int]) -> None:
    with database.writing() as session:
        id = ask_for(session, pair)
    for number in range(MOST_TRIES):
        with database.writing() as session:
            assert [job.id for job in claim(session, ME, NOON)] == [id]
        with database.writing() as session:
            release(session, id, ME, JobTrouble.PLATFORM, f"trouble {number}")
    with database.writing() as session:
        assert claim(session, ME, NOON) == []
        job = job_of(session, id)
        assert (job.state, job.trouble) == (JobState.FAILED, JobTrouble.PLATFORM)
        assert job.trouble_details == {"text": f"trouble {MOST_TRIES - 1}"}
        assert (job.holder, job.lease_until) == (None, None)


def test_jobs_that_nobody_can_play_are_given_up_at_once(
    database: Database, pair: list[int]
) -> None:
    with database.writing() as session:
        waiting, leased = ask_for(session, pair), ask_for(session, pair, priority=1)
        claim(session, ME, NOON)
        give_up_waiting(session, pair[1], "the build said \x00 and \udcff")
    with database.reading() as session:
        job = job_of(session, waiting)
        assert (job.state, job.trouble) == (JobState.FAILED, JobTrouble.UNPREPARED)
        assert job.trouble_details == {"text": r"the build said \x00 and \udcff"}
        assert job_of(session, leased).state == JobState.LEASED  # somebody plays it


def test_jobs_of_versions_that_are_not_ready_are_left_where_they_are(
    database: Database, pair: list[int]
) -> None:
    with database.writing() as session:
        id = ask_for(session, pair)
        assert claim(session, ME, NOON, limit=5, without=[pair[1]]) == []
        assert claim(session, ME, NOON, limit=5, without=[max(pair) + 1])[0].id == id


def test_a_job_whose_leases_end_again_and_again_has_failed(
    database: Database, pair: list[int]
) -> None:
    with database.writing() as session:
        id = ask_for(session, pair)
    for number in range(MOST_TRIES):
        with database.writing() as session:
            assert [job.id for job in claim(session, ME, later(100 * number))] == [id]
    with database.writing() as session:
        assert claim(session, ME, later(100 * MOST_TRIES)) == []
        job = job_of(session, id)
        assert (job.state, job.trouble) == (JobState.FAILED, JobTrouble.LEASES_ENDED)


@contextmanager
def other_process() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start a process that tells its name as a holder, and lives until it is ended."""
    code = (
        "from keltis_ladder.store.matches.lease_holders import this_process\n"
        "print(this_process(), flush=True)\n"
        "input()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process
    finally:
        process.kill()
        process.communicate()


def test_the_leases_of_a_killed_process_are_given_back_at_once(
    database: Database, pair: list[int]
) -> None:
    with other_process() as (other, process):
        with database.writing() as session:
            ids = [ask_for(session, pair, priority=-number) for number in range(3)]
            claim(session, this_process(), NOON)
            claim(session, other, NOON)
            claim(session, "another-machine/4711", NOON)
        with database.writing() as session:
            assert release_gone(session) == []
        process.kill()  # a zombie now, for nobody has asked how it ended
        while not is_gone(other):
            pass
        process.wait()
        assert is_gone(other)
        with database.writing() as session:
            assert release_gone(session) == [ids[1]]
    with database.writing() as session:
        assert [job.id for job in claim(session, YOU, NOON, limit=9)] == [ids[1]]
        job = job_of(session, ids[1])
        assert job.trouble == JobTrouble.HOLDER_GONE


def test_of_holders_elsewhere_nothing_is_known() -> None:
    mine = this_process()
    assert not is_gone(mine)
    assert not is_gone(f"other-boot/{mine}")
    assert not is_gone("referee-7")
    machine, pid, started = mine.rsplit("/", 2)
    assert is_gone(f"{machine}/{pid}/{int(started) + 1}")  # the same pid, but another process


def test_jobs_of_different_bots_do_not_disturb_each_other(database: Database) -> None:
    with database.writing() as session:
        versions = enter(session, "a", "b", "c", "d")
        jobs = [ask_for(session, versions[:2]), ask_for(session, versions)]
    with database.reading() as session:
        found = versions_of(session, jobs)
        assert found == {jobs[0]: tuple(versions[:2]), jobs[1]: tuple(versions)}
        assert session.exec(select(JobEntrant).where(col(JobEntrant.job_id) == "?")).all() == []
