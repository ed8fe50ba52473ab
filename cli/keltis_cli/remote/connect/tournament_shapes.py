"""Tournaments of a server, turned into what our tables and brackets are drawn from."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from pydantic import model_validator

from keltis_cli.draw.tables.standings import SHORT, Tables
from keltis_ladder.tournaments import standings, views
from keltis_ladder.tournaments.plan import FORMATS, Plan
from keltis_server.models.tournaments import (
    CrosstableOut,
    RoundOut,
    StandingOut,
    TableOut,
    TournamentOut,
)

FINEST: Final = 5040  # no score or tie-break is a finer part of a match
STATES: Final = frozenset(views.State)


class Tournament(TournamentOut):
    """A tournament as it stands, whose every part can be drawn."""

    @model_validator(mode="after")
    def _complete(self) -> Tournament:
        """Refuse what cannot be drawn: every number of a bot is a place in the list of bots."""
        tables = [t for each in [*self.rounds, *(self.bracket or [])] for t in each.tables]
        seats = [seat for table in tables for seat in [*table.entrants, table.winner]]
        named = [s.bot for s in self.standings] + [seat for seat in seats if seat is not None]
        named += [bye for each in self.rounds for bye in each.byes]
        if self.plan.format not in FORMATS or self.plan.entrants < 1:
            raise ValueError("this format is not known here")
        if not all(0 <= bot < len(self.bots) for bot in named):
            raise ValueError("a bot is named that does not take part")
        if any(len(table.scores) not in (0, len(table.entrants)) for table in tables):
            raise ValueError("a table has not as many scores as bots")
        if any(table.state not in STATES for table in tables):
            raise ValueError("a table is in a state that is not known here")
        return self

    def tables(self) -> Tables:
        """Return all that is drawn of it."""
        plan = self.plan.model_dump() | {"variants": tuple(self.plan.variants)}
        return Tables(
            plan=Plan(**plan),
            names=[bot.name for bot in self.bots],
            standings=[_standing(standing) for standing in self.standings],
            rounds=[_round(each) for each in self.rounds],
            crosstable=_crosstable(self.crosstable) if self.crosstable is not None else None,
            bracket=[_round(each) for each in self.bracket or []],
        )


def _standing(told: StandingOut) -> standings.Standing:
    """Return where a bot stands; a tie-break that we do not know is left out."""
    known = [
        standings.TieBreak(name, _exact(value))
        for name, value in told.tie_breaks.items()
        if name in SHORT or name == standings.FAULTS
    ]
    same = told.model_dump(exclude={"bot", "score", "tie_breaks"})
    return standings.Standing(
        entrant=told.bot, score=_exact(told.score), tie_breaks=tuple(known), **same
    )


def _round(told: RoundOut) -> views.RoundView:
    tables = tuple(_table(table) for table in told.tables)
    return views.RoundView(told.number, tables, tuple(told.byes), told.bracket)


def _table(told: TableOut) -> views.TableView:
    same = told.model_dump(exclude={"entrants", "state", "scores", "comes_from"})
    return views.TableView(
        entrants=tuple(told.entrants),
        state=views.State(told.state),
        scores=tuple(_exact(score) for score in told.scores),
        comes_from=tuple(told.comes_from),
        **same,
    )


def _crosstable(told: CrosstableOut) -> views.Crosstable:
    cells = {
        (cell.one, cell.other): views.Cell(_exact(cell.points), cell.matches) for cell in told.cells
    }
    return views.Crosstable(tuple(told.order), cells)


def _exact(value: float) -> Fraction:
    """Return the fraction that was meant: JSON has none."""
    return Fraction(value).limit_denominator(FINEST)
