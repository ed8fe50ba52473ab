"""The server's parts of seeds: a stock that is committed to in advance, and drawn from in order."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, func, insert, select
from sqlmodel import Session, col
from sqlmodel import select as select_rows

from keltis_ladder.errors import LadderError
from keltis_ladder.match.seeds import (
    NO_RESULT,
    SECRET_BYTES,
    BadOrigin,
    Origin,
    mixed_seed,
    origin_from_plain,
    part_commitment,
    program_name,
)
from keltis_ladder.store.schema.relations import JOB, LEDGER, MATCH, SEED_PART
from keltis_ladder.store.schema.tables import (
    Job,
    JobEntrant,
    Match,
    SeedPart,
    Version,
)

# Far more than the matches that begin between two results: nearly every match finds a part that
# is older than the result it is mixed with.
STOCK: Final = 128
FETCHED_PARTS: Final = 500  # parts that are fetched at once

_UNUSED: Final = select(func.count()).select_from(SEED_PART).where(SEED_PART.c.job_id.is_(None))
_LAST: Final = select(func.coalesce(func.max(SEED_PART.c.number), 0))
_LATEST_RESULT: Final = (
    select(MATCH.c.number, MATCH.c.result_digest)
    .where(MATCH.c.rated, MATCH.c.result_digest.is_not(None))
    .order_by(MATCH.c.number.desc())
    .limit(1)
)
_HOLD_LEDGER: Final = select(LEDGER.c.matches).with_for_update()


@dataclass(frozen=True)
class PartRow:
    """A part of the stock, as it is stored, with what became of the match that drew it."""

    part: SeedPart
    job_state: str | None
    match_number: int | None


def draw_seed(session: Session, job: Job, now: datetime) -> None:
    """Give a job its seed. It keeps it however often the platform fails: nobody gets another deal.

    This is part of the transaction that leases the job, so what the seed is made of can be read by
    everybody before a referee hears of the match.
    """
    part = _oldest_unused(session)
    if part is None:
        _fill_empty_stock(session, now)
        part = _oldest_unused(session)
        assert part is not None
    latest = session.execute(_LATEST_RESULT).first()
    previous, digest = (0, NO_RESULT) if latest is None else (latest[0], latest[1])
    origin = Origin(
        part=part.number,
        after=part.after_match,
        part_commitment=part.commitment,
        previous=previous,
        previous_digest=digest,
        programs=_programs(session, job.id),
    )
    part.job_id = job.id
    job.seed = str(mixed_seed(origin, part.secret))
    job.origin = origin.to_plain()
    session.add(part)
    session.add(job)


def fill_stock(session: Session, stored: int, now: datetime) -> None:
    """Commit to as many parts as are missing; ``stored`` results are known by now.

    The caller holds the ledger, so that no two parts have the same number.
    """
    connection = session.connection()
    missing = STOCK - connection.execute(_UNUSED).scalar_one()
    if missing <= 0:
        return
    last = connection.execute(_LAST).scalar_one()
    rows = []
    for number in range(last + 1, last + 1 + missing):
        secret = secrets.token_hex(SECRET_BYTES)
        rows.append(
            {
                "number": number,
                "after_match": stored,
                "secret": secret,
                "commitment": part_commitment(number, stored, secret),
                "created": now,
            }
        )
    connection.execute(insert(SEED_PART), rows)


def list_parts(session: Session, before: int | None, limit: int) -> list[PartRow]:
    """Return parts, the newest first, from below a number."""
    query = (
        select_rows(SeedPart, Job.state, Match.number)
        .outerjoin(Job, col(Job.id) == SeedPart.job_id)
        .outerjoin(Match, col(Match.job_id) == SeedPart.job_id)
        .where(True if before is None else col(SeedPart.number) < before)
        .order_by(col(SeedPart.number).desc())
        .limit(limit)
    )
    return [PartRow(*row) for row in session.exec(query)]


def wrong_parts(session: Session) -> Iterator[str]:
    """Yield for every part what is wrong with it or with the seed made of it, or an empty text."""
    query = (
        select(SEED_PART, JOB.c.id, JOB.c.seed, JOB.c.origin)
        .outerjoin(JOB, JOB.c.id == SEED_PART.c.job_id)
        .order_by(SEED_PART.c.number)
        .execution_options(yield_per=FETCHED_PARTS)
    )
    for row in session.execute(query):
        yield _wrong(row)


def _wrong(row: Row[Any]) -> str:
    name = f"part {row.number} of the seeds"
    if part_commitment(row.number, row.after_match, row.secret) != row.commitment:
        return f"{name} is not the one that was committed to"
    if row.id is None:
        return ""
    try:
        origin = origin_from_plain(row.origin)
    except BadOrigin as error:
        return f"{name}: what is noted in the job {row.id} is wrong: {error}"
    known = (origin.part, origin.after, origin.part_commitment)
    if known != (row.number, row.after_match, row.commitment):
        return f"{name}: the job {row.id} notes another one"
    if str(mixed_seed(origin, row.secret)) != row.seed:
        return f"{name}: the seed of the job {row.id} is another than it gives"
    return ""


def _oldest_unused(session: Session) -> SeedPart | None:
    query = (
        select_rows(SeedPart)
        .where(col(SeedPart.job_id).is_(None))
        .order_by(col(SeedPart.number))
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    return session.exec(query).first()


def _fill_empty_stock(session: Session, now: datetime) -> None:
    """Commit to parts at the last moment: those who verify such a match are told so."""
    stored = session.execute(_HOLD_LEDGER).scalar()
    if stored is None:
        raise LadderError("the database is not ready: run keltis-ladder db upgrade")
    fill_stock(session, stored, now)


def _programs(session: Session, job_id: str) -> tuple[str, ...]:
    query = (
        select_rows(Version.archive_digest, Version.built_in)
        .join(JobEntrant, col(JobEntrant.version_id) == Version.id)
        .where(JobEntrant.job_id == job_id)
        .order_by(col(JobEntrant.position))
    )
    return tuple(program_name(archive, built_in) for archive, built_in in session.exec(query))
