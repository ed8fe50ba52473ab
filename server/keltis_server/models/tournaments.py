"""Tournaments as the API shows them: enough to draw their tables and brackets from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, Field
from sqlmodel import Session

from keltis_ladder.run.course import Course
from keltis_ladder.store.matches.tournaments import (
    TournamentRow,
    all_played,
    author_of,
    entered_bots,
)
from keltis_ladder.store.schema.tables import TournamentState
from keltis_ladder.tournaments.plan import Plan
from keltis_ladder.tournaments.standings import Standing
from keltis_ladder.tournaments.views import Crosstable, RoundView, TableView
from keltis_server.models.matches import ControlOut


class TournamentSummary(BaseModel):
    """A tournament in a list."""

    name: str
    state: str
    format: str
    author: str | None = Field(description="Whose idea it was.")
    entrants: int
    played: int = Field(description="Matches that were dealt with.")
    total: int = Field(description="How many there will be at least.")
    created: datetime
    starts: datetime | None = Field(description="It starts by itself then.")
    started: datetime | None
    finished: datetime | None


class PlanOut(BaseModel):
    """What is fixed before the first match."""

    format: str
    entrants: int
    players: int = Field(description="At a table.")
    variants: list[str]
    matches: int = Field(description="Of each pairing; in eliminations best of so many.")
    rounds: int | None
    challengers: int


class EnteredOut(BaseModel):
    """A bot that takes part."""

    name: str
    bot: str
    version: int


class TableOut(BaseModel):
    """A table of a round. Entrants are places in bots."""

    round: int
    table: int
    label: str
    entrants: list[int | None] = Field(description="Null: not known yet.")
    state: str
    played: int
    scores: list[float]
    forfeited: bool
    bracket: str
    winner: int | None
    comes_from: list[str]
    winner_to: str
    loser_to: str


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
    eliminated_in: str
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


def tournament_out(session: Session, course: Course) -> TournamentOut:
    """Return a tournament as it stands. Nobody else may change its course meanwhile."""
    record, tournament = course.record, course.tournament
    assert record.id is not None
    plan = tournament.plan
    played, total = tournament.progress
    # A match may go on that the end of the tournament did not need: its deal stays secret.
    told = record.state == TournamentState.FINISHED and all_played(session, record.id)
    return TournamentOut(
        name=record.name,
        state=record.state,
        format=plan.format,
        author=author_of(session, record),
        entrants=plan.entrants,
        played=played,
        total=total,
        created=record.created,
        starts=record.starts,
        started=record.started,
        finished=record.finished,
        rated=record.rated,
        round=tournament.round,
        plan=_plan(plan),
        clock=ControlOut(
            bank_ms=record.bank_ms, increment_ms=record.increment_ms, start_ms=record.start_ms
        ),
        seed=(record.seed or None) if told else None,
        lots=str(plan.seed) if told else None,
        bots=[
            EnteredOut(name=bot.name, bot=bot.bot, version=bot.version)
            for bot in entered_bots(session, record.id)
        ],
        standings=[_standing(standing) for standing in tournament.standings()],
        rounds=_rounds(tournament.rounds),
        crosstable=None if plan.elimination else _crosstable(tournament.crosstable()),
        bracket=_rounds(tournament.bracket()) if plan.elimination else None,
    )


def summary_out(row: TournamentRow, total: int) -> TournamentSummary:
    """Return a tournament for a list; ``total`` is how many matches there will be."""
    record = row.record
    return TournamentSummary(
        name=record.name,
        state=record.state,
        format=record.plan["format"],
        author=row.author,
        entrants=row.entrants,
        played=row.played,
        total=total,
        created=record.created,
        starts=record.starts,
        started=record.started,
        finished=record.finished,
    )


def _plan(plan: Plan) -> PlanOut:
    return PlanOut(
        format=plan.format,
        entrants=plan.entrants,
        players=plan.players,
        variants=list(plan.variants),
        matches=plan.matches,
        rounds=plan.rounds,
        challengers=plan.challengers,
    )


def _standing(standing: Standing) -> StandingOut:
    return StandingOut(
        place=standing.place,
        bot=standing.entrant,
        score=float(standing.score),
        tie_breaks={tie.name: float(tie.value) for tie in standing.tie_breaks},
        played=standing.played,
        wins=standing.wins,
        draws=standing.draws,
        losses=standing.losses,
        byes=standing.byes,
        faults=standing.faults,
        eliminated_in=standing.eliminated_in,
        withdrawn=standing.withdrawn,
        group=standing.group,
    )


def _rounds(views: Sequence[RoundView]) -> list[RoundOut]:
    return [
        RoundOut(
            number=view.number,
            bracket=view.bracket,
            byes=list(view.byes),
            tables=[_table(table) for table in view.tables],
        )
        for view in views
    ]


def _table(view: TableView) -> TableOut:
    return TableOut(
        round=view.round,
        table=view.table,
        label=view.label,
        entrants=list(view.entrants),
        state=view.state,
        played=view.played,
        scores=[float(score) for score in view.scores],
        forfeited=view.forfeited,
        bracket=view.bracket,
        winner=view.winner,
        comes_from=list(view.comes_from),
        winner_to=view.winner_to,
        loser_to=view.loser_to,
    )


def _crosstable(table: Crosstable) -> CrosstableOut:
    return CrosstableOut(
        order=list(table.order),
        cells=[
            CellOut(one=one, other=other, points=float(cell.points), matches=cell.matches)
            for (one, other), cell in table.cells.items()
        ],
    )
