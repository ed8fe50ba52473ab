"""What is always true of stored rows, as queries that find the rows of which it is not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select

from keltis_ladder.store.matches.records import TWELFTHS
from keltis_ladder.store.schema.tables import (
    FaultRecord,
    Game,
    Job,
    JobEntrant,
    JobState,
    Ledger,
    Match,
    Place,
    table_of,
)

LONGEST_LEASE: Final = timedelta(days=1)  # nobody asks for one that ends later

_job, _entrant, _match = table_of(Job), table_of(JobEntrant), table_of(Match)
_place, _game, _fault = table_of(Place), table_of(Game), table_of(FaultRecord)
_ledger = table_of(Ledger)


@dataclass(frozen=True)
class Invariant:
    """A query for what breaks it, one id in each row, and what is then said of these."""

    broken: str  # "... of match 3, 7 and 12"
    query: Select[Any]


def of_jobs() -> list[Invariant]:
    """Return what is true of jobs, and of matches and their jobs."""
    counted = select(_entrant.c.job_id, func.count().label("count")).group_by(_entrant.c.job_id)
    entrants = counted.subquery()
    return [
        Invariant(
            "a job is done and has no match",
            select(_job.c.id)
            .outerjoin(_match, _match.c.job_id == _job.c.id)
            .where(_job.c.state == JobState.DONE, _match.c.number.is_(None)),
        ),
        Invariant(
            "a match is stored and its job is not done",
            select(_match.c.number)
            .join(_job, _job.c.id == _match.c.job_id)
            .where(_job.c.state != JobState.DONE),
        ),
        Invariant(
            "a match is of another kind than its job",
            select(_match.c.number)
            .join(_job, _job.c.id == _match.c.job_id)
            .where(
                or_(
                    _match.c.variant != _job.c.variant,
                    _match.c.players != _job.c.players,
                    _match.c.rated != _job.c.rated,
                )
            ),
        ),
        Invariant(
            "a job has not all its entrants",
            select(_job.c.id)
            .outerjoin(entrants, entrants.c.job_id == _job.c.id)
            .where(_job.c.players != func.coalesce(entrants.c.count, 0)),
        ),
        Invariant(
            "a match was played by others than were asked to",
            select(_match.c.number)
            .join(_place, _place.c.match_number == _match.c.number)
            .outerjoin(
                _entrant,
                and_(
                    _entrant.c.job_id == _match.c.job_id,
                    _entrant.c.position == _place.c.position,
                    _entrant.c.version_id == _place.c.version_id,
                ),
            )
            .where(_entrant.c.job_id.is_(None)),
        ),
    ]


def of_leases(now: datetime) -> list[Invariant]:
    """Return what is true of leases."""
    leased = _job.c.state == JobState.LEASED
    nobody = or_(_job.c.holder.is_(None), _job.c.lease_until.is_(None))
    somebody = or_(_job.c.holder.is_not(None), _job.c.lease_until.is_not(None))
    return [
        Invariant(
            "a job is leased, but to nobody or for ever", select(_job.c.id).where(leased, nobody)
        ),
        Invariant("a job is held that is not leased", select(_job.c.id).where(~leased, somebody)),
        Invariant(
            "a lease ends more than a day from now",
            select(_job.c.id).where(leased, _job.c.lease_until > now + LONGEST_LEASE),
        ),
        Invariant(
            "a job has an impossible number of tries",
            select(_job.c.id).where(or_(_job.c.tries < 0, and_(leased, _job.c.tries < 1))),
        ),
    ]


def of_results() -> list[Invariant]:
    """Return what is true of the parts of a match."""
    return [
        Invariant("a match has not all its places", _incomplete(_place, _place.c.position)),
        Invariant("a match has not all its games", _incomplete(_game, _game.c.rotation)),
        Invariant("wins by seat do not add up", _uneven_seats()),
        Invariant("the wins of a match do not add up", _uneven_wins()),
        Invariant("ranks do not follow from wins and points", _wrong_ranks()),
        Invariant("points by component do not add up", _uneven_parts()),
        Invariant("faults are missing, or too many", _uncounted_faults()),
        Invariant("a fault is somebody else's", _wrong_culprits()),
        Invariant(
            "the moves of a game are gone, and were not pruned",
            select(_game.c.match_number).where(
                _game.c.moves == b"", _game.c.match_number > _pruned(_ledger.c.replays_pruned)
            ),
        ),
        Invariant(
            "a crash card is gone, and was not pruned",
            select(_fault.c.match_number).where(
                _fault.c.card == b"", _fault.c.match_number > _pruned(_ledger.c.cards_pruned)
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
        select(_match.c.number)
        .outerjoin(parts, parts.c.match_number == _match.c.number)
        .where(
            or_(
                parts.c.count.is_(None),
                parts.c.count != _match.c.players,
                parts.c.last != _match.c.players - 1,
            )
        )
    )


def _uneven_seats() -> Select[Any]:
    seats = [_place.c.seat0, _place.c.seat1, _place.c.seat2, _place.c.seat3]
    total = sum((func.coalesce(seat, 0) for seat in seats[1:]), start=func.coalesce(seats[0], 0))
    wrong = [
        or_(
            and_(_match.c.players > number, seat.is_(None)),
            and_(_match.c.players <= number, seat.is_not(None)),
            seat < 0,
            seat > TWELFTHS,
        )
        for number, seat in enumerate(seats)
    ]
    return (
        select(_place.c.match_number)
        .join(_match, _match.c.number == _place.c.match_number)
        .where(or_(_place.c.twelfths != total, *wrong))
    )


def _uneven_parts() -> Select[Any]:
    parts = [_place.c.part0, _place.c.part1, _place.c.part2]
    # A sum with an unknown part is unknown, and not found to be wrong.
    some = or_(*(part.is_(None) for part in parts))
    none = and_(*(part.is_(None) for part in parts))
    wrong = or_(parts[0] + parts[1] + parts[2] != _place.c.points, and_(some, ~none))
    return select(_place.c.match_number).where(wrong)


def _uneven_wins() -> Select[Any]:
    """Return the matches with parts of wins, or more wins than games; all may have dropped out."""
    total = func.sum(_place.c.twelfths)
    return (
        select(_match.c.number)
        .join(_place, _place.c.match_number == _match.c.number)
        .group_by(_match.c.number, _match.c.players)
        .having(or_(total % TWELFTHS != 0, total > _match.c.players * TWELFTHS))
    )


def _wrong_ranks() -> Select[Any]:
    other = _place.alias("other")
    ahead = or_(
        other.c.twelfths > _place.c.twelfths,
        and_(other.c.twelfths == _place.c.twelfths, other.c.points > _place.c.points),
    )
    return (
        select(_place.c.match_number)
        .join(other, other.c.match_number == _place.c.match_number)
        .group_by(_place.c.match_number, _place.c.position, _place.c.rank)
        .having(_place.c.rank != 1 + func.sum(case((ahead, 1), else_=0)))
    )


def _position_of_culprit() -> ColumnElement[int]:
    """Return in SQL what ``match.rotation.entrant_at`` returns."""
    return (_fault.c.seat + _fault.c.rotation) % _match.c.players


def _uncounted_faults() -> Select[Any]:
    counted = (
        select(
            _fault.c.match_number,
            _position_of_culprit().label("position"),
            func.count().label("count"),
        )
        .join(_match, _match.c.number == _fault.c.match_number)
        .group_by(_fault.c.match_number, _position_of_culprit())
        .subquery()
    )
    return (
        select(_place.c.match_number)
        .outerjoin(
            counted,
            and_(
                counted.c.match_number == _place.c.match_number,
                counted.c.position == _place.c.position,
            ),
        )
        .where(_place.c.faults != func.coalesce(counted.c.count, 0))
    )


def _wrong_culprits() -> Select[Any]:
    return (
        select(_fault.c.match_number)
        .join(_match, _match.c.number == _fault.c.match_number)
        .outerjoin(
            _place,
            and_(
                _place.c.match_number == _fault.c.match_number,
                _place.c.position == _position_of_culprit(),
                _place.c.version_id == _fault.c.version_id,
            ),
        )
        .where(
            or_(
                _place.c.position.is_(None),
                ~_fault.c.seat.between(0, _match.c.players - 1),
                ~_fault.c.rotation.between(0, _match.c.players - 1),
            )
        )
    )
