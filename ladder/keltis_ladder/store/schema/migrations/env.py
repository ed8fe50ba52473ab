"""What alembic runs: it is given a connection, and compares the database with our tables."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlmodel.sql.sqltypes import AutoString

from keltis_ladder.store.schema.moment_column import Moment
from keltis_ladder.store.schema.tables import Table


def render(kind: str, item: Any, autogenerate: AutogenContext) -> str | Literal[False]:
    """Write our own types in a new step as what they are in the database."""
    if kind == "type" and isinstance(item, AutoString):
        return "sa.String()"
    if kind == "type" and isinstance(item, Moment):
        return "sa.DateTime(timezone=True)"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Table.metadata,
    render_as_batch=True,  # SQLite can change a table only by making it anew
    render_item=render,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
