"""A pool of referees, one per core, for those who want many matches played and can wait."""

from __future__ import annotations

import os
import selectors
import subprocess
from collections import deque
from collections.abc import Generator, Iterable
from types import TracebackType
from typing import Any, Final

from keltis_ladder.dispatch.child import CLOSING, MOST_TRIES, RefereeChild
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.results import MatchResult, match_from_plain
from keltis_ladder.sandbox.cgroups import available_memory
from keltis_ladder.sandbox.limits import idle_budget

LOOK_AHEAD: Final = 4  # matches per referee that may be finished before an earlier one is


class RefereePool:
    """Referee processes that play jobs and are replaced when they die."""

    def __init__(
        self, cores: Iterable[int] | None = None, sandboxed: bool = True, nice: int = 0
    ) -> None:
        self.nice = nice  # how much referees and bots give way to everything else
        self.cores = sorted(cores if cores is not None else os.sched_getaffinity(0))
        self.sandboxed = sandboxed
        self._idle_bytes = idle_budget(available_memory(), len(self.cores))
        self._selector = selectors.DefaultSelector()
        self._tries: dict[str, int] = {}
        self.replaced = 0  # referees that died and were replaced
        self._referees: list[RefereeChild] = []
        self._fill()

    @property
    def pids(self) -> list[int]:
        """The processes of the referees."""
        return [referee.process.pid for referee in self._referees]

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
        """Play all jobs and yield them in their order, each with its result."""
        self._fill()
        waiting = iter(jobs)
        again: deque[Job] = deque()
        order: deque[Job] = deque()
        done: dict[str, MatchResult] = {}
        ahead = LOOK_AHEAD * len(self._referees)
        try:
            while True:
                for referee in self._referees:
                    if referee.job is None and (again or len(order) < ahead):
                        job = again.popleft() if again else next(waiting, None)
                        if job is None:
                            break
                        if job.id not in self._tries:
                            order.append(job)
                            self._tries[job.id] = 0
                        self._send(referee, job)
                if not order:
                    return
                for message in self._receive(again):
                    done[message["id"]] = match_from_plain(message["match"])
                while order and order[0].id in done:
                    job = order.popleft()
                    del self._tries[job.id]
                    yield job, done.pop(job.id)
        finally:
            self._tries.clear()
            for referee in list(self._referees):
                if referee.job is not None:
                    self._dismiss(referee)  # whatever it still plays nobody wants

    def close(self, patience: float = CLOSING) -> None:
        """End all referees; their bots end with them."""
        for referee in self._referees:
            if referee.job is None and patience:
                referee.hang_up()
            else:
                referee.kill()
        for referee in self._referees:
            try:
                referee.process.wait(patience or CLOSING)
            except subprocess.TimeoutExpired:
                referee.kill()
            self._stop_listening(referee)
            referee.bury()
        self._referees = []
        self._selector.close()

    def _fill(self) -> None:
        """Start the referees that are missing."""
        manned = {referee.cpu for referee in self._referees}
        self._referees += [self._start(cpu) for cpu in self.cores if cpu not in manned]

    def _start(self, cpu: int) -> RefereeChild:
        referee = RefereeChild(
            cpu, self.sandboxed, watched=False, idle_bytes=self._idle_bytes, nice=self.nice
        )
        self._selector.register(referee, selectors.EVENT_READ)
        return referee

    def _send(self, referee: RefereeChild, job: Job) -> None:
        self._tries[job.id] += 1
        referee.send(job)
        if referee.has_unsent:
            self._selector.register(referee.input_fileno(), selectors.EVENT_WRITE, referee)

    def _send_more(self, referee: RefereeChild) -> None:
        """Go on with a job that is larger than the pipe, now that there is room."""
        if referee in self._referees:
            referee.send_more()
            if not referee.has_unsent:
                self._selector.unregister(referee.input_fileno())

    def _stop_listening(self, referee: RefereeChild) -> None:
        self._selector.unregister(referee)
        # An interrupt may have come between a write and the note of what is left to be written.
        for key in list(self._selector.get_map().values()):
            if key.data is referee:
                self._selector.unregister(key.fd)

    def _receive(self, again: deque[Job]) -> list[dict[str, Any]]:
        """Wait for news; jobs that have to be played again go to ``again``."""
        results = []
        for key, _ in self._selector.select():
            if key.data is not None:
                self._send_more(key.data)
                continue
            referee = key.fileobj
            assert isinstance(referee, RefereeChild)
            if referee not in self._referees:
                continue
            for message in referee.read():
                if message["kind"] == "ready":
                    referee.ready = True
                elif message["kind"] == "result":
                    referee.job = None
                    results.append(message)
                elif message["kind"] == "platform":
                    self._try_again(referee, message["text"], again)
            if referee.ended:
                self._replace(referee, again)
        return results

    def _replace(self, referee: RefereeChild, again: deque[Job]) -> None:
        """Replace a referee that died; its match is played again."""
        reason = self._dismiss(referee)
        if not (referee.ready or referee.job):
            raise PlatformFault(f"a referee could not start: {reason}")
        if referee.job is not None:
            self._try_again(referee, reason, again)
        self.replaced += 1
        self._fill()

    def _try_again(self, referee: RefereeChild, reason: str, again: deque[Job]) -> None:
        job, referee.job = referee.job, None
        assert job is not None
        if self._tries[job.id] >= MOST_TRIES:
            raise PlatformFault(f"a match could not be finished in {MOST_TRIES} tries: {reason}")
        again.append(job)

    def _dismiss(self, referee: RefereeChild) -> str:
        """End a referee at once, and its bots with it; return its last words."""
        referee.kill()
        self._referees.remove(referee)
        self._stop_listening(referee)
        return referee.bury()
