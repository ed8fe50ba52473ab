"""The director of tournaments: keeps them in the store, and has their matches put in the queue.

A tournament's course is a function of its plan and of what is stored: results, withdrawals, and
matches that could not be played. So a director that is new, after a kill, goes on where the last
one was; and the ids and deals of all matches are fixed from the beginning.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import count
from threading import RLock
from typing import Any, Final, TypeVar

from sqlalchemy import update
from sqlmodel import Session, col, func, or_, select

from keltis_ladder.errors import LadderError
from keltis_ladder.match.clock import DEFAULT_CONTROL, TimeControl
from keltis_ladder.match.orders import TOURNAMENT_PRIORITY, Order, Purpose
from keltis_ladder.match.reasons import tournament_reason
from keltis_ladder.run.course import VOID, WITHDRAW, Course, Entry, add_event, catch_up, found, load
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.finishing import lock_ledger
from keltis_ladder.store.matches.queue import add_job
from keltis_ladder.store.matches.tournaments import unfinished_tournaments
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import (
    Author,
    Job,
    JobState,
    TournamentEntrant,
    TournamentEvent,
    TournamentRecord,
    TournamentState,
)
from keltis_ladder.tournaments.pairings import Leg
from keltis_ladder.tournaments.plan import Plan
from keltis_ladder.tournaments.standings import Standing

T = TypeVar("T")

AHEAD: Final = 64  # matches of a tournament that wait in the queue at once
MOST_LOADED: Final = 64  # courses that are kept in memory


class TooManyTournaments(LadderError):
    """An author has as many tournaments under way as one may have."""


class Director:
    """Directs the tournaments of one database. Blocking."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._courses: dict[int, Course] = {}
        self._one_at_a_time = RLock()  # results may come from several threads

    def create(
        self,
        name: str,
        plan: Plan,
        entries: Sequence[Entry],
        control: TimeControl = DEFAULT_CONTROL,
        rated: bool = False,
        starts: datetime | None = None,
        seed: int | None = None,
        author_id: int | None = None,
        most: int | None = None,
    ) -> int:
        """Store a tournament that is to be played; entries come in the order of their seeding.

        With a seed all deals follow from it; without one each match draws its own when it begins.
        How many an author may have that are not over is limited.
        """
        plan.check()
        if len(entries) != plan.entrants:
            raise LadderError(f"the plan is for {plan.entrants} entrants, not {len(entries)}")
        if len({entry.version for entry in entries}) < len(entries):
            raise LadderError("a version can enter a tournament only once")
        tournament_uuid, created = str(uuid.uuid4()), now()
        chosen = "" if seed is None else str(seed)

        def work(session: Session) -> int:
            if session.exec(select(TournamentRecord).where(TournamentRecord.name == name)).first():
                raise LadderError(f"there is a tournament {name!r} already: choose another name")
            if author_id is not None and most is not None:
                # The first one locks the author: two at the same time cannot both be the last.
                session.get_one(Author, author_id, with_for_update={"key_share": True})
                if unfinished_tournaments(session, author_id) >= most:
                    raise TooManyTournaments(
                        f"{most} tournaments of yours are not over: wait for one, or cancel it"
                    )
            record = TournamentRecord(
                uuid=tournament_uuid,
                name=name,
                plan=asdict(plan),
                seed=chosen,
                rated=rated,
                author_id=author_id,
                bank_ms=control.bank_ms,
                increment_ms=control.increment_ms,
                start_ms=control.start_ms,
                created=created,
                starts=starts,
            )
            session.add(record)
            session.flush()
            assert record.id is not None
            session.add_all(
                TournamentEntrant(
                    tournament_id=record.id,
                    number=number,
                    version_id=entry.version,
                    name=entry.name,
                    mu=entry.mu,
                    sigma=entry.sigma,
                )
                for number, entry in enumerate(entries)
            )
            session.flush()
            return record.id

        return self.database.write(work)

    def find(self, name: str) -> int | None:
        """Return the tournament of this name."""
        with self.database.reading() as session:
            return session.exec(
                select(TournamentRecord.id).where(TournamentRecord.name == name)
            ).first()

    def due(self) -> list[int]:
        """Return the tournaments that are being played, or should be by now."""
        query = select(TournamentRecord.id).where(
            or_(
                col(TournamentRecord.state) == TournamentState.RUNNING,
                (col(TournamentRecord.state) == TournamentState.SCHEDULED)
                & (col(TournamentRecord.starts) <= now()),
            )
        )
        with self.database.reading() as session:
            return [id for id in session.exec(query) if id is not None]

    def start(self, id: int) -> None:
        """Start a tournament, or go on with one that is paused."""

        def work(session: Session) -> None:
            record = _locked(session, id)
            if record.state not in (TournamentState.SCHEDULED, TournamentState.PAUSED):
                raise LadderError(f"the tournament {record.name!r} is {record.state} already")
            record.state = TournamentState.RUNNING
            record.started = record.started or now()
            session.add(record)
            _move_jobs(session, id, JobState.HELD, JobState.WAITING)

        self.database.write(work)
        self.advance(id)

    def pause(self, id: int) -> None:
        """Begin no more matches of a tournament; those that are being played will count."""

        def work(session: Session) -> None:
            record = _locked(session, id)
            if record.state != TournamentState.RUNNING:
                raise LadderError(f"the tournament {record.name!r} is {record.state}, not running")
            record.state = TournamentState.PAUSED
            session.add(record)
            _move_jobs(session, id, JobState.WAITING, JobState.HELD)

        self.database.write(work)

    def cancel(self, id: int) -> None:
        """End a tournament without a result."""

        def work(session: Session) -> None:
            record = _locked(session, id)
            if record.state == TournamentState.FINISHED:
                raise LadderError(f"the tournament {record.name!r} is finished")
            record.state = TournamentState.CANCELLED
            record.finished = now()
            session.add(record)
            _move_jobs(session, id, JobState.WAITING, JobState.CANCELLED)
            _move_jobs(session, id, JobState.HELD, JobState.CANCELLED)

        self.database.write(work)

    def withdraw(self, id: int, entrant: int) -> None:
        """Let an entrant leave a tournament: what is paired is played, the rest is forfeited."""

        def work(session: Session) -> None:
            record = _locked(session, id)
            lock_ledger(session)  # no result may come between the look and the event
            course = load(session, id)
            catch_up(session, course)
            tournament = course.tournament
            if entrant in tournament.withdrawals:
                return
            after_round = 0 if tournament.finished else tournament.earliest_withdrawal
            tournament.withdraw(entrant, after_round)  # raises if that cannot be
            if record.state in (TournamentState.FINISHED, TournamentState.CANCELLED):
                raise LadderError(f"the tournament {record.name!r} is {record.state}")
            add_event(session, id, kind=WITHDRAW, entrant=entrant, after_round=after_round)

        self.database.write(work)
        if self.course(id).record.state != TournamentState.SCHEDULED:  # that would start it
            self.advance(id)

    def course(self, id: int) -> Course:
        """Return a tournament as it stands."""
        return self.consult(id, lambda _, course: course)

    def consult(self, id: int, work: Callable[[Session, Course], T]) -> T:
        """Return what somebody makes of a tournament as it stands; nobody changes it meanwhile."""
        with self._one_at_a_time, self.database.reading() as session:
            course = self._loaded(session, id)
            course.record = found(session.get(TournamentRecord, id), id)
            catch_up(session, course)
            return work(session, course)

    def advance(self, id: int) -> Course:
        """Have the matches that are due played; note that the tournament has ended.

        Every tournament under way is looked at twice a second: one for which there is nothing to do
        keeps no writer waiting.
        """
        tries = count()

        def work(session: Session) -> None:
            if next(tries):
                self._courses.pop(id, None)  # it may know what was rolled back
            self._advance(session, id)

        with self._one_at_a_time:
            try:
                if self.consult(id, _is_to_advance):
                    self.database.write(work)
            except BaseException:
                self._courses.pop(id, None)
                raise
            return self.course(id)

    def _advance(self, session: Session, id: int) -> None:
        record = _locked(session, id)
        if record.state == TournamentState.SCHEDULED:
            record.state, record.started = TournamentState.RUNNING, now()
            session.add(record)
        if record.state != TournamentState.RUNNING:
            return
        _void_failed(session, id)
        course = self._loaded(session, id)
        catch_up(session, course)
        if course.tournament.finished:
            record.state, record.finished = TournamentState.FINISHED, now()
            record.standings = [_to_plain(line) for line in course.tournament.standings()]
            session.add(record)
        else:
            _order_legs(session, course, record)

    def _loaded(self, session: Session, id: int) -> Course:
        course = self._courses.pop(id, None) or load(session, id)
        self._courses[id] = course  # the last one now
        if len(self._courses) > MOST_LOADED:
            del self._courses[next(iter(self._courses))]  # nobody has asked for it for longest
        return course


