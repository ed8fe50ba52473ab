"""What all tests of the ladder share: the sandbox, and every database that it can have.

A test that asks for a database runs on SQLite and on a real PostgreSQL.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from keltis_ladder.sandbox.sandbox import Sandbox, SandboxMissing, find_sandbox
from keltis_ladder.store.database import Database
from keltis_ladder.store.schema.upkeep import upgrade
from tests.ladder.store.support.postgres import Postgres, PostgresMissing, running
from tests.ladder.store.support.sharing import emptied

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
            _upgraded(server.url("upgraded"))
            yield server
    except PostgresMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def upgraded_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite database that is up to date: copying it is quicker than making another."""
    file = tmp_path_factory.mktemp("template") / "ladder.db"
    _upgraded(str(file))
    return file


def _upgraded(url: str) -> None:
    database = Database(url)
    upgrade(database)
    database.close()


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database that is up to date and empty."""
    if request.param == "sqlite":
        template: Path = request.getfixturevalue("upgraded_file")
        return str(shutil.copy(template, tmp_path / "ladder.db"))
    server: Postgres = request.getfixturevalue("postgres")
    return emptied(server)


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    database = Database(url)
    yield database
    database.close()
