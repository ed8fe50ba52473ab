"""The dispatcher of one machine: a referee per core, as child processes with pipes."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

from keltis_ladder.dispatch.child import CLOSING, MOST_TRIES, RefereeChild
from keltis_ladder.dispatch.dispatcher import (
    AttemptFailed,
    Event,
    MatchAbandoned,
    MatchFinished,
    MatchStarted,
    MatchStreamed,
    MatchWithdrawn,
    OnEvent,
    Outcome,
)
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.results import match_from_plain
from keltis_ladder.sandbox.cgroups import available_memory
from keltis_ladder.sandbox.limits import idle_budget
from keltis_ladder.spectate.batches import batch_from_plain
from keltis_ladder.spectate.live_match import LiveMatch, StreamBroken

# A referee that waits for a bot gives a sign of life every second, however long the bot may think:
# the limit need not know any clock. It is longer than the machine may keep a bot waiting.
SILENCE: Final = 60.0  # seconds without a word after which a referee counts as hung
MOST_STARTS: Final = 3  # of a referee in a row that do not succeed
PAUSE: Final = 0.5  # seconds before the next try; twice as many before the one after it


@dataclass(eq=False)
class _Play:
    """A match that is wanted."""

    job: Job
    live: LiveMatch
    future: asyncio.Future[Outcome]
    urgent: bool = False
    tries: int = 0
    child: RefereeChild | None = None  # that plays it
    begun: float = 0.0  # when the last try began
    seconds: float = 0.0  # that the tries took which are over


@dataclass(eq=False)
class _Post:
    """A core, and the referee on it if there is one."""

    cpu: int
    child: RefereeChild | None = None
    heard: float = 0.0  # when its referee last said something, or was given something to do
    failures: int = 0  # of starting a referee, in a row


def _ignore(event: Event) -> None:
    """Let an event pass."""


class LocalDispatcher:
    """Plays jobs with referees on this machine; those that die or hang are replaced."""

    def __init__(
        self,
        cores: Iterable[int] | None = None,
        sandboxed: bool = True,
        on_event: OnEvent = _ignore,
        silence: float = SILENCE,
        nice: int = 0,
        idle_bytes: int | None = None,
    ) -> None:
        self.cores = sorted(cores if cores is not None else os.sched_getaffinity(0))
        self.sandboxed = sandboxed
        if idle_bytes is None:
            self._idle_bytes = idle_budget(available_memory(), len(self.cores))
        else:
            self._idle_bytes = idle_bytes // len(self.cores)  # of memory for waiting bots, in all
        self.replaced = 0  # referees that died or hung
        self._on_event = on_event
        self._silence = silence
        self._nice = nice  # how much referees and bots give way to everything else
        self._posts = [_Post(cpu) for cpu in self.cores]
        self._plays: dict[str, _Play] = {}  # all that are wanted, by id
        self._waiting: deque[_Play] = deque()
        self._changed = asyncio.Event()
        self._timers: set[asyncio.TimerHandle] = set()
        self._closing = False
        self._broken = ""  # why nothing can be played any more

    @property
    def free(self) -> int:
        """How many more jobs could begin at once."""
        if self._closing:
            return 0
        idle = [post for post in self._posts if post.child and post.child.idle]
        return max(0, len(idle) - len(self._waiting))

    @property
    def pids(self) -> list[int]:
        """The processes of the referees."""
        return [post.child.process.pid for post in self._posts if post.child]

    @property
    def playing(self) -> dict[str, LiveMatch]:
        """The matches that have begun and are not over, by the ids of their jobs."""
        return {id: play.live for id, play in self._plays.items() if play.tries}

    async def __aenter__(self) -> LocalDispatcher:
        """Use it in an ``async with`` block, which starts and ends the referees."""
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the referees: in good order, or at once after an error."""
        await self.close(patience=CLOSING if kind is None else 0.0)

    async def start(self) -> None:
        """Start the referees; raise ``PlatformFault`` with the reason if one cannot start.

        They die with the thread that this runs in.
        """
        try:
            for post in self._posts:
                self._man(post)
            self._later(self._silence / 4, self._look_for_silence)
            await self._until(lambda: all(p.child and p.child.ready for p in self._posts))
        except BaseException:
            self._end_at_once()
            raise

    async def wait_free(self) -> None:
        """Wait until a job could begin at once; if others wait too, one of them may be quicker."""
        await self._until(lambda: self.free > 0 or self._closing)
        self._check_open()

    def submit(self, job: Job, urgent: bool = False) -> asyncio.Future[Outcome]:
        """Have a match played as soon as a referee is free; cancelling it withdraws the match.

        An urgent one goes before those that wait, but not before another urgent one.
        """
        self._check_open()
        if job.id in self._plays:
            raise ValueError(f"the job {job.id} has been submitted before and is not over")
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        play = self._plays[job.id] = _Play(job, LiveMatch(job), future, urgent)
        future.add_done_callback(lambda future: self._withdraw(play))
        ahead = sum(each.urgent for each in self._waiting) if urgent else len(self._waiting)
        self._waiting.insert(ahead, play)
        self._hand_out()
        return future

    async def close(self, patience: float = CLOSING) -> None:
        """Begin no match, give those that are played some time, then end everything."""
        self._closing = True
        try:
            for play in list(self._waiting):
                self._withdraw(play)
            for post in self._posts:
                if post.child and post.child.idle:
                    post.child.hang_up()
            try:
                async with asyncio.timeout(patience):
                    await self._until(lambda: not self.pids)
            except TimeoutError:
                for post in self._posts:
                    if post.child:
                        post.child.kill("the dispatcher was closed")
                await self._until(lambda: not self.pids)
        finally:
            self._end_at_once()

    # Referees

    def _man(self, post: _Post) -> None:
        """Start a referee on a core."""
        if self._closing:
            return
        try:
            child = RefereeChild(
                post.cpu, self.sandboxed, watched=True, idle_bytes=self._idle_bytes, nice=self._nice
            )
        except OSError as error:
            self._could_not_start(post, str(error))
            return
        post.child = child
        loop = asyncio.get_running_loop()
        post.heard = loop.time()
        # Not asyncio's subprocesses: a pool starts the same child without a loop, and a callback
        # on its pipe is all that there is to do, with no task, transport or watcher per referee.
        loop.add_reader(child.fileno(), self._hear, post)

    def _could_not_start(self, post: _Post, reason: str) -> None:
        """Try again a little later, or give up."""
        if self._closing:
            return
        post.failures += 1
        if post.failures >= MOST_STARTS:
            self._break(f"a referee could not start {MOST_STARTS} times in a row: {reason}")
        else:
            self._later(PAUSE * 2 ** (post.failures - 1), lambda: self._man(post))

    def _send(self, child: RefereeChild, job: Job) -> None:
        """Give a referee a job; what its pipe has no room for follows when there is some."""
        child.send(job)
        if child.has_unsent:
            loop = asyncio.get_running_loop()
            loop.add_writer(child.input_fileno(), self._send_more, child)

    def _send_more(self, child: RefereeChild) -> None:
        child.send_more()
        if not child.has_unsent:
            asyncio.get_running_loop().remove_writer(child.input_fileno())

    def _stop_listening(self, child: RefereeChild) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(child.fileno())
        if child.has_unsent:
            loop.remove_writer(child.input_fileno())

    def _hear(self, post: _Post) -> None:
        """Take what a referee has to say."""
        child = post.child
        assert child is not None
        messages = child.read()
        if messages:
            post.heard = asyncio.get_running_loop().time()
        for message in messages:
            self._take(post, child, message)
        if child.ended and post.child is child:
            self._replace(post, child)

    def _take(self, post: _Post, child: RefereeChild, message: dict[str, Any]) -> None:
        if message["kind"] == "ready":
            child.ready = True
            post.failures = 0
            self._become_idle(child)
            return
        play = self._play_of(child)
        if play is None:
            return  # withdrawn: the referee is being ended
        if message["kind"] == "batch":
            batch = batch_from_plain(message["entries"])
            play.live.take(batch)
            if batch:
                self._tell(MatchStreamed(play.job, batch))
        elif message["kind"] == "platform":
            child.job = None
            self._try_again(play, message["text"])
            self._become_idle(child)
        elif message["kind"] == "result":
            child.job = None
            self._finish(play, message["match"])
            self._become_idle(child)

    def _become_idle(self, child: RefereeChild) -> None:
        if self._closing:
            child.hang_up()
        self._hand_out()

    def _replace(self, post: _Post, child: RefereeChild) -> None:
        """Have another referee take the place of one that died; its match is played again."""
        self._stop_listening(child)
        post.child = None
        reason = child.bury()
        play = self._play_of(child)
        if play is not None and not self._closing:
            self._try_again(play, reason)
        elif play is not None:
            self._withdraw(play)
        if not child.ready:
            self._could_not_start(post, reason)
        else:
            if play is not None or child.job is None:  # else its match was withdrawn
                self.replaced += 1
            self._man(post)
        self._note_change()

    def _look_for_silence(self) -> None:
        """End referees that hang; what happens then is as if they had died."""
        self._later(self._silence / 4, self._look_for_silence)
        loop = asyncio.get_running_loop()
        for post in self._posts:
            child = post.child
            if child is None or child.idle:
                continue
            silence = self._silence if child.ready else SILENCE
            if loop.time() - post.heard > silence:
                self._hear(post)  # it may have spoken, and it was us who did not listen
            if post.child is child and loop.time() - post.heard > silence:
                child.kill(f"it said nothing for {silence:g} s")

    # Matches

    def _play_of(self, child: RefereeChild) -> _Play | None:
        """Return the match that a referee plays, if it is still wanted."""
        play = self._plays.get(child.job.id) if child.job else None
        return play if play is not None and play.child is child else None

    def _hand_out(self) -> None:
        """Give jobs to the referees that have none."""
        for post in self._posts:
            if self._waiting and post.child and post.child.idle:
                play = self._waiting.popleft()
                play.tries += 1
                play.child = post.child
                play.begun = post.heard = asyncio.get_running_loop().time()
                self._send(post.child, play.job)
                self._tell(MatchStarted(play.job, f"core {post.cpu}", play.tries))
        self._note_change()

    def _finish(self, play: _Play, plain: dict[str, Any]) -> None:
        seconds = play.seconds + asyncio.get_running_loop().time() - play.begun
        result = match_from_plain(plain)
        try:
            play.live.finish(result)
        except StreamBroken as error:
            self._try_again(play, str(error))
        else:
            self._settle(play, MatchFinished(play.job, result, seconds))

    def _try_again(self, play: _Play, reason: str) -> None:
        """Forget a try that the platform broke off."""
        play.child = None
        play.seconds += asyncio.get_running_loop().time() - play.begun
        play.live.restart()
        self._tell(AttemptFailed(play.job, reason, play.tries))
        if self._closing:
            self._withdraw(play)
        elif play.tries >= MOST_TRIES:
            text = f"the match could not be finished in {MOST_TRIES} tries: {reason}"
            self._settle(play, MatchAbandoned(play.job, text, play.seconds))
        elif not play.future.cancelled():
            self._waiting.appendleft(play)
            self._hand_out()

    def _settle(self, play: _Play, outcome: Outcome) -> None:
        self._tell(outcome)
        del self._plays[play.job.id]
        if not play.future.done():
            play.future.set_result(outcome)

    def _withdraw(self, play: _Play) -> None:
        """Give up a match that is not over: its result is not wanted, or will not come."""
        if self._plays.get(play.job.id) is not play:
            return
        del self._plays[play.job.id]
        if play in self._waiting:
            self._waiting.remove(play)
        if play.child is not None:
            play.child.kill("its match was withdrawn")  # nothing else can interrupt it
        self._tell(MatchWithdrawn(play.job))
        play.future.cancel()
        self._note_change()

    # All together

    def _break(self, reason: str) -> None:
        """Give up: whoever waits for something is told why."""
        self._broken = reason
        plays = list(self._plays.values())
        self._plays.clear()
        self._waiting.clear()
        for play in plays:
            self._tell(MatchWithdrawn(play.job))
            if not play.future.done():
                play.future.set_exception(PlatformFault(reason))
        self._end_at_once()

    def _end_at_once(self) -> None:
        """End all referees without waiting for anything but their death."""
        self._closing = True
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        for post in self._posts:
            if post.child is not None:
                child, post.child = post.child, None
                self._stop_listening(child)
                child.kill()
                child.bury()
        for play in list(self._plays.values()):
            self._withdraw(play)
        self._note_change()

    def _tell(self, event: Event) -> None:
        """Tell an event at once; a mistake of the listener must not become one of ours."""
        try:
            self._on_event(event)
        except Exception as error:
            asyncio.get_running_loop().call_exception_handler(
                {
                    "message": f"on_event failed: {type(event).__name__} of job {event.job.id}",
                    "exception": error,
                }
            )

    def _check_open(self) -> None:
        if self._broken:
            raise PlatformFault(self._broken)
        if self._closing:
            raise RuntimeError("the dispatcher is closed")

    def _note_change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that comes with a change."""
        while True:
            if condition():
                return
            if self._broken:
                raise PlatformFault(self._broken)
            await self._changed.wait()

    def _later(self, seconds: float, step: Callable[[], None]) -> None:
        def run() -> None:
            self._timers.discard(timer)
            step()

        timer = asyncio.get_running_loop().call_later(seconds, run)
        self._timers.add(timer)
