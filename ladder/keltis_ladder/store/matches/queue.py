"""Jobs and leases: a match is asked for once, played by the holder of its lease, stored once.

A lease that ends without a result is given to somebody else. The former holder may still come with
a result; the first one counts, and the second changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, case, insert, true
from sqlmodel import Session, col, or_, select, update

from keltis_engine import find_variant
from keltis_ladder.match.orders import Order, Purpose
from keltis_ladder.matchmaking.fair_shares import Flow
from keltis_ladder.store.bots.catalogue import Refused
from keltis_ladder.store.database import insert_if_new
from keltis_ladder.store.matches.seed_parts import draw_seed
from keltis_ladder.store.schema.job_troubles import NO_TROUBLE, JobTrouble, trouble_values
from keltis_ladder.store.schema.relations import JOB, JOB_ENTRANT
from keltis_ladder.store.schema.tables import (
    Author,
    Bot,
    Job,
    JobEntrant,
    JobState,
    TournamentRecord,
    Version,
)

LEASE: Final = timedelta(seconds=60)  # renewed long before it ends while the match is played
MOST_TRIES: Final = 5  # leases that ended without a result; then the job has failed


def add_job(session: Session, order: Order, now: datetime) -> Job:
    """Put a match in the queue; one that is there already stays as it is."""
    job = session.get(Job, order.id)
    if job is not None:
        return job
    _check(session, order)
    ruleset = find_variant(order.variant)
    new = Job(
        id=order.id,
        purpose=order.purpose,
        rated=order.rated,
        variant=ruleset.id,
        ruleset_version=ruleset.version,
        options=dict(ruleset.options),
        players=order.players,
        seed="" if order.seed is None else str(order.seed),
        bank_ms=order.control.bank_ms,
        increment_ms=order.control.increment_ms,
        start_ms=order.control.start_ms,
        priority=order.priority,
        reason="" if order.reason is None else order.reason.code,
        reason_details=None if order.reason is None else dict(order.reason.details),
        tournament_id=order.tournament_id,
        leg=order.leg,
        author_id=order.author_id,
        created=now,
    )
    if insert_if_new(session, JOB, new.model_dump(), ["id"]):
        session.execute(
            insert(JOB_ENTRANT),
            [
                {"job_id": order.id, "position": position, "version_id": version}
                for position, version in enumerate(order.versions)
            ],
        )
    return session.get_one(Job, order.id)


def waiting_flows(
    session: Session,
    now: datetime,
    without: Collection[int] = (),
    resting: Collection[str] = (),
) -> set[Flow]:
    """Return what the jobs that could be leased are for, and who asked for them."""
    asked_by = case(
        (col(Job.tournament_id).is_(None), col(Job.author_id)),
        else_=col(TournamentRecord.author_id),
    )
    query = (
        select(Job.purpose, asked_by)
        .outerjoin(TournamentRecord, col(TournamentRecord.id) == Job.tournament_id)
        .where(_free(now), _not_seated(without), _not_resting(resting))
        .distinct()
    )
    return {Flow(purpose, author) for purpose, author in session.exec(query)}


def claim(
    session: Session,
    holder: str,
    now: datetime,
    limit: int = 1,
    lease: timedelta = LEASE,
    least: int | None = None,
    without: Collection[int] = (),
    resting: Collection[str] = (),
    flow: Flow | None = None,
) -> list[Job]:
    """Lease waiting jobs, and those whose lease has ended, the most urgent first.

    With a ``flow`` only those for its purpose that its author has asked for. Those with less than
    the ``least`` priority are left where they are, and so are the ``resting`` ones and those that
    the versions ``without`` take part in. Those that came back after a bot in them was disabled are
    called off.
    """
    give_up(session, now)
    query = (
        select(Job)
        .where(
            _free(now),
            True if least is None else col(Job.priority) >= least,
            _not_seated(without),
            _not_resting(resting),
            _of_flow(flow),
        )
        .order_by(col(Job.priority).desc(), col(Job.created), col(Job.id))
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    while True:
        jobs = list(session.exec(query))
        off = _with_disabled_bots(session, [job.id for job in jobs])
        for job in jobs:
            if job.id in off:
                _call_off(session, job)
            else:
                hold(session, job, holder, now, lease)
        session.flush()
        held = [job for job in jobs if job.id not in off]
        if held or not jobs:
            return held


def hold(session: Session, job: Job, holder: str, now: datetime, lease: timedelta = LEASE) -> None:
    """Give the lease of a job to somebody, and its seed to a job that has none yet."""
    if not job.seed:
        draw_seed(session, job, now)
    job.state = JobState.LEASED
    job.holder = holder
    job.lease_until = now + lease
    job.tries += 1
    session.add(job)


def renew(
    session: Session, ids: Iterable[str], holder: str, now: datetime, lease: timedelta = LEASE
) -> list[str]:
    """Hold leases longer; return the ids of those that the holder still has."""
    kept: list[str] = []
    for id in sorted(ids):
        statement = (
            update(Job)
            .where(col(Job.id) == id, col(Job.holder) == holder, col(Job.state) == JobState.LEASED)
            .values(lease_until=now + lease)
            .returning(col(Job.id))
        )
        kept += session.execute(statement).scalars().all()
    return kept


def release(
    session: Session, id: str, holder: str, trouble: JobTrouble | None = None, text: str = ""
) -> None:
    """Give a lease back; it does not count as a try if we were told to stop, or too busy.

    Without trouble we were told to stop. A job with a bot that was disabled meanwhile is called
    off.
    """
    job = session.get(Job, id, with_for_update=True)
    if job is None or job.holder != holder or job.state != JobState.LEASED:
        return
    if _with_disabled_bots(session, [id]):
        _call_off(session, job)
        session.flush()
        return
    job.state = JobState.WAITING
    job.holder = job.lease_until = None
    if trouble is None or trouble is JobTrouble.BUSY:
        job.tries -= 1
    elif job.tries >= MOST_TRIES:
        job.state = JobState.FAILED
    _note(session, job, NO_TROUBLE if trouble is None else trouble_values(trouble, text))
    session.flush()


def give_up(session: Session, now: datetime) -> None:
    """Fail the jobs whose leases have ended too often: they would be tried for ever."""
    session.execute(
        update(Job)
        .where(
            col(Job.state) == JobState.LEASED,
            col(Job.lease_until) < now,
            col(Job.tries) >= MOST_TRIES,
        )
        .values(
            state=JobState.FAILED,
            holder=None,
            lease_until=None,
            **trouble_values(JobTrouble.LEASES_ENDED),
        )
    )


def give_up_waiting(session: Session, version_id: int, text: str) -> None:
    """Fail the jobs that wait for a version which nobody will ever be able to play.

    Those with a bot that was disabled meanwhile are called off.
    """
    query = (
        select(Job)
        .join(JobEntrant, col(JobEntrant.job_id) == Job.id)
        .where(Job.state == JobState.WAITING, JobEntrant.version_id == version_id)
        .with_for_update(of=Job)
    )
    jobs = {job.id: job for job in session.exec(query)}
    off = _with_disabled_bots(session, list(jobs))
    for id, job in jobs.items():
        if id in off:
            _call_off(session, job)
        else:
            job.state = JobState.FAILED
            _note(session, job, trouble_values(JobTrouble.UNPREPARED, text))
    session.flush()


def versions_of(session: Session, jobs: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return who plays in these jobs, in their order."""
    query = (
        select(JobEntrant)
        .where(col(JobEntrant.job_id).in_(jobs))
        .order_by(col(JobEntrant.job_id), col(JobEntrant.position))
    )
    found: dict[str, list[int]] = {}
    for entrant in session.exec(query):
        found.setdefault(entrant.job_id, []).append(entrant.version_id)
    return {job: tuple(versions) for job, versions in found.items()}


