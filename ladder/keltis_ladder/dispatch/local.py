"""The dispatcher of one machine: a referee per core, as child processes with pipes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from keltis_ladder.dispatch.child import CLOSING, MOST_TRIES, RefereeChild
from keltis_ladder.dispatch.dispatcher import (
    AttemptFailed,
    Event,
    MatchAbandoned,
    MatchFinished,
    MatchPostponed,
    MatchStarted,
    MatchStreamed,
    MatchWithdrawn,
    OnEvent,
    Outcome,
)
from keltis_ladder.dispatch.overlong import Overlong
from keltis_ladder.dispatch.supervisor import SILENCE, Supervisor
from keltis_ladder.match.excuses import Excuses
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.results import match_from_plain
from keltis_ladder.sandbox.shares import Share, default_cores, share_of_referee
from keltis_ladder.spectate.batches import batch_from_plain
from keltis_ladder.spectate.live_match import LiveMatch, StreamBroken


@dataclass(eq=False)
class _Play:
    """A job that is wanted, and how far it has come."""

    job: Job
    live: LiveMatch | None  # none: nobody watches
    future: asyncio.Future[Outcome]
    urgent: bool = False
    tries: int = 0
    child: RefereeChild | None = None  # that plays it
    begun: float = 0.0  # when the last try began
    seconds: float = 0.0  # that the tries took which are over


def _ignore(event: Event) -> None:
    """Let an event pass."""


class LocalDispatcher:
    """Plays jobs with referees on this machine; those that die or hang are replaced.

    Unless matches are ``watched``, decisions are not told: nothing is streamed, or ``playing``.
    """

    def __init__(
        self,
        cores: Iterable[int] | None = None,
        sandboxed: bool = True,
        on_event: OnEvent = _ignore,
        silence: float = SILENCE,
        nice: int = 0,
        share: Share | None = None,
        watched: bool = True,
    ) -> None:
        self.cores = sorted(cores if cores is not None else default_cores())
        self.sandboxed = sandboxed
        self.share = share or share_of_referee(len(self.cores))  # of the memory
        self._on_event = on_event
        self._nice = nice  # how much referees and bots give way to everything else
        self._watched = watched
        self._referees = Supervisor(self.cores, self._new_referee, self, silence)
        self._plays: dict[str, _Play] = {}  # all that are wanted, by id
        self._waiting: deque[_Play] = deque()
        self._excuses = Excuses()
        self._overlong = Overlong()
        self._change: asyncio.Future[None] | None = None  # that somebody waits for
        self._closing = False
        self._broken = ""  # why nothing can be played any more

    @property
    def free(self) -> int:
        """How many more jobs could begin at once."""
        if self._closing:
            return 0
        return max(0, len(self._referees.idle) - len(self._waiting))

    @property
    def busy(self) -> int:
        """How many referees have a job, or are being ended because it is not wanted any more."""
        return sum(child.job is not None for child in self._referees.children)

    @property
    def replaced(self) -> int:
        """How many referees died or hung."""
        return self._referees.replaced

    @property
    def suspects(self) -> Mapping[str, int]:
        """Bots whose matches alone do not come to their end, again and again; how often."""
        return self._overlong.suspects

    @property
    def pids(self) -> list[int]:
        """The processes of the referees."""
        return [child.process.pid for child in self._referees.children]

    @property
    def playing(self) -> dict[str, LiveMatch]:
        """The matches that have begun and are not over, by the ids of their jobs."""
        return {id: play.live for id, play in self._plays.items() if play.tries and play.live}

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
            self._referees.open()
            await self._until(lambda: self._referees.complete)
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
        future: asyncio.Future[Outcome] = self._referees.loop.create_future()
        live = LiveMatch(job) if self._watched else None
        play = self._plays[job.id] = _Play(job, live, future, urgent)
        future.add_done_callback(lambda future: self._withdraw(play))
        ahead = sum(each.urgent for each in self._waiting) if urgent else len(self._waiting)
        self._waiting.insert(ahead, play)
        self.hand_out()
        return future

    def withdraw_all(self) -> None:
        """Give up all matches that are not over, at once."""
        for play in list(self._plays.values()):
            self._withdraw(play)

    def change(self) -> asyncio.Future[None]:
        """Return what comes true as soon as anything here has changed; not to be cancelled."""
        if self._change is None:
            self._change = self._referees.loop.create_future()
        return self._change

    async def close(self, patience: float = CLOSING) -> None:
        """Begin no match, give those that are played some time, then end everything."""
        self._closing = True
        try:
            for play in list(self._waiting):
                self._withdraw(play)
            self._referees.retire()
            try:
                async with asyncio.timeout(patience):
                    await self._until(lambda: not self.pids)
            except TimeoutError:
                self._referees.kill("the dispatcher was closed")
                await self._until(lambda: not self.pids)
        finally:
            self._end_at_once()

    # What the supervisor tells

    def hear(self, child: RefereeChild, message: dict[str, Any]) -> None:
        """Take what a referee says of its match."""
        play = self._play_of(child)
        if play is None:
            return  # withdrawn: the referee is being ended
        if message["kind"] == "batch":
            if play.live is not None and (batch := batch_from_plain(message["entries"])):
                play.live.take(batch)
                self._tell(MatchStreamed(play.job, batch))
            return
        self._referees.free(child)
        if message["kind"] == "platform":
            self._try_again(play, child.cpu, message["text"])
        elif message["kind"] == "busy":
            self._postpone(play, child.cpu, message["text"], message["excused"])
        else:
            self._finish(play, child.cpu, message["match"])
        self.hand_out()

    def lose(self, child: RefereeChild, reason: str) -> None:
        """Have the match of a referee that died played again."""
        play = self._play_of(child)
        if play is not None and not self._closing:
            self._try_again(play, child.cpu, reason)
        elif play is not None:
            self._withdraw(play)

    def give_up(self, reason: str) -> None:
        """Come to an end: those who wait for something are told why."""
        self._broken = reason
        plays = list(self._plays.values())
        self._plays.clear()
        self._waiting.clear()
        for play in plays:
            self._tell(MatchWithdrawn(play.job))
            if not play.future.done():
                play.future.set_exception(PlatformFault(reason))
        self._end_at_once()

    def hand_out(self) -> None:
        """Give jobs to the referees that have none."""
        for child in self._referees.idle:
            if not (self._waiting and child.idle):  # a listener may want another match
                continue
            play = self._waiting.popleft()
            play.tries += 1
            play.child = child
            play.begun = self._referees.loop.time()
            excused = self._excuses.of([entrant.key for entrant in play.job.entrants])
            self._referees.give(child, play.job, excused)
            self._tell(MatchStarted(play.job, f"core {child.cpu}", play.tries))
        self.note_change()

    def note_change(self) -> None:
        """Wake those who wait for a change."""
        change, self._change = self._change, None
        if change is not None:
            change.set_result(None)

    # Matches

    def _new_referee(self, cpu: int) -> RefereeChild:
        return RefereeChild(cpu, self.sandboxed, self._watched, self.share, self._nice)

    def _play_of(self, child: RefereeChild) -> _Play | None:
        """Return the match that a referee plays, if it is still wanted."""
        play = self._plays.get(child.job.id) if child.job else None
        return play if play is not None and play.child is child else None

    def _finish(self, play: _Play, core: int, plain: dict[str, Any]) -> None:
        seconds = play.seconds + self._referees.loop.time() - play.begun
        result = match_from_plain(plain)
        try:
            if play.live is not None:
                play.live.finish(result)
        except StreamBroken as error:
            self._try_again(play, core, str(error))
        else:
            self._overlong.end(play.job, core)
            self._excuses.settle([entrant.key for entrant in play.job.entrants], result)
            self._settle(play, MatchFinished(play.job, result, seconds))

    def _forget_try(self, play: _Play, reason: str) -> None:
        """Forget a try that was broken off."""
        play.child = None
        play.seconds += self._referees.loop.time() - play.begun
        if play.live is not None:
            play.live.restart()
        self._tell(AttemptFailed(play.job, reason, play.tries))

    def _postpone(self, play: _Play, core: int, reason: str, excused: str | None) -> None:
        """Give back a match that the machine was too busy for, or that one bot drags on and on.

        To try it again at once would be of no use.
        """
        if excused is not None:
            self._excuses.grant(excused)
            dragged = False
        else:
            dragged = self._overlong.meet(play.job, core)
        if dragged:
            reason += ", or a bot in it drags it on: others came to their end there"
        self._forget_try(play, reason)
        if self._closing:
            self._withdraw(play)
        elif dragged:
            self._abandon(play, reason)
        else:
            self._settle(play, MatchPostponed(play.job, reason, play.seconds))

    def _try_again(self, play: _Play, core: int, reason: str) -> None:
        """Play a match again that the platform broke off, but not for ever."""
        self._forget_try(play, reason)
        if self._closing:
            self._withdraw(play)
        elif play.tries >= MOST_TRIES:
            self._overlong.meet(play.job, core)
            self._abandon(play, f"the match could not be finished in {MOST_TRIES} tries: {reason}")
        elif not play.future.cancelled():
            self._waiting.appendleft(play)
            self.hand_out()

    def _abandon(self, play: _Play, reason: str) -> None:
        suspects = self._overlong.suspects_in(play.job)
        self._settle(play, MatchAbandoned(play.job, reason, play.seconds, suspects))

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
            play.child.dismiss("its match was withdrawn")
        self._tell(MatchWithdrawn(play.job))
        play.future.cancel()
        self.note_change()

    # All together

    def _end_at_once(self) -> None:
        """End all referees without waiting for anything but their death."""
        self._closing = True
        self._referees.end_at_once()
        self.withdraw_all()
        self.note_change()

    def _tell(self, event: Event) -> None:
        """Tell an event at once; a mistake of the listener must not become one of ours."""
        try:
            self._on_event(event)
        except Exception as error:
            self._referees.loop.call_exception_handler(
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

    async def _until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that comes with a change."""
        while True:
            if condition():
                return
            if self._broken:
                raise PlatformFault(self._broken)
            await asyncio.shield(self.change())
