"""Who takes part: authors with their tokens, bots and their versions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Text, UniqueConstraint
from sqlmodel import Field

from keltis_ladder.store.schema.tables.base import (
    Table,
    folded_name,
    moment,
    no_flag_yet,
    no_moment_yet,
    plain,
)
from keltis_ladder.store.schema.version_states import Detail


class Author(Table, table=True):
    """Who owns bots."""

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    folded: str = folded_name()
    # The user of this machine whose account it is; none: somebody registered it.
    local_user: str | None = Field(default=None, unique=True, index=True)
    house: bool = False  # ours: our own bots may meet each other
    disabled: bool = False
    removed: bool = no_flag_yet()  # names, words and programs are forgotten
    created: datetime = moment()


class Token(Table, table=True):
    """What an author shows to be let in. Only its digest is kept."""

    id: int | None = Field(default=None, primary_key=True)
    author_id: int = Field(foreign_key="author.id", index=True)
    made_by: int | None = Field(default=None, foreign_key="token.id")  # which it does not outlive
    label: str = ""
    digest: str = Field(unique=True)
    scopes: list[str] = plain()
    created: datetime = moment()
    expires: datetime | None = no_moment_yet()
    revoked: datetime | None = no_moment_yet()


class Invitation(Table, table=True):
    """What opens one account where registration is by invitation. Only its digest is kept."""

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(unique=True)
    label: str = ""
    created: datetime = moment()
    expires: datetime | None = no_moment_yet()
    used: datetime | None = no_moment_yet()
    author_id: int | None = Field(default=None, foreign_key="author.id")  # whose account it opened


class Archive(Table, table=True):
    """A file that a bot came in, kept on disk under its digest."""

    digest: str = Field(primary_key=True)
    size: int
    created: datetime = moment()


class Bot(Table, table=True):
    """An entrant of the ladder, over all its versions."""

    id: int | None = Field(default=None, primary_key=True)
    author_id: int = Field(foreign_key="author.id", index=True)
    name: str = Field(unique=True)
    folded: str = folded_name()
    disabled: str | None = Field(default=None, sa_type=Text)  # why it may not play; none: it may
    removed: bool = no_flag_yet()  # with its author
    created: datetime = moment()


class Version(Table, table=True):
    """One upload of a bot. It never changes; only its state does."""

    __table_args__ = (UniqueConstraint("bot_id", "number"),)

    id: int | None = Field(default=None, primary_key=True)
    bot_id: int = Field(foreign_key="bot.id")
    number: int
    predecessor_id: int | None = Field(default=None, foreign_key="version.id")
    archive_digest: str | None = Field(default=None, foreign_key="archive.digest")
    built_in: str | None = None  # one of ours and its release: it has no archive
    variants: list[str] = plain()
    players: list[int] = plain()
    description: str = Field(default="", sa_type=Text)  # its author's words
    # These three are set by ``version_states.change_state`` alone.
    state: str = Field(default="", index=True)  # empty: it has none yet, and is not stored
    cause: str = ""  # why it is in this state
    details: dict[str, Detail] = Field(default_factory=dict, sa_type=JSON)  # for its author
    created: datetime = moment()


class CheckReport(Table, table=True):
    """What the check of a version found, and what its build said: for its author."""

    __tablename__ = "check_report"

    version_id: int = Field(foreign_key="version.id", primary_key=True)
    findings: list[dict[str, Any]] = plain()
    output: str = Field(default="", sa_type=Text)  # of the build
    started: datetime = moment()
    finished: datetime = moment()
