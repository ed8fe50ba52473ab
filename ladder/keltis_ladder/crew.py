"""A crew of referees, one per core, for those who want many matches played and can wait."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO, Any, Final

import msgpack

from keltis_bots.framing import LENGTH, PREFIX, frame
from keltis_ladder.faults import PlatformFault
from keltis_ladder.jobs import Job
from keltis_ladder.results import MatchResult, match_from_plain

MOST_TRIES: Final = 3  # of a match that the platform could not finish
LOOK_AHEAD: Final = 4  # matches per referee that may be finished before an earlier one is
CLOSING: Final = 10.0  # seconds for a referee to end its bots
_CHUNK: Final = 1 << 18


@dataclass
class _Referee:
    """One worker process, and the job it is playing."""

    cpu: int
    process: subprocess.Popen[bytes]
    log: IO[bytes]  # what it wrote to stderr: nothing, unless it dies of a mistake of ours
    job: Job | None = None
    ready: bool = False  # whether it has come up
    buffer: bytearray = field(default_factory=bytearray)


class Crew:
    """Referee processes that play jobs and are replaced when they die."""

    def __init__(self, cores: Iterable[int] | None = None, sandboxed: bool = True) -> None:
        self.cores = sorted(cores if cores is not None else os.sched_getaffinity(0))
        self.sandboxed = sandboxed
        self._selector = selectors.DefaultSelector()
        self._tries: dict[str, int] = {}
        self.replaced = 0  # referees that died and were replaced
        self._referees: list[_Referee] = []
        self._fill()

    @property
    def pids(self) -> list[int]:
        """The processes of the referees."""
        return [referee.process.pid for referee in self._referees]

    def __enter__(self) -> Crew:
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
            if referee.process.stdin and referee.job is None and patience:
                referee.process.stdin.close()
            else:
                referee.process.kill()
        for referee in self._referees:
            try:
                referee.process.wait(patience or CLOSING)
            except subprocess.TimeoutExpired:
                referee.process.kill()
            self._forget(referee)
        self._referees = []
        self._selector.close()

    def _fill(self) -> None:
        """Start the referees that are missing."""
        manned = {referee.cpu for referee in self._referees}
        self._referees += [self._start(cpu) for cpu in self.cores if cpu not in manned]

    def _start(self, cpu: int) -> _Referee:
        command = [sys.executable, "-m", "keltis_ladder.worker", "--parent", str(os.getpid())]
        command += ["--cpu", str(cpu)]
        if not self.sandboxed:
            command.append("--no-sandbox")
        log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the referee
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            bufsize=0,
            start_new_session=True,  # an interrupt from the terminal is for us alone
        )
        referee = _Referee(cpu, process, log)
        assert process.stdout is not None
        self._selector.register(process.stdout, selectors.EVENT_READ, referee)
        return referee

    def _send(self, referee: _Referee, job: Job) -> None:
        referee.job = job
        self._tries[job.id] += 1
        assert referee.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it died: noticed when we read from it
            referee.process.stdin.write(frame(job.to_plain()))

    def _receive(self, again: deque[Job]) -> list[dict[str, Any]]:
        """Wait for news; jobs that have to be played again go to ``again``."""
        results = []
        for key, _ in self._selector.select():
            referee: _Referee = key.data
            data = os.read(key.fd, _CHUNK)
            referee.buffer += data
            for message in _messages(referee.buffer):
                if message["kind"] == "ready":
                    referee.ready = True
                elif message["kind"] == "result":
                    referee.job = None
                    results.append(message)
                elif message["kind"] == "platform":
                    self._try_again(referee, message["text"], again)
            if not data:
                self._bury(referee, again)
        return results

    def _bury(self, referee: _Referee, again: deque[Job]) -> None:
        """Replace a referee that died; its match is played again."""
        reason = _last_words(referee)
        if not (referee.ready or referee.job):
            raise PlatformFault(f"a referee could not start: {reason}")
        if referee.job is not None:
            self._try_again(referee, reason, again)
        self._dismiss(referee)
        self.replaced += 1
        self._fill()

    def _try_again(self, referee: _Referee, reason: str, again: deque[Job]) -> None:
        job, referee.job = referee.job, None
        assert job is not None
        if self._tries[job.id] >= MOST_TRIES:
            raise PlatformFault(f"a match could not be finished in {MOST_TRIES} tries: {reason}")
        again.append(job)

    def _dismiss(self, referee: _Referee) -> None:
        """End a referee at once, and its bots with it."""
        referee.process.kill()
        self._referees.remove(referee)
        self._forget(referee)

    def _forget(self, referee: _Referee) -> None:
        process = referee.process
        assert process.stdin is not None
        assert process.stdout is not None
        self._selector.unregister(process.stdout)
        process.stdin.close()
        process.stdout.close()
        referee.log.close()
        process.wait()


def _last_words(referee: _Referee) -> str:
    """Say how a referee ended, and why if it said so."""
    ended = f"the referee on core {referee.cpu} ended with code {referee.process.wait()}"
    referee.log.seek(0)
    lines = referee.log.read().decode("utf-8", "replace").split("\n")
    words = [line.strip() for line in lines if line.strip()]
    return f"{ended}: {words[-1]}" if words else ended


def _messages(buffer: bytearray) -> Iterator[dict[str, Any]]:
    """Take the whole messages from the front of a buffer."""
    while len(buffer) >= PREFIX:
        end = PREFIX + LENGTH.unpack_from(buffer)[0]
        if len(buffer) < end:
            return
        message: dict[str, Any] = msgpack.unpackb(bytes(buffer[PREFIX:end]))
        del buffer[:end]
        yield message
