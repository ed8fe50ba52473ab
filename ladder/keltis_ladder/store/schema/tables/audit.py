"""The audit: what matches say about bots that know too much. Derived, but for ``AuditMark``."""

from __future__ import annotations

from sqlalchemy import BigInteger
from sqlmodel import Field

from keltis_ladder.store.schema.tables.base import Table


class AuditMark(Table, table=True):
    """One row: which matches the audit looks at."""

    __tablename__ = "audit_mark"

    id: int = Field(default=1, primary_key=True)
    begin: int = 0  # seats were not drawn by lot in matches up to this one
    done: int = 0  # the last match that is in the audit's evidence


class AuditBot(Table, table=True):
    """What the audit's matches say about a bot: derived, and can be worked out again."""

    __tablename__ = "audit_bot"

    bot_id: int = Field(foreign_key="bot.id", primary_key=True)
    variant: str = Field(primary_key=True)
    test: str = Field(primary_key=True)
    matches: int
    total: int = Field(sa_type=BigInteger)
    spread: int = Field(sa_type=BigInteger)
    alarm: int | None = None  # the match after which it was more than chance allows


class AuditAuthor(Table, table=True):
    """Which part of a bot's evidence of later games comes from matches against one author."""

    __tablename__ = "audit_author"

    bot_id: int = Field(foreign_key="bot.id", primary_key=True)
    variant: str = Field(primary_key=True)
    author_id: int = Field(foreign_key="author.id", primary_key=True)
    total: int = Field(sa_type=BigInteger)
    spread: int = Field(sa_type=BigInteger)


class AuditPair(Table, table=True):
    """The same about two bots that met at tables of three and four; ``one_id`` is the smaller."""

    __tablename__ = "audit_pair"

    one_id: int = Field(foreign_key="bot.id", primary_key=True)
    other_id: int = Field(foreign_key="bot.id", primary_key=True, index=True)
    rank: int  # it was the rank-th pair of one of them
    matches: int
    total: int = Field(sa_type=BigInteger)
    spread: int = Field(sa_type=BigInteger)
    alarm: int | None = None


class AuditStrength(Table, table=True):
    """What the audit expects of a version at tables of three and four."""

    __tablename__ = "audit_strength"

    version_id: int = Field(foreign_key="version.id", primary_key=True)
    variant: str = Field(primary_key=True)
    players: int = Field(primary_key=True)
    matches: int
    total: int = Field(sa_type=BigInteger)


class Foresight(Table, table=True):
    """How well an entrant's decisions fitted hidden cards, later against first.

    It comes from the moves of games, and stays when they are removed.
    """

    match_number: int = Field(foreign_key="match.number", primary_key=True)
    position: int = Field(primary_key=True)
    version_id: int = Field(foreign_key="version.id", index=True)
    look: int  # which look at a match it was: evidence was added up in this order
    total: int
    spread: int = Field(sa_type=BigInteger)