def called_off(purpose: str) -> JobState:
    """Return what becomes of a match that is called off; tournaments count a failed one as void."""
    return JobState.FAILED if purpose == Purpose.TOURNAMENT else JobState.CANCELLED


def _call_off(session: Session, job: Job) -> None:
    job.state = called_off(job.purpose)
    job.holder = job.lease_until = None
    _note(session, job, trouble_values(JobTrouble.CALLED_OFF))


def _note(session: Session, job: Job, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(job, name, value)
    session.add(job)


def _with_disabled_bots(session: Session, jobs: Sequence[str]) -> set[str]:
    """Return those of the jobs in which a bot is to play that is disabled, or whose author is."""
    query = (
        select(JobEntrant.job_id)
        .join(Version, col(Version.id) == JobEntrant.version_id)
        .join(Bot, col(Bot.id) == Version.bot_id)
        .join(Author, col(Author.id) == Bot.author_id)
        .where(
            col(JobEntrant.job_id).in_(jobs),
            col(Bot.disabled).is_not(None) | col(Author.disabled),
        )
    )
    return set(session.exec(query)) if jobs else set()


def _not_seated(versions: Collection[int]) -> ColumnElement[bool]:
    """Return that none of the versions takes part in a job."""
    if not versions:
        return true()
    seated = select(JobEntrant.job_id).where(col(JobEntrant.version_id).in_(versions))
    return col(Job.id).not_in(seated)


def _not_resting(ids: Collection[str]) -> ColumnElement[bool]:
    return col(Job.id).not_in(ids) if ids else true()


def _of_flow(flow: Flow | None) -> ColumnElement[bool]:
    if flow is None:
        return true()
    tournaments = select(TournamentRecord.id).where(
        col(TournamentRecord.author_id).is_not_distinct_from(flow.author)
    )
    alone = col(Job.tournament_id).is_(None)
    return and_(
        col(Job.purpose) == flow.purpose,
        or_(
            alone & col(Job.author_id).is_not_distinct_from(flow.author),
            col(Job.tournament_id).in_(tournaments),
        ),
    )


def _free(now: datetime) -> ColumnElement[bool]:
    return or_(
        col(Job.state) == JobState.WAITING,
        (col(Job.state) == JobState.LEASED) & (col(Job.lease_until) < now),
    )


def _check(session: Session, order: Order) -> None:
    ruleset = find_variant(order.variant)
    if len(order.versions) not in ruleset.players:
        allowed = ", ".join(map(str, ruleset.players))
        raise Refused(f"{order.variant} is for {allowed} players, not {len(order.versions)}")
    query = select(Version).where(col(Version.id).in_(order.versions))
    versions = {version.id: version for version in session.exec(query)}
    missing = [id for id in order.versions if id not in versions]
    if missing:
        raise Refused(f"there is no version with the id {missing[0]}")
    bots = [versions[id].bot_id for id in order.versions]
    if order.rated and len(set(bots)) < len(bots):
        raise Refused("a rated match is between different bots, not versions of one")
