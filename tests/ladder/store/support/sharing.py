"""One PostgreSQL database for many tests: emptied before each, made anew only if it has to be.

To make one takes three hundred files and a tenth of a second.
"""

from functools import cache

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from keltis_ladder.ratings.model import MODEL_VERSION
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
        fit = _shape(server, NAME) == _wanted_shape(server)
        if fit:
            _empty(server)
    except DBAPIError:  # it is not there, spoilt, or somebody holds on to it
        fit = False
    if not fit:
        server.execute(f"DROP DATABASE IF EXISTS {NAME} WITH (FORCE)")
        server.execute(f"CREATE DATABASE {NAME} TEMPLATE upgraded")
    return server.url(NAME)


@cache
def _wanted_shape(server: Postgres) -> tuple[object, ...]:
    return _shape(server, "upgraded")


def _shape(server: Postgres, name: str) -> tuple[object, ...]:
    with _connected(server, name) as connection:
        return tuple(connection.execute(text(SHAPE)).one())


def _empty(server: Postgres) -> None:
    with _connected(server, NAME) as connection:
        connection.execute(text("SET lock_timeout = '2s'"))
        for table in reversed(Table.metadata.sorted_tables):
            connection.execute(table.delete())
        connection.execute(text("SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'"))
        row = {"id": 1, "matches": 0, "rating_model": MODEL_VERSION}
        connection.execute(table_of(Ledger).insert(), row)
        connection.commit()


def _connected(server: Postgres, name: str) -> Connection:
    return create_engine(server.url(name), poolclass=NullPool).connect()
