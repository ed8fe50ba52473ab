"""Tournaments that are stored: listed, and read as far as their courses do not know it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import func, select
from sqlmodel import Session, col

from keltis_ladder.store.schema.relations import (
    AUTHOR,
    BOT,
    JOB,
    TOURNAMENT,
    TOURNAMENT_ENTRANT,
    VERSION,
)
from keltis_ladder.store.schema.tables import (
    Author,
    FaultRecord,
    Job,
    JobState,
    Ledger,
    Match,
    Place,
    TournamentRecord,
    TournamentState,
    Version,
)

OVER: Final = (TournamentState.FINISHED.value, TournamentState.CANCELLED.value)
_OPEN_JOBS: Final = (JobState.WAITING.value, JobState.HELD.value, JobState.LEASED.value)
_DEALT_WITH: Final = (JobState.DONE.value, JobState.FAILED.value)


class TournamentRow(NamedTuple):
    """A tournament in a list."""

    record: TournamentRecord
    author: str | None
    entrants: int
    played: int  # matches dealt with


class EnteredBot(NamedTuple):
    """A version in a tournament, under the name that it has there."""

    name: str
    bot: str
    version: int  # its number


@dataclass(frozen=True)
class PlayedLeg:
    """A match of a tournament that is over."""

    job: Job
    match: Match
    places: list[Place]
    faults: list[FaultRecord]

    @property
    def table(self) -> str:
        """Its round and table, as round/table."""
        return (self.job.leg or "").rpartition("/")[0]

    @property
    def number(self) -> int:
        """Its number at the table."""
        return int((self.job.leg or "").rpartition("/")[2])


def tournament_rows(
    session: Session, state: str | None, before: int | None, limit: int
) -> list[TournamentRow]:
    """Return tournaments, the newest first."""
    entrants = (
        select(func.count())
        .select_from(TOURNAMENT_ENTRANT)
        .where(TOURNAMENT_ENTRANT.c.tournament_id == TOURNAMENT.c.id)
        .correlate(TOURNAMENT)
        .scalar_subquery()
    )
    played = (
        select(func.count())
        .select_from(JOB)
        .where(JOB.c.tournament_id == TOURNAMENT.c.id, JOB.c.state.in_(_DEALT_WITH))
        .correlate(TOURNAMENT)
        .scalar_subquery()
    )
    query = (
        select(TournamentRecord, AUTHOR.c.name, entrants, played)
        .outerjoin(AUTHOR, AUTHOR.c.id == TOURNAMENT.c.author_id)
        .order_by(TOURNAMENT.c.id.desc())
        .limit(limit)
    )
    if state is not None:
        query = query.where(TOURNAMENT.c.state == state)
    if before is not None:
        query = query.where(TOURNAMENT.c.id < before)
    return [TournamentRow(*row) for row in session.execute(query)]


def find_tournament(session: Session, name: str) -> TournamentRecord | None:
    """Return the tournament of this name."""
    query = select(TournamentRecord).where(col(TournamentRecord.name) == name)
    return session.execute(query).scalar()


def first_tournament(session: Session) -> tuple[TournamentRecord | None, int]:
    """Return the tournament that was stored first, and how many matches are stored."""
    query = select(TournamentRecord).order_by(col(TournamentRecord.id)).limit(1)
    return session.execute(query).scalar(), session.get_one(Ledger, 1).matches


def author_of(session: Session, record: TournamentRecord) -> str | None:
    """Return the name of whose idea a tournament was."""
    author = None if record.author_id is None else session.get(Author, record.author_id)
    return None if author is None else author.name


def entered_bots(session: Session, tournament_id: int) -> list[EnteredBot]:
    """Return who takes part in a tournament, by seed."""
    query = (
        select(TOURNAMENT_ENTRANT.c.name, BOT.c.name, VERSION.c.number)
        .join(VERSION, VERSION.c.id == TOURNAMENT_ENTRANT.c.version_id)
        .join(BOT, BOT.c.id == VERSION.c.bot_id)
        .where(TOURNAMENT_ENTRANT.c.tournament_id == tournament_id)
        .order_by(TOURNAMENT_ENTRANT.c.number)
    )
    return [EnteredBot(*row) for row in session.execute(query)]


def entered_versions(session: Session, tournament_id: int) -> list[tuple[str, Version]]:
    """Return the names and versions in a tournament, by seed."""
    query = (
        select(TOURNAMENT_ENTRANT.c.name, Version)
        .join(TOURNAMENT_ENTRANT, TOURNAMENT_ENTRANT.c.version_id == Version.id)
        .where(TOURNAMENT_ENTRANT.c.tournament_id == tournament_id)
        .order_by(TOURNAMENT_ENTRANT.c.number)
    )
    return [(row[0], row[1]) for row in session.execute(query)]


def unfinished_tournaments(session: Session, author_id: int) -> int:
    """Return how many tournaments of an author are not over."""
    query = (
        select(func.count())
        .select_from(TOURNAMENT)
        .where(TOURNAMENT.c.author_id == author_id, TOURNAMENT.c.state.not_in(OVER))
    )
    return session.execute(query).scalar() or 0


def all_played(session: Session, tournament_id: int) -> bool:
    """Return whether no match of a tournament waits or is being played."""
    query = (
        select(JOB.c.id)
        .where(JOB.c.tournament_id == tournament_id, JOB.c.state.in_(_OPEN_JOBS))
        .limit(1)
    )
    return session.execute(query).first() is None


def played_legs(session: Session, tournament_id: int) -> dict[str, list[PlayedLeg]]:
    """Return the matches that were played, by table, in the order of their numbers there."""
    ours = col(Job.tournament_id) == tournament_id
    rows = session.execute(
        select(Job, Match).join(Match, col(Match.job_id) == Job.id).where(ours)
    ).all()
    places: defaultdict[int, list[Place]] = defaultdict(list)
    of_ours = (
        select(Place)
        .join(Match, col(Match.number) == Place.match_number)
        .join(Job, col(Job.id) == Match.job_id)
        .where(ours)
        .order_by(col(Place.position))
    )
    for place in session.execute(of_ours).scalars():
        places[place.match_number].append(place)
    legs = [
        PlayedLeg(job, match, places[match.number], faults)
        for (job, match), faults in zip(
            rows, _faults(session, tournament_id, [match for _, match in rows]), strict=True
        )
    ]
    found: dict[str, list[PlayedLeg]] = {}
    for leg in sorted(legs, key=lambda leg: leg.number):
        found.setdefault(leg.table, []).append(leg)
    return found


def _faults(
    session: Session, tournament_id: int, matches: Sequence[Match]
) -> list[list[FaultRecord]]:
    query = (
        select(FaultRecord)
        .join(Match, col(Match.number) == FaultRecord.match_number)
        .join(Job, col(Job.id) == Match.job_id)
        .where(col(Job.tournament_id) == tournament_id)
        .order_by(col(FaultRecord.id))
    )
    found: defaultdict[int, list[FaultRecord]] = defaultdict(list)
    for fault in session.execute(query).scalars():
        found[fault.match_number].append(fault)
    return [found[match.number] for match in matches]
