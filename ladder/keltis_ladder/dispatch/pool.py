"""A pool of referees, one per core, for those who want many matches played and can wait.

It is the dispatcher of this machine with an event loop of its own, which runs while somebody waits
for a result. So referees are looked after in the same way as a server's.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator
from types import TracebackType
from typing import Any, Final

from keltis_ladder.dispatch.child import CLOSING
from keltis_ladder.dispatch.dispatcher import MatchAbandoned, MatchPostponed, Outcome
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.dispatch.supervisor import SILENCE
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.results import MatchResult

LOOK_AHEAD: Final = 4  # matches per referee that may be finished before an earlier one is
MOST_POSTPONED: Final = 10  # times for one match: all its bots together are excused less often
LONGEST_PAUSE: Final = 60.0  # seconds before it is tried again

Order = deque[asyncio.Future[Outcome]]  # what is being played, in the order of the results


class RefereePool:
    """Referee processes that play jobs, and are replaced when they die or hang."""

    def __init__(
        self,
        cores: Iterable[int] | None = None,
        sandboxed: bool = True,
        nice: int = 0,
        silence: float = SILENCE,
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Start the referees; raise ``PlatformFault`` with the reason if one cannot start.

        ``on_wait`` is told why a match has to wait for a machine that is too busy.
        """
        self._on_wait = on_wait
        self._postponed = 0  # times in a row, the match whose result is next
        self._dispatcher = LocalDispatcher(
            cores, sandboxed, silence=silence, nice=nice, watched=False
        )
        self._loop = asyncio.new_event_loop()
        try:
            self._run(self._dispatcher.start())
        except BaseException:
            self._loop.close()
            raise

    @property
    def cores(self) -> list[int]:
        """The cores that referees play on."""
        return self._dispatcher.cores

    @property
    def pids(self) -> list[int]:
        """The processes of the referees."""
        return self._dispatcher.pids

    @property
    def replaced(self) -> int:
        """How many referees died or hung, and were replaced."""
        return self._dispatcher.replaced

    def __enter__(self) -> RefereePool:
        """Use it in a ``with`` block, which ends the referees and their bots."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the referees: in good order, or at once after an error."""
        self.close(patience=CLOSING if kind is None else 0.0)

    def play(self, jobs: Iterable[Job]) -> Generator[tuple[Job, MatchResult], None, None]:
        """Play all jobs and yield them in their order, each with its result.

        Raise ``PlatformFault`` if one of them cannot be played. A caller that wants no more results
        closes the generator: what is still played then is broken off.
        """
        if self._loop.is_closed():
            raise RuntimeError("the pool is closed")
        waiting = iter(jobs)
        order: Order = deque()
        try:
            while self._feed(waiting, order):
                if not order[0].done():
                    self._loop.run_until_complete(self._dispatcher.change())
                    continue
                outcome = order.popleft().result()
                if isinstance(outcome, MatchAbandoned):
                    raise PlatformFault(outcome.reason)
                if isinstance(outcome, MatchPostponed):
                    order.appendleft(self._play_later(outcome))
                    continue
                self._postponed = 0
                yield outcome.job, outcome.result
        finally:
            self._dispatcher.withdraw_all()
            for future in order:
                if future.done() and not future.cancelled():
                    future.exception()  # all of them say the same, and it was raised
            self._wait_until(lambda: not self._dispatcher.busy)

    def close(self, patience: float = CLOSING) -> None:
        """End all referees; their bots end with them."""
        if self._loop.is_closed():
            return
        try:
            self._dispatcher.withdraw_all()
            self._run(self._dispatcher.close(patience))
        finally:
            self._loop.close()

    def _feed(self, waiting: Iterator[Job], order: Order) -> bool:
        """Give the referees that are free the next jobs; return whether a result is to come."""
        if not (order or self._dispatcher.free):
            self._run(self._dispatcher.wait_free())
        ahead = LOOK_AHEAD * len(self.cores)
        while self._dispatcher.free and len(order) < ahead:
            job = next(waiting, None)
            if job is None:
                break
            order.append(self._dispatcher.submit(job))
        return bool(order)

    def _play_later(self, outcome: MatchPostponed) -> asyncio.Future[Outcome]:
        """Have a match played again after a while; raise if the machine stays too busy for it."""
        self._postponed += 1
        if self._postponed > MOST_POSTPONED:
            text = f"the match was put off {MOST_POSTPONED} times in a row: {outcome.reason}"
            raise PlatformFault(text)
        pause = min(LONGEST_PAUSE, 2.0 ** (self._postponed - 1))
        self._on_wait(f"{outcome.reason}; it is played again in {pause:.0f} s")
        self._run(asyncio.sleep(pause))
        return self._dispatcher.submit(outcome.job)

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        """Let the referees go on until something has come true."""
        while not condition():
            self._loop.run_until_complete(self._dispatcher.change())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something to its end; what is interrupted is ended in good order."""
        task = self._loop.create_task(work)
        try:
            self._loop.run_until_complete(task)
        except BaseException:
            if task.cancel():
                self._loop.run_until_complete(asyncio.wait([task]))
            raise
