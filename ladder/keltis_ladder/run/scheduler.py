"""The scheduler runs a ladder: keeps the referees busy, and has their results stored.

It takes jobs from the queue, and lets the matchmaker propose others, each by its share. It may be
killed at any moment: what it was doing is in the database as leases, and what it had not stored
is played again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, ParamSpec, TypeVar

from sqlalchemy.exc import DBAPIError

from keltis_ladder.dispatch.dispatcher import (
    Dispatcher,
    MatchAbandoned,
    MatchFinished,
    MatchPostponed,
)
from keltis_ladder.match.orders import AT_ONCE_PRIORITY, Order, Purpose
from keltis_ladder.match.results import MatchResult
from keltis_ladder.matchmaking.candidates import History
from keltis_ladder.matchmaking.contenders import Contender
from keltis_ladder.matchmaking.fair_shares import Charge, Flow, FlowQueue, Shares
from keltis_ladder.matchmaking.matchmaker import Matchmaker
from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.ratings.skill import Belief
from keltis_ladder.run.backoff import Backoff
from keltis_ladder.run.blame import SUSPECT_SECONDS, Blame
from keltis_ladder.run.pace import AT_FULL_PACE, Pace, Tempo
from keltis_ladder.run.playing import Playing
from keltis_ladder.run.programs import Lacking
from keltis_ladder.run.resting import Resting
from keltis_ladder.run.tournaments import Director
from keltis_ladder.run.transactions import Transactions
from keltis_ladder.run.workshop import Workshop
from keltis_ladder.store.matches.finishing import Stored
from keltis_ladder.store.matches.queue import LEASE
from keltis_ladder.store.patience import patiently
from keltis_ladder.store.ratings.memory import Remembered
from keltis_ladder.store.schema.job_troubles import JobTrouble
from keltis_ladder.store.schema.version_states import VersionChanged

P = ParamSpec("P")
T = TypeVar("T")

TICK: Final = 0.5  # seconds between two looks at what others have changed
RENEW: Final = LEASE.total_seconds() / 4
LONGEST_PAUSE: Final = 60.0  # seconds without a match while all fail through a fault of ours
LADDER: Final = Flow(Purpose.LADDER)  # what the matchmaker proposes
LAST_RESULTS_SECONDS: Final = 15.0  # for results that are on their way when we stop


@dataclass(frozen=True)
class MatchAssigned:
    """A match goes to a referee."""

    playing: Playing


@dataclass(frozen=True)
class ResultStored:
    """A match was played, and its result is stored."""

    playing: Playing
    result: MatchResult
    stored: Stored


@dataclass(frozen=True)
class PlatformTrouble:
    """Something went wrong that is no bot's fault."""

    text: str


@dataclass(frozen=True)
class PaceChanged:
    """The ladder plays faster or slower from now on."""

    tempo: Tempo
    per_minute: float | None  # matches of the ladder that may begin; none: any number


News = MatchAssigned | ResultStored | VersionChanged | PlatformTrouble | PaceChanged


