"""The intake: checks the versions that were uploaded, one after the other.

What is to be checked is in the database, as versions in the state CHECKING. So nothing is lost
when the server ends, in whatever way: the next one goes on.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from sqlalchemy.exc import DBAPIError

from keltis_ladder.steward import Trouble
from keltis_ladder.store.moderation import Changed
from keltis_ladder.store.moments import now
from keltis_ladder.store.submissions import (
    Report,
    Subject,
    conclude,
    leave_unchecked,
    recheck_all,
    subject,
    waiting,
)
from keltis_ladder.store.tables import VersionState
from keltis_ladder.trees import discard
from keltis_server.happenings import Checking, VersionChanged
from keltis_server.site import Site
from keltis_server.uploads.check import LIMIT, Findings, PlatformTrouble, run_check
from keltis_server.uploads.pruning import Pruner
from keltis_server.uploads.receiving import Reception
from keltis_server.uploads.telling import Telling

MOST_TRIES: Final = 3  # of a check that the platform could not finish
PAUSE: Final = 1.0  # seconds before the next try
BACKOFF: Final = 4  # how many times longer each pause is than the one before
LOOK_SECONDS: Final = 1.0  # between two looks at what others want checked
CORES_EACH: Final = 4  # for one check at a time
ABANDONED: Final = 3600.0  # seconds after which nobody builds in a directory any more
UNFINISHED: Final = ".new-*"  # how the names of bots begin that are being built

log = logging.getLogger(__name__)


class Intake:
    """Checks versions in the background; after a restart it goes on with those left over."""

    def __init__(self, site: Site, look: Callable[[], None] = lambda: None) -> None:
        self.reception = Reception(site)
        self.pruner = Pruner(site)
        self.limit = LIMIT
        self.width = max(1, len(os.sched_getaffinity(0)) // CORES_EACH)
        self._site = site
        self._look = look  # has the games look who plays now
        self._waiting: dict[int, None] = {}  # in the order in which they came
        self._running: dict[int, asyncio.Task[None]] = {}
        self._failed: set[int] = set()  # their checks raised: only who asks for them has them again
        self._looking: asyncio.Task[None] | None = None
        self._stopping = False

    async def start(self) -> None:
        """Go on with versions that the last server did not finish, or could not check."""
        await asyncio.to_thread(_tidy, self._site.home.directory)
        self.pruner.start()
        if self.open:
            await self._site.write(recheck_all)
        for version_id in await self._site.read(waiting):
            self.add(version_id)
        self._looking = asyncio.create_task(self._keep_looking(), name="intake")

    def add(self, version_id: int) -> None:
        """Have a version checked."""
        self._failed.discard(version_id)
        self._waiting[version_id] = None
        self._fill()

    def drop(self, version_id: int) -> None:
        """Break off the check of a version: nobody waits for it any more."""
        self._waiting.pop(version_id, None)
        if task := self._running.get(version_id):
            task.cancel()

    def note(self, changes: Iterable[Changed]) -> None:
        """Tell everybody of versions in another state; check those that now are to be checked."""
        for change in changes:
            if change.state == VersionState.CHECKING:
                self.add(change.version_id)
            else:
                self.drop(change.version_id)
            self._tell(change)
        self._look()

    async def stop(self) -> None:
        """Break off what is being checked; it begins again with the next start."""
        self._stopping = True
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        await self.reception.close()
        await self.pruner.stop()
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def open(self) -> bool:
        """Whether bots can be checked; where a sandbox is wanted and missing, they wait."""
        return self._site.sandbox is not None or not self._site.settings.sandboxed

    async def _keep_looking(self) -> None:
        """Check what other processes want checked that work on the same database."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                wanted = await self._site.read(waiting)
            except DBAPIError:  # the steward tells that it is down
                continue
            except Exception:
                log.exception("the look for versions to check failed")
                continue
            for version_id in wanted:
                known = version_id in self._waiting or version_id in self._running
                if not known and version_id not in self._failed:
                    self.add(version_id)

    def _fill(self) -> None:
        if not self.open:
            return
        for version_id in list(self._waiting):
            if self._stopping or len(self._running) >= self.width:
                return
            if version_id in self._running:  # the one before is still being broken off
                continue
            del self._waiting[version_id]
            task = asyncio.create_task(self._check(version_id), name=f"check {version_id}")
            self._running[version_id] = task
            task.add_done_callback(partial(self._ended, version_id))

    def _ended(self, version_id: int, task: asyncio.Task[None]) -> None:
        del self._running[version_id]
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failed.add(version_id)
            log.error("the check of version %s failed", version_id, exc_info=error)
        self._fill()

    async def _check(self, version_id: int) -> None:
        found = await self._patiently(self._site.read, subject, version_id)
        if found is None:
            return
        started = now()
        try:
            findings, failure = await self._try(found)
            report = Report(findings.findings, findings.output.text(), started, now())
            changes = await self._patiently(self._site.write, conclude, version_id, report, failure)
        except Exception as error:  # whatever it is: it is ours, and must not be waited for
            changes = await self._give_up(found, error, Report([], "", started, now()))
        for change in changes:
            log.info("%s %s is %s", change.bot, change.number, change.state)
            self._tell(change)
        self._look()

    async def _try(self, found: Subject) -> tuple[Findings, str | None]:
        """Check a version; what is not its fault is tried again, and in the end raised."""
        telling = Telling(partial(self._on_event, found))
        for attempt in range(MOST_TRIES):
            findings = Findings()
            try:
                return findings, await run_check(
                    self._site.home,
                    found,
                    self._site.settings.sandboxed,
                    findings,
                    telling.next_try(),
                    self.limit,
                )
            except Exception as error:
                expected = isinstance(error, PlatformTrouble | OSError | ValueError)
                log.warning(
                    "the check of %s %s, try %s of %s: %s",
                    *(found.bot, found.number, attempt + 1, MOST_TRIES, _words(error)),
                    exc_info=None if expected else error,
                )
                if attempt + 1 == MOST_TRIES:
                    raise
                await asyncio.sleep(PAUSE * BACKOFF**attempt)
        raise AssertionError("the last try has returned or raised")

    async def _give_up(self, found: Subject, error: Exception, report: Report) -> list[Changed]:
        """Tell the operator that a version could not be checked; the author sees its new state."""
        text = f"{found.bot} {found.number} could not be checked: {_words(error)}"
        log.error("%s; to try again: keltis-ladder admin recheck %s", text, found.bot)
        self._site.tell(Trouble(text))
        changes: list[Changed] = await self._patiently(
            self._site.write, leave_unchecked, found.version_id, report
        )
        return changes

    def _on_event(self, found: Subject, kind: str, data: dict[str, Any]) -> None:
        self._site.tell(Checking(found.version_id, found.author_id, kind, data))

    def _tell(self, change: Changed) -> None:
        self._site.tell(
            VersionChanged(
                change.version_id,
                change.bot,
                change.number,
                change.author_id,
                change.state,
                change.reason,
            )
        )

    async def _patiently(self, ask: Callable[..., Any], *arguments: Any) -> Any:
        """Do something with the database; wait for one that is down."""
        while True:
            try:
                return await ask(*arguments)
            except DBAPIError as error:
                log.error("a check waits for the database: %s", error.orig)
                await asyncio.sleep(PAUSE)


def _words(error: Exception) -> str:
    if isinstance(error, PlatformTrouble):
        return str(error)
    return f"{type(error).__name__}: {error}"


def _tidy(directory: Path) -> None:
    """Remove what servers that were killed have left."""
    incoming = directory / "incoming"
    for path in incoming.glob("*"):
        _remove(path)
    incoming.mkdir(parents=True, exist_ok=True)
    for path in (directory / "bots").glob(UNFINISHED):
        try:
            abandoned = time.time() - path.stat().st_mtime > ABANDONED
        except FileNotFoundError:
            continue
        if abandoned:
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        discard(path)
    else:
        path.unlink(missing_ok=True)


INTAKE: Final[web.AppKey[Intake]] = web.AppKey("intake", Intake)
