"""The workshop makes programs ready in the background, while others play.

A version whose program is being made ready, or could not be had through a fault of ours, takes no
part in anything meanwhile: its jobs stay in the queue, and nobody else has to wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.run.backoff import Backoff
from keltis_ladder.run.programs import Lacking, Programs, Unready

# More than builds, which take turns, so that the others need not wait for them.
THREADS: Final = 16


class Workshop:
    """Makes the programs of versions ready, each in one task."""

    def __init__(
        self,
        programs: Programs,
        on_ready: Callable[[], None],
        on_broken: Callable[[int, str], Awaitable[None]],
        on_trouble: Callable[[str], None],
    ) -> None:
        self._programs = programs
        self._on_ready = on_ready  # something is ready, or may be tried again
        self._on_broken = on_broken  # by a version's own fault
        self._on_trouble = on_trouble
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="program")
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._resting: dict[int, asyncio.TimerHandle] = {}  # until they may be tried again
        self._backoffs: dict[int, Backoff] = {}  # of those that were not to be had last time

    @property
    def waiting(self) -> frozenset[int]:
        """The versions that cannot play now."""
        return frozenset(self._tasks) | frozenset(self._resting)

    @property
    def failing(self) -> frozenset[int]:
        """Those of them whose programs could not be had, by a fault of ours."""
        return frozenset(self._backoffs)

    def prepare(self, lacking: Lacking) -> asyncio.Task[None] | None:
        """Make a program ready; return the task, none if it is under way or has to wait."""
        id = lacking.version.id
        assert id is not None
        if id in self._tasks or id in self._resting:
            return None
        task = self._tasks[id] = asyncio.create_task(self._prepare(id, lacking))
        return task

    async def close(self) -> None:
        """Break off what is being built, and wait until it is."""
        for timer in self._resting.values():
            timer.cancel()
        self._resting.clear()
        self._programs.builds.stop()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await asyncio.to_thread(self._threads.shutdown)

    async def _prepare(self, id: int, lacking: Lacking) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(
                self._threads, self._programs.entrant, lacking.version, lacking.bot
            )
        except Unready as unready:
            self._backoffs.pop(id, None)
            await self._on_broken(id, str(unready))
        except PlatformFault as fault:
            if self._programs.builds.are_wanted():
                self._rest(id, lacking, fault)
        else:
            self._backoffs.pop(id, None)
        finally:
            del self._tasks[id]
            self._on_ready()

    def _rest(self, id: int, lacking: Lacking, fault: PlatformFault) -> None:
        """Try it later, and tell the operator."""
        seconds = self._backoffs.setdefault(id, Backoff()).failed()
        loop = asyncio.get_running_loop()
        self._resting[id] = loop.call_later(seconds, self._rested, id)
        self._on_trouble(
            f"the program of {lacking.bot.name} version {lacking.version.number} cannot be made"
            f" ready, which is not its fault: {fault}; it is tried again in {seconds:.0f} s"
        )

    def _rested(self, id: int) -> None:
        del self._resting[id]
        self._on_ready()
