"""The steps by which the tables came to be, and at which of them a database is.

Alembic knows that, too, but takes a fifth of a second to load and reads every step to tell. It is
asked only when there is something to change: every command and every start of a server looks here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect

from keltis_ladder.store.database import BadDatabase

STEPS: Final = Path(__file__).parent / "migrations"
NOTE: Final = "alembic_version"  # the table in which alembic keeps the step


def known_steps() -> tuple[str, ...]:
    """Return the steps that we know, in order: their files begin with their numbers."""
    files = (STEPS / "versions").glob("[0-9]*_*.py")
    return tuple(sorted(file.name.partition("_")[0] for file in files))


def newest_step() -> str:
    """Return the last step that we know."""
    return known_steps()[-1]


def step_of(connection: Connection) -> str | None:
    """Return the step at which a database is; ``None`` if no ladder is in it yet."""
    if not inspect(connection).has_table(NOTE):
        return None
    step: str | None = connection.exec_driver_sql(f"SELECT version_num FROM {NOTE}").scalar()
    if step is not None and step not in known_steps():
        raise BadDatabase(
            f"the database is newer than this program (its step {step!r} is unknown here): "
            "install the release that made it, or a later one"
        )
    return step
