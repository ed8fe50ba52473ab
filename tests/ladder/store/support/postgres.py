"""A real PostgreSQL of our own: started for the tests, gone with them."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

PLAIN_USERS = ("postgres", "nobody")  # the server refuses to run as root


class PostgresMissing(RuntimeError):
    """There is no PostgreSQL to start."""


class Postgres:
    """One running server, on a socket in its own directory."""

    def __init__(self, directory: Path, user: str | None) -> None:
        self.directory = directory
        self.user = user  # that it runs as

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://tests@/{database}?host={self.directory}"

    def execute(self, statement: str) -> None:
        engine = create_engine(
            self.url("postgres"), isolation_level="AUTOCOMMIT", poolclass=NullPool
        )
        with engine.connect() as connection:
            connection.execute(text(statement))
        engine.dispose()

    def start(self) -> None:
        options = (
            f"-c listen_addresses='' -c unix_socket_directories='{self.directory}' "
            "-c fsync=off -c full_page_writes=off -c max_connections=60"
        )
        self._control("-l", str(self.directory / "log"), "-o", options, "start")

    def stop(self) -> None:
        self._control("-m", "immediate", "stop")

    def _control(self, *command: str) -> None:
        data = str(self.directory / "data")
        _run([find_program("pg_ctl"), "-D", data, "-w", *command], self.user)

    def cut_connections(self, database: str) -> None:
        """End all connections to a database, as an operator or a crash would."""
        self.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            f"WHERE datname = '{database}' AND pid <> pg_backend_pid()"
        )


def find_program(name: str) -> str:
    """Return the path of a program of the server; Debian keeps them off the usual path."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    program = str(found[-1]) if found else shutil.which(name)
    if program is None:
        raise PostgresMissing(f"{name} is missing: apt-get install postgresql")
    return program


@contextmanager
def running() -> Iterator[Postgres]:
    """Start a server in a new directory, and stop it at the end."""
    initdb = find_program("initdb")
    user = _plain_user()
    with tempfile.TemporaryDirectory(prefix="keltis-pg-") as scratch:
        server = Postgres(Path(scratch), user)
        if user is not None:
            os.chown(scratch, pwd.getpwnam(user).pw_uid, -1)
        data = str(server.directory / "data")
        _run([initdb, "-D", data, "-U", "tests", "--auth=trust", "--no-sync", "-E", "UTF8"], user)
        (server.directory / "data" / "pg_hba.conf").write_text(
            "local all tests trust\nlocal all all scram-sha-256\n"
        )
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _plain_user() -> str | None:
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    for name in PLAIN_USERS:
        if name in names:
            return name
    raise PostgresMissing("the server does not run as root, and there is no user for it")


def _run(command: list[str], user: str | None) -> None:
    # The output goes to a file: a server that was started keeps a pipe open for ever.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            command,
            user=user,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode:
            output.seek(0)
            raise RuntimeError(f"{command[0]} failed: {output.read().decode(errors='replace')}")
