"""Leaderboards that are ready: worked out once for everybody who asks, and again when they change.

A leaderboard is asked for far more often than it changes. While results come in it is worked out
at most once in ``FRESH_SECONDS``; requests meanwhile get the last one. What another process has
changed in the database is noticed within ``RECHECK``.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic_core import to_jsonable_python
from sqlmodel import Session

from keltis_ladder.ratings.official import Official
from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.run.fitting import JointPublished
from keltis_ladder.run.scheduler import ResultStored
from keltis_ladder.store.ratings.leaderboards import signature
from keltis_ladder.store.schema.version_states import VersionChanged
from keltis_server.events import Happening
from keltis_server.loaders.leaderboards import load_leaderboard
from keltis_server.models.leaderboards import LeaderboardOut
from keltis_server.site.encoding import Encoded, dump_msgpack, tag_of

if TYPE_CHECKING:
    from keltis_server.site.site import Site

FRESH_SECONDS: Final = 0.25  # between two computations of a board that changes
MEANWHILE: Final = 0.75  # seconds more for which the last one will do while the next is made
RECHECK: Final = 2.0  # seconds after which we look whether others have changed something
OLDEST: Final = 30.0  # seconds after which it is read again: not everything shows in a signature

log = logging.getLogger(__name__)

Signature = tuple[int, ...]  # of everything that leaderboards depend on, cheap to read


@dataclass(frozen=True)
class CachedBoard:
    """A leaderboard as it was at some moment."""

    out: LeaderboardOut
    encoded: Encoded
    change: int  # the changes that we knew of before it was read
    at: float  # when it was read


class Boards:
    """The leaderboards of a site. To be used from its event loop."""

    def __init__(self, site: Site, clock: Callable[[], float] = time.monotonic) -> None:
        self._site = site
        self._clock = clock
        self._boards: dict[tuple[Scope, bool], CachedBoard] = {}
        self._tasks: dict[tuple[Scope, bool], asyncio.Task[CachedBoard]] = {}
        self._change = 0  # counts what we were told of, and what we noticed
        self._signature: Signature | None = None
        self._checked = float("-inf")
        self._check: asyncio.Task[None] | None = None

    def note(self, happening: Happening) -> None:
        """Take note of what may change leaderboards."""
        if isinstance(happening, ResultStored | VersionChanged | JointPublished):
            self._change += 1

    def forget(self) -> None:
        """Work everything out again when it is asked for next: ratings or authors have changed."""
        self._change += 1

    async def get(self, scope: Scope, everybody: bool = False) -> CachedBoard:
        """Return a leaderboard: the one that is ready if it is new enough."""
        since_check = self._clock() - self._checked
        if since_check >= RECHECK:
            check = self._start_check()
            if since_check >= 2 * RECHECK:  # nobody has asked for a while
                await asyncio.shield(check)
        key = scope, everybody
        board = self._boards.get(key)
        if board is not None:
            age = self._clock() - board.at
            if age < FRESH_SECONDS or (board.change == self._change and age < OLDEST):
                return board
            if age < FRESH_SECONDS + MEANWHILE:
                self._make(key)
                return board
        return await asyncio.shield(self._make(key))

    def _make(self, key: tuple[Scope, bool]) -> asyncio.Task[CachedBoard]:
        """Have a board made; requests meanwhile wait for the same one."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(self._compute(key))
            task.add_done_callback(lambda task: self._made(key, task))
        return task

    def _made(self, key: tuple[Scope, bool], task: asyncio.Task[CachedBoard]) -> None:
        del self._tasks[key]
        _note_failure(task)

    async def _compute(self, key: tuple[Scope, bool]) -> CachedBoard:
        change, at = self._change, self._clock()
        out, encoded = await self._site.read(_load, *key, self._site.settings.official)
        board = self._boards[key] = CachedBoard(out, encoded, change, at)
        return board

    def _start_check(self) -> asyncio.Task[None]:
        if self._check is None or self._check.done():
            self._check = asyncio.create_task(self._look_for_changes())
            self._check.add_done_callback(_note_failure)
        return self._check

    async def _look_for_changes(self) -> None:
        """Notice what other processes have changed."""
        at = self._clock()
        found = await self._site.read(signature)
        self._checked = at
        if found != self._signature:
            self._signature = found
            self._change += 1


def _load(
    session: Session, scope: Scope, everybody: bool, official: Official
) -> tuple[LeaderboardOut, Encoded]:
    out = load_leaderboard(session, scope, everybody, official)
    text = out.model_dump_json().encode()  # pydantic's own writer takes a quarter of the time
    return out, Encoded(text, dump_msgpack(to_jsonable_python(out)), tag_of(text))


def _note_failure(task: asyncio.Task[CachedBoard] | asyncio.Task[None]) -> None:
    """Say what went wrong with work that perhaps nobody waits for."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.warning("a leaderboard could not be read: %s", error)
