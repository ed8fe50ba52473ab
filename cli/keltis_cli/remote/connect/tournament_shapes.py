"""Tournaments as a server tells them, turned into what our tables and brackets are drawn from."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from pydantic import BaseModel, Field, model_validator

from keltis_cli.draw.standings_table import SHORT, Tables
from keltis_cli.remote.connect.shapes import Moment, Safe
from keltis_ladder.tournaments import standings, views
from keltis_ladder.tournaments.plan import FORMATS
from keltis_ladder.tournaments.plan import Plan as LadderPlan

FINEST: Final = 1000  # the largest denominator of a number that was told with a point
OVER: Final = ("finished", "cancelled")


class Summary(BaseModel):
    """A tournament in a list."""

    name: Safe
    state: Safe
    format: Safe
    author: Safe | None = None
    entrants: int
    played: int
    total: int
    created: Moment
    starts: Moment | None = None
    started: Moment | None = None
    finished: Moment | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.state in OVER


class Plan(BaseModel):
    """What was fixed before the first match."""

    format: Safe
    entrants: int = Field(ge=1)
    players: int
    variants: list[Safe]
    matches: int
    rounds: int | None = None
    challengers: int = 1

    @model_validator(mode="after")
    def _known(self) -> Plan:
        if self.format not in FORMATS:
            raise ValueError("this format is not known here")
        return self


class Entered(BaseModel):
    """A bot that takes part."""

    name: Safe
    bot: Safe
    version: int


class Table(BaseModel):
    """A table of a round."""

    round: int
    table: int
    label: Safe
    entrants: list[int | None]
    state: views.State
    played: int
    scores: list[float]
    forfeited: bool = False
    bracket: Safe = ""
    winner: int | None = None
    comes_from: list[Safe] = []
    winner_to: Safe = ""
    loser_to: Safe = ""

    def view(self) -> views.TableView:
        """Return it as the ladder itself has it."""
        return views.TableView(
            round=self.round,
            table=self.table,
            label=self.label,
            entrants=tuple(self.entrants),
            state=self.state,
            played=self.played,
            scores=tuple(_exact(score) for score in self.scores),
            forfeited=self.forfeited,
            bracket=self.bracket,
            winner=self.winner,
            comes_from=tuple(self.comes_from),
            winner_to=self.winner_to,
            loser_to=self.loser_to,
        )


class Round(BaseModel):
    """A round with its tables."""

    number: int
    bracket: Safe = ""
    byes: list[int] = []
    tables: list[Table]

    def view(self) -> views.RoundView:
        """Return it as the ladder itself has it."""
        tables = tuple(table.view() for table in self.tables)
        return views.RoundView(self.number, tables, tuple(self.byes), self.bracket)


class Standing(BaseModel):
    """Where a bot stands."""

    place: int
    bot: int
    score: float
    tie_breaks: dict[str, float] = {}
    played: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    byes: int = 0
    faults: int = 0
    eliminated_in: Safe = ""
    withdrawn: bool = False
    group: Safe = ""

    def view(self) -> standings.Standing:
        """Return it as the ladder itself has it; a tie-break that we do not know is left out."""
        known = [
            standings.TieBreak(name, _exact(value))
            for name, value in self.tie_breaks.items()
            if name in SHORT or name == standings.FAULTS
        ]
        return standings.Standing(
            place=self.place,
            entrant=self.bot,
            score=_exact(self.score),
            tie_breaks=tuple(known),
            played=self.played,
            wins=self.wins,
            draws=self.draws,
            losses=self.losses,
            byes=self.byes,
            faults=self.faults,
            eliminated_in=self.eliminated_in,
            withdrawn=self.withdrawn,
            group=self.group,
        )


class Cell(BaseModel):
    """What one bot has of another."""

    one: int
    other: int
    points: float
    matches: int


class Crosstable(BaseModel):
    """Who has what of whom."""

    order: list[int]
    cells: list[Cell]


class Tournament(Summary):
    """A tournament as it stands."""

    rated: bool = False
    round: int = 0
    plan: Plan
    bots: list[Entered]
    standings: list[Standing]
    rounds: list[Round]
    crosstable: Crosstable | None = None
    bracket: list[Round] | None = None

    @model_validator(mode="after")
    def _complete(self) -> Tournament:
        """Refuse a bot that does not take part: every number is a place in the list of bots."""
        tables = [t for each in [*self.rounds, *(self.bracket or [])] for t in each.tables]
        seats = [seat for table in tables for seat in [*table.entrants, table.winner]]
        named = [s.bot for s in self.standings] + [seat for seat in seats if seat is not None]
        named += [bye for each in self.rounds for bye in each.byes]
        if not all(0 <= bot < len(self.bots) for bot in named):
            raise ValueError("a bot is named that does not take part")
        if any(len(table.scores) not in (0, len(table.entrants)) for table in tables):
            raise ValueError("a table has not as many scores as bots")
        return self

    def tables(self) -> Tables:
        """Return all that is drawn of it."""
        plan = LadderPlan(
            format=self.plan.format,
            entrants=self.plan.entrants,
            players=self.plan.players,
            variants=tuple(self.plan.variants),
            matches=self.plan.matches,
            rounds=self.plan.rounds,
            challengers=self.plan.challengers,
        )
        return Tables(
            plan=plan,
            names=[bot.name for bot in self.bots],
            standings=[standing.view() for standing in self.standings],
            rounds=[each.view() for each in self.rounds],
            crosstable=self._crosstable(),
            bracket=[each.view() for each in self.bracket or []],
        )

    def _crosstable(self) -> views.Crosstable | None:
        if self.crosstable is None:
            return None
        cells = {
            (cell.one, cell.other): views.Cell(_exact(cell.points), cell.matches)
            for cell in self.crosstable.cells
        }
        return views.Crosstable(tuple(self.crosstable.order), cells)


def _exact(value: float) -> Fraction:
    """Return the fraction that was meant: JSON has none."""
    return Fraction(value).limit_denominator(FINEST)