class Scheduler:
    """Runs matches until it is told to stop."""

    def __init__(
        self,
        transactions: Transactions,
        director: Director,
        dispatcher: Dispatcher,
        matchmaker: Matchmaker | None,
        on_news: Callable[[News], None],
        width: int,
        reserve: int = 0,
        pace: Pace | None = None,
        shares: Shares | None = None,
    ) -> None:
        self.transactions = transactions
        self.dispatcher = dispatcher
        self.matchmaker = matchmaker  # none: only what is in the queue is played
        self.on_news = on_news
        self.width = width  # matches at once: more than there are referees, so that none waits
        self.reserve = reserve  # so many more if they are urgent
        self.pace = pace or Pace(AT_FULL_PACE)  # of what the matchmaker proposes
        self.turns = FlowQueue(shares or Shares())  # of the ladder, tournaments and challenges
        self.draining = False  # no match begins, until somebody says otherwise
        self.director = director  # one in a process, since it remembers how its tournaments stand
        self.playing: dict[str, Playing] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._active: set[int] = set()  # versions that the matchmaker knows
        self._guests: set[int] = set()  # those of them that are not our own
        self._waiting: set[Flow] = set()  # what waits in the queue, as far as we know
        self._queue_changed = True
        self._look_wanted = True
        self._stopping = False
        self._failure: BaseException | None = None
        self._woken = asyncio.Event()
        self._alarm: asyncio.TimerHandle | None = None  # when the pace lets the next match begin
        self._storing = asyncio.Lock()  # results are told in the order in which they are stored
        self._backoff = Backoff(LONGEST_PAUSE)
        self._blame = Blame()
        self._resting = Resting()
        self._pause: asyncio.TimerHandle | None = None  # no match begins: the last ones failed
        self.workshop = Workshop(
            transactions.programs,
            on_ready=self.look,
            on_broken=self._set_aside,
            on_trouble=lambda text: on_news(PlatformTrouble(text)),
        )

    def stop(self) -> None:
        """Begin no more matches, and come to an end."""
        self._stopping = True
        self._woken.set()

    def look(self) -> None:
        """Look at once for what others have changed: a new version, a tournament, a job."""
        self._look_wanted = True
        self._woken.set()

    async def until_stored(self, id: str, patience: float) -> None:
        """Wait for the result of a match that was played and is being stored, if it is one."""
        task = self._tasks.get(id)
        if task is not None and id not in self.playing:
            await asyncio.wait([task], timeout=patience)

    async def run(self) -> None:
        """Play until told to stop; then hand back what is not finished."""
        recovered = await asyncio.to_thread(self.transactions.recover)
        if recovered:
            self.on_news(
                PlatformTrouble(f"{len(recovered)} matches of a process that ended come again")
            )
        if self.matchmaker is not None:
            self.matchmaker.number = await self._patiently(self.transactions.matches_stored)
        keepers = [
            asyncio.create_task(self._every(RENEW, self._renew)),
            asyncio.create_task(self._every(TICK, self._tick)),
        ]
        for keeper in keepers:
            keeper.add_done_callback(self._note_failure)
        try:
            while not self._stopping:
                self._woken.clear()
                await self._fill()
                await self._woken.wait()
        finally:
            for keeper in keepers:
                keeper.cancel()
            for timer in (self._pause, self._alarm):
                if timer is not None:
                    timer.cancel()
            await self.workshop.close()
            await self._hand_back()

    async def _fill(self) -> None:
        """Find matches until there are enough."""
        while not self._stopping and not self.draining and self._pause is None:
            if self._look_wanted:
                self._look_wanted = False
                await self._look_around()
            elif len(self.playing) >= self.width + self.reserve or self._is_behind():
                return
            elif self._queue_changed:
                self._queue_changed = False
                self._waiting = await self._patiently(
                    self.transactions.waiting, self._unseated(), self._left_alone()
                )
            elif not await self._begin_next():
                return

    def _is_behind(self) -> bool:
        """Return whether results come faster than they can be stored: they wait in memory."""
        return len(self._tasks) - len(self.playing) >= self.width + self.reserve

    async def _begin_next(self) -> bool:
        """Begin a match of those whose turn it is; tell whether to look for another.

        Places in reserve are for who waits: authors of new versions, and of challenges.
        """
        if self.matchmaker is not None and self.matchmaker.newcomers and await self._propose():
            return True
        wanting = sorted(self._waiting, key=lambda flow: (flow.purpose, flow.author or 0))
        if LADDER not in self._waiting and self._may_propose():
            wanting.append(LADDER)
        if not wanting:
            return False
        flow = self.turns.next(wanting)
        full = len(self.playing) >= self.width
        if full and flow.purpose != Purpose.CHALLENGE:
            return False
        if flow not in self._waiting:
            return await self._propose()
        if not await self._take(flow, AT_ONCE_PRIORITY if full else None):
            self._waiting.discard(flow)
        return True

    async def _take(self, flow: Flow, least: int | None) -> bool:
        """Begin what waits longest of a flow; tell whether there was anything."""
        taken = await self._patiently(
            self.transactions.take, flow, least, self._unseated(), self._left_alone()
        )
        for playing in taken.playing:
            if self.draining:  # since a moment ago
                await self._patiently(self.transactions.give_back, playing.order.id)
            else:
                if self.matchmaker and playing.order.rated:
                    self.matchmaker.resume(playing.order)
                self._begin(playing)
        self._prepare(taken.lacking)
        return bool(taken.playing or taken.lacking)

    def _unseated(self) -> frozenset[int]:
        """Return the versions that do not play now: not ready, or held back."""
        return self.workshop.waiting | self._blame.held_back

    def _left_alone(self) -> frozenset[str]:
        """Return the jobs that are not to be taken now: they rest, or we have them in hand.

        A lease of ours may have ended, because the machine was too busy to renew it in time.
        """
        return self._resting.ids | self._tasks.keys()

    def _prepare(self, lacking: list[Lacking]) -> None:
        """Have programs made ready; until then their versions are not seated anywhere."""
        for one in lacking:
            if one.version.id is not None:
                self._forget(one.version.id)
            if task := self.workshop.prepare(one):
                task.add_done_callback(self._note_failure)

    def _may_propose(self) -> bool:
        """Return whether the ladder has a match to play now, if there is room for it."""
        if self.matchmaker is None:
            return False
        gain = self.matchmaker.best_gain()
        if self.pace.judge(gain, house_only=not self._guests):
            self.on_news(PaceChanged(self.pace.tempo, self.pace.per_minute))
        if gain is None:  # nobody may meet
            return False
        at_once = self.pace.at_once
        mine = sum(playing.order.purpose == Purpose.LADDER for playing in self.playing.values())
        if at_once is not None and mine >= at_once:
            return False
        wait = self.pace.wait()
        if wait:
            self._wake_in(wait)
        return not wait

    def be_watched(self, watched: bool) -> None:
        """Take note whether anybody looks: a settled ladder then plays a little more."""
        before = self.pace.per_minute
        self.pace.watched = watched
        if self.pace.per_minute != before:
            self.on_news(PaceChanged(self.pace.tempo, self.pace.per_minute))
            self.look()

    def _wake_in(self, seconds: float) -> None:
        """Look for a match again after a while."""
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = asyncio.get_running_loop().call_later(seconds, self._woken.set)

    async def _propose(self) -> bool:
        """Begin the match that the matchmaker proposes; tell whether there was one."""
        order = self.matchmaker.propose() if self.matchmaker else None
        if order is None:
            return False
        taken = await self._patiently(self.transactions.order, order)
        for playing in taken.playing:
            if self.draining:  # since a moment ago
                self._abandon(order)
                await self._patiently(self.transactions.give_back, order.id)
            else:
                self.pace.begin()
                self._begin(playing)
        if taken.lacking:
            self._abandon(order)
            self._prepare(taken.lacking)
        return True

    def _abandon(self, order: Order) -> None:
        """Tell the matchmaker that a match of its ladder has no result; all rated ones are."""
        if self.matchmaker and order.rated:
            self.matchmaker.abandoned(order)

    def _begin(self, playing: Playing) -> None:
        id = playing.order.id
        self.playing[id] = playing
        charge = self.turns.begin(playing.flow)
        task = self._tasks[id] = asyncio.create_task(self._play(playing, charge))
        task.add_done_callback(lambda task: self._ended(id, task))
        self.on_news(MatchAssigned(playing))

    def _ended(self, id: str, task: asyncio.Task[None]) -> None:
        del self._tasks[id]
        self.playing.pop(id, None)
        self._woken.set()
        self._note_failure(task)

    def _note_failure(self, task: asyncio.Task[None]) -> None:
        """Come to an end if something of ours failed; ``run`` raises it."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failure = self._failure or error
            self.stop()

    async def _play(self, playing: Playing, charge: Charge) -> None:
        """Have a match played, and its result stored."""
        order, id = playing.order, playing.order.id
        outcome = await self.dispatcher.submit(playing.job, order.urgent)
        self.turns.end(charge, outcome.seconds)
        self.playing.pop(id, None)
        self._woken.set()  # a referee is free: find the next match while this one is stored
        if not isinstance(outcome, MatchFinished):
            self._slow_down(playing, outcome)
            trouble = JobTrouble.PLATFORM
            if isinstance(outcome, MatchPostponed):
                trouble = JobTrouble.BUSY
                self._resting.add(id)
            await self._patiently(self.transactions.give_back, id, trouble, outcome.reason)
            self._abandon(order)
        else:
            self._backoff.succeeded()
            self._blame.succeeded()
            async with self._storing:
                stored = await self._patiently(self.transactions.store, playing, outcome.result)
                self._learn(order, stored)
                self.on_news(ResultStored(playing, outcome.result, stored))
                for change in stored.broken:
                    self.on_news(change)
        if order.tournament_id is not None:
            await self._patiently(self.director.advance, order.tournament_id)
            self._queue_changed = True
            self._woken.set()

    def _slow_down(self, playing: Playing, outcome: MatchAbandoned | MatchPostponed) -> None:
        """Begin nothing for a while that would fail, too: a bot's matches, or all of them."""
        names = dict(
            zip(playing.order.versions, (each.name for each in playing.job.entrants), strict=True)
        )
        suspects = outcome.suspects if isinstance(outcome, MatchAbandoned) else ()
        held = frozenset(version for version, name in names.items() if name in suspects)
        seconds = SUSPECT_SECONDS
        if not held:
            held, seconds = self._blame.failed(names), self._backoff.failed()
        if held:
            self._blame.hold_back(held, seconds)
            asyncio.get_running_loop().call_later(seconds, self.look)
            for version in held:
                self._forget(version)
            whose = " of " + ", ".join(name for version, name in names.items() if version in held)
        else:
            if self._pause is not None:
                self._pause.cancel()
            self._pause = asyncio.get_running_loop().call_later(seconds, self._go_on)
            whose = ""
        text = f"{outcome.reason}; no match{whose} begins for {seconds:.0f} s"
        self.on_news(PlatformTrouble(text))

    def _go_on(self) -> None:
        self._pause = None
        self.look()

    async def _set_aside(self, version: int, reason: str) -> None:
        """Take a version off the ladder whose program cannot be built."""
        change = await self._patiently(self.transactions.set_aside, version, reason)
        if change is not None:
            self.on_news(change)

    def _learn(self, order: Order, stored: Stored) -> None:
        """Tell the matchmaker what a match has taught."""
        if self.matchmaker is None:
            return
        if order.rated:
            learnt: dict[int, dict[Scope, Belief]] = {}
            for (version, scope), belief in stored.beliefs.items():
                learnt.setdefault(version, {})[scope] = belief
            self.matchmaker.finished(order, learnt)
        for change in stored.broken:
            self._forget(change.version_id)

    async def _look_around(self) -> None:
        """Take note of what others have changed: versions, tournaments, jobs."""
        if self.matchmaker is not None:
            known = self._unseated() | self._active
            entered, left = await self._patiently(self.transactions.changes, known)
            for version in left:
                self._forget(version)
            for remembered in entered:
                self._active.add(remembered.version)
                if not remembered.house:
                    self._guests.add(remembered.version)
                self.matchmaker.enter(*_introduce(remembered))
        for id in await self._patiently(self.director.due):
            await self._patiently(self.director.advance, id)
        self._queue_changed = True

    def _forget(self, version: int) -> None:
        if self.matchmaker is not None and version in self._active:
            self._active.discard(version)
            self._guests.discard(version)
            self.matchmaker.withdraw(version)

    async def _renew(self) -> None:
        """Hold the leases of what we play; one that somebody else has now is still played on.

        Whose result comes first counts.
        """
        await self._patiently(self.transactions.renew, list(self._tasks))

    async def _tick(self) -> None:
        self.look()

    async def _every(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            await work()

    async def _patiently(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do something with the database in a thread; wait for a database that is down."""
        return await patiently(
            partial(asyncio.to_thread, work, *args, **kwargs), self._tell_it_is_down
        )

    def _tell_it_is_down(self, error: DBAPIError) -> None:
        if self._stopping and not self._tasks:
            raise error
        self.on_news(PlatformTrouble(f"the database does not answer: {error.orig}"))

    async def _hand_back(self) -> None:
        """Give up what is being played, and wait for the results that are on their way."""
        under_way = list(self.playing)
        for id in under_way:
            self._tasks[id].cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=LAST_RESULTS_SECONDS)
        for task in list(self._tasks.values()):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        try:
            for id in under_way:
                await asyncio.to_thread(self.transactions.give_back, id)
        except DBAPIError as error:
            self.on_news(
                PlatformTrouble(f"leases could not be given back, and will end: {error.orig}")
            )
        if self._failure is not None:
            raise self._failure


def _introduce(version: Remembered) -> tuple[Contender, dict[Scope, Belief], History]:
    contender = Contender(
        version=version.version,
        bot=version.bot,
        author=version.author,
        house=version.house,
        variants=version.variants,
        players=version.players,
    )
    history = History(version.played, version.last, version.table, version.met)
    return contender, version.beliefs, history
