"""A ladder lives in a directory, or where the environment says, and in a database of its own."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from keltis_ladder.store.database import BadDatabase, Database, clear_errors, proper_url
from keltis_ladder.store.home import DATABASE, Home
from keltis_ladder.store.schema.tables import Ledger
from keltis_ladder.store.schema.upkeep import tables_differ
from keltis_ladder.store.whereabouts import DATA, default_directory
from tests.ladder.store.support.crowd import together
from tests.ladder.store.support.ladders import dump


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (DATA, DATABASE, "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_the_directory_is_the_users_unless_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_directory() == tmp_path / ".local" / "share" / "keltis-ladder"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert default_directory() == tmp_path / "xdg" / "keltis-ladder"
    monkeypatch.setenv(DATA, str(tmp_path / "here"))
    assert default_directory() == tmp_path / "here"
    assert Home().directory == tmp_path / "here"
    assert Home(tmp_path / "there").directory == tmp_path / "there"


def test_the_database_is_a_file_in_it_unless_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert Home(tmp_path).url == str(tmp_path / "ladder.db")
    monkeypatch.setenv(DATABASE, "postgresql://host/name")
    assert Home(tmp_path).url == "postgresql://host/name"
    assert Home(tmp_path, "other.db").url == "other.db"
    assert Home(tmp_path, "other.db").archives.root == tmp_path / "archives"


def test_a_home_is_made_when_it_is_opened(tmp_path: Path) -> None:
    home = Home(tmp_path / "new" / "home")
    database = home.open()
    assert tables_differ(database) == []
    assert dump(database)["ledger"] == [(1, 0, 1, 2, 0, 0, 0)]
    database.close()
    assert (tmp_path / "new" / "home" / "ladder.db").exists()
    home.open(create=False).close()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_home_is_for_its_owner_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "new" / "home")
    with closing(home.open()) as database, closing(sqlite3.connect(home.url)) as connection:
        connection.execute("SELECT 1 FROM ledger").fetchone()
        assert database.file is not None
        beside = list(home.directory.glob("ladder.db*"))
        assert len(beside) == 3, "the log and its index"
        assert {mode(path) for path in beside} == {0o600}
    assert mode(home.directory) == 0o700


def test_a_home_of_an_older_release_is_closed_to_others(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.open().close()
    home.directory.chmod(0o755)
    (home.directory / "ladder.db").chmod(0o644)
    home.open().close()
    assert mode(home.directory) == 0o700
    assert mode(home.directory / "ladder.db") == 0o600


@pytest.mark.parametrize(("before", "content"), [(0o755, "mine.txt"), (0o1777, "ladder.db")])
def test_a_directory_that_serves_other_ends_stays_as_it_is(
    tmp_path: Path, before: int, content: str
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / content).touch()
    place.chmod(before)
    Home(place).open().close()
    assert mode(place) == before
    assert mode(place / "ladder.db") == 0o600


def test_a_database_elsewhere_is_for_its_owner_alone(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.db"
    Home(tmp_path / "home", str(elsewhere)).open().close()
    assert mode(elsewhere) == 0o600


def test_where_there_is_no_ladder_none_is_made_unasked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no ladder yet"):
        Home(tmp_path / "nowhere").open(create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["100% sure?", "a#b", "grüße", "with space", "per%20cent"])
def test_directories_may_have_odd_names(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path / name)
    database = home.open()
    assert database.file == tmp_path / name / "ladder.db"
    assert database.file.exists()
    database.close()
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("text", ["sqlite://", "sqlite:///", ":memory:", "sqlite:///:memory:", ""])
def test_a_database_in_memory_is_refused(text: str) -> None:
    with pytest.raises(BadDatabase, match="a file"):
        proper_url(text)


@pytest.mark.parametrize(
    "text",
    ["postgresql://host:port/name", "postgresql://me:s3cret@[::1/name", "mysql://a:s3cret@b"],
)
def test_a_wrong_address_is_refused_without_its_password(text: str) -> None:
    with pytest.raises(BadDatabase, match="postgresql://USER") as refused:
        proper_url(text)
    assert "s3cret" not in str(refused.value)


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    file = tmp_path / "ladder.db"
    file.write_text("Dear diary, " * 500)
    for create in (True, False):
        with pytest.raises(BadDatabase, match="is not a database; choose another file"):
            Home(tmp_path).open(create=create)
    assert file.read_text() == "Dear diary, " * 500


def test_a_database_without_its_tables_is_to_be_restored(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "ladder.db"))
    with (
        pytest.raises(BadDatabase, match="no such table: ledger; restore a backup"),
        clear_errors(database),
        database.reading() as session,
    ):
        session.get(Ledger, 1)
    database.close()


def test_the_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "ladder.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE visits (url TEXT)")
        connection.commit()
    with pytest.raises(BadDatabase, match="holds tables of something else: visits"):
        Home(tmp_path).open()
    with pytest.raises(BadDatabase, match="db upgrade"):
        Home(tmp_path).open(create=False)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("visits",)]


def test_a_server_that_does_not_answer_is_told_without_the_password(tmp_path: Path) -> None:
    url = f"postgresql://me:s3cret@/ladder?host={tmp_path}"
    for create in (True, False):
        with pytest.raises(BadDatabase, match="cannot be reached") as told:
            Home(tmp_path / "data", url).open(create=create)
        assert "s3cret" not in str(told.value)
        assert str(tmp_path) in str(told.value)


def test_many_may_open_a_new_home_at_the_same_time(tmp_path: Path) -> None:
    def work(_: Database, number: int) -> None:
        Home(tmp_path / "home").open().close()

    together(str(tmp_path / "not used.db"), 6, work)
    database = Home(tmp_path / "home").open(create=False)
    assert tables_differ(database) == []
    database.close()


def test_many_may_bring_a_database_up_to_date_at_the_same_time(
    url: str, database: Database, tmp_path: Path
) -> None:
    with database.engine.begin() as connection:
        for table in reversed(list(dump(database))):
            connection.exec_driver_sql(f'DROP TABLE "{table}"')
        connection.exec_driver_sql("DROP TABLE alembic_version")
    database.close()
    together(url, 4, lambda *_: Home(tmp_path, url).open().close())
    assert tables_differ(database) == []
