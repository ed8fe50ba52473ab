"""Tournaments: their plans and entrants, and what their matches do not tell."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlmodel import Field

from keltis_ladder.store.schema.tables.base import Table, moment, no_moment_yet, plain


class TournamentState(StrEnum):
    """How far a tournament has come."""

    SCHEDULED = "scheduled"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class TournamentRecord(Table, table=True):
    """A tournament: its plan, and how far it has come. Its results are those of its matches."""

    __tablename__ = "tournament"

    id: int | None = Field(default=None, primary_key=True)
    uuid: str = Field(unique=True)  # the matches' ids come from it
    name: str = Field(unique=True)
    plan: dict[str, Any] = plain()
    seed: str  # of all deals, told at the end; empty: each match draws its own
    rated: bool = False
    author_id: int | None = Field(default=None, foreign_key="author.id")  # whose idea it was
    bank_ms: int
    increment_ms: int
    start_ms: int
    state: str = TournamentState.SCHEDULED
    created: datetime = moment()
    starts: datetime | None = no_moment_yet()  # not before
    started: datetime | None = no_moment_yet()
    finished: datetime | None = no_moment_yet()
    standings: list[Any] | None = plain(None)  # the final table


class TournamentEntrant(Table, table=True):
    """A version in a tournament; ``number`` is its seed, 0 the best."""

    __tablename__ = "tournament_entrant"

    tournament_id: int = Field(foreign_key="tournament.id", primary_key=True)
    number: int = Field(primary_key=True)
    version_id: int = Field(foreign_key="version.id", index=True)
    name: str
    mu: float | None = None  # the rating that it was seeded by
    sigma: float | None = None


class TournamentEvent(Table, table=True):
    """What else a tournament's course depends on: withdrawals, and matches without a result."""

    __tablename__ = "tournament_event"

    id: int | None = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournament.id", index=True)
    kind: str  # "withdraw" or "void"
    after_match: int  # the number of the last result that came before it
    entrant: int | None = None
    after_round: int | None = None
    leg: str | None = None
    at: datetime = moment()
