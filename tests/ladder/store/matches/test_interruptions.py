"""Cut connections, restarted servers and killed processes lose no result and count none twice."""

import random
import subprocess
import sys
from collections.abc import Iterator
from threading import Event, Thread, Timer

import pytest
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlmodel import Session, col, select

from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.finishing import Stored, finish
from keltis_ladder.store.ratings.recomputing import compare
from keltis_ladder.store.schema.tables import Job, JobState, Ledger, Match
from tests.ladder.store.support.crowd import together
from tests.ladder.store.support.ladders import NOON, ask_for, dump, enter
from tests.ladder.store.support.postgres import Postgres
from tests.ladder.store.support.results import any_result, faulty

BOTS = "abcdef"


@pytest.fixture
def own(postgres: Postgres) -> Iterator[Database]:
    """A database of its own on the server that is about to be disturbed."""
    postgres.execute("DROP DATABASE IF EXISTS disturbed")
    postgres.execute("CREATE DATABASE disturbed TEMPLATE upgraded")
    database = Database(postgres.url("disturbed"))
    yield database
    database.close()


def ask_for_many(database: Database, count: int) -> list[str]:
    chance = random.Random(count)
    with database.writing() as session:
        versions = enter(session, *BOTS)
        return [ask_for(session, chance.sample(versions, 3), "kartenspiel") for _ in range(count)]


def finish_job(database: Database, job: str) -> Stored:
    rows = any_result(random.Random(job), "kartenspiel", 3)
    return database.write(lambda session: finish(session, job, rows, NOON))


def assert_all_stored_once(database: Database, jobs: list[str]) -> None:
    with database.reading() as session:
        matches = session.exec(select(Match).order_by(col(Match.number))).all()
        assert [match.number for match in matches] == list(range(1, len(jobs) + 1))
        assert sorted(match.job_id for match in matches) == sorted(jobs)
        assert session.get_one(Ledger, 1).matches == len(jobs)
        assert {job.state for job in session.exec(select(Job))} == {JobState.DONE}
        comparison, _ = compare(session)
        assert comparison.examples == []
        assert comparison.matches == len(jobs)


class Cutter(Thread):
    """Cuts all connections at random moments, but none of the crowd twice in the same transaction.

    Otherwise a machine that is slow enough would never get anywhere.
    """

    def __init__(self, postgres: Postgres, crowd: int) -> None:
        super().__init__()
        self.postgres = postgres
        self.done = [0] * crowd  # transactions, by thread
        self.stop = Event()
        self.cuts = 0

    def run(self) -> None:
        chance = random.Random(1)
        seen = [-1] * len(self.done)
        while not self.stop.wait(chance.uniform(0.001, 0.03)):
            if all(now > then for now, then in zip(self.done, seen, strict=True)):
                seen = list(self.done)
                self.postgres.cut_connections("disturbed")
                self.cuts += 1


def test_connections_cut_at_any_moment_lose_and_double_nothing(
    postgres: Postgres, own: Database
) -> None:
    jobs = ask_for_many(own, 75)
    own.close()
    cutter = Cutter(postgres, 3)

    def work(mine: Database, number: int) -> None:
        for job in jobs[number::3]:
            finish_job(mine, job)
            cutter.done[number] += 1
        cutter.done[number] = len(jobs)  # nobody has to wait for this one any more

    cutter.start()
    together(postgres.url("disturbed"), 3, work)
    cutter.stop.set()
    cutter.join()
    assert cutter.cuts > 5
    assert_all_stored_once(own, jobs)


def test_a_connection_cut_before_any_statement_or_the_commit_is_made_up_for(
    postgres: Postgres, own: Database
) -> None:
    jobs = ask_for_many(own, 30)
    cut_before = 0
    for job in jobs:
        left = cut_before

        def cut(*_: object) -> None:
            nonlocal left
            if left == 0:
                postgres.cut_connections("disturbed")
            left -= 1

        for name in ("before_cursor_execute", "commit"):
            event.listen(own.engine, name, cut)
        assert finish_job(own, job).fresh
        for name in ("before_cursor_execute", "commit"):
            event.remove(own.engine, name, cut)
        cut_before += 1
        if left >= 0:  # nothing was left to cut
            break
    assert 8 < cut_before < len(jobs)
    for job in jobs[cut_before:]:
        finish_job(own, job)
    assert_all_stored_once(own, jobs)


