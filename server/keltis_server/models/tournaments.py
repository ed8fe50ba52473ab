"""Tournaments as the API shows them: enough to draw their tables and brackets from."""

from __future__ import annotations

from pydantic import BaseModel, Field

from keltis_server.models.matches import ControlOut
from keltis_server.models.moments import Moment


class TournamentSummary(BaseModel):
    """A tournament in a list."""

    name: str
    state: str
    format: str
    author: str | None = Field(description="Whose idea it was.")
    entrants: int
    played: int = Field(description="Matches that were dealt with.")
    total: int = Field(description="How many there will be at least.")
    created: Moment
    starts: Moment | None = Field(description="It starts by itself then.")
    started: Moment | None
    finished: Moment | None

    @property
    def over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.state in ("finished", "cancelled")


class PlanOut(BaseModel):
    """What is fixed before the first match."""

    format: str
    entrants: int
    players: int = Field(description="At a table.")
    variants: list[str]
    matches: int = Field(description="Matches of each pairing; in eliminations best of N.")
    rounds: int | None
    challengers: int


class EnteredOut(BaseModel):
    """A bot that takes part."""

    name: str
    bot: str
    version: int


class LabelOut(BaseModel):
    """What a table is called, as a code: ``semi-final``, for example."""

    code: str
    details: dict[str, str | int] = Field(
        description="What belongs to the code: number (which round, or how many it has room for)"
        " and table (which of those that are called alike)."
    )


class SourceOut(BaseModel):
    """Where an entrant of a table comes from."""

    kind: str = Field(description="seed, or winner or loser of a table.")
    seed: int | None = Field(description="From 1.")
    table: LabelOut | None


class TableOut(BaseModel):
    """A table of a round. Entrants are places in bots."""

    round: int
    table: int
    label: str = Field(description="In English.")
    label_coded: LabelOut
    entrants: list[int | None] = Field(description="Null: not known yet.")
    state: str
    played: int
    scores: list[float]
    forfeited: bool
    bracket: str
    winner: int | None
    comes_from: list[str] = Field(description="Of eliminations, by entrant, in English.")
    comes_from_coded: list[SourceOut]
    winner_to: str = Field(description="Of eliminations: the label of the next table.")
    winner_to_coded: LabelOut | None
    loser_to: str
    loser_to_coded: LabelOut | None


class RoundOut(BaseModel):
    """A round with its tables."""

    number: int
    bracket: str
    byes: list[int]
    tables: list[TableOut]


class StandingOut(BaseModel):
    """Where a bot stands."""

    place: int
    bot: int = Field(description="Its place in bots.")
    score: float
    tie_breaks: dict[str, float]
    played: int
    wins: int
    draws: int
    losses: int
    byes: int
    faults: int
    eliminated_in: str = Field(description="Of eliminations: the label of the last table.")
    eliminated_in_coded: LabelOut | None
    withdrawn: bool
    group: str


class CellOut(BaseModel):
    """What one bot has of another."""

    one: int
    other: int
    points: float
    matches: int


class CrosstableOut(BaseModel):
    """Who has what of whom, in the order of the standings."""

    order: list[int]
    cells: list[CellOut]


class TournamentOut(TournamentSummary):
    """A tournament as it stands."""

    rated: bool
    round: int = Field(description="The one that is being played.")
    plan: PlanOut
    clock: ControlOut
    seed: str | None = Field(
        description="Of all deals, if it was given; told when nothing is left to play."
    )
    lots: str | None = Field(description="The seed of what was drawn by lot; told at the end.")
    bots: list[EnteredOut] = Field(description="By seed, the best first.")
    standings: list[StandingOut]
    rounds: list[RoundOut]
    crosstable: CrosstableOut | None = Field(description="Not of eliminations.")
    bracket: list[RoundOut] | None = Field(description="Only of eliminations.")
