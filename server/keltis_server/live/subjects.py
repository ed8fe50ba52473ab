"""Subjects: what a happening is about, so that only the channels that follow it hear of it.

One client may follow 2,048 topics. To ask each of their channels about each happening would take
milliseconds, many times a second.
"""

from __future__ import annotations

from collections.abc import Iterator

from keltis_ladder.dispatch.dispatcher import (
    AttemptFailed,
    MatchAbandoned,
    MatchFinished,
    MatchStarted,
    MatchStreamed,
    MatchWithdrawn,
)
from keltis_ladder.run.playing import Playing
from keltis_ladder.run.scheduler import MatchAssigned, ResultStored
from keltis_ladder.store.schema.version_states import VersionChanged
from keltis_server.events import Checking, Happening, TournamentChanged

Subject = tuple[str, str | int]


def about_match(job_id: str) -> Subject:
    """Return a match as a subject."""
    return "match", job_id


def about_version(id: int) -> Subject:
    """Return a version as a subject."""
    return "version", id


def about_tournament(id: int) -> Subject:
    """Return a tournament as a subject."""
    return "tournament", id


def subjects_of(happening: Happening) -> Iterator[Subject]:
    """Return what a happening is about."""
    match happening:
        case (
            MatchStarted(job=job)
            | MatchStreamed(job=job)
            | AttemptFailed(job=job)
            | MatchFinished(job=job)
            | MatchAbandoned(job=job)
            | MatchWithdrawn(job=job)
        ):
            yield about_match(job.id)
        case MatchAssigned(playing=playing) | ResultStored(playing=playing):
            yield from _of_playing(playing)
        case VersionChanged(version_id=id) | Checking(version_id=id):
            yield about_version(id)
        case TournamentChanged(tournament_id=id):
            yield about_tournament(id)


def _of_playing(playing: Playing) -> Iterator[Subject]:
    order = playing.order
    yield about_match(playing.job.id)
    yield from map(about_version, order.versions)
    if order.tournament_id is not None:
        yield about_tournament(order.tournament_id)
