"""The tables of the ladder.

What happened is never changed: matches, places, games and faults are only ever added. Ratings,
rating steps and duels are derived from them, and can be thrown away and worked out again.

Win shares are kept in twelfths of a win, which every share is a whole number of: a win that four
have in common is three twelfths for each.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Final

import sqlalchemy
from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlmodel import Field, SQLModel

from keltis_ladder.match.orders import Purpose
from keltis_ladder.store.schema.moment_column import Moment
from keltis_ladder.store.schema.version_states import Detail

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


class JobState(StrEnum):
    """How far a job has come."""

    WAITING = "waiting"
    HELD = "held"  # its tournament is paused
    LEASED = "leased"  # somebody plays it, until the lease ends
    DONE = "done"  # its match is stored
    FAILED = "failed"  # the platform could not play it
    CANCELLED = "cancelled"


class TournamentState(StrEnum):
    """How far a tournament has come."""

    SCHEDULED = "scheduled"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    CANCELLED = "cancelled"


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


class Rating(Table, table=True):
    """Where a version stands in one scope: a variant or all, a number of players or any."""

    __table_args__ = (Index(None, "variant", "players", "mu"),)

    version_id: int = Field(foreign_key="version.id", primary_key=True)
    variant: str = Field(primary_key=True)
    players: int = Field(primary_key=True)
    mu: float
    sigma: float
    matches: int
    firsts: int  # matches won alone
    shared: int  # matches in which others were first, too
    games: int
    twelfths: int
    faults: int
    seat0: int
    seat1: int
    seat2: int
    seat3: int
    seat2_games: int  # from the first two seats as many as matches
    seat3_games: int
    last_match: int


class RatingStep(Table, table=True):
    """The ratings of an entrant after a match, in the four scopes that it moved."""

    __tablename__ = "rating_step"
    __table_args__ = (Index(None, "version_id", "match_number"),)

    match_number: int = Field(foreign_key="match.number", primary_key=True)
    position: int = Field(primary_key=True)
    version_id: int = Field(foreign_key="version.id")
    mu: float  # this variant, this number of players
    sigma: float
    variant_mu: float
    variant_sigma: float
    players_mu: float
    players_sigma: float
    overall_mu: float
    overall_sigma: float


class RatingCheckpoint(Table, table=True):
    """All ratings and duels as they were after a match: a recomputation may begin here."""

    __tablename__ = "rating_checkpoint"

    number: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    rating_model: int
    joint_model: int = no_number_yet()
    digest: str  # of the book before it was compressed
    book: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    created: datetime = moment()


class Duel(Table, table=True):
    """How often one version was ahead of another; ``one_id`` is the smaller id."""

    one_id: int = Field(foreign_key="version.id", primary_key=True)
    other_id: int = Field(foreign_key="version.id", primary_key=True, index=True)
    variant: str = Field(primary_key=True)
    players: int = Field(primary_key=True)
    wins: int
    draws: int
    losses: int
    margin: int = no_number_yet(big=True)  # of the first, summed up: in the joint rating's scores


class JointMark(Table, table=True):
    """The newest publication of the joint rating in a scope: its figures are those of this moment.

    It is written together with them, so that readers of both see one publication.
    """

    __tablename__ = "joint_mark"

    variant: str = Field(primary_key=True)
    players: int = Field(primary_key=True)
    as_of: int  # the match that was the last: all results up to it are in the figures
    joint_model: int
    serial: int  # how often this scope was published
    field: list[int] = plain()  # all versions that were active: others are measured by them
    published: datetime = moment()


class JointRating(Table, table=True):
    """The joint rating of a version in a scope, as its mark says; active versions alone have one.

    ``own``, ``others`` and ``before`` are shares of what is known: from matches of the scope, from
    other matches, and from what is believed of a bot that nobody has seen.
    """

    __tablename__ = "joint_rating"
    __table_args__ = (Index(None, "variant", "players", "rating"),)

    version_id: int = Field(foreign_key="version.id", primary_key=True)
    variant: str = Field(primary_key=True)
    players: int = Field(primary_key=True)
    rating: float
    sigma: float
    share: float  # expected, of wins against the field, with its 95 % interval
    low: float
    high: float
    own: float
    others: float
    before: float


class JointHistory(Table, table=True):
    """The joint rating of a version as it was published after a match."""

    __tablename__ = "joint_history"
    __table_args__ = (Index(None, "match_number"),)

    version_id: int = Field(foreign_key="version.id", primary_key=True)
    variant: str = Field(primary_key=True)
    players: int = Field(primary_key=True)
    match_number: int = Field(foreign_key="match.number", primary_key=True)
    rating: float
    sigma: float


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


def table_of(model: type[Table]) -> sqlalchemy.Table:
    """Return the table itself, for statements about many rows."""
    return Table.metadata.tables[str(model.__tablename__)]
