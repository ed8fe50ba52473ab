"""A bot's process: ask it with a deadline, keep its log, and find out what went wrong.

All waiting is one ``poll`` with an absolute, monotonic deadline. Nothing here trusts the bot: it
may write anything, at any pace, or nothing.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, NoReturn

from keltis_bots import messages
from keltis_bots.framing import MOST_FROM_BOT, PREFIX, ProtocolError, frame, payload_length
from keltis_bots.texts import printable
from keltis_ladder.files.sizes import MIB
from keltis_ladder.match.faults import BotFault, Fault, Kind, MachineBusy, PlatformFault
from keltis_ladder.referee.charging import QUICK, Account, Effort, GroupAccount
from keltis_ladder.referee.charging_steal import Steal
from keltis_ladder.referee.charging_without_groups import ProcessAccount
from keltis_ladder.referee.last_words import hear_out
from keltis_ladder.sandbox.child import Child, Exit
from keltis_ladder.sandbox.limits import Limits
from keltis_ladder.sandbox.meter import oom_kills, stolen
from keltis_ladder.sandbox.niceness import pass_on

LOG_KEPT: Final = 64 * 1024  # bytes of stderr
FAREWELL: Final = 1.0  # seconds to end after stdin was closed
LAST_WORDS: Final = 0.1  # seconds to read and log why it is dismissed
REST_OF_FRAME: Final = 1.0  # seconds for the rest of something that nobody asked for
WATCH_EVERY: Final = 0.05  # seconds between two looks at the memory of a busy bot
STILL_SLOW: Final = 1.0  # seconds until it is said again that an answer has not come
LEAST_LEFT: Final = 0.010  # seconds from one look at a deadline to the next
FOREVER: Final = float("inf")
NEARLY: Final = 0.9
LACK_OF_MEMORY: Final = "the machine had too little memory"
_CHUNK: Final = 1 << 16
_SERVER: Final = "keltis-ladder"
# Bound once: looking them up costs as much as some of the calls.
_now: Final = time.monotonic
_cpu_time: Final = time.clock_gettime
_read: Final = os.read
_write: Final = os.write


@dataclass(frozen=True)
class Held:
    """What a process holds while it waits for its next game."""

    memory: int  # bytes
    tasks: int  # processes and threads, where they are counted


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
        self._frame_size = 0  # bytes of the frame that the buffer begins with, once it is whole
        self._poll = select.poll()
        self._poll.register(child.stderr, select.POLLIN)  # first: what it logs before it answers
        self._poll.register(child.stdout, select.POLLIN)
        self._output = select.poll()
        self._output.register(child.stdout, select.POLLIN)
        self._cpu_clock: int | None = None
        self._cpu_then = 0.0  # what it had used when it last answered
        self._account: Account = ProcessAccount()
        if child.meter:
            self._account = GroupAccount(child.meter, Steal(partial(stolen, child.core)))
        self._asked = False  # and has not answered yet
        self._watched = _now()
        self._fatal: Effort | None = None  # what the request cost that ended in a fault
        self.ends = FOREVER  # when its match has taken so long that the machine is to blame
        self.excuse = ""  # what the machine lacked when it failed, if nobody can tell whose fault
        self._oom_kills = oom_kills()  # of the machine, when it was last known to be alive
        self._held = Held(0, 0)  # when it had been asked so often:
        self._held_at = -1
        self._to_be_nice = False  # not before it has greeted: until then it may change its session

    @property
    def alive(self) -> bool:
        """Whether it has not been ended."""
        return self.child.exit is None

    def greet(self, seconds: float, when_slow: Callable[[], None] | None = None) -> messages.Hello:
        """Shake hands; the time includes the start of the process."""
        clock = messages.CPU_CLOCK if self.child.meter else messages.WALL_CLOCK
        hello = frame(messages.hello(_SERVER, round(seconds * 1000), clock))
        payload, _ = self._exchange(hello, seconds, "start", when_slow)
        try:
            greeting = messages.read_hello(payload)
        except ProtocolError as error:
            self._refuse(error)
        if self._buffer:
            self._refuse_unasked(0)
        self._to_be_nice = True
        program = self.child.program()
        self._account.meet(program)
        self._cpu_clock = cpu_clock(program)
        self._cpu_then = self._cpu()
        self._watch()
        return greeting

    @property
    def restless(self) -> bool:
        """Whether it was seen computing when it was not asked, or might."""
        return self._account.restless

    @property
    def fatal_effort(self) -> Effort | None:
        """What the request cost that ended in a fault, if one was open."""
        if self._fatal is None and self._asked and self.alive:
            self._fatal = self._account.so_far(_now())
        return self._fatal

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
            self._refuse_unasked(id - 1)
        payload, effort = self._exchange(request, seconds, "clock", when_slow)
        try:
            action = messages.read_action(payload, id)
        except ProtocolError as error:
            self._refuse(error)
        if self._buffer:
            self._refuse_unasked(id)
        return action, effort

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

    def held(self) -> Held:
        """Return what it holds, paused; that does not grow until it is asked again."""
        if self._held_at != self.requests:
            self._held = Held(self.child.held_memory(), self.child.held_tasks())
            self._held_at = self.requests
        return self._held

    @property
    def was_lost(self) -> bool:
        """Whether the kernel ended it while it was paused, for the memory that others hold."""
        # Its pipe is closed then, which costs next to nothing to see; its init is still frozen.
        return bool(self._output.poll(0)) and self.child.lacked_memory

    def hang_up(self) -> None:
        """Ask it to end in good order; ``close`` waits for that."""
        with contextlib.suppress(OSError):
            if self._outbox:
                self.child.resume()
                _write(self.child.stdin, self._outbox)
        self._outbox = b""
        self.child.hang_up()

    def close(self, patience: float = FAREWELL) -> Exit:
        """Let it end in good order."""
        if self.alive:
            self.hang_up()
        self._account.close()
        return self.child.finish(patience)

    def kill(self) -> Exit:
        """End it at once; what it wrote to its log until then is kept."""
        if self.alive:
            self._drain_log()
        self._account.close()
        return self.child.kill()

    def log_text(self) -> str:
        """Return the end of what it wrote to stderr, without what cannot be seen."""
        if self.alive:
            self._drain_log()
        return printable(self.log.decode("utf-8", "replace"))

    def _exchange(
        self, message: bytes, seconds: float, code: str, when_slow: Callable[[], None] | None = None
    ) -> tuple[bytes, Effort]:
        """Write a message and return the one frame that answers it."""
        child, account = self.child, self._account
        begin = _now()
        if begin > self.ends:
            self._break_off()
        account.begin(begin)
        self._asked = True
        deadline = begin + seconds
        slow_at = begin + QUICK
        if child.paused:
            child.resume()
        whole = self._write(message)
        # More often than not the bot, woken by the message, has answered by now.
        has_answer = whole and self._read_output()
        now = _now()
        if now > slow_at or not has_answer:
            account.sent(now)
        if has_answer:
            return self._answer(now, seconds, code)
        if not whole:
            deadline = self._keep_writing(deadline, seconds, code, when_slow)
        wait = min(seconds, QUICK)
        while True:
            ready = self._poll.poll(wait * 1000 if wait > 0 else 0)
            account.wake()
            for fd, _ in ready:
                if fd == child.stderr:
                    self._read_log()
                elif self._read_output():
                    return self._answer(_now(), seconds, code)
            now = _now()
            account.find_nothing(now, now >= deadline, heard=bool(ready))
            if now > slow_at and when_slow is not None:
                when_slow()
                slow_at = now + STILL_SLOW
            if now >= deadline:  # however much has come, if it is not the answer
                deadline = self._look_at_clock(now, seconds, code)
            if now - self._watched > WATCH_EVERY:
                self._watch()
            account.wait_on()
            wait = min(deadline - now, WATCH_EVERY)

    def _look_at_clock(self, now: float, seconds: float, code: str) -> float:
        """Return until when the bot has time, now that by the clock on the wall it has none."""
        effort = self._account.so_far(now)
        left = seconds - effort.charged
        if left <= 0.0:
            self._fatal = effort
            self._look_for_excuse(now)
            self._too_late(code, seconds)
        if now > self.ends:
            self._break_off()
        return now + max(left, LEAST_LEFT)

    def _look_for_excuse(self, now: float) -> None:
        """Its time is over: see whether that may be our fault, in a way that cannot be measured."""
        if self._account.is_machine_busy(now):
            self.excuse = "the machine was busy"

    def _break_off(self) -> NoReturn:
        raise MachineBusy("the match takes too long: the machine is too busy")

    def _write(self, message: bytes) -> bool:
        """Write a message and those that wait; return whether the pipe has taken all of it."""
        data, self._outbox = self._outbox + message, b""
        try:
            data = data[_write(self.child.stdin, data) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._crashed("closed-stdin", "the bot closed its stdin")
        self._outbox = data
        return not data

    def _keep_writing(
        self, deadline: float, seconds: float, code: str, when_slow: Callable[[], None] | None
    ) -> float:
        """Go on writing to a bot that does not read its input; its log goes on meanwhile."""
        account = self._account
        watch = select.poll()
        watch.register(self.child.stdin, select.POLLOUT)
        if self._logging:
            watch.register(self.child.stderr, select.POLLIN)
        while not self._write(b""):
            if when_slow is not None:
                when_slow()
            ready = watch.poll(max(0.0, min(deadline - _now(), WATCH_EVERY)) * 1000)
            account.wake()
            for fd, _ in ready:
                if fd == self.child.stderr:
                    self._read_log()
                    if not self._logging:
                        watch.unregister(fd)
            now = _now()
            account.find_nothing(now, now >= deadline, heard=bool(ready))
            if now >= deadline:
                deadline = self._look_at_clock(now, seconds, code)
            self._watch()
            account.wait_on()
        return deadline

    def _read_output(self) -> bool:
        """Take what is there; tell whether that makes a whole frame."""
        try:
            data = _read(self.child.stdout, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._crashed("closed-stdout", "the bot closed its stdout")
        self._buffer += data
        return self._has_frame()

    def _has_frame(self) -> bool:
        """Return whether the buffer holds a whole frame."""
        have = len(self._buffer)
        if have < PREFIX:
            return False
        try:
            size = PREFIX + payload_length(self._buffer, MOST_FROM_BOT)
        except ProtocolError as error:
            self._refuse(error)
        self._frame_size = size
        return have >= size

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

    def _refuse_unasked(self, answered: int) -> NoReturn:
        """Refuse what came when nothing was asked; it is judged whole, however slowly it comes."""
        self.child.resume()
        deadline = _now() + REST_OF_FRAME
        while not self._has_frame() and (left := deadline - _now()) > 0:
            if self._output.poll(left * 1000):
                self._read_output()
        self._refuse(messages.unasked(self._buffer, answered))

    def _watch(self) -> None:
        """Look at the memory, and whether there are other processes."""
        if self._to_be_nice:
            self._to_be_nice = not pass_on(self.child.root)
        usage = self.child.usage()
        self._watched = _now()
        if usage.processes > 1:
            self._account.note_others()
        if usage.memory > self.limits.memory:
            raise BotFault(
                Kind.RESOURCES,
                "memory",
                f"the bot used {usage.memory // MIB} MiB; the limit is "
                f"{self.limits.memory // MIB} MiB",
            )

    def _too_late(self, code: str, seconds: float) -> NoReturn:
        self._ask_for_stack()
        if code == "start":
            text = f"no answer to hello within {seconds:.1f} s of the start"
        else:
            text = f"no answer within the {seconds * 1000:.0f} ms that were left on the clock"
        if self._buffer:
            text += f"; {len(self._buffer)} bytes of an unfinished frame had come"
        raise BotFault(Kind.TIMEOUT, code, text)

    def _used_too_much(self, code: str, seconds: float) -> NoReturn:
        """Refuse an answer that came in time, from a bot that computed for longer than it had."""
        if self.child.meter is None:  # then it is the time on the wall, less what we could see
            text = f"the answer came later than the {seconds * 1000:.0f} ms that the bot had"
        else:
            text = (
                f"the bot used more CPU time than the {seconds * 1000:.0f} ms that it had: all its "
                "threads and processes count, also when it is not asked"
            )
        raise BotFault(Kind.TIMEOUT, code, text)

    def _ask_for_stack(self) -> None:
        """Let a program that wants to know of its timeout say where it is (protocol.md)."""
        if self._logging and self.child.signal_program(signal.SIGXCPU):
            hear_out(self.child.root_fd, self.child.stderr, self._charged, self._read_words)

    def _charged(self) -> float:
        return self._account.so_far(_now()).charged

    def _read_words(self) -> bool:
        self._read_log()
        return self._logging

    def _crashed(self, code: str, text: str) -> NoReturn:
        """Say how the bot ended, or that it only closed a pipe."""
        if not self.child.wait_if_ending():
            raise BotFault(Kind.CRASH, code, f"{text} and went on")
        self._drain_log()
        self._fatal = self.fatal_effort
        ended = self.child.kill()
        if ended.failure is not None:
            if ended.failure.of_platform:
                raise PlatformFault(str(ended.failure))
            raise BotFault(Kind.CRASH, "cannot-start", str(ended.failure))
        if self.child.lacked_memory:
            raise PlatformFault(f"the kernel ended the bot: {LACK_OF_MEMORY}")
        # Some die of the limit, others of an allocation that it made fail.
        if self.child.out_of_memory or ended.peak_memory > NEARLY * self.limits.memory:
            raise BotFault(
                Kind.RESOURCES,
                "memory",
                f"the bot ended ({ended}) when it had used {ended.peak_memory // MIB} MiB; "
                f"the limit is {self.limits.memory // MIB} MiB",
            )
        if self.child.was_killed_from_outside:
            raise PlatformFault("something outside of its sandbox killed the bot")
        # Where its own group counts, that one says whom the kernel has ended. Elsewhere any process
        # of the machine may be the one that was.
        if (
            ended.signal == signal.SIGKILL
            and not self.child.counts_memory
            and oom_kills() > self._oom_kills
        ):
            self.excuse = LACK_OF_MEMORY
        code = "signal" if ended.code is None else "exit"
        when = "in the middle of a game" if self._cpu_clock else "before it had answered hello"
        raise BotFault(Kind.CRASH, code, f"the bot ended {when}: {ended}")

    def _refuse(self, error: ProtocolError) -> NoReturn:
        raise BotFault(Kind.PROTOCOL, error.code, str(error)) from None

    def _answer(self, now: float, seconds: float, code: str) -> tuple[bytes, Effort]:
        """Return the answer that has come and what it cost."""
        before, self._cpu_then = self._cpu_then, self._cpu()
        is_watch_due = now - self._watched > WATCH_EVERY
        if is_watch_due:
            self._drain_log()
        effort = self._account.answered(now, max(0.0, self._cpu_then - before))
        if effort.charged > seconds + LEAST_LEFT:
            self._fatal = effort
            self._look_for_excuse(now)
            self._used_too_much(code, seconds)
        if is_watch_due:
            self._oom_kills = oom_kills()
            self._watch()
        self._asked = False
        size = self._frame_size
        payload, self._buffer = self._buffer[PREFIX:size], self._buffer[size:]
        return payload, effort

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
