"""Run a scheduler until it is stopped: limits, interrupts, and a display."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, Protocol

import typer
from sqlalchemy.exc import DBAPIError

from keltis_cli.draw.displays import Display, Picture
from keltis_cli.draw.journal import Journal
from keltis_cli.exit_codes import ExitCode
from keltis_ladder.dispatch.dispatcher import Event
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.matchmaking.matchmaker import Matchmaker
from keltis_ladder.run.fitting import Fitting
from keltis_ladder.run.pace import AT_FULL_PACE, Pace, PaceRules
from keltis_ladder.run.scheduler import News, ResultStored, Scheduler
from keltis_ladder.run.tournaments import Director
from keltis_ladder.run.transactions import Transactions

DRAW_EVERY: Final = 0.25  # seconds
READ_EVERY: Final = 1.0  # seconds between two looks into the database


class Subject(Picture, Protocol):
    """What is operated: it has a journal, knows the database, and may come to an end by itself."""

    @property
    def journal(self) -> Journal:
        """What has happened in this run."""

    @property
    def over(self) -> bool:
        """Whether there is nothing left to do."""

    def finish(self) -> None:
        """Take note that we are about to stop."""

    def attend(self, dispatcher: LocalDispatcher) -> None:
        """Take note of where the matches are played."""

    def read(self) -> None:
        """Read from the database what is shown. Blocking."""


@dataclass(frozen=True)
class Terms:
    """What to play on, and when to stop."""

    cores: list[int]
    sandboxed: bool
    matches: int | None = None
    seconds: float | None = None
    pace: PaceRules = AT_FULL_PACE

    @property
    def width(self) -> int:
        """How many matches are on their way at once, so that no referee waits for one."""
        return 2 * len(self.cores)


@contextmanager
def broken_off(what: str) -> Iterator[None]:
    """End the command with one line and exit code 1 if the platform fails for good."""
    try:
        yield
    except (PlatformFault, DBAPIError) as error:
        reason = error.orig if isinstance(error, DBAPIError) else error
        text = " ".join(str(reason).split())
        print(f"keltis-ladder: {what} was aborted: {text}", file=sys.stderr)
        raise typer.Exit(ExitCode.FAILED) from None


class Operation:
    """One run of a scheduler."""

    def __init__(
        self,
        transactions: Transactions,
        director: Director,
        matchmaker: Matchmaker | None,
        subject: Subject,
        display: Display,
        terms: Terms,
        on_told: Callable[[ResultStored], None] | None = None,
        fitting: Fitting | None = None,
    ) -> None:
        self.subject = subject
        self.display = display
        self.terms = terms
        self.on_told = on_told
        self.fitting = fitting
        self.code = 0
        self.dispatcher = LocalDispatcher(terms.cores, terms.sandboxed, self._event)
        self.scheduler = Scheduler(
            transactions,
            director,
            self.dispatcher,
            matchmaker,
            self._news,
            terms.width,
            pace=Pace(terms.pace),
        )

    async def run(self) -> int:
        """Work until the end; return the exit code."""
        gc.freeze()  # what was imported stays: looking at it again takes 50 ms each time
        loop = asyncio.get_running_loop()
        for number, code in (
            (signal.SIGINT, ExitCode.INTERRUPTED),
            (signal.SIGTERM, ExitCode.TERMINATED),
        ):
            loop.add_signal_handler(number, self._interrupt, code)
        self.subject.attend(self.dispatcher)
        self._bound()
        async with self.dispatcher:
            with self.display:
                keeper = asyncio.create_task(self._keep())
                keeper.add_done_callback(lambda _: self.scheduler.stop())
                try:
                    if not self.code:
                        await self.scheduler.run()
                finally:
                    keeper.cancel()
                    await asyncio.wait([keeper])
                    if self.fitting is not None:
                        await self.fitting.finish()
        if not keeper.cancelled() and (error := keeper.exception()) is not None:
            raise error
        await asyncio.to_thread(self.subject.read)
        return self.code

    async def _keep(self) -> None:
        """Keep what is shown up to date, and look at the clock."""
        loop = asyncio.get_running_loop()
        begin = loop.time()
        read = begin - READ_EVERY
        stored = -1
        while True:
            journal = self.subject.journal
            if loop.time() - read >= READ_EVERY or stored != journal.stored:
                read, stored = loop.time(), journal.stored
                await self._read()
            self.display.show()
            late = self.terms.seconds is not None and loop.time() - begin >= self.terms.seconds
            if late or self.subject.over:
                self.scheduler.stop()
            await asyncio.sleep(DRAW_EVERY)

    async def _read(self) -> None:
        with suppress(DBAPIError):  # the scheduler waits for the database, and says so
            await asyncio.to_thread(self.subject.read)

    def _news(self, news: News) -> None:
        journal = self.subject.journal
        before = journal.troubles
        journal.news(news)
        self._tell_trouble(before)
        if isinstance(news, ResultStored) and news.stored.fresh:
            if self.fitting is not None:
                self.fitting.begin()
            if self.on_told is not None:
                self.on_told(news)
        self._bound()

    def _event(self, event: Event) -> None:
        before = self.subject.journal.troubles
        self.subject.journal.event(event)
        self._tell_trouble(before)
        self._bound()

    def _tell_trouble(self, before: int) -> None:
        if self.subject.journal.troubles > before:
            self.display.say(f"Platform: {self.subject.journal.trouble}")

    def _bound(self) -> None:
        """Begin no more matches than are wanted, and stop when they are stored."""
        if self.terms.matches is None:
            return
        journal = self.subject.journal
        wanted = max(0, self.terms.matches - journal.stored - len(journal.unstored))
        self.scheduler.width = min(self.terms.width, wanted + len(journal.at_referees))
        if journal.stored >= self.terms.matches:
            self.scheduler.stop()

    def _interrupt(self, code: int) -> None:
        """Stop: in good order the first time, at once the second time.

        To be ended at any moment is what all this is made for: nothing is lost, and our referees
        and their bots end with us.
        """
        if self.code:
            self.display.close()
            print("Stopped immediately; running matches are played again.", file=sys.stderr)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        self.code = code
        self.subject.finish()
        self.display.say("Finishing: running matches are handed back. Again to stop immediately.")
        self.display.show()
        self.scheduler.stop()
