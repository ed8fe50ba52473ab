"""Tournaments, from what is stored and from their course."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmodel import Session

from keltis_ladder.match.table_labels import TableLabel, label_text
from keltis_ladder.run.course import Course
from keltis_ladder.store.matches.tournaments import (
    TournamentRow,
    all_played,
    author_of,
    entered_bots,
)
from keltis_ladder.store.schema.tables import TournamentState
from keltis_ladder.tournaments.standings import Standing
from keltis_ladder.tournaments.views import Crosstable, RoundView, TableView, origin_text
from keltis_server.loaders.filling import filled
from keltis_server.models.matches import ControlOut
from keltis_server.models.tournaments import (
    CellOut,
    CrosstableOut,
    EnteredOut,
    LabelOut,
    PlanOut,
    RoundOut,
    SourceOut,
    StandingOut,
    TableOut,
    TournamentOut,
    TournamentSummary,
)


def tournament_out(session: Session, course: Course) -> TournamentOut:
    """Return a tournament as it stands. Nobody else may change its course meanwhile."""
    record, tournament = course.record, course.tournament
    assert record.id is not None
    plan = tournament.plan
    played, total = tournament.progress
    # A match may go on that the end of the tournament did not need: its deal stays secret.
    told = record.state == TournamentState.FINISHED and all_played(session, record.id)
    return filled(
        TournamentOut,
        record,
        format=plan.format,
        author=author_of(session, record),
        entrants=plan.entrants,
        played=played,
        total=total,
        round=tournament.round,
        plan=PlanOut.model_validate(plan, from_attributes=True),
        clock=ControlOut.model_validate(record, from_attributes=True),
        seed=(record.seed or None) if told else None,
        lots=str(plan.seed) if told else None,
        bots=[
            EnteredOut.model_validate(bot, from_attributes=True)
            for bot in entered_bots(session, record.id)
        ],
        standings=[standing_out(standing) for standing in tournament.standings()],
        rounds=rounds_out(tournament.rounds),
        crosstable=None if plan.elimination else crosstable_out(tournament.crosstable()),
        bracket=rounds_out(tournament.bracket()) if plan.elimination else None,
    )


def summary_out(row: TournamentRow, total: int) -> TournamentSummary:
    """Return a tournament for a list; ``total`` is how many matches there will be."""
    return filled(
        TournamentSummary,
        row.record,
        format=row.record.plan["format"],
        author=row.author,
        entrants=row.entrants,
        played=row.played,
        total=total,
    )


def standing_out(standing: Standing) -> StandingOut:
    """Return where a bot stands."""
    tie_breaks = {tie.name: float(tie.value) for tie in standing.tie_breaks}
    return filled(
        StandingOut,
        standing,
        bot=standing.entrant,
        tie_breaks=tie_breaks,
        eliminated_in=_text(standing.eliminated_in),
        eliminated_in_coded=_coded(standing.eliminated_in),
    )


def rounds_out(views: Sequence[RoundView]) -> list[RoundOut]:
    """Return rounds with their tables."""
    return [
        filled(RoundOut, view, tables=[table_out(table) for table in view.tables]) for view in views
    ]


def table_out(table: TableView) -> TableOut:
    """Return a table; what it is called is a sentence for people, and a code for programs."""
    return filled(
        TableOut,
        table,
        label=label_text(table.label),
        label_coded=_label(table.label),
        comes_from=[origin_text(origin) for origin in table.comes_from],
        comes_from_coded=[
            SourceOut(kind=origin.kind, seed=origin.seed or None, table=_coded(origin.table))
            for origin in table.comes_from
        ],
        winner_to=_text(table.winner_to),
        winner_to_coded=_coded(table.winner_to),
        loser_to=_text(table.loser_to),
        loser_to_coded=_coded(table.loser_to),
    )


def _label(label: TableLabel) -> LabelOut:
    return LabelOut(code=label.code, details=label.details)


def _coded(label: TableLabel | None) -> LabelOut | None:
    return None if label is None else _label(label)


def _text(label: TableLabel | None) -> str:
    return "" if label is None else label_text(label)


def crosstable_out(table: Crosstable) -> CrosstableOut:
    """Return who has what of whom."""
    return CrosstableOut(
        order=list(table.order),
        cells=[
            CellOut(one=one, other=other, points=float(cell.points), matches=cell.matches)
            for (one, other), cell in table.cells.items()
        ],
    )
