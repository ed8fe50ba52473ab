"""A backup is one moment of a database in use, and it can be restored."""

import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from urllib.parse import quote

import pytest
from sqlalchemy.engine import make_url

from keltis_engine import VARIANTS
from keltis_ladder.errors import LadderError
from keltis_ladder.store.archives import Archives, note_archive
from keltis_ladder.store.database import Database
from keltis_ladder.store.ratings.recomputing import compare
from keltis_ladder.store.schema.tables import Ledger
from keltis_ladder.store.schema.upkeep import backup, require_up_to_date
from tests.ladder.store.support.ladders import dump, entered, store
from tests.ladder.store.support.postgres import Postgres, find_program
from tests.ladder.store.support.results import any_result


def play(database: Database, versions: list[int], count: int) -> None:
    chance = random.Random(count)
    for _ in range(count):
        players = chance.randint(2, 4)
        rows = any_result(chance, chance.choice(list(VARIANTS)), players)
        table = chance.sample(versions, players)
        with database.writing() as session:
            store(session, table, rows)


@contextmanager
def storing(url: str, versions: list[int]) -> Iterator[None]:
    """Store results without a pause, from before the work begins until it is done."""
    stop, begun = Event(), Event()

    def run() -> None:
        database = Database(url)
        while not stop.is_set():
            play(database, versions, 3)
            begun.set()
        database.close()

    thread = Thread(target=run)
    thread.start()
    begun.wait()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def restored(copy: Path, database: Database, postgres: Postgres | None) -> Database:
    """Open a backup; a dump is restored into a new database first."""
    if postgres is None:
        return Database(str(copy / "ladder.db"))
    name = f"{make_url(database.url).database}_restored"
    postgres.execute(f"DROP DATABASE IF EXISTS {name}")
    postgres.execute(f"CREATE DATABASE {name}")
    address = make_url(postgres.url(name)).set(drivername="postgresql").render_as_string()
    subprocess.run(
        [find_program("pg_restore"), "--exit-on-error", "--dbname", address, copy / "ladder.dump"],
        check=True,
    )
    return Database(postgres.url(name))


@pytest.fixture
def server(request: pytest.FixtureRequest, database: Database) -> Postgres | None:
    if database.is_sqlite:
        return None
    found: Postgres = request.getfixturevalue("postgres")
    return found


def matches_in(database: Database) -> int:
    with database.reading() as session:
        assert compare(session)[0].examples == []
        return session.get_one(Ledger, 1).matches


def test_a_backup_while_results_are_stored_is_one_moment(
    database: Database, server: Postgres | None, tmp_path: Path
) -> None:
    versions = entered(database, *"abcde")
    archives = Archives(tmp_path / "archives")
    kept = archives.put(b"a bot")
    with database.writing() as session:
        note_archive(session, kept)
    target = tmp_path / "backups" / "monday"
    with storing(database.url, versions):
        before = matches_in(database)
        assert backup(database, archives.root, target) == target
        after = matches_in(database)
    copy = restored(target, database, server)
    require_up_to_date(copy)
    assert before <= matches_in(copy) <= after
    assert Archives(target / "archives").size_of(kept.digest) == len(b"a bot")
    play(copy, versions, 3)  # it goes on from there
    matches_in(copy)
    copy.close()


def test_a_large_database_in_constant_use_is_copied_all_the_same(
    upgraded_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite begins anew whenever somebody writes between two steps of a copy, if it is let."""
    monkeypatch.setattr("keltis_ladder.store.schema.upkeep.COPIED_PAGES", 1)
    file = tmp_path / "ladder.db"
    file.write_bytes(upgraded_file.read_bytes())
    database = Database(str(file))
    versions = entered(database, *"abcde")
    steps: list[tuple[int, int]] = []

    def write_between(done: int, total: int) -> None:
        steps.append((done, total))
        if len(steps) < 200:
            play(database, versions, 1)

    backup(database, tmp_path / "archives", tmp_path / "copy", write_between)
    assert 40 < len(steps) < 200
    assert steps[-1][0] == steps[-1][1]
    assert matches_in(database) >= len(steps) - 1
    copy = Database(str(tmp_path / "copy" / "ladder.db"))
    assert matches_in(copy) == 0
    copy.close()
    database.close()


def test_an_idle_backup_is_the_same_row_by_row(
    database: Database, server: Postgres | None, tmp_path: Path
) -> None:
    play(database, entered(database, *"abcde"), 5)
    backup(database, tmp_path / "none", tmp_path / "copy")
    copy = restored(tmp_path / "copy", database, server)
    assert dump(copy) == dump(database)
    copy.close()
    assert [path.name for path in (tmp_path / "copy").iterdir()] == [
        "ladder.db" if server is None else "ladder.dump"
    ]


def test_a_target_that_exists_is_refused(database: Database, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    with pytest.raises(LadderError, match="exists already: choose another name"):
        backup(database, tmp_path / "archives", tmp_path / "copy")
    assert list((tmp_path / "copy").iterdir()) == []


def test_a_backup_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    missing = Database(str(tmp_path / "missing.db"))
    with pytest.raises(LadderError, match="there is no database"):
        backup(missing, tmp_path / "archives", tmp_path / "copy")
    gone = Database(f"postgresql://me@/ladder?host={tmp_path}")
    with pytest.raises(LadderError, match="pg_dump failed"):
        backup(gone, tmp_path / "archives", tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


def test_archives_that_are_being_written_are_left_out(database: Database, tmp_path: Path) -> None:
    archives = Archives(tmp_path / "archives")
    kept = archives.put(b"a bot")
    shelf = archives.path(kept.digest).parent
    (shelf / ".new-abc").write_bytes(b"half a b")
    backup(database, archives.root, tmp_path / "copy")
    copied = tmp_path / "copy" / "archives"
    assert [path.name for path in copied.rglob("*") if path.is_file()] == [kept.digest]


def test_a_password_is_given_to_the_server_and_nobody_else(
    postgres: Postgres, tmp_path: Path
) -> None:
    password = "p%40:/@s w*rd"
    postgres.execute("DROP DATABASE IF EXISTS guarded")
    postgres.execute("CREATE DATABASE guarded TEMPLATE upgraded")
    postgres.execute("DROP ROLE IF EXISTS keeper")
    postgres.execute(f"CREATE ROLE keeper SUPERUSER LOGIN PASSWORD '{password}'")
    address = f"postgresql://keeper:%s@/guarded?host={postgres.directory}"
    database = Database(address % quote(password, safe=""))
    play(database, entered(database, *"abcde"), 2)
    backup(database, tmp_path / "archives", tmp_path / "copy")
    database.close()
    wrong = Database(address % "wr0ng")
    with pytest.raises(LadderError, match="password authentication failed") as refused:
        backup(wrong, tmp_path / "archives", tmp_path / "other")
    assert "wr0ng" not in str(refused.value)
