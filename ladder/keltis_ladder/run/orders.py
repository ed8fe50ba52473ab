"""From the queue to a referee: a stored job, who plays it, and their programs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlmodel import Session, col, select

from keltis_ladder.match import jobs
from keltis_ladder.match.entrants import named_apart
from keltis_ladder.match.seeds import origin_from_plain
from keltis_ladder.run.programs import Programs
from keltis_ladder.store.matches.queue import control_of, versions_of
from keltis_ladder.store.schema.tables import Bot, Job, Version


@dataclass(frozen=True)
class Ordered:
    """A job as it is stored, with the versions that play it."""

    job: Job
    versions: tuple[int, ...]
    bots: tuple[tuple[Version, Bot], ...]

    def playable(self, programs: Programs) -> jobs.Job:
        """Return the job as referees take it; raise Lacking if a program is not ready."""
        entrants = [
            replace(programs.find(version, bot), name=bot.name) for version, bot in self.bots
        ]
        return jobs.Job(
            variant=self.job.variant,
            options=self.job.options,
            seed=int(self.job.seed),
            entrants=tuple(named_apart(entrants)),
            control=control_of(self.job),
            id=self.job.id,
            origin=None if self.job.origin is None else origin_from_plain(self.job.origin),
        )


def ordered(session: Session, job: Job) -> Ordered:
    """Return a job with the versions that play it."""
    versions = versions_of(session, [job.id])[job.id]
    return Ordered(job, versions, bots_of(session, versions))


def bots_of(session: Session, versions: tuple[int, ...]) -> tuple[tuple[Version, Bot], ...]:
    """Return versions with their bots, in this order."""
    query = (
        select(Version, Bot)
        .join(Bot, col(Bot.id) == Version.bot_id)
        .where(col(Version.id).in_(set(versions)))
    )
    found = {version.id: (version, bot) for version, bot in session.exec(query)}
    return tuple(found[version] for version in versions)
