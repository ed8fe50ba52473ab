"""Matches: those to be played, and what came of them.

What happened is never changed: matches, places, games and faults are only ever added.

Win shares are kept in twelfths of a win, which every share is a whole number of: a win that four
have in common is three twelfths for each.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import JSON, Column, Index, LargeBinary, Text, UniqueConstraint, text
from sqlmodel import Field

from keltis_ladder.match.orders import Purpose
from keltis_ladder.store.schema.tables.base import (
    Table,
    moment,
    no_moment_yet,
    no_number_yet,
    plain,
)


class JobState(StrEnum):
    """How far a job has come."""

    WAITING = "waiting"
    HELD = "held"  # its tournament is paused
    LEASED = "leased"  # somebody plays it, until the lease ends
    DONE = "done"  # its match is stored
    FAILED = "failed"  # the platform could not play it
    CANCELLED = "cancelled"


class Ledger(Table, table=True):
    """One row: how many matches are stored, and by which model they are rated.

    A transaction that stores a result holds this row, so that results have one order, without gaps.
    """

    id: int = Field(default=1, primary_key=True)
    matches: int = 0
    rating_model: int
    joint_model: int = no_number_yet()  # whose scores the margins of duels come from; 0: none
    # Of matches up to these numbers, what was older than the operator wants it kept is gone. In
    # what came later, whatever is missing is damage.
    steps_pruned: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    replays_pruned: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    cards_pruned: int = Field(default=0, sa_column_kwargs={"server_default": "0"})


_UNUSUAL: Final = text(f"purpose <> '{Purpose.LADDER.value}'")


class Job(Table, table=True):
    """A match to be played, or that was played: all that must be known before it begins."""

    __table_args__ = (
        Index(None, "state", "priority", "created"),
        # Matches of the ladder are nearly all: the others are found by this, and few.
        Index("ix_job_purpose", "purpose", sqlite_where=_UNUSUAL, postgresql_where=_UNUSUAL),
        UniqueConstraint("tournament_id", "leg"),
    )

    id: str = Field(primary_key=True)
    purpose: str
    rated: bool
    variant: str
    ruleset_version: int
    options: dict[str, int] = plain()
    players: int
    seed: str  # up to 128 bits; empty until the match begins for the first time
    origin: dict[str, Any] | None = Field(default=None, sa_type=JSON)  # of its seed, if drawn
    bank_ms: int
    increment_ms: int
    start_ms: int
    priority: int = 0  # higher ones are played first
    reason: str = ""  # why this match: a code; empty if nobody has said
    reason_details: dict[str, str | int] | None = Field(default=None, sa_type=JSON)
    tournament_id: int | None = Field(default=None, foreign_key="tournament.id")
    leg: str | None = None  # which match of the tournament
    author_id: int | None = Field(default=None, foreign_key="author.id")  # who wanted it
    created: datetime = moment()
    state: str = JobState.WAITING
    holder: str | None = None  # who plays it
    lease_until: datetime | None = no_moment_yet()
    tries: int = 0  # how often it was leased
    trouble: str = Field(default="", sa_type=Text)  # what was wrong with the last try: a code
    trouble_details: dict[str, str] | None = Field(default=None, sa_type=JSON)  # of the trouble


class JobEntrant(Table, table=True):
    """A version that is to play a job."""

    __tablename__ = "job_entrant"

    job_id: str = Field(foreign_key="job.id", primary_key=True)
    position: int = Field(primary_key=True)
    version_id: int = Field(foreign_key="version.id", index=True)


_UNUSED: Final = text("job_id IS NULL")


class SeedPart(Table, table=True):
    """The server's part of a seed: committed to in advance, and secret until its match is over."""

    __tablename__ = "seed_part"
    __table_args__ = (
        Index("ix_seed_part_unused", "number", sqlite_where=_UNUSED, postgresql_where=_UNUSED),
    )

    number: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    after_match: int  # number of results that were stored when it was committed to
    secret: str
    commitment: str
    created: datetime = moment()
    job_id: str | None = Field(default=None, foreign_key="job.id", unique=True)


class Match(Table, table=True):
    """The result of a match. ``number`` is its place in the order of all results."""

    number: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    job_id: str = Field(foreign_key="job.id", unique=True)
    variant: str
    players: int
    rated: bool
    decisions: int
    finished: datetime = moment(index=True)
    result_digest: str | None = None  # of this and all earlier results; none: from before we did it


class Place(Table, table=True):
    """How one entrant did in a match. Everybody sits on every seat once."""

    __table_args__ = (Index(None, "version_id", "match_number"),)

    match_number: int = Field(foreign_key="match.number", primary_key=True)
    position: int = Field(primary_key=True)
    version_id: int = Field(foreign_key="version.id")
    rank: int
    twelfths: int  # of wins, over all games
    points: int
    faults: int
    asked: int
    wall_ms: float
    cpu_ms: float
    slowest_ms: float
    seat0: int  # twelfths won from this seat
    seat1: int
    seat2: int | None = None
    seat3: int | None = None
    # Its points by component, in the order in which the engine names those of the variant. None:
    # somebody dropped out, or the match was stored before we kept them.
    part0: int | None = None
    part1: int | None = None
    part2: int | None = None


class Game(Table, table=True):
    """One rotation of a match: how it ended, and its replay in compressed form."""

    match_number: int = Field(foreign_key="match.number", primary_key=True)
    rotation: int = Field(primary_key=True)
    ending: str
    scores: list[int] = plain()  # by seat
    ranks: list[int] = plain()
    moves: bytes = Field(sa_column=Column(LargeBinary, nullable=False))  # empty: pruned
    digest: str  # of the replay: readers of the moves can tell that the game is the same


class FaultRecord(Table, table=True):
    """A game that a bot lost other than by points."""

    __tablename__ = "fault"

    id: int | None = Field(default=None, primary_key=True)
    match_number: int = Field(foreign_key="match.number", index=True)
    rotation: int
    seat: int
    version_id: int = Field(foreign_key="version.id", index=True)
    decision: int
    kind: str
    code: str
    text: str = Field(sa_type=Text)
    card: bytes = Field(sa_column=Column(LargeBinary, nullable=False))  # JSON; empty: pruned
