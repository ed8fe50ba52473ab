"""Matches as the lobby's topic tells of them: in a few words."""

from __future__ import annotations

from pydantic import BaseModel, Field

from keltis_server.models.moments import Moment


class PlayerOut(BaseModel):
    """Who plays in a match."""

    bot: str
    version: int
    author: str
    mu: float | None = Field(description="The overall rating before the match.")


class ResultOut(PlayerOut):
    """Who played, and how they did."""

    rank: int
    wins: float
    points: int
    faults: int


class MatchHeadOut(BaseModel):
    """What a match is."""

    id: str
    variant: str
    players: int
    purpose: str
    rated: bool
    reason: str
    reason_code: str = ""
    reason_details: dict[str, str | int] = Field(default_factory=dict)
    tournament: str | None = None


class RunningOut(MatchHeadOut):
    """A match that is being played, and how far it is."""

    commitment: str | None
    entrants: list[PlayerOut]
    rotation: int
    plies: int
    scores: list[int]
    since: Moment


class PlayedOut(MatchHeadOut):
    """A match that is over."""

    number: int
    finished: Moment | None
    entrants: list[ResultOut]
