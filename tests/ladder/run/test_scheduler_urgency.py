"""What somebody waits for is played first; our own bots alone leave the machine free."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from keltis_ladder.dispatch.dispatcher import Event, MatchStarted
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.match.jobs import Job
from keltis_ladder.matchmaking.matchmaker import Matchmaker
from keltis_ladder.run.pace import Pace, PaceRules, Tempo
from keltis_ladder.run.programs import Programs
from keltis_ladder.run.scheduler import MatchAssigned, PaceChanged, Scheduler
from keltis_ladder.run.transactions import Transactions
from keltis_ladder.store.matches.queue import AT_ONCE, Order, add_job
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import Purpose
from tests.ladder.dispatch.support.playing import CORES
from tests.ladder.run.test_scheduler import CONTROL, Ladder, submit, until
from tests.ladder.support.small_bots import FIRST, entrant, write_bot

VARIANT = "weg-der-steine"
SLOWLY = "time.sleep(0.02)\n" + FIRST


def test_an_urgent_match_goes_before_those_that_wait_but_not_before_another(
    tmp_path: Path,
) -> None:
    bots = tuple(entrant(write_bot(tmp_path / name)) for name in ("one", "two"))
    first, waiting, urgent, next_urgent = (Job(VARIANT, {}, 7, bots, CONTROL) for _ in range(4))
    started: list[str] = []

    def note(event: Event) -> None:
        if isinstance(event, MatchStarted):
            started.append(event.job.id)

    async def play() -> None:
        async with LocalDispatcher(CORES[:1], sandboxed=False, on_event=note) as dispatcher:
            await asyncio.gather(
                dispatcher.submit(first),
                dispatcher.submit(waiting),
                dispatcher.submit(urgent, urgent=True),
                dispatcher.submit(next_urgent, urgent=True),
            )

    asyncio.run(play())
    assert started == [first.id, urgent.id, next_urgent.id, waiting.id]


def run(ladder: Ladder, work: Work, reserve: int = 0, pace: Pace | None = None) -> None:
    """Let a scheduler work on one core while something happens."""

    async def together() -> None:
        dispatcher = LocalDispatcher(CORES[:1], sandboxed=False)
        await dispatcher.start()
        transactions = Transactions(ladder.database, Programs(ladder.home, None, print), CONTROL)
        scheduler = Scheduler(
            transactions,
            dispatcher,
            Matchmaker(),
            ladder.news.append,
            width=2,
            reserve=reserve,
            pace=pace,
        )
        running = asyncio.create_task(scheduler.run())
        try:
            await work(ladder, scheduler)
            scheduler.stop()
            await running
        finally:
            await dispatcher.close()

    asyncio.run(together())


class Work:
    """Something that happens while a scheduler works."""

    async def __call__(self, ladder: Ladder, scheduler: Scheduler) -> None:
        raise NotImplementedError


class Challenge(Work):
    """Waits until everything is taken, then wants a match at once."""

    def __init__(self, versions: tuple[int, ...]) -> None:
        self.versions = versions
        self.id = ""
        self.ahead = 0  # results that came before it

    async def __call__(self, ladder: Ladder, scheduler: Scheduler) -> None:
        await until(lambda: len(scheduler.playing) == scheduler.width)
        with ladder.database.writing() as session:
            order = Order(VARIANT, self.versions, Purpose.CHALLENGE, rated=False, priority=AT_ONCE)
            self.id = add_job(session, order, now()).id
        before = len(ladder.told())
        scheduler.look()
        await until(lambda: self.id in [told.playing.job.id for told in ladder.told()])
        self.ahead = len(ladder.told()) - before - 1


def slow_ladder(ladder: Ladder, tmp_path: Path) -> tuple[int, ...]:
    """Put two bots on a ladder whose matches take some time."""
    return tuple(
        submit(ladder, write_bot(tmp_path / name, SLOWLY, variants=[VARIANT], players=[2]), name)
        for name in ("one", "two")
    )


def test_a_challenge_is_played_next_although_all_places_are_taken(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder")
    challenge = Challenge(slow_ladder(ladder, tmp_path))
    run(ladder, challenge, reserve=1)
    assert challenge.ahead <= 1  # the match that was being played


def test_a_new_version_plays_next_although_all_places_are_taken(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder")
    slow_ladder(ladder, tmp_path)
    seen: list[int] = []

    class Newcomer(Work):
        async def __call__(self, ladder: Ladder, scheduler: Scheduler) -> None:
            await until(lambda: len(scheduler.playing) == scheduler.width and bool(ladder.told()))
            new = submit(
                ladder, write_bot(tmp_path / "new", variants=[VARIANT], players=[2]), "new"
            )
            before = len(ladder.told())
            scheduler.look()
            await until(lambda: any(new in told.playing.versions for told in ladder.told()))
            after = [new in told.playing.versions for told in ladder.told()[before:]]
            seen.append(after.index(True))

    run(ladder, Newcomer(), reserve=1)
    assert seen[0] <= 1  # the match that was being played


def test_our_own_bots_alone_play_one_match_at_a_time_until_a_guest_comes(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder")
    for name in ("one", "two", "three"):
        ladder.enter(name)
    widest: list[int] = []

    class Guest(Work):
        async def __call__(self, ladder: Ladder, scheduler: Scheduler) -> None:
            def enough() -> bool:
                widest.append(len(scheduler.playing))
                return len(ladder.told()) >= 10

            await until(lambda: len(ladder.told()) >= 5)  # they all have had their first match
            await until(enough)
            submit(ladder, write_bot(tmp_path / "guest", variants=[VARIANT], players=[2]), "guest")
            await until(lambda: len(scheduler.playing) > 1)

    run(ladder, Guest(), pace=Pace(PaceRules(calm=True)))
    assert max(widest) == 1


class Hours:
    """A clock that stands still until somebody moves it."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def test_a_settled_ladder_plays_a_match_a_minute_and_a_new_version_at_once(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder")
    for name in ("one", "two", "three"):
        ladder.enter(name)
    clock = Hours()
    pace = Pace(PaceRules(settled_below=1e6), clock)  # whatever a match teaches, it is too little

    def begun() -> int:
        return sum(isinstance(news, MatchAssigned) for news in ladder.news)

    def stored(count: int) -> bool:
        return len(ladder.told()) == count

    class Settled(Work):
        async def __call__(self, ladder: Ladder, scheduler: Scheduler) -> None:
            # Three new versions: the first match has two of them, the second the third.
            await until(lambda: len(ladder.told()) >= 2 and not scheduler.playing)
            await asyncio.sleep(1.2)  # longer than two looks around
            assert begun() == 2
            assert PaceChanged(Tempo.SETTLED, 1.0) in ladder.news
            for minute in (1, 2):
                clock.time = 60.0 * minute
                scheduler.look()
                await until(partial(stored, 2 + minute))
                await asyncio.sleep(0.7)
                assert begun() == 2 + minute
            newcomer = ladder.enter("four")
            scheduler.look()
            await until(lambda: any(newcomer in told.playing.versions for told in ladder.told()))
            assert begun() == 5
            with ladder.database.writing() as session:  # what somebody asks for does not wait
                add_job(session, Order(VARIANT, (newcomer, 1), purpose=Purpose.CHALLENGE), now())
            scheduler.look()
            await until(lambda: len(ladder.told()) == 6)
            assert begun() == 6

    run(ladder, Settled(), pace=pace)


