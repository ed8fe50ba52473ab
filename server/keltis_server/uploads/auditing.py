"""The auditor: takes new results into the audit, in the background, and tells whom it found.

Decisions are looked at by a process of its own (``run/looker.py``).
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from aiohttp import web
from sqlalchemy.exc import DBAPIError

from keltis_ladder.errors import LadderError
from keltis_ladder.run.looking import DecisionsLooked, Looking
from keltis_ladder.run.scheduler import ResultStored
from keltis_ladder.store.audit.book import advance
from keltis_ladder.store.audit.reports import Alarm, alarms
from keltis_ladder.store.bots.moderation import Unknown, disable_bot
from keltis_server.events import Happening
from keltis_server.site.site import Site
from keltis_server.uploads.moderation import follow_up

ROUND_PAUSE_SECONDS: Final = 5.0  # between two rounds: results wait for nobody here
REST: Final = 0.2  # seconds between two parts of a long way: writers come first
LOOK_AFTER: Final = 60.0  # seconds: a server that has just started has better to do
SUSPENDED: Final = "the audit found more than chance allows; ask the operator"

log = logging.getLogger(__name__)


class Auditor:
    """Works through new results, one round after the other."""

    def __init__(self, site: Site, app: web.Application) -> None:
        self.pause = ROUND_PAUSE_SECONDS
        self.round = asyncio.Condition()  # notified after each
        self._site = site
        self._app = app
        self._known: set[Alarm] | None = None
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        share = site.settings.audit_look / 100
        self.looking = Looking(site.database, share, self._take) if share else None
        self._may_look = False
        self._waiting: asyncio.TimerHandle | None = None  # until decisions may be looked at

    async def start(self) -> None:
        """Begin; what was found before is known, and somebody has dealt with it."""
        self._site.listen(self.note)
        self._woken.set()
        self._waiting = asyncio.get_running_loop().call_later(LOOK_AFTER, self._let_look)
        self._task = asyncio.create_task(self._run(), name="auditor")

    async def stop(self) -> None:
        """Stop after the part that is under way."""
        if self._waiting is not None:
            self._waiting.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self.looking is not None:
            await self.looking.stop()

    def note(self, happening: Happening) -> None:
        """Take note that there is a new result."""
        if isinstance(happening, ResultStored):
            self._woken.set()

    def wake(self) -> None:
        """Look at once for what is new."""
        self._woken.set()

    def _let_look(self) -> None:
        self._may_look = True
        self.wake()

    def _take(self, looked: DecisionsLooked) -> None:
        if looked.suspects:
            self.wake()

    async def _run(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            try:
                await self._round()
            except (LadderError, DBAPIError) as error:  # the next round tries again
                log.error("the audit could not go on: %s", error)
            async with self.round:
                self.round.notify_all()
            await asyncio.sleep(self.pause)

    async def _round(self) -> None:
        site = self._site
        if self._known is None:
            self._known = await site.read(alarms)
        while (advanced := await site.write(advance)).left:
            await asyncio.sleep(REST)
        if self.looking is not None and advanced.done and self._may_look:
            self.looking.begin()
        found = await site.read(alarms)
        for alarm in sorted(found - self._known):
            log.warning(
                "the audit suspects %s: %s, match %s", alarm.bot, alarm.test, alarm.match,
                extra={"act": "audit", "whom": alarm.bot},
            )  # fmt: skip
            if site.settings.suspend_suspects:
                await self._suspend(alarm.bot)
        self._known = found

    async def _suspend(self, bot: str) -> None:
        try:
            done = await self._site.write(disable_bot, bot, SUSPENDED)
        except Unknown:  # removed meanwhile
            return
        log.warning("%s is suspended until the operator enables it", bot)
        await follow_up(self._site, self._app, done)


AUDITOR: Final[web.AppKey[Auditor]] = web.AppKey("auditor", Auditor)
