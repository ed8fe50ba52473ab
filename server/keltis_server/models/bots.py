"""Bots, their versions, ratings and faults as the API shows them."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from keltis_ladder.ratings.ranking import Z95, provisional
from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.store.bots.browsing import BotRow, VersionRow
from keltis_ladder.store.matches.components import Composition
from keltis_ladder.store.matches.records import TWELFTHS
from keltis_ladder.store.ratings.leaderboards import seat_shares
from keltis_ladder.store.schema.tables import Rating


class VersionOut(BaseModel):
    """One upload of a bot. It never changes; only its state does."""

    id: int
    number: int
    state: str
    reason: str | None = Field(description="Why it is in this state; only for its author.")
    variants: list[str]
    players: list[int]
    description: str
    created: datetime
    size: int | None = Field(description="Of its archive, in bytes; null for our own bots.")
    digest: str | None = Field(description="SHA-256 of its archive.")
    built_in: str | None = Field(description="Which of our own bots it is.")


class VersionsOut(BaseModel):
    """All versions of a bot, the newest first."""

    versions: list[VersionOut]


class RatingOut(BaseModel):
    """Where a version stands among the matches of one kind."""

    variant: str
    players: int
    mu: float
    sigma: float
    low: float = Field(description="The lower end of the 95 % interval.")
    high: float
    rank: int | None = Field(description="Null: provisional, or not on the ladder.")
    provisional: bool
    matches: int
    games: int
    wins: float
    faults: int
    seats: list[float | None] = Field(description="Share of the games won from each seat.")


class BotOut(BaseModel):
    """A bot, and its version that plays; if none does, its newest."""

    name: str
    author: str
    house: bool = Field(description="Whether it is one of ours.")
    created: datetime
    description: str
    state: str
    version: int
    variants: list[str]
    players: list[int]
    ratings: list[RatingOut] = Field(description="Of this version. In lists only the overall one.")


class StepOut(BaseModel):
    """A rating after a match."""

    match: int
    version: int
    at: datetime
    mu: float
    sigma: float


class OpponentOut(BaseModel):
    """How often a bot was ahead of another."""

    bot: str
    version: int
    wins: int
    draws: int
    losses: int


class OpponentsOut(BaseModel):
    """Everybody whom a version has met in rated matches, the most often met first."""

    opponents: list[OpponentOut]


class ComponentOut(BaseModel):
    """A part of the points, in the mean of a game."""

    name: str = Field(description="As the engine and replays call it.")
    own: float
    field: float = Field(description="Of all others in the same matches, with the same cards.")


class CompositionOut(BaseModel):
    """What the points of a version are made of in one variant."""

    variant: str
    matches: int
    games: int
    own: float = Field(description="All points of a game, in the mean.")
    field: float
    components: list[ComponentOut]


class ComponentsOut(BaseModel):
    """What the points of a version are made of, compared with everybody whom it met."""

    version: int
    latest: int = Field(description="No more than so many matches, the latest, are looked at.")
    variants: list[CompositionOut] = Field(
        description="Only of matches in which nobody dropped out, and whose components are stored."
    )


class FaultOut(BaseModel):
    """A game that a bot lost other than by points."""

    id: int
    match: int
    rotation: int
    seat: int
    version: int
    decision: int
    kind: str
    code: str
    at: datetime
    text: str | None = Field(description="What happened; only for its author.")


class TimeOut(BaseModel):
    """The time that a version has used in the matches of one kind."""

    version: int
    variant: str
    players: int
    matches: int
    asked: int = Field(description="Decisions that it was asked for.")
    mean_ms: float = Field(description="For a decision.")
    slowest_ms: float
    cpu_ms: float
    wall_ms: float


class TimesOut(BaseModel):
    """The time profile of a bot."""

    profile: list[TimeOut]


class AuthorOut(BaseModel):
    """Who owns bots."""

    name: str
    house: bool
    created: datetime
    bots: list[str]


def composition_out(found: Composition) -> CompositionOut:
    """Return what points are made of."""
    return CompositionOut(
        variant=found.variant,
        matches=found.matches,
        games=found.games,
        own=found.own,
        field=found.field,
        components=[
            ComponentOut(name=each.name, own=each.own, field=each.field)
            for each in found.components
        ],
    )


def version_out(row: VersionRow, for_author: bool) -> VersionOut:
    """Return a version; the reason of its state only for its author."""
    version = row.version
    assert version.id is not None
    return VersionOut(
        id=version.id,
        number=version.number,
        state=version.state,
        reason=version.reason if for_author else None,
        variants=version.variants,
        players=version.players,
        description=version.description,
        created=version.created,
        size=row.size,
        digest=version.archive_digest,
        built_in=version.built_in,
    )


def bot_out(row: BotRow, ranks: dict[tuple[int, Scope], int]) -> BotOut:
    """Return a bot; ``ranks`` are by version and scope."""
    version = row.version
    return BotOut(
        name=row.bot.name,
        author=row.author.name,
        house=row.author.house,
        created=row.bot.created,
        description=version.description,
        state=version.state,
        version=version.number,
        variants=version.variants,
        players=version.players,
        ratings=[
            _rating(rating, ranks.get((rating.version_id, Scope(rating.variant, rating.players))))
            for rating in row.ratings
        ],
    )


def _rating(rating: Rating, rank: int | None) -> RatingOut:
    return RatingOut(
        variant=rating.variant,
        players=rating.players,
        mu=rating.mu,
        sigma=rating.sigma,
        low=rating.mu - Z95 * rating.sigma,
        high=rating.mu + Z95 * rating.sigma,
        rank=rank,
        provisional=provisional(rating.sigma, rating.matches),
        matches=rating.matches,
        games=rating.games,
        wins=rating.twelfths / TWELFTHS,
        faults=rating.faults,
        seats=list(
            seat_shares(
                rating.matches,
                (rating.seat0, rating.seat1, rating.seat2, rating.seat3),
                rating.seat2_games,
                rating.seat3_games,
            )
        ),
    )