CUT_AT_ROWS = """
CREATE SEQUENCE rows_so_far;
CREATE FUNCTION cut() RETURNS trigger AS $$ BEGIN
    IF nextval('rows_so_far') % 29 = 0 THEN
        PERFORM pg_terminate_backend(pg_backend_pid());
    END IF;
    RETURN NEW;
END $$ LANGUAGE plpgsql;
CREATE TRIGGER cut_places BEFORE INSERT ON place FOR EACH ROW EXECUTE FUNCTION cut();
CREATE TRIGGER cut_ratings BEFORE INSERT ON rating FOR EACH ROW EXECUTE FUNCTION cut();
CREATE TRIGGER cut_steps BEFORE INSERT ON rating_step FOR EACH ROW EXECUTE FUNCTION cut();
"""


def test_a_connection_cut_in_the_middle_of_many_rows_is_made_up_for(own: Database) -> None:
    """Rows are sent in one go: the driver is not waiting for an answer when it is cut off."""
    jobs = ask_for_many(own, 12)
    with own.writing() as session:
        session.execute(text(CUT_AT_ROWS))
    for job in jobs:
        assert finish_job(own, job).fresh
    assert_all_stored_once(own, jobs)


def test_a_commit_whose_answer_is_lost_is_not_done_twice(database: Database) -> None:
    jobs = ask_for_many(database, 3)
    finish_job(database, jobs[0])
    lost = 0

    def lose(connection: Connection) -> None:
        nonlocal lost
        if not lost:
            lost += 1
            connection.connection.dbapi_connection.commit()  # type: ignore[union-attr]
            raise OperationalError(None, None, Exception("the database is locked"))

    event.listen(database.engine, "commit", lose)
    done = finish_job(database, jobs[1])
    event.remove(database.engine, "commit", lose)
    assert (lost, done.number) == (1, 2)
    assert done.fresh != database.is_sqlite  # that one is done again, and finds it done
    finish_job(database, jobs[2])
    assert_all_stored_once(database, jobs)


def test_a_server_that_is_restarted_is_waited_for(postgres: Postgres, own: Database) -> None:
    jobs = ask_for_many(own, 4)
    finish_job(own, jobs[0])
    postgres.stop()
    again = Timer(0.3, postgres.start)
    again.start()
    for job in jobs[1:]:
        finish_job(own, job)
    again.join()
    assert_all_stored_once(own, jobs)


def test_what_cannot_succeed_is_not_tried_again(database: Database) -> None:
    tries = 0

    def violate(session: Session) -> None:
        nonlocal tries
        tries += 1
        session.execute(text("INSERT INTO ledger SELECT * FROM ledger"))

    with pytest.raises(IntegrityError):
        database.write(violate)
    assert tries == 1


STORE = """
import sys
from keltis_ladder.store.database import Database
from tests.ladder.store.matches.test_interruptions import finish_job
database = Database(sys.argv[1])
for job in sys.stdin.read().split():
    print(finish_job(database, job).number, flush=True)
"""


def test_a_process_killed_while_it_stores_results_leaves_whole_ones(
    url: str, database: Database
) -> None:
    jobs = ask_for_many(database, 80)
    told: set[int] = set()
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", STORE, url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join(jobs))
        process.stdin.close()
        heard = [process.stdout.readline() for _ in range(len(told) + 15)]
        process.kill()
        heard += process.stdout.readlines()
        process.wait()
        process.stdout.close()
        told |= {int(line) for line in heard if line.endswith("\n")}
    with database.reading() as session:
        numbers = set(session.exec(select(Match.number)).all())
        assert told <= numbers
        assert numbers == set(range(1, len(numbers) + 1))
        assert len(numbers) <= len(told) + 2  # stored, and not told any more
        assert session.get_one(Ledger, 1).matches == len(numbers)
        assert compare(session)[0].examples == []
    for job in jobs[len(numbers) :]:
        finish_job(database, job)
    assert_all_stored_once(database, jobs)


def test_a_writer_that_gives_up_changes_nothing(database: Database) -> None:
    job = ask_for_many(database, 1)[0]
    before = dump(database)

    def give_up(session: Session) -> None:
        finish(session, job, faulty(3, 0, "kartenspiel"), NOON)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        database.write(give_up)
    assert dump(database) == before
