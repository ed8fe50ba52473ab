"""Stored tournaments go on exactly where they were, whoever directs them, and end as they must."""

import random

import pytest
from sqlalchemy import event
from sqlmodel import col, select

from keltis_ladder.errors import LadderError
from keltis_ladder.run.course import Entry
from keltis_ladder.run.tournaments import AHEAD, Director
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.finishing import finish
from keltis_ladder.store.matches.queue import MOST_TRIES, claim, release
from keltis_ladder.store.schema.job_troubles import JobTrouble
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import (
    Job,
    JobState,
    TournamentEvent,
    TournamentRecord,
    TournamentState,
)
from keltis_ladder.tournaments.plan import FORMATS, Plan
from tests.ladder.store.support.ladders import entered
from tests.ladder.store.support.results import any_result

HOLDER = "tests"


def start(database: Database, plan: Plan, seed: int | None = None) -> tuple[Director, int]:
    names = [f"bot{number}" for number in range(plan.entrants)]
    entries = [
        Entry(version, name) for version, name in zip(entered(database, *names), names, strict=True)
    ]
    director = Director(database)
    id = director.create("cup", plan, entries, seed=seed)
    director.start(id)
    return director, id


def play_one(database: Database, chance: random.Random) -> bool:
    """Play whatever is next in the queue; tell whether there was something."""
    with database.writing() as session:
        jobs = claim(session, HOLDER, now())
    for job in jobs:
        rows = any_result(chance, job.variant, job.players)
        with database.writing() as session:
            finish(session, job.id, rows, now())
    return bool(jobs)


def play_all(database: Database, director: Director, id: int, chance: random.Random) -> None:
    while director.advance(id).record.state == TournamentState.RUNNING:
        assert play_one(database, chance)


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_is_played_to_its_end(database: Database, kind: str) -> None:
    director, id = start(database, Plan(kind, entrants=5, variants=("keltis", "kartenspiel")))
    play_all(database, director, id, random.Random(3))
    course = director.course(id)
    assert course.record.state == TournamentState.FINISHED
    assert course.tournament.finished
    assert course.record.standings is not None
    assert sorted(line["entrant"] for line in course.record.standings) == list(range(5))


@pytest.mark.parametrize("kind", FORMATS)
def test_a_new_director_goes_on_where_the_last_one_was(database: Database, kind: str) -> None:
    plan = Plan(kind, entrants=6, matches=1)
    director, id = start(database, plan)
    chance = random.Random(5)
    others = random.Random(6)
    while director.advance(id).record.state == TournamentState.RUNNING:
        if others.random() < 0.5:
            director = Director(database)
            continue
        before = director.course(id).tournament
        again = Director(database).course(id).tournament
        assert again.due() == before.due()
        assert again.standings() == before.standings()
        assert play_one(database, chance)
    assert Director(database).course(id).tournament.finished


def test_the_same_seed_gives_the_same_deals_and_no_deal_twice(database: Database) -> None:
    director, id = start(database, Plan("round-robin", entrants=5), seed=77)
    with database.reading() as session:
        seeds = {job.leg: job.seed for job in session.exec(select(Job))}
    assert len(set(seeds.values())) == len(seeds) == 10
    director.cancel(id)
    other = Director(database)
    entries = director.course(id).entries
    second = other.create("again", Plan("round-robin", entrants=5), entries, seed=77)
    other.start(second)
    with database.reading() as session:
        query = select(Job).where(Job.tournament_id == second)
        assert {job.leg: job.seed for job in session.exec(query)} == seeds


def test_only_so_many_matches_wait_in_the_queue(database: Database) -> None:
    director, id = start(database, Plan("round-robin", entrants=16))
    chance = random.Random(1)
    for _ in range(60):
        with database.reading() as session:
            waiting = session.exec(select(Job.id).where(Job.state == JobState.WAITING)).all()
        assert len(waiting) <= AHEAD
        play_one(database, chance)
        director.advance(id)


def test_a_paused_tournament_waits_and_goes_on(database: Database) -> None:
    director, id = start(database, Plan("round-robin", entrants=4))
    chance = random.Random(2)
    assert play_one(database, chance)
    director.pause(id)
    assert not play_one(database, chance)
    assert director.advance(id).record.state == TournamentState.PAUSED
    assert not play_one(database, chance)
    with pytest.raises(LadderError, match="not running"):
        director.pause(id)
    director.start(id)
    play_all(database, director, id, chance)
    assert director.course(id).tournament.finished


def test_a_match_that_cannot_be_played_counts_for_nobody(database: Database) -> None:
    director, id = start(database, Plan("round-robin", entrants=3))
    with database.writing() as session:
        (job,) = claim(session, HOLDER, now())
    for _ in range(MOST_TRIES):
        with database.writing() as session:
            release(session, job.id, HOLDER, JobTrouble.PLATFORM, "the machine burns")
        with database.writing() as session:
            claim(session, HOLDER, now())
    with database.reading() as session:
        failed = session.get(Job, job.id)
        assert failed is not None
        assert failed.state == JobState.FAILED
    # Two more were leased in passing; they are given back as if we had been told to stop.
    with database.writing() as session:
        for other in session.exec(select(Job).where(Job.state == JobState.LEASED)).all():
            release(session, other.id, HOLDER)
    play_all(database, director, id, random.Random(4))
    course = director.course(id)
    assert list(course.tournament.voids) == [job.leg]
    assert sum(line.played for line in course.tournament.standings()) == 4
    assert Director(database).course(id).tournament.standings() == course.tournament.standings()


