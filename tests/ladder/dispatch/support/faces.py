"""The two ways to have matches played, blocking and with an event loop, as one function each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from keltis_ladder.dispatch.dispatcher import MatchFinished
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.dispatch.pool import RefereePool
from keltis_ladder.dispatch.supervisor import SILENCE
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.results import MatchResult
from tests.ladder.dispatch.support.playing import CORES, PATIENCE, run

Pids = Callable[[], list[int]]  # of the referees that there are now
Disturb = Callable[[Pids], None]


@dataclass(frozen=True)
class Played:
    """What became of jobs."""

    results: list[MatchResult]  # in the order of the jobs
    replaced: int  # referees that died or hung


class Play(Protocol):
    """Plays all jobs, and raises ``PlatformFault`` if one of them cannot be played."""

    def __call__(
        self,
        wanted: Sequence[Job],
        cores: list[int] = ...,
        sandboxed: bool = ...,
        silence: float = ...,
        before: Disturb = ...,
        meanwhile: Disturb = ...,
    ) -> Played:
        """Do ``before`` when the referees are ready, and ``meanwhile`` in a thread."""


def leave_alone(pids: Pids) -> None:
    """Disturb nobody."""


def by_pool(
    wanted: Sequence[Job],
    cores: list[int] = CORES,
    sandboxed: bool = False,
    silence: float = SILENCE,
    before: Disturb = leave_alone,
    meanwhile: Disturb = leave_alone,
) -> Played:
    """Have jobs played by a pool."""
    with RefereePool(cores, sandboxed, silence=silence) as pool:
        before(lambda: pool.pids)
        with _in_a_thread(meanwhile, lambda: pool.pids):
            played = list(pool.play(wanted))
        assert [job.id for job, _ in played] == [job.id for job in wanted]
        return Played([result for _, result in played], pool.replaced)


def by_dispatcher(
    wanted: Sequence[Job],
    cores: list[int] = CORES,
    sandboxed: bool = False,
    silence: float = SILENCE,
    before: Disturb = leave_alone,
    meanwhile: Disturb = leave_alone,
) -> Played:
    """Have jobs played by a dispatcher."""

    async def play() -> Played:
        async with LocalDispatcher(cores, sandboxed, silence=silence) as dispatcher:
            before(lambda: dispatcher.pids)
            with _in_a_thread(meanwhile, lambda: dispatcher.pids):
                outcomes = await asyncio.gather(*map(dispatcher.submit, wanted))
            results = []
            for outcome in outcomes:
                if not isinstance(outcome, MatchFinished):
                    raise PlatformFault(outcome.reason)
                results.append(outcome.result)
            return Played(results, dispatcher.replaced)

    return run(play())


@contextmanager
def _in_a_thread(disturb: Disturb, pids: Pids) -> Iterator[None]:
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(disturb, pids)
        yield
        done.result(PATIENCE)
