"""Tournaments of a server, turned into what our tables and brackets are drawn from."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from pydantic import model_validator

from keltis_cli.draw.tables.standings import SHORT, Tables
from keltis_ladder.match.table_labels import TableLabel, label_from_details
from keltis_ladder.tournaments import standings, views
from keltis_ladder.tournaments.plan import FORMATS, Plan
from keltis_ladder.tournaments.schedules.brackets import LOSER, SEED, WINNER
from keltis_server.models.tournaments import (
    CrosstableOut,
    LabelOut,
    RoundOut,
    StandingOut,
    TableOut,
    TournamentOut,
)

FINEST: Final = 5040  # no score or tie-break is a finer part of a match
STATES: Final = frozenset(views.TableState)
KINDS: Final = frozenset((SEED, WINNER, LOSER))


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
        for label in [
            *(label for table in tables for label in _labels(table)),
            *(standing.eliminated_in_coded for standing in self.standings),
        ]:
            _label_if_any(label)
        if any(source.kind not in KINDS for table in tables for source in table.comes_from_coded):
            raise ValueError("a bot comes from where is not known here")
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
    other = {"bot", "score", "tie_breaks", "eliminated_in", "eliminated_in_coded"}
    return standings.Standing(
        entrant=told.bot,
        score=_exact(told.score),
        tie_breaks=tuple(known),
        eliminated_in=_label_if_any(told.eliminated_in_coded),
        **told.model_dump(exclude=other),
    )


def _round(told: RoundOut) -> views.RoundView:
    tables = tuple(_table(table) for table in told.tables)
    return views.RoundView(told.number, tables, tuple(told.byes), told.bracket)


def _table(told: TableOut) -> views.TableView:
    return views.TableView(
        round=told.round,
        table=told.table,
        label=_label(told.label_coded),
        entrants=tuple(told.entrants),
        state=views.TableState(told.state),
        played=told.played,
        scores=tuple(_exact(score) for score in told.scores),
        forfeited=told.forfeited,
        bracket=told.bracket,
        winner=told.winner,
        comes_from=tuple(
            views.Origin(source.kind, source.seed or 0, _label_if_any(source.table))
            for source in told.comes_from_coded
        ),
        winner_to=_label_if_any(told.winner_to_coded),
        loser_to=_label_if_any(told.loser_to_coded),
    )


def _labels(table: TableOut) -> list[LabelOut | None]:
    """Return all labels that a table tells."""
    sources = [source.table for source in table.comes_from_coded]
    return [table.label_coded, table.winner_to_coded, table.loser_to_coded, *sources]


def _label(told: LabelOut) -> TableLabel:
    """Return what a table is called; raise if that is not known here."""
    return label_from_details(told.code, told.details)


def _label_if_any(told: LabelOut | None) -> TableLabel | None:
    return None if told is None else _label(told)


def _crosstable(told: CrosstableOut) -> views.Crosstable:
    cells = {
        (cell.one, cell.other): views.Cell(_exact(cell.points), cell.matches) for cell in told.cells
    }
    return views.Crosstable(tuple(told.order), cells)


def _exact(value: float) -> Fraction:
    """Return the fraction that was meant: JSON has none."""
    return Fraction(value).limit_denominator(FINEST)
