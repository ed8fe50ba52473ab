"""All that the scheduler does with the database. Blocking, so made for another thread."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlmodel import Session

from keltis_ladder.audit.rotations import by_lot
from keltis_ladder.match.clock import DEFAULT_CONTROL, TimeControl
from keltis_ladder.match.orders import Order
from keltis_ladder.match.results import MatchResult
from keltis_ladder.matchmaking.fair_shares import Flow
from keltis_ladder.run.playing import Playing, Seated, playable, seated, seated_in
from keltis_ladder.run.programs import Lacking, Programs
from keltis_ladder.store.bots.catalogue import set_aside
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.finishing import Stored, finish
from keltis_ladder.store.matches.lease_holders import release_gone, this_process
from keltis_ladder.store.matches.queue import (
    add_job,
    claim,
    give_up_waiting,
    hold,
    release,
    renew,
    waiting_flows,
)
from keltis_ladder.store.matches.records import rows_of
from keltis_ladder.store.ratings import memory
from keltis_ladder.store.ratings.memory import Remembered
from keltis_ladder.store.schema.job_troubles import JobTrouble
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import Job
from keltis_ladder.store.schema.version_states import VersionCause, VersionChanged


@dataclass(frozen=True)
class Taken:
    """Matches that can go to a referee, and programs that others have to wait for."""

    playing: list[Playing]
    lacking: list[Lacking]


class Transactions:
    """Leases jobs, orders new ones, and stores results."""

    def __init__(
        self, database: Database, programs: Programs, control: TimeControl = DEFAULT_CONTROL
    ) -> None:
        self.database = database
        self.programs = programs
        self.control = control
        self.holder = this_process()

    def recover(self) -> list[str]:
        """Take back what processes that have ended were playing; return the jobs' ids."""
        return self.database.write(release_gone)

    def matches_stored(self) -> int:
        """Return how many matches are stored."""
        with self.database.reading() as session:
            return memory.matches_stored(session)

    def changes(self, known: frozenset[int]) -> tuple[list[Remembered], list[int]]:
        """Return the versions that play and are not known, and the known ones that do not play."""
        with self.database.reading() as session:
            active = memory.active_ids(session)
            entered = [version for version in active if version not in known]
            return (
                memory.remember(session, entered) if entered else [],
                sorted(known.difference(active)),
            )

    def waiting(self, without: frozenset[int], resting: frozenset[str]) -> set[Flow]:
        """Return for what and for whom jobs wait in which none of these versions plays.

        Those that rest do not count.
        """
        with self.database.reading() as session:
            return waiting_flows(session, now(), without, resting)

    def take(
        self, flow: Flow, least: int | None, without: frozenset[int], resting: frozenset[str]
    ) -> Taken:
        """Lease a job of a flow, with a priority; if its programs are not ready it goes back."""

        def work(session: Session) -> list[tuple[Job, Seated]]:
            claimed = claim(
                session,
                self.holder,
                now(),
                least=least,
                without=without,
                resting=resting,
                flow=flow,
            )
            return [(row, seated_in(session, row)) for row in claimed]

        taken = Taken([], [])
        for row, seats in self.database.write(work):
            self._make_ready(row, seats, flow, taken)
        return taken

    def order(self, wanted: Order) -> Taken:
        """Order the match that the matchmaker proposes, if its programs are ready.

        It may be done again, because the answer was lost: an order has an id, so it is one match.
        """
        order = replace(wanted, versions=by_lot(wanted.versions, wanted.id), control=self.control)
        taken = Taken([], [])
        with self.database.reading() as session:
            for version, bot in seated(session, wanted.versions):
                try:
                    self.programs.find(version, bot)
                except Lacking as lacking:
                    taken.lacking.append(lacking)
        if taken.lacking:
            return taken

        def work(session: Session) -> tuple[Job, Seated]:
            row = add_job(session, order, now())
            if row.holder != self.holder:
                hold(session, row, self.holder, now())
            session.flush()
            return row, seated_in(session, row)

        self._make_ready(*self.database.write(work), Flow(order.purpose), taken)
        return taken

    def _make_ready(self, row: Job, seats: Seated, flow: Flow, taken: Taken) -> None:
        """Add a job with its programs; without them it is given back, and not held against it."""
        try:
            taken.playing.append(playable(row, seats, flow, self.programs))
        except Lacking as lacking:
            self.give_back(row.id)
            taken.lacking.append(lacking)

    def set_aside(self, version_id: int, reason: str) -> VersionChanged | None:
        """Take a version off the ladder whose program cannot be built, by its own fault.

        Its jobs that wait cannot be played by anybody, and are given up.
        """

        def work(session: Session) -> VersionChanged | None:
            change = set_aside(session, version_id, VersionCause.UNPREPARED, text=reason)
            give_up_waiting(session, version_id, reason)
            return change

        return self.database.write(work)

    def store(self, playing: Playing, result: MatchResult) -> Stored:
        """Store a result and the ratings that it moves."""
        rows = rows_of(playing.job, result)
        return self.database.write(lambda session: finish(session, playing.job.id, rows, now()))

    def give_back(self, job_id: str, trouble: JobTrouble | None = None, text: str = "") -> None:
        """Give a lease back."""
        self.database.write(lambda session: release(session, job_id, self.holder, trouble, text))

    def renew(self, job_ids: Iterable[str]) -> list[str]:
        """Hold leases longer; return those that we still have."""
        ids = list(job_ids)
        return self.database.write(lambda session: renew(session, ids, self.holder, now()))
