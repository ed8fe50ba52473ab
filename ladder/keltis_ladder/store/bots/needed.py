"""Which programs are needed: conditions for versions, to be used in queries."""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement
from sqlmodel import and_, col, or_, select

from keltis_ladder.store.schema.tables import (
    Job,
    JobEntrant,
    JobState,
    Place,
    TournamentEntrant,
    TournamentRecord,
    TournamentState,
    Version,
)
from keltis_ladder.store.schema.version_states import VersionState

_UNFINISHED: Final = (JobState.WAITING, JobState.HELD, JobState.LEASED)
_TO_COME: Final = (TournamentState.SCHEDULED, TournamentState.RUNNING, TournamentState.PAUSED)
_OVER: Final = (VersionState.BROKEN, VersionState.SUPERSEDED)  # for good; what is retired is not


def wanted() -> ColumnElement[bool]:
    """Return the condition that a version is in a match or tournament that is not over."""
    in_matches = (
        select(JobEntrant.version_id)
        .join(Job, col(Job.id) == JobEntrant.job_id)
        .where(col(Job.state).in_(_UNFINISHED))
    )
    return or_(col(Version.id).in_(in_matches), in_tournaments())


def in_tournaments() -> ColumnElement[bool]:
    """Return the condition that a version is entered for a tournament that is not over."""
    entered = (
        select(TournamentEntrant.version_id)
        .join(TournamentRecord, col(TournamentRecord.id) == TournamentEntrant.tournament_id)
        .where(col(TournamentRecord.state).in_(_TO_COME))
    )
    return col(Version.id).in_(entered)


def over() -> ColumnElement[bool]:
    """Return the condition that a version will never play again, and has its archive still."""
    return and_(col(Version.archive_digest).is_not(None), col(Version.state).in_(_OVER), ~wanted())


def never_played() -> ColumnElement[bool]:
    """Return the condition that no match was played with a version."""
    return col(Version.id).not_in(select(Place.version_id))
