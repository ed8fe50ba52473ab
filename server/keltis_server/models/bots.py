"""Bots, their versions, ratings and faults as the API shows them."""

from __future__ import annotations

from pydantic import BaseModel, Field

from keltis_server.models.leaderboards import JointOut
from keltis_server.models.moments import Moment


class VersionOut(BaseModel):
    """One upload of a bot. It never changes; only its state does."""

    id: int
    number: int
    state: str
    reason: str | None = Field(
        description="Why it is in this state, in English; only for its author."
    )
    reason_code: str | None = Field(description="The same as a code; only for its author.")
    reason_details: dict[str, str | int | bool] | None = Field(
        description="What belongs to the code; only for its author."
    )
    variants: list[str]
    players: list[int]
    description: str
    created: Moment
    size: int | None = Field(description="Of its archive, in bytes; null for our own bots.")
    digest: str | None = Field(description="SHA-256 of its archive.")
    built_in: str | None = Field(description="Which of our own bots it is.")


class RatingOut(BaseModel):
    """Where a version stands among the matches of one kind."""

    variant: str
    players: int
    mu: float = Field(description="The mean of live TrueSkill.")
    sigma: float = Field(description="Its standard deviation.")
    low: float = Field(description="The lower end of the 95 % interval of live TrueSkill.")
    high: float
    rank: int | None = Field(
        description="By the official rating. Null: provisional, or not on the ladder."
    )
    provisional: bool = Field(description="By the official rating.")
    matches: int
    games: int
    wins: float
    faults: int
    seats: list[float | None] = Field(description="Share of the games won from each seat.")
    joint: JointOut | None = Field(description="Null: not published yet, or not on the ladder.")


class BotOut(BaseModel):
    """A bot, and its version that plays; if none does, its newest."""

    name: str
    author: str
    house: bool = Field(description="Whether it is one of ours.")
    created: Moment
    description: str
    state: str
    version: int
    variants: list[str]
    players: list[int]
    ratings: list[RatingOut] = Field(description="Of this version. In lists only the overall one.")

    @property
    def overall(self) -> RatingOut | None:
        """Its rating over everything, if it has played."""
        return next((r for r in self.ratings if r.variant == "all" and r.players == 0), None)


class StepOut(BaseModel):
    """A rating after a match."""

    match: int
    version: int
    at: Moment
    mu: float
    sigma: float


class JointStepOut(BaseModel):
    """A joint rating as it was published."""

    match: int = Field(description="The last one that is in it.")
    version: int
    at: Moment = Field(description="When that match ended.")
    rating: float
    sigma: float


class JointHistoryOut(BaseModel):
    """How the joint rating of a bot's versions was published, the oldest first."""

    steps: list[JointStepOut]


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
    latest: int = Field(description="Maximum number of matches that are looked at, the latest.")
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
    at: Moment
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
    created: Moment
    bots: list[str]
