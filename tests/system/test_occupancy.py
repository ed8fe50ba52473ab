"""One server for one ladder: a second is refused, and a killed one keeps nobody out."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from keltis_ladder.store.home import Home
from keltis_ladder.store.occupancy import find_server
from keltis_server.site.local_key import read_address
from tests.ladder.store.support.postgres import Postgres, PostgresMissing, running
from tests.preloaded.process import run_command, start_command
from tests.system.support.servers import PATIENCE, ServerProcess

QUICK = ("--port", "0", "--cores", "1", "--no-house")


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    try:
        with running() as server:
            yield server
    except PostgresMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database that servers with different directories could share."""
    if request.param == "sqlite":
        (tmp_path / "elsewhere").mkdir()
        return str(tmp_path / "elsewhere" / "ladder.db")
    server: Postgres = request.getfixturevalue("postgres")
    server.execute("DROP DATABASE IF EXISTS occupied WITH (FORCE)")
    server.execute("CREATE DATABASE occupied")
    return server.url("occupied")


def refused(data: Path, *options: str) -> str:
    """Start a server that must not come up; return what it said."""
    second = ServerProcess(data, *QUICK, *options)
    try:
        assert second.end() != 0, second.output
    finally:
        second.__exit__(None, None, None)
    assert "Traceback" not in second.output
    return second.output


def test_a_second_server_on_a_directory_is_refused_and_takes_nothing(tmp_path: Path) -> None:
    data = tmp_path / "ladder"
    with ServerProcess(data, *QUICK) as first:
        address = read_address(data)
        told = refused(data)
        assert f"process {first.process.pid}" in told
        assert "--data" in told
        assert read_address(data) == address
        assert first.answers()
        # Not even with another database: uploads and programs are in the directory.
        assert "serves this ladder" in refused(data, "--database", str(tmp_path / "other.db"))
        assert read_address(data) == address
        assert first.stop() == 0, first.output
    assert read_address(data) is None
    with ServerProcess(data, *QUICK) as next_one:
        assert next_one.answers()


def test_a_second_server_on_a_database_is_refused(tmp_path: Path, database: str) -> None:
    with ServerProcess(tmp_path / "first", *QUICK, "--database", database) as first:
        told = refused(tmp_path / "second", "--database", database)
        assert f"process {first.process.pid}" in told
        assert read_address(tmp_path / "second") is None
        found = find_server(Home(tmp_path / "third", database))
        assert found is not None
        assert f"process {first.process.pid}" in found
        assert first.stop() == 0, first.output
    assert find_server(Home(tmp_path / "third", database)) is None


def test_a_server_that_was_killed_keeps_nobody_out(tmp_path: Path, database: str) -> None:
    data = tmp_path / "ladder"
    for _ in range(2):
        with ServerProcess(data, *QUICK, "--database", database) as server:
            os.kill(server.process.pid, signal.SIGKILL)  # and the next one starts at once
    with ServerProcess(data, *QUICK, "--database", database) as last:
        assert last.answers()


def test_a_server_holds_its_database_through_lost_connections(
    tmp_path: Path, postgres: Postgres
) -> None:
    postgres.execute("DROP DATABASE IF EXISTS occupied WITH (FORCE)")
    postgres.execute("CREATE DATABASE occupied")
    url = postgres.url("occupied")
    with ServerProcess(tmp_path / "first", *QUICK, "--database", url) as first:
        postgres.cut_connections("occupied")
        first.wait_for(lambda: find_server(Home(tmp_path / "second", url)) is not None)
        assert f"process {first.process.pid}" in refused(tmp_path / "second", "--database", url)


SHORT = ("--cores", "1", "--bank", "100", "--increment", "2")
RUN = ["ladder", "run", "-n", "1", "--quiet", *SHORT]


def test_a_ladder_run_beside_a_server_says_whose_ladder_it_would_join(tmp_path: Path) -> None:
    data = tmp_path / "ladder"
    command = [*RUN, "--data", str(data)]
    options = ("--port", "0", "--matches-per-minute", "1", *SHORT)
    with ServerProcess(data, *options) as server:
        alone = run_command(*command, timeout=PATIENCE)
        assert alone.returncode == 2, alone.stderr
        told = " ".join(alone.stderr.split())
        assert f"process {server.process.pid}" in told
        assert server.url in told
        assert "add --yes" in told

        assert at_a_terminal(command, b"n\n") != 0
        sure = run_command(*command, "--yes", timeout=PATIENCE)
        assert sure.returncode == 0, sure.stderr
        assert at_a_terminal(command, b"y\n") == 0


def at_a_terminal(command: list[str], answer: bytes) -> int:
    """Run a command that asks; return its exit code."""
    ours, theirs = pty.openpty()
    try:
        process = start_command(
            *command, stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        assert process.stderr is not None
        asked = b""
        while b"Join it?" not in asked:
            part = os.read(process.stderr.fileno(), 4096)
            assert part, asked
            asked += part
        os.write(ours, answer)
        process.stderr.read()
        process.stderr.close()
        return process.wait(2 * PATIENCE)
    finally:
        os.close(ours)
        os.close(theirs)