def leg_id(tournament_uuid: str, key: str) -> str:
    """Return the id of a match's job: the same however often it is asked for."""
    return str(uuid.uuid5(uuid.UUID(tournament_uuid), key))


def leg_seed(seed: str, key: str) -> int:
    """Return the seed of a match's deal."""
    text = f"keltis-ladder/tournament/1/{seed}/{key}"
    return int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:16], "big")


def _to_plain(standing: Standing) -> dict[str, Any]:
    """Return a line of the final table; numbers that are not whole are texts like 7/2."""
    plain = asdict(standing)
    plain["score"] = str(standing.score)
    plain["tie_breaks"] = {tie.name: str(tie.value) for tie in standing.tie_breaks}
    return plain


def _locked(session: Session, id: int) -> TournamentRecord:
    return found(session.get(TournamentRecord, id, with_for_update=True), id)


def _move_jobs(session: Session, id: int, old: JobState, new: JobState) -> None:
    session.execute(
        update(Job)
        .where(col(Job.tournament_id) == id, col(Job.state) == old)
        .values(state=new)
        .execution_options(synchronize_session=False)
    )


def _is_to_advance(session: Session, course: Course) -> bool:
    """Return whether there is anything to write down or to order."""
    record = course.record
    if record.state != TournamentState.RUNNING:
        return record.state == TournamentState.SCHEDULED
    assert record.id is not None
    return bool(
        course.tournament.finished
        or _newly_failed(session, record.id)
        or _legs_to_order(session, course, record)
    )


