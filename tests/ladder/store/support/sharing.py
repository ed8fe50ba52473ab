"""One PostgreSQL database for many tests: emptied before each, made anew only if it has to be.

To make one takes three hundred files and a tenth of a second.
"""

from functools import cache

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from keltis_ladder.store.ratings.models import MODELS
from keltis_ladder.store.schema.tables import Ledger, Table, table_of
from tests.ladder.store.support.postgres import Postgres

NAME = "shared"
SHAPE = """
    SELECT (SELECT string_agg(version_num, ',') FROM alembic_version),
           (SELECT md5(string_agg(c::text, ',' ORDER BY c::text)) FROM (
               SELECT relname, attname, atttypid, attnotnull FROM pg_attribute
               JOIN pg_class ON pg_class.oid = attrelid
               WHERE relnamespace = 'public'::regnamespace AND attnum > 0
           ) AS c),
           (SELECT count(*) FROM pg_constraint WHERE connamespace = 'public'::regnamespace),
           (SELECT count(*) FROM pg_trigger)
"""


def emptied(server: Postgres) -> str:
    """Return the address of the database, empty and as a new one would be."""
    try:
        with _engine(server, NAME).connect() as connection:
            fit = _shape(connection) == _wanted_shape(server)
            if fit:
                _empty(connection)
    except DBAPIError:  # it is not there, spoilt, or somebody holds on to it
        fit = False
    if not fit:
        server.execute(f"DROP DATABASE IF EXISTS {NAME} WITH (FORCE)")
        server.execute(f"CREATE DATABASE {NAME} TEMPLATE upgraded")
    return server.url(NAME)


@cache
def _engine(server: Postgres, name: str) -> Engine:
    """Return what makes connections: each is closed at once, but what it found out is kept."""
    return create_engine(server.url(name), poolclass=NullPool)


@cache
def _wanted_shape(server: Postgres) -> tuple[object, ...]:
    with _engine(server, "upgraded").connect() as connection:
        return _shape(connection)


def _shape(connection: Connection) -> tuple[object, ...]:
    return tuple(connection.execute(text(SHAPE)).one())


def _empty(connection: Connection) -> None:
    connection.exec_driver_sql(_emptying())
    row = {"id": 1, "matches": 0, **MODELS}
    connection.execute(table_of(Ledger).insert(), row)
    connection.commit()


@cache
def _emptying() -> str:
    """Return all statements in one: one by one they take several times as long."""
    names = [table.name for table in reversed(Table.metadata.sorted_tables)]
    return "; ".join(
        [
            "SET lock_timeout = '2s'",
            *(f'DELETE FROM "{name}"' for name in names),
            "SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'",
        ]
    )
