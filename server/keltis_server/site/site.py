"""The site: everything that the parts of a running server share."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, Final, ParamSpec, TypeVar

from aiohttp import web
from sqlmodel import Session

from keltis_ladder.run.tournaments import Director
from keltis_ladder.sandbox.sandbox import Sandbox
from keltis_ladder.sandbox.shares import default_cores, share_of_referee
from keltis_ladder.store.bots.accounts import AUTHOR_SCOPES, Bearer, TokenScope
from keltis_ladder.store.bots.catalogue import local_author
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_server.events import Happening, Listener
from keltis_server.settings import Settings
from keltis_server.site.budgets import Limiters
from keltis_server.site.leaderboard_cache import Boards
from keltis_server.site.local_key import LocalKey
from keltis_server.site.troubles import Troubles

P = ParamSpec("P")
T = TypeVar("T")

READERS: Final = 4  # threads that read the database

log = logging.getLogger(__name__)


class Site:
    """A ladder that is served."""

    def __init__(
        self,
        settings: Settings,
        home: Home,
        database: Database,
        sandbox: Sandbox | None,
        missing: str = "",
    ) -> None:
        self.settings = settings
        self.home = home
        self.database = database
        self.sandbox = sandbox
        self.missing = missing  # why there is no sandbox, and so no guest may play
        referees = len(settings.cores or default_cores())
        self.share = share_of_referee(referees, settings.idle_bytes)  # of the memory, and a check's
        self.director = Director(database)
        self.local_key = LocalKey(home.directory)
        self.limiters = Limiters.of(settings.quotas)
        self.url = settings.public_url  # known for certain once we listen
        self.draining = False  # no new matches begin
        self.boards = Boards(self)
        self.troubles = Troubles()
        self._listeners: list[Listener] = [self.boards.note, self.troubles.note]
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="reader")
        self._writers = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._workers = ThreadPoolExecutor(2, thread_name_prefix="worker")
        self._local_author: Bearer | None = None

    @property
    def can_check(self) -> bool:
        """Whether bots can be checked; where a sandbox is wanted and missing, they wait."""
        return self.sandbox is not None or not self.settings.sandboxed

    async def read(
        self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Read from the database in a thread: one state of things, without a change."""

        def run() -> T:
            with self.database.reading() as session:
                return work(session, *args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._readers, run)

    async def write(
        self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Change the database in a thread, all or nothing.

        Work that was cut off is done again, so that it must be the same twice as once.
        """

        def run() -> T:
            return self.database.write(lambda session: work(session, *args, **kwargs))

        return await asyncio.get_running_loop().run_in_executor(self._writers, run)

    async def work(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do what takes its time, with files or games, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(
            self._workers, lambda: work(*args, **kwargs)
        )

    def listen(self, listener: Listener) -> None:
        """Tell somebody from now on what happens. It must be quick, and must not raise."""
        self._listeners.append(listener)

    def tell(self, *happenings: Happening) -> None:
        """Tell everybody who listens; the mistake of one is not felt by the others."""
        for happening in happenings:
            for listener in self._listeners:
                try:
                    listener(happening)
                except Exception:
                    log.exception("%r failed to take %s", listener, type(happening).__name__)

    async def local_author(self) -> Bearer:
        """Return the operator: an author with an account of their own, administrator."""
        if self._local_author is None:
            author = await self.write(local_author)
            assert author.id is not None
            scopes = frozenset(map(str, (*AUTHOR_SCOPES, TokenScope.ADMIN)))
            self._local_author = Bearer(author.id, author.name, author.house, scopes)
        return self._local_author

    def close(self) -> None:
        """Let the threads end, and close the database."""
        for pool in (self._readers, self._writers, self._workers):
            pool.shutdown(cancel_futures=True)
        self.database.close()


SITE: Final[web.AppKey[Site]] = web.AppKey("site", Site)
