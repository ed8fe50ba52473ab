"""A bot's process: ask it with a deadline, keep its log, and find out what went wrong.

All waiting is one ``poll`` with an absolute, monotonic deadline. Nothing here trusts the bot: it
may write anything, at any pace, or nothing.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable
from typing import Final, NamedTuple, NoReturn, final

from keltis_bots import messages
from keltis_bots.framing import MOST_FROM_BOT, PREFIX, ProtocolError, frame, payload_length
from keltis_ladder.faults import BotFault, Fault, Kind, PlatformFault
from keltis_ladder.launch import Child, Exit
from keltis_ladder.limits import MIB, Limits
from keltis_ladder.niceness import pass_on

LOG_KEPT: Final = 64 * 1024  # bytes of stderr
FAREWELL: Final = 1.0  # seconds to end after stdin was closed
LAST_WORDS: Final = 0.1  # seconds to read and log why it is dismissed
WATCH_EVERY: Final = 0.05  # seconds between two looks at the memory of a busy bot
QUICK: Final = 0.001  # seconds within which an answer comes before the others need be stopped
STILL_SLOW: Final = 1.0  # seconds until it is said again that an answer has not come
TRIFLE: Final = 0.0005  # seconds of CPU that a bot may use when not asked: to get back to reading
NOTICEABLE: Final = 0.002  # seconds kept from the core that are given back at a deadline
MOST_LOST: Final = 30.0  # seconds; a machine that busy cannot referee
NEARLY: Final = 0.9
_CHUNK: Final = 1 << 16
_SERVER: Final = "keltis-ladder"
# Bound once: looking them up costs as much as some of the calls.
_now: Final = time.monotonic
_cpu_time: Final = time.clock_gettime
_read: Final = os.read
_write: Final = os.write


@final
class Effort:
    """What one decision cost, in seconds."""

    def __init__(self, wall: float, cpu: float, lost: float = 0.0) -> None:
        self.wall = wall
        self.cpu = cpu
        self.lost = lost  # of the wall time: the machine did not let the bot run

    @property
    def charged(self) -> float:
        """What it cost on the clock."""
        return self.wall - self.lost


class _Look(NamedTuple):
    """What was seen when the process was looked at, in seconds."""

    at: float
    cpu: float
    waited: float  # for a core


class BotProcess:
    """One process of a bot, from its start through many games to its end."""

    def __init__(self, child: Child, limits: Limits) -> None:
        self.child = child
        self.limits = limits
        self.log = bytearray()
        self.log_bytes = 0
        self._logging = True
        self.requests = 0
        self.games = 0
        self._outbox = b""  # messages that need no answer wait for the next that does
        self._buffer = b""
        self._poll = select.poll()
        self._poll.register(child.stderr, select.POLLIN)  # first: what it logs before it answers
        self._poll.register(child.stdout, select.POLLIN)
        self._output = select.poll()
        self._output.register(child.stdout, select.POLLIN)
        self._cpu_clock: int | None = None
        self._cpu_then = 0.0  # what it had used when it last answered
        self.restless = False  # it was seen computing when it was not asked
        self._watched = _Look(_now(), 0.0, 0.0)
        self._to_be_nice = False  # not before it has greeted: until then it may change its session

    @property
    def alive(self) -> bool:
        """Whether it has not been ended."""
        return self.child.exit is None

    def greet(self, seconds: float, when_slow: Callable[[], None] | None = None) -> messages.Hello:
        """Shake hands; the time includes the start of the process."""
        hello = frame(messages.hello(_SERVER, round(seconds * 1000)))
        payload, _ = self._exchange(hello, seconds, "start", when_slow)
        try:
            greeting = messages.read_hello(payload)
        except ProtocolError as error:
            self._refuse(error)
        self._to_be_nice = True
        self._cpu_clock = cpu_clock(self.child.program())
        self._cpu_then = self._cpu()
        self._watch()
        return greeting

    def tell(self, message: bytes) -> None:
        """Send a message that needs no answer, together with the next request."""
        self._outbox += message

    def ask(
        self, request: bytes, id: int, seconds: float, when_slow: Callable[[], None]
    ) -> tuple[int, Effort]:
        """Return the action that the bot chooses, and what it cost; raise ``BotFault``.

        ``when_slow`` is called if the answer does not come at once, and then every second.
        """
        if self._output.poll(0):
            self._look_at_early_output()
        payload, effort = self._exchange(request, seconds, "clock", when_slow)
        try:
            return messages.read_action(payload, id), effort
        except ProtocolError as error:
            self._refuse(error)

    def dismiss(self, fault: Fault) -> Exit:
        """End it because of a fault; if it still listens, tell it why and let it say so."""
        if self.alive and fault.kind in (Kind.PROTOCOL, Kind.ILLEGAL):
            with contextlib.suppress(OSError):
                self.child.resume()
                _write(self.child.stdin, frame(messages.error(fault.code, fault.text)))
            self.child.hang_up()
            self.child.wait(LAST_WORDS)
        return self.kill()

    def pause(self) -> None:
        """Stop it until it is asked again."""
        self.child.pause()

    def close(self) -> Exit:
        """Let it end in good order."""
        with contextlib.suppress(OSError):
            if self._outbox:
                self.child.resume()
                _write(self.child.stdin, self._outbox)
        self._outbox = b""
        return self.child.finish(FAREWELL)

    def kill(self) -> Exit:
        """End it at once; what it wrote to its log until then is kept."""
        if self.alive:
            self._drain_log()
        return self.child.kill()

    def log_text(self) -> str:
        """Return the end of what it wrote to stderr."""
        if self.alive:
            self._drain_log()
        return self.log.decode("utf-8", "replace")

    def _exchange(
        self, message: bytes, seconds: float, code: str, when_slow: Callable[[], None] | None = None
    ) -> tuple[bytes, Effort]:
        """Write a message and return the one frame that answers it."""
        child = self.child
        watched = self._watched
        begin = _now()
        deadline = begin + seconds
        slow_at = begin + QUICK
        child.resume()
        self._write(message, deadline, seconds, code, when_slow)
        # More often than not the bot, woken by the message, has answered by now.
        if self._read_output():
            return self._answer(begin, watched)
        wait = min(seconds, QUICK)
        while True:
            ready = self._poll.poll(wait * 1000 if wait > 0 else 0)
            for fd, _ in ready:
                if fd == child.stderr:
                    self._read_log()
                elif self._read_output():
                    return self._answer(begin, watched)
            now = _now()
            if now > slow_at and when_slow is not None:
                when_slow()
                slow_at = now + STILL_SLOW
            if now >= deadline:  # however much has come, if it is not the answer
                deadline = begin + seconds + self._time_lost(watched)
                if now >= deadline:
                    self._too_late(code, seconds)
            if now - self._watched.at > WATCH_EVERY:
                self._watch()
            wait = min(deadline - now, WATCH_EVERY)

    def _write(
        self,
        message: bytes,
        deadline: float,
        seconds: float,
        code: str,
        when_slow: Callable[[], None] | None,
    ) -> None:
        data, self._outbox = self._outbox + message, b""
        while True:
            try:
                data = data[_write(self.child.stdin, data) :]
            except BlockingIOError:
                pass
            except BrokenPipeError:
                self._crashed("closed-stdin", "the bot closed its stdin")
            if not data:
                return
            if when_slow is not None:
                when_slow()
            self._wait_to_write(deadline, seconds, code)

    def _wait_to_write(self, deadline: float, seconds: float, code: str) -> None:
        """Wait until a bot that does not read its input does; its log goes on meanwhile."""
        watch = select.poll()
        watch.register(self.child.stdin, select.POLLOUT)
        if self._logging:
            watch.register(self.child.stderr, select.POLLIN)
        left = deadline - _now()
        if left <= 0:
            self._too_late(code, seconds)
        for fd, _ in watch.poll(min(left, WATCH_EVERY) * 1000):
            if fd == self.child.stderr:
                self._read_log()
        self._watch()

    def _read_output(self) -> bool:
        """Take what is there; tell whether the buffer holds exactly one whole frame."""
        try:
            data = _read(self.child.stdout, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._crashed("closed-stdout", "the bot closed its stdout")
        self._buffer += data
        have = len(self._buffer)
        if have < PREFIX:
            return False
        try:
            size = PREFIX + payload_length(self._buffer, MOST_FROM_BOT)
        except ProtocolError as error:
            self._refuse(error)
        if have > size:
            self._refuse(
                ProtocolError(
                    "extra-reply",
                    f"{have - size} bytes came behind the answer: answer each request once",
                )
            )
        return have == size

    def _read_log(self) -> None:
        try:
            data = _read(self.child.stderr, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._poll.unregister(self.child.stderr)  # closed; it may go on without a log
            self._logging = False
            return
        self.log_bytes += len(data)
        self.log += data
        if len(self.log) > LOG_KEPT:
            del self.log[:-LOG_KEPT]

    def _drain_log(self) -> None:
        """Take what is left of the log, no more than a pipe can hold."""
        for _ in range(LOG_KEPT // 4096):
            before = self.log_bytes
            if self._logging:
                self._read_log()
            if self.log_bytes == before:
                return

    def _look_at_early_output(self) -> None:
        data = b""
        with contextlib.suppress(BlockingIOError):
            data = _read(self.child.stdout, _CHUNK)
        if not data:
            self._crashed("closed-stdout", "the bot closed its stdout")
        self._refuse(
            ProtocolError(
                "early",
                f"{len(data)} bytes came before the request was sent: "
                "write only to answer, once for each request",
            )
        )

    def _watch(self) -> None:
        """Look at the memory, and at how long the machine let the bot wait for its core."""
        if self._to_be_nice:
            self._to_be_nice = not pass_on(self.child.root)
        usage = self.child.usage()
        self._watched = _Look(_now(), usage.cpu, usage.waited)
        if usage.processes > 1:
            self.restless = True  # others of its processes may compute where we do not look
        if usage.memory > self.limits.memory:
            raise BotFault(
                Kind.RESOURCES,
                "memory",
                f"the bot used {usage.memory // MIB} MiB; the limit is "
                f"{self.limits.memory // MIB} MiB",
            )

    def _time_lost(self, before: _Look) -> float:
        """Return for how many seconds the bot was ready but the machine did not let it run.

        Waiting for another thread of its own is not lost time: it cannot have waited for the
        machine while it was running.
        """
        self._watch()
        after = self._watched
        idle = (after.at - before.at) - (after.cpu - before.cpu)
        lost = min(after.waited - before.waited, idle)
        if lost > MOST_LOST:
            raise PlatformFault(
                f"the machine kept a bot from running for {lost:.0f} s: it is too busy"
            )
        return lost if lost > NOTICEABLE else 0.0

    def _too_late(self, code: str, seconds: float) -> NoReturn:
        if code == "start":
            text = f"no answer to hello within {seconds:.1f} s of the start"
        else:
            text = f"no answer within the {seconds * 1000:.0f} ms that were left on the clock"
        if self._buffer:
            text += f"; {len(self._buffer)} bytes of an unfinished frame had come"
        raise BotFault(Kind.TIMEOUT, code, text)

    def _crashed(self, code: str, text: str) -> NoReturn:
        """Say how the bot ended, or that it only closed a pipe."""
        if not self.child.wait(0.1):  # a process closes its pipes a little before it has ended
            raise BotFault(Kind.CRASH, code, f"{text} and went on")
        self._drain_log()
        ended = self.child.kill()
        # Some die of the limit, others of an allocation that it made fail.
        if self.child.out_of_memory or ended.peak_memory > NEARLY * self.limits.memory:
            raise BotFault(
                Kind.RESOURCES,
                "memory",
                f"the bot ended ({ended}) when it had used {ended.peak_memory // MIB} MiB; "
                f"the limit is {self.limits.memory // MIB} MiB",
            )
        code = "signal" if ended.code is None else "exit"
        when = "in the middle of a game" if self._cpu_clock else "before it had answered hello"
        raise BotFault(Kind.CRASH, code, f"the bot ended {when}: {ended}")

    def _refuse(self, error: ProtocolError) -> NoReturn:
        raise BotFault(Kind.PROTOCOL, error.code, str(error)) from None

    def _answer(self, begin: float, watched: _Look) -> tuple[bytes, Effort]:
        """Return the answer that has come and what it cost; notice work that nobody asked for."""
        now = _now()
        before, self._cpu_then = self._cpu_then, self._cpu()
        wall, cpu = now - begin, self._cpu_then - before
        if cpu > wall + TRIFLE and self._cpu_clock is not None:
            self.restless = True
        lost = 0.0
        if now - watched.at > WATCH_EVERY:
            self._drain_log()
            lost = min(wall, self._time_lost(watched))
        payload, self._buffer = self._buffer[PREFIX:], b""
        return payload, Effort(wall, max(0.0, cpu), lost)

    def _cpu(self) -> float:
        if self._cpu_clock is None:
            return 0.0
        try:
            return _cpu_time(self._cpu_clock)
        except OSError:  # it has ended
            return 0.0


def cpu_clock(pid: int) -> int:
    """Return the clock that counts a process's CPU time, as ``clock_getcpuclockid`` builds it."""
    return ((~pid) << 3) | 2
