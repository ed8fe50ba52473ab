"""Work whose commit was cut off is done once: whether it took place is asked, never guessed."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from sqlmodel import Session, select

from keltis_ladder.run.course import Entry
from keltis_ladder.run.tournaments import Director
from keltis_ladder.store import database as databases
from keltis_ladder.store.bots.accounts import new_token, register, revoke_token
from keltis_ladder.store.database import Database, OutcomeUnknown
from keltis_ladder.store.schema.tables import Author, TournamentRecord
from keltis_ladder.tournaments.plan import Plan
from tests.ladder.store.support.ladders import NOON, enter
from tests.ladder.store.support.postgres import Postgres
from tests.ladder.store.support.proxy import Proxy, proxied


@pytest.fixture
def proxy(postgres: Postgres) -> Iterator[Proxy]:
    """A way to an empty database of its own."""
    postgres.execute("DROP DATABASE IF EXISTS cut_off WITH (FORCE)")
    postgres.execute("CREATE DATABASE cut_off TEMPLATE upgraded")
    with proxied(postgres.directory / ".s.PGSQL.5432") as proxy:
        yield proxy


@pytest.fixture
def far(proxy: Proxy) -> Iterator[Database]:
    database = Database(proxy.url("cut_off"))
    yield database
    database.close()


def add_author(session: Session) -> int:
    """Do what is different each time: there is one author more."""
    count = len(session.exec(select(Author)).all())
    session.add(Author(name=f"author-{count}", folded=f"author{count}", created=NOON))
    session.flush()
    return count


def authors(database: Database) -> int:
    with database.reading() as session:
        return len(session.exec(select(Author)).all())


def test_work_whose_commit_arrived_is_not_repeated(proxy: Proxy, far: Database) -> None:
    before = authors(far)
    for number in range(3):
        proxy.cut_after_commit = 1
        assert far.write(add_author) == before + number
    assert proxy.cuts == 3
    assert authors(far) == before + 3


def test_work_whose_commit_never_arrived_is_repeated(proxy: Proxy, far: Database) -> None:
    before = authors(far)
    proxy.cut_before_commit = 2
    assert far.write(add_author) == before
    assert proxy.cuts == 2
    assert authors(far) == before + 1


def test_callers_learn_what_came_of_the_first_time(proxy: Proxy, far: Database) -> None:
    """Done a second time, each of these would say that it cannot be done."""
    owner = far.write(lambda session: register(session, "ada", new_token(), NOON))
    proxy.cut_after_commit = 1
    assert owner.id is not None
    token_id = owner.id
    assert far.write(lambda session: revoke_token(session, owner.author_id, token_id, NOON))

    versions = far.write(lambda session: enter(session, "a", "b"))
    entries = [Entry(version, name) for version, name in zip(versions, "ab", strict=True)]
    proxy.cut_after_commit = 1
    tournament = Director(far).create("cup", Plan("round-robin", entrants=2), entries)
    with far.reading() as session:
        assert [each.id for each in session.exec(select(TournamentRecord))] == [tournament]
    assert proxy.cuts == 2


def test_a_commit_that_nobody_can_ask_about_is_not_repeated(
    proxy: Proxy, far: Database, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "OUTCOME_SECONDS", 0.2)
    before = authors(far)
    tries = 0

    def work(session: Session) -> None:
        nonlocal tries
        tries += 1
        add_author(session)
        proxy.cut_after_commit = 1

    def unreachable(_: str) -> str:
        raise OperationalError(None, None, Exception("nobody answers"))

    monkeypatch.setattr(far, "_status", unreachable)
    with pytest.raises(OutcomeUnknown):
        far.write(work)
    assert tries == 1
    near = Database(postgres.url("cut_off"))
    assert authors(near) == before + 1
    near.close()


HOLD = """
import sys
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.finishing import lock_ledger

def hold(session):
    lock_ledger(session)
    print("held", flush=True)
    sys.stdin.readline()

Database(sys.argv[1]).write(hold)
"""


def test_a_client_that_stops_inside_a_transaction_holds_its_locks_for_seconds(
    proxy: Proxy, postgres: Postgres
) -> None:
    database = Database(postgres.url("cut_off"))
    client = subprocess.Popen(
        [sys.executable, "-c", HOLD, proxy.url("cut_off")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert client.stdout is not None
    assert client.stdin is not None
    try:
        assert client.stdout.readline() == "held\n"
        client.send_signal(signal.SIGSTOP)
        assert seconds_until_free(database) < 4 + 30
        client.send_signal(signal.SIGCONT)
        client.stdin.write("\n")
        client.stdin.flush()
        assert client.stdout.readline() == "held\n"  # it was cut off, and does it again
        client.stdin.write("\n")
        client.stdin.close()
        assert client.wait(300) == 0
    finally:
        client.kill()
        client.wait()
        client.stdout.close()
        database.close()


def test_a_client_whose_connection_goes_silent_holds_its_locks_for_seconds(
    proxy: Proxy, far: Database, postgres: Postgres
) -> None:
    near = Database(postgres.url("cut_off"))
    waited: list[float] = []

    def work(session: Session) -> None:
        session.execute(text("SELECT * FROM ledger FOR UPDATE"))
        if not waited:
            proxy.silent.set()
            waited.append(seconds_until_free(near))
            proxy.silent.clear()
        session.execute(text("SELECT 1"))

    far.write(work)
    assert waited[0] < 4 + 30
    near.close()


def seconds_until_free(database: Database) -> float:
    begin = time.monotonic()
    with database.writing() as session:
        session.execute(text("SET LOCAL lock_timeout = '120s'"))
        session.execute(text("SELECT * FROM ledger FOR UPDATE"))
    return time.monotonic() - begin


def test_work_that_is_slow_gets_more_time_with_each_try(
    far: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "WRITER_IDLE_MS", 50)
    tries = []

    def think(session: Session) -> str:
        session.execute(text("SELECT * FROM ledger FOR UPDATE"))
        tries.append(session.scalar(text("SHOW idle_in_transaction_session_timeout")))
        time.sleep(0.3)
        session.execute(text("SELECT 1"))
        return "done"

    assert far.write(think) == "done"
    assert tries[:3] == ["50ms", "100ms", "200ms"]
    assert len(tries) > 3


def test_work_that_asks_for_it_may_pause(far: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "WRITER_IDLE_MS", 50)
    tries = 0

    def think(session: Session) -> None:
        nonlocal tries
        tries += 1
        databases.allow_pauses(session)
        time.sleep(0.3)
        session.execute(text("SELECT 1"))

    far.write(think)
    assert tries == 1


def test_connections_notice_that_the_other_end_is_dead(far: Database) -> None:
    with far.engine.connect() as connection:
        shown = {
            name: connection.scalar(text(f"SHOW {name}"))
            for name in ("idle_in_transaction_session_timeout",)
        }
        raw = connection.connection.dbapi_connection
        assert raw is not None
        with socket.socket(fileno=raw.fileno()) as wire:
            alive = wire.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            patience = wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
            wire.detach()
    assert shown == {"idle_in_transaction_session_timeout": "5min"}
    assert (alive, patience) == (1, 6000)


def test_what_the_address_says_about_the_connection_counts(proxy: Proxy) -> None:
    database = Database(proxy.url("cut_off") + "&tcp_user_timeout=9000")
    with database.engine.connect() as connection:
        raw = connection.connection.dbapi_connection
        assert raw is not None
        with socket.socket(fileno=raw.fileno()) as wire:
            assert wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 9000
            wire.detach()
    database.close()
