"""The pruner: removes what nobody needs, once a day, and programs when an author is removed.

After each check it looks whether builds take too much of the disk.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from sqlalchemy.exc import DBAPIError

from keltis_ladder.errors import LadderError
from keltis_ladder.programs.preparing import PLAIN
from keltis_ladder.run.build_room import make_room
from keltis_ladder.run.pruning import Pruned, prune, thin_out
from keltis_ladder.store.retention import Swept, sweep
from keltis_ladder.store.schema.moments import now
from keltis_server.site.site import Site

DAILY: Final = 86_400.0  # seconds
FIRST: Final = 600.0  # seconds after the start: there is more to do then
SOON: Final = 60.0  # seconds in which a match under way may end

log = logging.getLogger(__name__)


class Pruner:
    """Prunes in the background, one time after the other."""

    def __init__(self, site: Site) -> None:
        self.soon = SOON
        self._site = site
        self._marked: set[str] = set()  # builds that go as soon as no match needs them
        self._woken = asyncio.Event()
        self._turn = asyncio.Lock()
        self._more_built = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin with the daily rounds."""
        self._tasks = [
            asyncio.create_task(self._run(), name="pruner"),
            asyncio.create_task(self._keep_room(), name="room for builds"),
        ]

    async def stop(self) -> None:
        """Make no more rounds; one that is under way is finished."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        async with self._turn:
            pass

    def look_for_room(self) -> None:
        """Take note that something may have been built, which takes room on the disk."""
        self._more_built.set()

    async def _keep_room(self) -> None:
        site = self._site
        while True:
            await self._more_built.wait()
            self._more_built.clear()
            try:
                async with self._turn:
                    builds = await asyncio.shield(site.work(make_room, site.home, site.database))
                    uploads = await asyncio.shield(site.work(thin_out, site.home, site.database))
                if builds or uploads:
                    log.info("made room: removed %s builds, %s old uploads", builds, uploads)
            except (LadderError, DBAPIError, OSError) as error:  # the next build has us try again
                log.error("no room could be made for builds: %s", error)

    async def forget(self, archives: Sequence[str]) -> None:
        """Remove what is left of an author who was removed: at once, or when it is not in use."""
        self._marked |= set(archives)  # which their builds are named by
        try:
            await self.prune()
        except LadderError as error:  # the rest of the removal is done
            log.error("programs of a removed author are still there: %s", error)
        self._woken.set()

    async def prune(self, played: bool = False, dry_run: bool = False) -> Pruned:
        """Remove what nobody needs, or say what that would be."""
        site = self._site
        async with self._turn:
            work = site.work(
                prune, site.home, site.database, frozenset(self._marked), played, dry_run
            )
            done = await asyncio.shield(work)
            if not dry_run:
                self._marked = await site.work(_still_there, site.home.directory, self._marked)
            return done

    async def sweep(self, dry_run: bool = False) -> Swept:
        """Remove what is older than the operator wants it kept, or say what that would be."""
        site = self._site
        async with self._turn:
            return await asyncio.shield(
                site.work(sweep, site.database, site.settings.retention, now(), dry_run)
            )

    async def _run(self) -> None:
        pause = FIRST
        while True:
            try:
                await asyncio.wait_for(self._woken.wait(), pause)
            except TimeoutError:
                pause = self.soon if await self._round() and self._marked else DAILY
            else:
                self._woken.clear()
                pause = self.soon

    async def _round(self) -> bool:
        """Prune; return whether that was possible."""
        try:
            swept = await self.sweep()
            done = await self.prune()
        except (LadderError, DBAPIError, OSError) as error:
            log.error("nothing could be pruned: %s", error)
            return False
        if swept.anything:
            log.info("removed what was too old: %s", swept)
        if done.builds or done.archives:
            log.info("pruned %s builds and %s archives", done.builds, done.archives)
        return True


def _still_there(home: Path, builds: Iterable[str]) -> set[str]:
    return {
        name
        for name in builds
        if any((home / "bots" / f"{name}{end}").exists() for end in ("", PLAIN))
    }