def test_a_limit_is_kept_to_by_the_matches_of_the_ladder(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder")
    for name in ("one", "two"):
        ladder.enter(name)
    begins: list[float] = []

    class Limited(Work):
        async def __call__(self, ladder: Ladder, scheduler: Scheduler) -> None:
            loop = asyncio.get_running_loop()

            def enough() -> bool:
                begun = sum(isinstance(news, MatchAssigned) for news in ladder.news)
                begins.extend([loop.time()] * (begun - len(begins)))
                return begun >= 6

            await until(enough)

    run(ladder, Limited(), pace=Pace(PaceRules(matches_per_minute=300, settled_below=0.0)))
    # The first five gaps are five fifths of a second, less what our looking was late at the first.
    assert begins[5] - begins[0] >= 0.95


def test_nothing_begins_while_it_drains_and_it_goes_on_afterwards(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder")
    for name in ("one", "two"):
        ladder.enter(name)
    counts: list[int] = []

    class Drain(Work):
        async def __call__(self, ladder: Ladder, scheduler: Scheduler) -> None:
            await until(lambda: len(ladder.told()) >= 2)
            scheduler.draining = True
            await asyncio.sleep(0.3)  # one may be on its way already
            await until(lambda: not scheduler.playing)
            began = sum(isinstance(news, MatchAssigned) for news in ladder.news)
            await asyncio.sleep(0.7)  # longer than it takes to look around
            counts.append(sum(isinstance(news, MatchAssigned) for news in ladder.news) - began)
            scheduler.draining = False
            scheduler.look()
            told = len(ladder.told())
            await until(lambda: len(ladder.told()) > told)

    run(ladder, Drain())
    assert counts == [0]
