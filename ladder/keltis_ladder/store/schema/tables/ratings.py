"""Ratings: derived from results, and can be thrown away and worked out again."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Column, Index, LargeBinary
from sqlmodel import Field

from keltis_ladder.store.schema.tables.base import Table, moment, no_number_yet, plain


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
