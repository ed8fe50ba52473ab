"""A row of the queue as the records that travel: what is wanted, and what a referee plays."""

from __future__ import annotations

from collections.abc import Iterable

from keltis_ladder.match import jobs
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.orders import Order, Purpose
from keltis_ladder.match.reasons import MatchReason, Reason
from keltis_ladder.match.seeds import origin_from_plain
from keltis_ladder.store.schema.tables import Job


def order_of(row: Job, versions: tuple[int, ...]) -> Order:
    """Return the order as it was given; a seed that was drawn later is no part of it."""
    return Order(
        variant=row.variant,
        versions=versions,
        purpose=Purpose(row.purpose),
        rated=row.rated,
        seed=int(row.seed) if row.seed and row.origin is None else None,
        control=control_of(row),
        priority=row.priority,
        reason=reason_of(row),
        tournament_id=row.tournament_id,
        leg=row.leg,
        author_id=row.author_id,
        id=row.id,
    )


def job_of(row: Job, entrants: Iterable[Entrant]) -> jobs.Job:
    """Return the job of a match that has its seed, played by these programs."""
    return jobs.Job(
        variant=row.variant,
        options=row.options,
        seed=int(row.seed),
        entrants=tuple(entrants),
        control=control_of(row),
        id=row.id,
        origin=None if row.origin is None else origin_from_plain(row.origin),
    )


def reason_of(row: Job) -> Reason | None:
    """Return why a match is played; none if nobody has said."""
    return Reason(MatchReason(row.reason), row.reason_details or {}) if row.reason else None


def control_of(row: Job) -> TimeControl:
    """Return the clock that a match is played with."""
    return TimeControl(row.bank_ms, row.increment_ms, row.start_ms)
