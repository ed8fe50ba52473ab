"""The course of a stored tournament: worked out from its plan and from what has happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlmodel import Session, col, select

from keltis_ladder.errors import LadderError
from keltis_ladder.store.matches.finishing import lock_ledger
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import (
    Job,
    Match,
    Place,
    TournamentEntrant,
    TournamentEvent,
    TournamentRecord,
)
from keltis_ladder.tournaments.pairings import LegResult
from keltis_ladder.tournaments.plan import Plan
from keltis_ladder.tournaments.tournament import Tournament

WITHDRAW: Final = "withdraw"
VOID: Final = "void"


@dataclass(frozen=True)
class Entry:
    """A version that takes part, and the rating that it is seeded by."""

    version: int
    name: str
    mu: float | None = None
    sigma: float | None = None


@dataclass
class Course:
    """A tournament under way: what is stored of it, and what follows from that."""

    record: TournamentRecord
    entries: list[Entry]  # by seed
    tournament: Tournament
    seen_match: int = 0  # the number of the last result that was entered
    seen_event: int = 0


def plan_from_plain(plain: dict[str, Any]) -> Plan:
    """Return the plan that was stored."""
    return Plan(**{**plain, "variants": tuple(plain["variants"])})


def found(record: TournamentRecord | None, id: int) -> TournamentRecord:
    """Return the record of a tournament, or say that there is none."""
    if record is None:
        raise LadderError(f"there is no tournament with the id {id}")
    return record


def load(session: Session, id: int) -> Course:
    """Return a tournament before its first match."""
    record = found(session.get(TournamentRecord, id), id)
    query = (
        select(TournamentEntrant)
        .where(TournamentEntrant.tournament_id == id)
        .order_by(col(TournamentEntrant.number))
    )
    entries = [Entry(row.version_id, row.name, row.mu, row.sigma) for row in session.exec(query)]
    return Course(record, entries, Tournament(plan_from_plain(record.plan)))


def catch_up(session: Session, course: Course) -> None:
    """Enter the results and events that are new, in the order in which they came.

    What was no longer due when it came is passed over: a match that went on while somebody
    withdrew, or that was given up and came to an end all the same.
    """
    # Events come second: one that was there before a result is seen if the result was.
    results = _new_results(session, course)
    events = _new_events(session, course)
    for number in sorted(results):
        for event in [event for event in events if event.after_match < number]:
            _enter_event(course, event)
            events.remove(event)
        key, result = results[number]
        if course.tournament.is_due(key):
            course.tournament.record(key, result)
        course.seen_match = number
    for event in events:
        _enter_event(course, event)


def _new_results(session: Session, course: Course) -> dict[int, tuple[str, LegResult]]:
    query = (
        select(Job.leg, Place)
        .join(Match, col(Match.job_id) == Job.id)
        .join(Place, col(Place.match_number) == Match.number)
        .where(Job.tournament_id == course.record.id, Match.number > course.seen_match)
        .order_by(col(Match.number), col(Place.position))
    )
    places: dict[int, list[Place]] = {}
    keys: dict[int, str] = {}
    for leg, place in session.exec(query):
        assert leg is not None
        keys[place.match_number] = leg
        places.setdefault(place.match_number, []).append(place)
    return {number: (key, _leg_result(places[number])) for number, key in keys.items()}


def _new_events(session: Session, course: Course) -> list[TournamentEvent]:
    query = (
        select(TournamentEvent)
        .where(
            TournamentEvent.tournament_id == course.record.id,
            col(TournamentEvent.id) > course.seen_event,
        )
        .order_by(col(TournamentEvent.id))
    )
    return list(session.exec(query))


def _enter_event(course: Course, event: TournamentEvent) -> None:
    assert event.id is not None
    tournament = course.tournament
    if event.kind == VOID and event.leg is not None and tournament.is_due(event.leg):
        tournament.void(event.leg)
    elif event.kind == WITHDRAW and event.entrant is not None:
        tournament.withdraw(event.entrant, event.after_round or 0)
    course.seen_event = event.id


def add_event(session: Session, id: int, **fields: Any) -> None:
    """Add an event, between two results."""
    after = lock_ledger(session).matches
    session.add(TournamentEvent(tournament_id=id, after_match=after, at=now(), **fields))
    session.flush()


def _leg_result(places: Sequence[Place]) -> LegResult:
    return LegResult(
        ranks=tuple(place.rank for place in places),
        twelfths=tuple(place.twelfths for place in places),
        points=tuple(place.points for place in places),
        faults=tuple(place.faults for place in places),
    )
