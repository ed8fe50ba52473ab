"""The supervisor of referees: one on each core, heard, and replaced when it dies or hangs.

There is one way to look after referees, for all users: a server, which has an event loop of
its own, or ``keltis-ladder match``, which waits in one (``pool.py``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from keltis_ladder.dispatch.child import RefereeChild
from keltis_ladder.match.jobs import Job

# A referee that waits for a bot gives a sign of life every second, however long the bot may think:
# the limit need not know any clock. It is longer than the machine may keep a bot waiting.
SILENCE: Final = 60.0  # seconds without a word after which a referee counts as hung
MOST_STARTS: Final = 3  # of a referee in a row that do not succeed
RESTART_SECONDS: Final = 0.5  # before the next try; twice as many before the one after it


class Employer(Protocol):
    """Has jobs for referees, and is told what becomes of them; always from the event loop."""

    def hear(self, child: RefereeChild, message: dict[str, Any]) -> None:
        """Take what a referee says of its match."""

    def hand_out(self) -> None:
        """Give jobs to the referees that have none: there is one more."""

    def lose(self, child: RefereeChild, reason: str) -> None:
        """Take note that a referee died, and its job with it if it had one."""

    def give_up(self, reason: str) -> None:
        """Take note that no referee can be started any more."""

    def note_change(self) -> None:
        """Look again at what was waited for."""


@dataclass(eq=False)
class _Post:
    """A core, and the referee on it if there is one."""

    cpu: int
    child: RefereeChild | None = None
    heard: float = 0.0  # when its referee last said something, or was given something to do
    failures: int = 0  # of starting a referee, in a row


class Supervisor:
    """Keeps a referee on each core until it is told to stop. They die with its thread."""

    def __init__(
        self,
        cores: Iterable[int],
        start: Callable[[int], RefereeChild],
        employer: Employer,
        silence: float = SILENCE,
    ) -> None:
        self.replaced = 0  # referees that died or hung
        self._start = start
        self._employer = employer
        self._silence = silence
        self._posts = [_Post(cpu) for cpu in cores]
        self._timers: set[asyncio.TimerHandle] = set()
        self._retiring = False
        self._its_loop: asyncio.AbstractEventLoop | None = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop that it was first used in; it need not run to give somebody a job."""
        if self._its_loop is None:
            self._its_loop = asyncio.get_running_loop()
        return self._its_loop

    @property
    def children(self) -> list[RefereeChild]:
        """The referees, ready or not."""
        return [post.child for post in self._posts if post.child is not None]

    @property
    def idle(self) -> list[RefereeChild]:
        """The referees that could begin a match at once."""
        return [child for child in self.children if child.idle]

    @property
    def complete(self) -> bool:
        """Whether there is a referee on each core, and it has come up."""
        return all(post.child is not None and post.child.ready for post in self._posts)

    def open(self) -> None:
        """Start the referees."""
        for post in self._posts:
            self._man(post)
        self._later(self._silence / 4, self.look_for_silence)

    def give(self, child: RefereeChild, job: Job, excused: Mapping[str, int]) -> None:
        """Give a referee a job; what its pipe has no room for follows when there is some."""
        for post in self._posts:
            if post.child is child:
                post.heard = self.loop.time()
        child.send(job, excused)
        if child.has_unsent:
            self.loop.add_writer(child.input_fileno(), self._send_more, child)

    def free(self, child: RefereeChild) -> None:
        """Take note that a referee has nothing to do any more."""
        child.job = None
        if self._retiring:
            child.hang_up()

    def retire(self) -> None:
        """Start no more referees; let each end as soon as it has nothing to do."""
        self._retiring = True
        for child in self.children:
            if child.idle:
                child.hang_up()
            elif not child.ready:
                child.kill("it was not needed any more")  # it has no bots yet

    def kill(self, reason: str) -> None:
        """End all referees; that they have ended is heard as of any other."""
        for child in self.children:
            child.kill(reason)

    def end_at_once(self) -> None:
        """End all referees without waiting for anything but their death, which nobody is told."""
        self._retiring = True
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        for post in self._posts:
            if post.child is not None:
                child, post.child = post.child, None
                self._stop_listening(child)
                child.kill()
                child.bury()

    def look_for_silence(self) -> None:
        """End referees that hang; what happens then is as if they had died."""
        self._later(self._silence / 4, self.look_for_silence)
        for post in self._posts:
            child = post.child
            if child is None or child.idle:
                continue
            silence = self._silence if child.ready else SILENCE
            if self.loop.time() - post.heard > silence:
                self._hear(post)  # it may have spoken, and it was us who did not listen
            if post.child is child and self.loop.time() - post.heard > silence:
                child.kill(f"it said nothing for {silence:g} s")

    def _man(self, post: _Post) -> None:
        """Start a referee on a core."""
        if self._retiring:
            return
        try:
            child = post.child = self._start(post.cpu)
        except OSError as error:
            self._could_not_start(post, str(error))
            return
        post.heard = self.loop.time()
        # Not asyncio's subprocesses: a callback on a pipe is all that there is to do, with no task,
        # transport or watcher per referee.
        self.loop.add_reader(child.fileno(), self._hear, post)

    def _could_not_start(self, post: _Post, reason: str) -> None:
        """Try again a little later, or give up."""
        if self._retiring:
            return
        post.failures += 1
        if post.failures >= MOST_STARTS:
            text = f"a referee could not start {MOST_STARTS} times in a row: {reason}"
            self._employer.give_up(text)
        else:
            self._later(RESTART_SECONDS * 2 ** (post.failures - 1), lambda: self._man(post))

    def _send_more(self, child: RefereeChild) -> None:
        child.send_more()
        if not child.has_unsent:
            self.loop.remove_writer(child.input_fileno())

    def _stop_listening(self, child: RefereeChild) -> None:
        self.loop.remove_reader(child.fileno())
        # In any case: an interrupt may have come between a write and the note of what is left.
        if not child.hung_up:
            self.loop.remove_writer(child.input_fileno())

    def _hear(self, post: _Post) -> None:
        """Take what a referee has to say."""
        child = post.child
        assert child is not None
        messages = child.read()
        if messages:
            post.heard = self.loop.time()
        for message in messages:
            if message["kind"] == "ready":
                self._welcome(post, child)
            else:
                self._employer.hear(child, message)
        if child.ended and post.child is child:
            self._replace(post, child)

    def _welcome(self, post: _Post, child: RefereeChild) -> None:
        child.ready = True
        post.failures = 0
        self.free(child)
        self._employer.hand_out()

    def _replace(self, post: _Post, child: RefereeChild) -> None:
        """Have another referee take the place of one that died."""
        self._stop_listening(child)
        post.child = None
        reason = child.bury()
        self._employer.lose(child, reason)
        if not child.ready:
            self._could_not_start(post, reason)
        else:
            if not (self._retiring or child.dismissed):
                self.replaced += 1
            self._man(post)
        self._employer.note_change()

    def _later(self, seconds: float, step: Callable[[], None]) -> None:
        def run() -> None:
            self._timers.discard(timer)
            step()

        timer = self.loop.call_later(seconds, run)
        self._timers.add(timer)