@pytest.mark.parametrize("kind", ["round-robin", "swiss", "double-elimination"])
def test_a_withdrawal_is_the_same_for_a_director_that_comes_later(
    database: Database, kind: str
) -> None:
    director, id = start(database, Plan(kind, entrants=6))
    chance = random.Random(7)
    for _ in range(3):
        play_one(database, chance)
        director.advance(id)
    with database.writing() as session:
        under_way = claim(session, HOLDER, now(), limit=3)
    director.withdraw(id, 2)
    for job in under_way:  # their results come after the withdrawal
        rows = any_result(chance, job.variant, job.players)
        with database.writing() as session:
            finish(session, job.id, rows, now())
    play_all(database, director, id, chance)
    standings = director.course(id).tournament.standings()
    assert next(line for line in standings if line.entrant == 2).withdrawn
    assert Director(database).course(id).tournament.standings() == standings


def test_nobody_withdraws_twice_or_after_the_end(database: Database) -> None:
    director, id = start(database, Plan("round-robin", entrants=3))
    director.withdraw(id, 1)
    director.withdraw(id, 1)
    with database.reading() as session:
        assert len(session.exec(select(TournamentEvent)).all()) == 1
    with pytest.raises(LadderError, match="no entrant 7"):
        director.withdraw(id, 7)
    play_all(database, director, id, random.Random(1))
    with pytest.raises(LadderError, match="over"):
        director.withdraw(id, 0)
    assert Director(database).course(id).tournament.finished


def test_to_leave_a_tournament_before_it_begins_does_not_start_it(database: Database) -> None:
    names = ["one", "two", "three"]
    entries = [
        Entry(version, name) for version, name in zip(entered(database, *names), names, strict=True)
    ]
    director = Director(database)
    id = director.create("some day", Plan("round-robin", entrants=3), entries)
    director.withdraw(id, 1)
    assert director.course(id).record.state == TournamentState.SCHEDULED
    director.start(id)
    with database.reading() as session:
        legs = session.exec(select(Job)).all()
    assert len(legs) == 1  # between the two that are left


def test_a_tournament_starts_when_its_time_has_come(database: Database) -> None:
    names = ["one", "two"]
    entries = [
        Entry(version, name) for version, name in zip(entered(database, *names), names, strict=True)
    ]
    director = Director(database)
    early = director.create("early", Plan("round-robin", entrants=2), entries, starts=now())
    director.create("some day", Plan("round-robin", entrants=2), entries)
    assert director.due() == [early]
    assert director.advance(early).record.state == TournamentState.RUNNING


def test_what_cannot_be_a_tournament_is_refused(database: Database) -> None:
    first, second = (Entry(version, "x") for version in entered(database, "one", "two"))
    director = Director(database)
    plan = Plan("round-robin", entrants=2)
    with pytest.raises(LadderError, match="only once"):
        director.create("twice", plan, [first, first])
    with pytest.raises(LadderError, match="2 entrants, not 1"):
        director.create("alone", plan, [first])
    director.create("cup", plan, [first, second])
    with pytest.raises(LadderError, match="already"):
        director.create("cup", plan, [first, second])
    with pytest.raises(LadderError, match="no tournament"):
        director.course(99)
    with database.reading() as session:
        names = session.exec(select(TournamentRecord.name).order_by(col(TournamentRecord.id)))
        assert list(names) == ["cup"]


def test_a_tournament_with_nothing_to_do_writes_nothing_and_waits_for_no_writer(
    database: Database,
) -> None:
    director, id = start(database, Plan("round-robin", entrants=4))
    fresh = Director(database)
    with database.writing() as session:  # on SQLite nobody else can write meanwhile
        session.get_one(TournamentRecord, id, with_for_update=True)
        for looking in (director, fresh):
            assert looking.due() == [id]
            assert looking.advance(id).record.state == TournamentState.RUNNING
    statements: list[str] = []

    def note(*happened: object) -> None:
        statements.append(str(happened[2]))

    event.listen(database.engine, "before_cursor_execute", note)
    director.advance(id)
    event.remove(database.engine, "before_cursor_execute", note)
    assert statements
    assert all(each.startswith(("SELECT", "BEGIN")) for each in statements), statements
    assert "BEGIN IMMEDIATE" not in statements


def test_what_came_of_the_last_match_is_still_written_down(database: Database) -> None:
    director, id = start(database, Plan("round-robin", entrants=2))
    director.advance(id)
    assert play_one(database, random.Random(1))
    assert director.advance(id).record.state == TournamentState.FINISHED
