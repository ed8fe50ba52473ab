"""The games of a served ladder: referees, and the scheduler that keeps them busy."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Mapping
from typing import Final

from aiohttp import web

from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.matchmaking.matchmaker import Matchmaker
from keltis_ladder.run.fitting import Fitting
from keltis_ladder.run.pace import Pace
from keltis_ladder.run.playing import Playing
from keltis_ladder.run.programs import Programs
from keltis_ladder.run.scheduler import PaceChanged, ResultStored, Scheduler
from keltis_ladder.run.transactions import Transactions
from keltis_ladder.spectate.live_match import LiveMatch
from keltis_ladder.store.schema.version_states import VersionChanged
from keltis_server.site.site import Site

SEED_BITS: Final = 64
STORING: Final = 10.0  # seconds that somebody waits for a result that is being stored

log = logging.getLogger(__name__)


class Games:
    """Plays what the ladder, its tournaments and its authors want played."""

    def __init__(self, site: Site) -> None:
        self._site = site
        settings = site.settings
        programs = Programs(site.home, site.sandbox, lambda _: None, house_only=site.missing)
        self.transactions = Transactions(site.database, programs, settings.control)
        self.dispatcher = LocalDispatcher(
            settings.cores or None,
            site.sandbox is not None,
            site.tell,
            nice=settings.nice,
            share=site.share,
        )
        referees = len(self.dispatcher.cores)
        self.scheduler = Scheduler(
            self.transactions,
            site.director,
            self.dispatcher,
            Matchmaker(seed=secrets.randbits(SEED_BITS)),
            site.tell,
            width=2 * referees,
            reserve=referees,
            pace=Pace(settings.pace),
            shares=settings.shares,
        )
        self.fitting = Fitting(site.database, site.tell)
        self.ended = asyncio.Event()  # by itself, or because it was told to
        self._task: asyncio.Task[None] | None = None

    @property
    def playing(self) -> Mapping[str, Playing]:
        """The matches that are wanted now, by the ids of their jobs."""
        return self.scheduler.playing

    @property
    def live(self) -> Mapping[str, LiveMatch]:
        """Those that have begun."""
        return self.dispatcher.playing

    @property
    def unbegun(self) -> frozenset[str]:
        """The jobs of those that are to be played next: no referee has them yet."""
        return frozenset(self.playing.keys() - self.live.keys())

    async def start(self) -> None:
        """Start the referees, and begin to play."""
        await self.dispatcher.start()
        self._site.listen(_log_pace)
        self._site.listen(self.note)
        await self.fitting.start()
        self._task = asyncio.create_task(self.scheduler.run(), name="scheduler")
        self._task.add_done_callback(lambda _: self.ended.set())

    def note(self, happening: object) -> None:
        """Seat a version that plays from now on, and no more one that does not; fit results."""
        if isinstance(happening, VersionChanged):
            self.look()
        elif isinstance(happening, ResultStored):
            self.fitting.begin()

    async def until_stored(self, job_id: str) -> None:
        """Wait until the result of a match that has just ended is stored."""
        await self.scheduler.until_stored(job_id, STORING)

    @property
    def pace(self) -> Pace:
        """How fast the ladder plays, and why."""
        return self.scheduler.pace

    def look(self) -> None:
        """Look at once for what has changed: a new version, a challenge, a tournament."""
        self.scheduler.look()

    def drain(self, draining: bool) -> None:
        """Begin no more matches, or begin again."""
        self._site.draining = self.scheduler.draining = draining
        self.scheduler.look()

    async def stop(self) -> None:
        """Hand back what is not finished, and end the referees; raise what went wrong."""
        self.scheduler.stop()
        try:
            if self._task is not None:
                await self._task
        finally:
            await self.fitting.stop()
            await self.dispatcher.close()


def _log_pace(happening: object) -> None:
    if isinstance(happening, PaceChanged):
        rate = happening.per_minute
        limit = "without a limit" if rate is None else f"at most {rate:g} matches a minute"
        log.info("the pace of the ladder is %s, %s", happening.tempo, limit)


GAMES: Final[web.AppKey[Games]] = web.AppKey("games", Games)