def _void_failed(session: Session, id: int) -> None:
    """Count matches that could not be played as void."""
    for leg in _newly_failed(session, id):
        add_event(session, id, kind=VOID, leg=leg)


def _newly_failed(session: Session, id: int) -> list[str | None]:
    known = set(
        session.exec(
            select(TournamentEvent.leg).where(
                TournamentEvent.tournament_id == id, TournamentEvent.kind == VOID
            )
        )
    )
    failed = select(Job.leg).where(Job.tournament_id == id, Job.state == JobState.FAILED)
    return [leg for leg in session.exec(failed).all() if leg not in known]


def _order_legs(session: Session, course: Course, record: TournamentRecord) -> None:
    """Put matches that are due in the queue."""
    control = TimeControl(record.bank_ms, record.increment_ms, record.start_ms)
    for leg in _legs_to_order(session, course, record):
        add_job(session, _order(course, record, leg, control), now())


def _legs_to_order(session: Session, course: Course, record: TournamentRecord) -> list[Leg]:
    """Return the matches that are due and not in the queue, not too many at once."""
    waiting = session.exec(
        select(func.count())
        .select_from(Job)
        .where(Job.tournament_id == record.id, Job.state == JobState.WAITING)
    ).one()
    if waiting > AHEAD // 2:
        return []
    ordered = set(session.exec(select(Job.leg).where(Job.tournament_id == record.id)))
    due = [leg for leg in course.tournament.due() if leg.key not in ordered]
    return due[: AHEAD - waiting]


def _order(course: Course, record: TournamentRecord, leg: Leg, control: TimeControl) -> Order:
    return Order(
        variant=leg.variant,
        versions=tuple(course.entries[entrant].version for entrant in leg.pairing.entrants),
        purpose=Purpose.TOURNAMENT,
        rated=record.rated,
        seed=leg_seed(record.seed, leg.key) if record.seed else None,
        control=control,
        priority=TOURNAMENT_PRIORITY,
        reason=tournament_reason(record.name, leg.pairing.label),
        tournament_id=record.id,
        leg=leg.key,
        id=leg_id(record.uuid, leg.key),
    )
