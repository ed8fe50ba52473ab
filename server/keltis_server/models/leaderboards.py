"""Leaderboards and head-to-head tables as the API shows them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from keltis_server.models.moments import Moment


class JointOut(BaseModel):
    """The joint rating of a version, fitted to the margins of all matches."""

    rating: float = Field(description="Mean lead over the field, on TrueSkill's scale from 25.")
    sigma: float
    low: float = Field(description="The lower end of the 95 % interval of the rating.")
    high: float
    share: float = Field(description="Expected share of wins against the field.")
    share_low: float = Field(description="The lower end of its 95 % interval.")
    share_high: float
    best: int = Field(description="The best place that it may have.")
    worst: int = Field(description="The worst one.")
    own: float = Field(description="Share of what is known that comes from matches of the scope.")
    others: float = Field(description="Share that comes from other matches.")
    before: float = Field(description="Share that is what is believed of any new bot.")
    provisional: bool = Field(description="Whether the interval of the share is wide.")


class LineOut(BaseModel):
    """One line of a leaderboard."""

    rank: int | None = Field(
        description="By the official rating. Null: provisional, or no longer on the ladder. "
        "By the joint rating it is the best place that the bot may have."
    )
    tied: int = Field(description="How many share the rank.")
    provisional: bool = Field(description="By the official rating.")
    bot: str
    version: int
    author: str
    state: str
    mu: float = Field(description="The mean of live TrueSkill.")
    sigma: float = Field(description="Its standard deviation.")
    low: float = Field(description="The lower end of the 95 % interval of live TrueSkill.")
    high: float
    matches: int
    firsts: int = Field(description="Matches won alone.")
    shared: int = Field(description="Matches in which others were first, too.")
    games: int
    wins: float = Field(description="Games won; a shared win is a part of one.")
    faults: int
    seats: list[float | None] = Field(description="Share of the games won from each seat.")
    last_match: int
    last_played: Moment
    joint: JointOut | None = Field(description="Null: not published yet, or not on the ladder.")


class LeaderboardOut(BaseModel):
    """The bots on the ladder, the best first."""

    variant: str
    players: int
    matches: int = Field(description="Stored in all.")
    official: Literal["joint", "trueskill"] = Field(description="The rating that orders the lines.")
    as_of: int | None = Field(
        description="The last match that is in the joint ratings; null: none were published yet."
    )
    lines: list[LineOut]


class HeadOut(BaseModel):
    """A bot of a head-to-head table."""

    bot: str
    version: int


class PairOut(BaseModel):
    """How often one bot was ahead of the other."""

    one: int = Field(description="Its place in bots.")
    other: int
    wins: int
    draws: int
    losses: int
    expected: float | None = Field(
        description="Share of matches in which the joint ratings expect one ahead of the other; "
        "a draw is half of one. Null: one of them has no joint rating."
    )


class VersusOut(BaseModel):
    """A bot against another one, by the joint rating and by their matches."""

    bot: str
    version: int
    lead: float = Field(description="By which the first bot is rated above this one.")
    sigma: float
    low: float = Field(description="The lower end of the 95 % interval of the lead.")
    high: float
    better: float = Field(description="Probability that the first bot is the better one.")
    certain: bool = Field(description="Whether the two can be told apart.")
    expected: float = Field(
        description="Share of matches in which the first bot is expected to be ahead."
    )
    wins: int = Field(description="Matches in which the first bot was ahead.")
    draws: int
    losses: int
    mean_lead: float | None = Field(
        description="Mean margin of their matches, on the scale of the rating. Null: never met."
    )


class AllVersusOut(BaseModel):
    """A bot against all others, the best rated first."""

    variant: str
    players: int
    bot: str
    version: int
    as_of: int | None = Field(
        description="The last match that is in the joint ratings; null: there are none of this bot."
    )
    others: list[VersusOut]


class HeadToHeadOut(BaseModel):
    """Who was ahead of whom: each two who have met, once."""

    variant: str
    players: int
    bots: list[HeadOut]
    pairs: list[PairOut]
