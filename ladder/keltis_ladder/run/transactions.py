"""All that the scheduler does with the database. Blocking, so made for another thread."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlmodel import Session

from keltis_ladder.audit.rotations import by_lot
from keltis_ladder.match import jobs
from keltis_ladder.match.clock import DEFAULT_CONTROL, TimeControl
from keltis_ladder.match.results import MatchResult
from keltis_ladder.matchmaking.fair_shares import Flow
from keltis_ladder.matchmaking.matchmaker import Proposal
from keltis_ladder.run.orders import Ordered, bots_of, ordered
from keltis_ladder.run.programs import Lacking, Programs
from keltis_ladder.store.bots.catalogue import set_aside
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.finishing import Stored, finish
from keltis_ladder.store.matches.lease_holders import release_gone, this_process
from keltis_ladder.store.matches.queue import (
    AT_ONCE,
    Order,
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
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.version_states import VersionCause, VersionChanged


@dataclass(frozen=True)
class Playing:
    """A match that a referee has, or is about to get."""

    job: jobs.Job
    purpose: str
    rated: bool
    versions: tuple[int, ...]
    reason: str
    tournament_id: int | None = None
    leg: str | None = None
    urgent: bool = False  # it goes to the next referee that is free
    author_id: int | None = None  # who asked for it

    @property
    def flow(self) -> Flow:
        """Whose share of the referees' time it takes."""
        return Flow(self.purpose, self.author_id)


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

    def waiting(self, without: frozenset[int]) -> set[Flow]:
        """Return for what and for whom jobs wait in which none of these versions plays."""
        with self.database.reading() as session:
            return waiting_flows(session, now(), without)

    def take(self, flow: Flow, least: int | None, without: frozenset[int]) -> Taken:
        """Lease a job of a flow, with a priority; if its programs are not ready it goes back."""

        def work(session: Session) -> list[Ordered]:
            claimed = claim(session, self.holder, now(), least=least, without=without, flow=flow)
            return [ordered(session, job) for job in claimed]

        taken = Taken([], [])
        for order in self.database.write(work):
            self._make_ready(order, taken, author_id=flow.author)
        return taken

    def order(self, proposal: Proposal, id: str) -> Taken:
        """Order the match that the matchmaker proposes, if its programs are ready.

        Whoever does it again, because the answer was lost, comes with the same id: it is one match.
        """
        order = Order(
            variant=proposal.variant,
            versions=by_lot(proposal.versions, id),
            control=self.control,
            reason=proposal.reason,
            id=id,
        )
        taken = Taken([], [])
        with self.database.reading() as session:
            for version, bot in bots_of(session, proposal.versions):
                try:
                    self.programs.find(version, bot)
                except Lacking as lacking:
                    taken.lacking.append(lacking)
        if taken.lacking:
            return taken

        def work(session: Session) -> Ordered:
            job = add_job(session, order, now())
            if job.holder != self.holder:
                hold(session, job, self.holder, now())
            session.flush()
            return ordered(session, job)

        self._make_ready(self.database.write(work), taken, proposal.first)
        return taken

    def _make_ready(
        self, order: Ordered, taken: Taken, first: bool = False, author_id: int | None = None
    ) -> None:
        """Add a job with its programs; without them it is given back, and not held against it."""
        row = order.job
        try:
            job = order.playable(self.programs)
        except Lacking as lacking:
            self.give_back(row.id)
            taken.lacking.append(lacking)
            return
        taken.playing.append(
            Playing(
                job=job,
                purpose=row.purpose,
                rated=row.rated,
                versions=order.versions,
                reason=row.reason,
                tournament_id=row.tournament_id,
                leg=row.leg,
                urgent=first or row.priority >= AT_ONCE,
                author_id=author_id,
            )
        )

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

    def give_back(self, job_id: str, trouble: str = "") -> None:
        """Give a lease back."""
        self.database.write(lambda session: release(session, job_id, self.holder, trouble))

    def renew(self, job_ids: Iterable[str]) -> list[str]:
        """Hold leases longer; return those that we still have."""
        ids = list(job_ids)
        return self.database.write(lambda session: renew(session, ids, self.holder, now()))
