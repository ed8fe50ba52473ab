"""From the queue to a referee: a stored job, who plays it, and their programs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlmodel import Session, col, select

from keltis_ladder.match import jobs
from keltis_ladder.match.entrants import named_apart
from keltis_ladder.match.orders import Order
from keltis_ladder.matchmaking.fair_shares import Flow
from keltis_ladder.run.programs import Programs
from keltis_ladder.store.matches.job_rows import job_of, order_of
from keltis_ladder.store.matches.queue import versions_of
from keltis_ladder.store.schema.tables import Bot, Job, Version

Seated = tuple[tuple[Version, Bot], ...]  # versions with their bots, in the order of a match


@dataclass(frozen=True)
class Playing:
    """A match that a referee has, or is about to get: what is wanted, and what is played."""

    order: Order
    job: jobs.Job
    flow: Flow  # whose share of the referees' time it takes


def seated_in(session: Session, row: Job) -> Seated:
    """Return who plays a job."""
    return seated(session, versions_of(session, [row.id])[row.id])


def seated(session: Session, versions: tuple[int, ...]) -> Seated:
    """Return versions with their bots, in this order."""
    query = (
        select(Version, Bot)
        .join(Bot, col(Bot.id) == Version.bot_id)
        .where(col(Version.id).in_(set(versions)))
    )
    found = {version.id: (version, bot) for version, bot in session.exec(query)}
    return tuple(found[version] for version in versions)


def playable(row: Job, seats: Seated, flow: Flow, programs: Programs) -> Playing:
    """Return a job as it goes to a referee; raise Lacking if a program is not ready."""
    versions = tuple(version.id for version, _ in seats if version.id is not None)
    entrants = [replace(programs.find(version, bot), name=bot.name) for version, bot in seats]
    return Playing(order_of(row, versions), job_of(row, named_apart(entrants)), flow)
