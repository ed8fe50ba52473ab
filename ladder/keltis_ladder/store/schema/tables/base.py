"""What all tables have in common, and the columns that many have."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import sqlalchemy
from sqlalchemy import JSON, BigInteger, Integer, MetaData, false
from sqlmodel import Field, SQLModel

from keltis_ladder.store.schema.moment_column import Moment

# Constraints without a name cannot be changed by a later migration.
NAMES: Final = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Table(SQLModel):
    """What all our tables have in common: they know of each other and of no one else's."""

    metadata: ClassVar[MetaData] = MetaData(naming_convention=NAMES)


def moment(index: bool = False) -> Any:
    """Return a column for a moment that is always there."""
    return Field(sa_type=Moment, index=index)


def no_moment_yet() -> Any:
    """Return a column for a moment that may not have come."""
    return Field(default=None, sa_type=Moment)


def no_flag_yet() -> Any:
    """Return a column for what is rarely the case."""
    return Field(default=False, sa_column_kwargs={"server_default": false()})


def no_number_yet(big: bool = False) -> Any:
    """Return a column for a number that is 0 in rows from before there was one."""
    return Field(
        default=0,
        sa_type=BigInteger if big else Integer,
        sa_column_kwargs={"server_default": "0"},
    )


def plain(default: Any = ...) -> Any:
    """Return a column of lists, texts and numbers."""
    return Field(default=default, sa_type=JSON)


def folded_name() -> Any:
    """Return a column for what a name is compared by: see ``names.fold``."""
    return Field(unique=True, index=True, sa_column_kwargs={"server_default": ""})


def table_of(model: type[Table]) -> sqlalchemy.Table:
    """Return the table itself, for statements about many rows."""
    return Table.metadata.tables[str(model.__tablename__)]
