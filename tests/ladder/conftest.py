"""What all tests of the ladder share: the sandbox, and every database that it can have.

A test that asks for a database runs on SQLite and on a real PostgreSQL.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from keltis_ladder.sandbox.sandbox import Sandbox, SandboxMissing, find_sandbox
from keltis_ladder.store.database import Database
from keltis_ladder.store.schema.upkeep import upgrade
from tests.ladder.store.support.postgres import Postgres, PostgresMissing, running
from tests.ladder.store.support.sharing import emptied
from tests.ladder.store.support.templates import place_database

KINDS = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    try:
        return find_sandbox()
    except SandboxMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A server with an empty database that is up to date, to make others from."""
    try:
        with running() as server:
            server.execute("CREATE DATABASE upgraded")
            database = Database(server.url("upgraded"))
            upgrade(database)
            database.close()
            yield server
    except PostgresMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def upgraded_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite database that is up to date, to copy."""
    return place_database(tmp_path_factory.mktemp("template") / "ladder.db")


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database that is up to date and empty."""
    if request.param == "sqlite":
        return str(place_database(tmp_path / "ladder.db"))
    server: Postgres = request.getfixturevalue("postgres")
    return emptied(server)


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    database = Database(url)
    yield database
    database.close()
