"""What is always true of stored rows, as queries that find the rows of which it is not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select

from keltis_ladder.store.matches.records import TWELFTHS
from keltis_ladder.store.schema.relations import FAULT, GAME, JOB, JOB_ENTRANT, LEDGER, MATCH, PLACE
from keltis_ladder.store.schema.tables import (
    JobState,
)

LONGEST_LEASE: Final = timedelta(days=1)  # nobody asks for one that ends later


@dataclass(frozen=True)
class Invariant:
    """A query for what breaks it, one id in each row, and what is then said of these."""

    broken: str  # "... of match 3, 7 and 12"
    query: Select[Any]


def of_jobs() -> list[Invariant]:
    """Return what is true of jobs, and of matches and their jobs."""
    counted = select(JOB_ENTRANT.c.job_id, func.count().label("count")).group_by(
        JOB_ENTRANT.c.job_id
    )
    entrants = counted.subquery()
    return [
        Invariant(
            "a job is done and has no match",
            select(JOB.c.id)
            .outerjoin(MATCH, MATCH.c.job_id == JOB.c.id)
            .where(JOB.c.state == JobState.DONE, MATCH.c.number.is_(None)),
        ),
        Invariant(
            "a match is stored and its job is not done",
            select(MATCH.c.number)
            .join(JOB, JOB.c.id == MATCH.c.job_id)
            .where(JOB.c.state != JobState.DONE),
        ),
        Invariant(
            "a match is of another kind than its job",
            select(MATCH.c.number)
            .join(JOB, JOB.c.id == MATCH.c.job_id)
            .where(
                or_(
                    MATCH.c.variant != JOB.c.variant,
                    MATCH.c.players != JOB.c.players,
                    MATCH.c.rated != JOB.c.rated,
                )
            ),
        ),
        Invariant(
            "a job has not all its entrants",
            select(JOB.c.id)
            .outerjoin(entrants, entrants.c.job_id == JOB.c.id)
            .where(JOB.c.players != func.coalesce(entrants.c.count, 0)),
        ),
        Invariant(
            "a match was played by others than were asked to",
            select(MATCH.c.number)
            .join(PLACE, PLACE.c.match_number == MATCH.c.number)
            .outerjoin(
                JOB_ENTRANT,
                and_(
                    JOB_ENTRANT.c.job_id == MATCH.c.job_id,
                    JOB_ENTRANT.c.position == PLACE.c.position,
                    JOB_ENTRANT.c.version_id == PLACE.c.version_id,
                ),
            )
            .where(JOB_ENTRANT.c.job_id.is_(None)),
        ),
    ]


def of_leases(now: datetime) -> list[Invariant]:
    """Return what is true of leases."""
    leased = JOB.c.state == JobState.LEASED
    nobody = or_(JOB.c.holder.is_(None), JOB.c.lease_until.is_(None))
    somebody = or_(JOB.c.holder.is_not(None), JOB.c.lease_until.is_not(None))
    return [
        Invariant(
            "a job is leased, but to nobody or for ever", select(JOB.c.id).where(leased, nobody)
        ),
        Invariant("a job is held that is not leased", select(JOB.c.id).where(~leased, somebody)),
        Invariant(
            "a lease ends more than a day from now",
            select(JOB.c.id).where(leased, JOB.c.lease_until > now + LONGEST_LEASE),
        ),
        Invariant(
            "a job has an impossible number of tries",
            select(JOB.c.id).where(or_(JOB.c.tries < 0, and_(leased, JOB.c.tries < 1))),
        ),
    ]


def of_results() -> list[Invariant]:
    """Return what is true of the parts of a match."""
    return [
        Invariant("a match has not all its places", _incomplete(PLACE, PLACE.c.position)),
        Invariant("a match has not all its games", _incomplete(GAME, GAME.c.rotation)),
        Invariant("wins by seat do not add up", _uneven_seats()),
        Invariant("the wins of a match do not add up", _uneven_wins()),
        Invariant("ranks do not follow from wins and points", _wrong_ranks()),
        Invariant("points by component do not add up", _uneven_parts()),
        Invariant("faults are missing, or too many", _uncounted_faults()),
        Invariant("a fault is somebody else's", _wrong_culprits()),
        Invariant(
            "the moves of a game are gone, and were not pruned",
            select(GAME.c.match_number).where(
                GAME.c.moves == b"", GAME.c.match_number > _pruned(LEDGER.c.replays_pruned)
            ),
        ),
        Invariant(
            "a crash card is gone, and was not pruned",
            select(FAULT.c.match_number).where(
                FAULT.c.card == b"", FAULT.c.match_number > _pruned(LEDGER.c.cards_pruned)
            ),
        ),
    ]


def _pruned(noted: ColumnElement[int]) -> ColumnElement[int]:
    return select(func.coalesce(func.max(noted), 0)).scalar_subquery()


def _incomplete(table: Any, number: ColumnElement[int]) -> Select[Any]:
    """Return the matches that have not one row of a table for each player."""
    parts = (
        select(table.c.match_number, func.count().label("count"), func.max(number).label("last"))
        .group_by(table.c.match_number)
        .subquery()
    )
    return (
        select(MATCH.c.number)
        .outerjoin(parts, parts.c.match_number == MATCH.c.number)
        .where(
            or_(
                parts.c.count.is_(None),
                parts.c.count != MATCH.c.players,
                parts.c.last != MATCH.c.players - 1,
            )
        )
    )


def _uneven_seats() -> Select[Any]:
    seats = [PLACE.c.seat0, PLACE.c.seat1, PLACE.c.seat2, PLACE.c.seat3]
    total = sum((func.coalesce(seat, 0) for seat in seats[1:]), start=func.coalesce(seats[0], 0))
    wrong = [
        or_(
            and_(MATCH.c.players > number, seat.is_(None)),
            and_(MATCH.c.players <= number, seat.is_not(None)),
            seat < 0,
            seat > TWELFTHS,
        )
        for number, seat in enumerate(seats)
    ]
    return (
        select(PLACE.c.match_number)
        .join(MATCH, MATCH.c.number == PLACE.c.match_number)
        .where(or_(PLACE.c.twelfths != total, *wrong))
    )


def _uneven_parts() -> Select[Any]:
    parts = [PLACE.c.part0, PLACE.c.part1, PLACE.c.part2]
    # A sum with an unknown part is unknown, and not found to be wrong.
    some = or_(*(part.is_(None) for part in parts))
    none = and_(*(part.is_(None) for part in parts))
    wrong = or_(parts[0] + parts[1] + parts[2] != PLACE.c.points, and_(some, ~none))
    return select(PLACE.c.match_number).where(wrong)


def _uneven_wins() -> Select[Any]:
    """Return the matches with parts of wins, or more wins than games; all may have dropped out."""
    total = func.sum(PLACE.c.twelfths)
    return (
        select(MATCH.c.number)
        .join(PLACE, PLACE.c.match_number == MATCH.c.number)
        .group_by(MATCH.c.number, MATCH.c.players)
        .having(or_(total % TWELFTHS != 0, total > MATCH.c.players * TWELFTHS))
    )


def _wrong_ranks() -> Select[Any]:
    other = PLACE.alias("other")
    ahead = or_(
        other.c.twelfths > PLACE.c.twelfths,
        and_(other.c.twelfths == PLACE.c.twelfths, other.c.points > PLACE.c.points),
    )
    return (
        select(PLACE.c.match_number)
        .join(other, other.c.match_number == PLACE.c.match_number)
        .group_by(PLACE.c.match_number, PLACE.c.position, PLACE.c.rank)
        .having(PLACE.c.rank != 1 + func.sum(case((ahead, 1), else_=0)))
    )


def _position_of_culprit() -> ColumnElement[int]:
    """Return in SQL what ``match.rotation.entrant_at`` returns."""
    return (FAULT.c.seat + FAULT.c.rotation) % MATCH.c.players


def _uncounted_faults() -> Select[Any]:
    counted = (
        select(
            FAULT.c.match_number,
            _position_of_culprit().label("position"),
            func.count().label("count"),
        )
        .join(MATCH, MATCH.c.number == FAULT.c.match_number)
        .group_by(FAULT.c.match_number, _position_of_culprit())
        .subquery()
    )
    return (
        select(PLACE.c.match_number)
        .outerjoin(
            counted,
            and_(
                counted.c.match_number == PLACE.c.match_number,
                counted.c.position == PLACE.c.position,
            ),
        )
        .where(PLACE.c.faults != func.coalesce(counted.c.count, 0))
    )


def _wrong_culprits() -> Select[Any]:
    return (
        select(FAULT.c.match_number)
        .join(MATCH, MATCH.c.number == FAULT.c.match_number)
        .outerjoin(
            PLACE,
            and_(
                PLACE.c.match_number == FAULT.c.match_number,
                PLACE.c.position == _position_of_culprit(),
                PLACE.c.version_id == FAULT.c.version_id,
            ),
        )
        .where(
            or_(
                PLACE.c.position.is_(None),
                ~FAULT.c.seat.between(0, MATCH.c.players - 1),
                ~FAULT.c.rotation.between(0, MATCH.c.players - 1),
            )
        )
    )
