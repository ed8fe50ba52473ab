"""The desk: all that the steward does with the database. Blocking, so made for another thread."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlmodel import Session

from keltis_ladder import jobs
from keltis_ladder.clock import DEFAULT_CONTROL, TimeControl
from keltis_ladder.matchmaking.matchmaker import Proposal
from keltis_ladder.results import MatchResult
from keltis_ladder.store import memory
from keltis_ladder.store.catalogue import set_aside
from keltis_ladder.store.database import Database
from keltis_ladder.store.finishing import Stored, finish
from keltis_ladder.store.holders import release_gone, this_process
from keltis_ladder.store.memory import Remembered
from keltis_ladder.store.moments import now
from keltis_ladder.store.orders import Ordered, ordered
from keltis_ladder.store.programs import Programs, Unready
from keltis_ladder.store.queue import AT_ONCE, Order, add_job, claim, hold, release, renew
from keltis_ladder.store.records import rows_of
from keltis_ladder.store.tables import VersionState


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


class Desk:
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

    def take(self, limit: int, least: int | None = None) -> list[Playing]:
        """Lease jobs that wait, with a priority; those that cannot be played are given back."""

        def work(session: Session) -> list[Ordered]:
            claimed = claim(session, self.holder, now(), limit, least=least)
            return [ordered(session, job) for job in claimed]

        found = [self._ready(order) for order in self.database.write(work)]
        return [playing for playing in found if playing is not None]

    def order(self, proposal: Proposal, id: str) -> Playing | None:
        """Order the match that the matchmaker proposes; none if it cannot be played.

        Whoever does it again, because the answer was lost, comes with the same id: it is one match.
        """
        order = Order(
            variant=proposal.variant,
            versions=proposal.versions,
            control=self.control,
            reason=proposal.reason,
            id=id,
        )

        def work(session: Session) -> Ordered:
            job = add_job(session, order, now())
            if job.holder != self.holder:
                hold(session, job, self.holder, now())
            session.flush()
            return ordered(session, job)

        return self._ready(self.database.write(work), proposal.first)

    def _ready(self, order: Ordered, first: bool = False) -> Playing | None:
        """Return a job with its programs; a version whose program cannot be had is set aside."""
        row = order.job
        try:
            job = order.playable(self.programs)
        except Unready as unready:
            self._set_aside(row.id, unready.version_id, str(unready))
            return None
        return Playing(
            job=job,
            purpose=row.purpose,
            rated=row.rated,
            versions=order.versions,
            reason=row.reason,
            tournament_id=row.tournament_id,
            leg=row.leg,
            urgent=first or row.priority >= AT_ONCE,
        )

    def _set_aside(self, job_id: str, version_id: int, reason: str) -> None:
        def work(session: Session) -> None:
            set_aside(session, version_id, VersionState.BROKEN, reason)
            release(session, job_id, self.holder, reason, for_good=True)

        self.database.write(work)

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
