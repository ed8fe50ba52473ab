"""The intake: checks the versions that were uploaded, and lets their authors take turns.

What is to be checked is in the database, as versions in the state CHECKING. So nothing is lost
when the server ends, in whatever way: the next one goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from aiohttp import web
from sqlalchemy.exc import DBAPIError

from keltis_ladder.files.trees import discard
from keltis_ladder.findings import Finding, Mark
from keltis_ladder.run.build_room import why_no_room
from keltis_ladder.run.scheduler import PlatformTrouble
from keltis_ladder.sandbox.shares import LONG_CHECKS, quick_checks
from keltis_ladder.store.bots.submissions import (
    CheckFindings,
    Subject,
    Waiting,
    conclude,
    leave_unchecked,
    recheck_all,
    subject,
    waiting,
)
from keltis_ladder.store.patience import patiently
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.version_states import VersionChanged, VersionState
from keltis_server.events import Checking, Happening
from keltis_server.site.site import Site
from keltis_server.uploads.check import LONGEST_SECONDS, CheckTrouble, Findings, run_check
from keltis_server.uploads.lanes import Lane, Lanes, PendingCheck
from keltis_server.uploads.progress import CheckProgress
from keltis_server.uploads.pruning import Pruner

MOST_TRIES: Final = 3  # of a check that the platform could not finish
RETRY_SECONDS: Final = 1.0  # before the next try
BACKOFF: Final = 4  # how many times longer each pause is than the one before
LOOK_SECONDS: Final = 1.0  # between two looks at what others want checked
SHORT_SECONDS: Final = 60.0  # a check that takes longer is long, and so is the bot's next one
UNFINISHED: Final = ".new-*"  # how the names of bots begin that are being built

log = logging.getLogger(__name__)

T = TypeVar("T")


class Intake:
    """Checks versions in the background; after a restart it goes on with those left over."""

    def __init__(self, site: Site) -> None:
        self.pruner = Pruner(site)
        self.longest = LONGEST_SECONDS
        self.short_seconds = SHORT_SECONDS
        self.lanes = Lanes(quick_checks(), LONG_CHECKS)
        self._site = site
        self._running: dict[int, asyncio.Task[list[VersionChanged]]] = {}
        self._alarms: dict[int, asyncio.TimerHandle] = {}  # when they count as long
        self._long: set[int] = set()  # broken off once because they took long
        self._progress: dict[
            int, CheckProgress
        ] = {}  # of those that are checked or were broken off
        self._failed: set[int] = set()  # their checks raised: only who asks for them has them again
        self._looking: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._stopping = False

    async def start(self) -> None:
        """Go on with versions that the last server did not finish, or could not check."""
        await asyncio.to_thread(_tidy, self._site.home.directory)
        self.pruner.start()
        self._site.listen(self.note)
        if self._site.can_check:
            self._site.tell(*await self._site.write(recheck_all))
        self._looking = asyncio.create_task(self._keep_looking(), name="intake")

    def add(self, version_id: int) -> None:
        """Have a version checked."""
        self._failed.discard(version_id)
        self._woken.set()

    def drop(self, version_id: int) -> None:
        """Break off the check of a version: nobody waits for it any more."""
        self.lanes.drop(version_id)
        self._forget(version_id)
        if task := self._running.get(version_id):
            task.cancel()

    def note(self, happening: Happening) -> None:
        """Check a version that is to be checked from now on, and no more one that is not."""
        match happening:
            case VersionChanged(state=VersionState.CHECKING, version_id=id):
                self.add(id)
            case VersionChanged(version_id=id):
                self.drop(id)

    async def stop(self) -> None:
        """Break off what is being checked; it begins again with the next start."""
        self._stopping = True
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        await self.pruner.stop()
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _keep_looking(self) -> None:
        """Check what is to be checked, whichever user of the database wants it."""
        while True:
            self._woken.clear()
            try:
                self.lanes.want(map(self._wanted, await self._site.read(waiting)))
                self._fill()
            except DBAPIError:  # the scheduler tells that it is down
                pass
            except Exception:
                log.exception("the look for versions to check failed")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._woken.wait()

    def _wanted(self, each: Waiting) -> PendingCheck:
        took_long = each.last_took is not None and each.last_took > self.short_seconds
        long = took_long or each.version_id in self._long
        return PendingCheck(each.version_id, each.author_id, Lane.LONG if long else Lane.SHORT)

    def _fill(self) -> None:
        """Begin all checks that may begin."""
        for version_id in self._failed:
            self.lanes.drop(version_id)
        while self._site.can_check and not self._stopping and (wanted := self.lanes.begin()):
            version_id = wanted.version_id
            task = asyncio.create_task(self._check(version_id), name=f"check {version_id}")
            self._running[version_id] = task
            self._alarms[version_id] = asyncio.get_running_loop().call_later(
                self.short_seconds, self._takes_long, version_id, task
            )
            task.add_done_callback(partial(self._ended, version_id))

    def _takes_long(self, version_id: int, task: asyncio.Task[list[VersionChanged]]) -> None:
        """Make room for others: the check goes on in the other lane, or later from its start."""
        if not self.lanes.becomes_long(version_id):
            self._long.add(version_id)
            task.cancel()
        self._woken.set()

    def _ended(self, version_id: int, task: asyncio.Task[list[VersionChanged]]) -> None:
        self._alarms.pop(version_id).cancel()
        del self._running[version_id]
        self.lanes.end(version_id)
        if not task.cancelled():
            self._forget(version_id)
            if (error := task.exception()) is not None:
                self._failed.add(version_id)
                log.error("the check of version %s failed", version_id, exc_info=error)
            else:
                for change in task.result():
                    log.info("%s %s is %s", change.bot, change.number, change.state)
                self._site.tell(*task.result())
        self.pruner.look_for_room()
        self._fill()
        self._woken.set()

    def _forget(self, version_id: int) -> None:
        """Forget what was to be known of a check that is over, or not wanted any more."""
        self._long.discard(version_id)
        self._progress.pop(version_id, None)

    async def _check(self, version_id: int) -> list[VersionChanged]:
        """Check a version; return what has changed."""
        found = await self._patiently(self._site.read, subject, version_id)
        if found is None:
            return []
        started = now()
        try:
            findings, failure = await self._try(found)
            self._alarms[version_id].cancel()  # what is left is quick, and must be told
            if failure is None:
                failure = await self._look_for_room(found, findings)
            report = CheckFindings(findings.findings, findings.output.text(), started, now())
            return await self._patiently(self._site.write, conclude, version_id, report, failure)
        except Exception as error:  # whatever it is: it is ours, and must not be waited for
            return await self._give_up(found, error, CheckFindings([], "", started, now()))

    async def _look_for_room(self, found: Subject, findings: Findings) -> str | None:
        """Return why a build cannot stay, if it cannot, and tell the author."""
        site = self._site
        text = await self._patiently(site.work, why_no_room, site.home, site.database, found)
        if text is None:
            return None
        finding = Finding("room", Mark.FAILED, text).to_plain()
        findings.findings.append(finding)
        self._on_event(found, "finding", finding)
        return f"room: {text}"

    async def _try(self, found: Subject) -> tuple[Findings, str | None]:
        """Check a version; what is not its fault is tried again, and in the end raised."""
        progress = self._progress.setdefault(
            found.version_id, CheckProgress(partial(self._on_event, found))
        )
        for attempt in range(MOST_TRIES):
            progress.begin_attempt()
            findings = Findings()
            try:
                return findings, await run_check(
                    self._site.home,
                    found,
                    self._site.settings.sandboxed,
                    findings,
                    progress.take,
                    self.longest,
                    self._site.settings.nice,
                    self._site.share,
                )
            except Exception as error:
                expected = isinstance(error, CheckTrouble | OSError | ValueError)
                log.warning(
                    "the check of %s %s, try %s of %s: %s",
                    *(found.bot, found.number, attempt + 1, MOST_TRIES, _words(error)),
                    exc_info=None if expected else error,
                )
                if attempt + 1 == MOST_TRIES:
                    raise
                await asyncio.sleep(RETRY_SECONDS * BACKOFF**attempt)
        raise AssertionError("the last try has returned or raised")

    async def _give_up(
        self, found: Subject, error: Exception, report: CheckFindings
    ) -> list[VersionChanged]:
        """Tell the operator that a version could not be checked; the author sees its new state."""
        text = f"{found.bot} {found.number} could not be checked: {_words(error)}"
        log.error("%s; to try again: keltis-ladder admin recheck %s", text, found.bot)
        self._site.tell(PlatformTrouble(text))
        return await self._patiently(self._site.write, leave_unchecked, found.version_id, report)

    def _on_event(self, found: Subject, kind: str, data: dict[str, Any]) -> None:
        self._site.tell(Checking(found.version_id, found.author_id, kind, data))

    async def _patiently(self, ask: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        """Do something with the database; wait for one that is down."""
        return await patiently(partial(ask, *arguments), _log_it_is_down)


def _log_it_is_down(error: DBAPIError) -> None:
    log.error("a check waits for the database: %s", error.orig)


def _words(error: Exception) -> str:
    if isinstance(error, CheckTrouble):
        return str(error)
    return f"{type(error).__name__}: {error}"


def _tidy(directory: Path) -> None:
    """Remove what servers that were killed have left."""
    incoming = directory / "incoming"
    for path in incoming.glob("*"):
        _remove(path)
    incoming.mkdir(parents=True, exist_ok=True)
    for path in (directory / "bots").glob(UNFINISHED):
        owner = path.name.split("-")[1]
        if not (owner.isdigit() and Path("/proc", owner).exists()):
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        discard(path)
    else:
        path.unlink(missing_ok=True)


INTAKE: Final[web.AppKey[Intake]] = web.AppKey("intake", Intake)
