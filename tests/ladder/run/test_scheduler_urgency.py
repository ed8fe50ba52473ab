"""What somebody waits for is played first; our own bots alone leave the machine free."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path

from keltis_ladder.dispatch.dispatcher import Event, MatchStarted
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.orders import AT_ONCE_PRIORITY, Order, Purpose
from keltis_ladder.matchmaking.matchmaker import Matchmaker
from keltis_ladder.run.pace import Pace, PaceRules, Tempo
from keltis_ladder.run.playing import Playing
from keltis_ladder.run.programs import Programs
from keltis_ladder.run.scheduler import MatchAssigned, PaceChanged, Scheduler
from keltis_ladder.run.tournaments import Director
from keltis_ladder.run.transactions import Transactions
from keltis_ladder.store.matches.queue import add_job
from keltis_ladder.store.schema.moments import now
from tests.ladder.dispatch.support.playing import CORES
from tests.ladder.run.test_scheduler import CONTROL, Ladder, submit, until
from tests.ladder.support.small_bots import FIRST, entrant, write_bot

VARIANT = "weg-der-steine"
PATIENT = TimeControl(bank_ms=600_000, increment_ms=100)  # bots may have to wait for a test


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


class Seen(Scheduler):
    """A scheduler that tells how often it has looked around, or would have."""

    looks = 0

    def look(self) -> None:
        super().look()
        self.looks += 1


def run(ladder: Ladder, work: Work, reserve: int = 0, pace: Pace | None = None) -> None:
    """Let a scheduler work on one core while something happens."""

    async def together() -> None:
        dispatcher = LocalDispatcher(CORES[:1], sandboxed=False)
        await dispatcher.start()
        transactions = Transactions(ladder.database, Programs(ladder.home, None, print), PATIENT)
        scheduler = Seen(
            transactions,
            Director(transactions.database),
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

    async def __call__(self, ladder: Ladder, scheduler: Seen) -> None:
        raise NotImplementedError


class Gate:
    """Holds up bots where they are: a match that is being played does not end while it is shut."""

    def __init__(self, directory: Path) -> None:
        self._shut = directory / "shut"
        self._reached = directory / "reached"

    @property
    def is_reached(self) -> bool:
        """Whether a bot stands at it."""
        return self._reached.exists()

    def shut(self) -> None:
        self._shut.touch()

    def open(self) -> None:
        self._shut.unlink()

    @property
    def code(self) -> str:
        """What a bot does that stops at it."""
        shut, reached = str(self._shut), str(self._reached)
        return (
            f"while os.path.exists({shut!r}):\n"
            f"    open({reached!r}, 'w').close()\n"
            "    time.sleep(0.01)\n"
            f"{FIRST}"
        )

    def enter_two(self, ladder: Ladder, scratch: Path) -> tuple[int, ...]:
        """Put two bots on a ladder that stop at it."""
        return tuple(
            submit(
                ladder,
                write_bot(scratch / name, self.code, variants=[VARIANT], players=[2]),
                name,
            )
            for name in ("one", "two")
        )


def assigned(ladder: Ladder) -> list[Playing]:
    """Return the matches that have been begun."""
    return [news.playing for news in ladder.news if isinstance(news, MatchAssigned)]


def test_a_challenge_is_played_next_although_all_places_are_taken(tmp_path: Path) -> None:
    ladder, gate = Ladder(tmp_path / "ladder"), Gate(tmp_path)
    versions = gate.enter_two(ladder, tmp_path)
    told: list[str] = []

    class Challenge(Work):
        async def __call__(self, ladder: Ladder, scheduler: Seen) -> None:
            gate.shut()
            await until(lambda: gate.is_reached and len(scheduler.playing) == scheduler.width)
            with ladder.database.writing() as session:
                order = Order(
                    VARIANT, versions, Purpose.CHALLENGE, rated=False, priority=AT_ONCE_PRIORITY
                )
                id = add_job(session, order, now()).id
            scheduler.look()
            await until(lambda: id in [playing.job.id for playing in assigned(ladder)])
            gate.open()
            await until(lambda: id in [news.playing.job.id for news in ladder.told()])
            told.extend(news.playing.job.id for news in ladder.told())
            assert told.index(id) == 1  # after the match that was being played

    run(ladder, Challenge(), reserve=1)
    assert told


def test_a_new_version_plays_next_although_all_places_are_taken(tmp_path: Path) -> None:
    ladder, gate = Ladder(tmp_path / "ladder"), Gate(tmp_path)
    gate.enter_two(ladder, tmp_path)
    seen: list[int] = []

    class Newcomer(Work):
        async def __call__(self, ladder: Ladder, scheduler: Seen) -> None:
            await until(lambda: bool(ladder.told()))  # nobody is new any more
            gate.shut()
            await until(lambda: gate.is_reached and len(scheduler.playing) == scheduler.width)
            new = submit(
                ladder, write_bot(tmp_path / "new", variants=[VARIANT], players=[2]), "new"
            )
            held = set(scheduler.playing)  # one is being played, the other waits
            scheduler.look()
            await until(lambda: any(new in playing.order.versions for playing in assigned(ladder)))
            gate.open()
            await until(lambda: any(new in told.playing.order.versions for told in ladder.told()))
            told = [told.playing for told in ladder.told()]
            first = next(k for k, playing in enumerate(told) if new in playing.order.versions)
            seen.append(sum(playing.job.id in held for playing in told[:first]))

    run(ladder, Newcomer(), reserve=1)
    assert seen == [1]  # after the match that was being played


def test_our_own_bots_alone_play_one_match_at_a_time_until_a_guest_comes(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder")
    for name in ("one", "two", "three"):
        ladder.enter(name)
    widest: list[int] = []

    class Guest(Work):
        async def __call__(self, ladder: Ladder, scheduler: Seen) -> None:
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


class Refusing(Pace):
    """Counts how often the ladder wanted to play and had to wait."""

    refused = 0

    def wait(self) -> float:
        seconds = super().wait()
        self.refused += seconds > 0.0
        return seconds


def test_a_settled_ladder_plays_a_match_a_minute_and_a_new_version_at_once(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder")
    for name in ("one", "two", "three"):
        ladder.enter(name)
    clock = Hours()
    # Whatever a match teaches, it is too little.
    pace = Refusing(PaceRules(settled_below=1e6), clock)

    def begun() -> int:
        return sum(isinstance(news, MatchAssigned) for news in ladder.news)

    def stored(count: int) -> bool:
        return len(ladder.told()) == count

    async def refused_again(scheduler: Scheduler) -> None:
        """Wait until it has looked twice: what may begin does so before it is refused a match."""
        before = pace.refused
        scheduler.look()
        await until(lambda: pace.refused >= before + 2)

    class Settled(Work):
        async def __call__(self, ladder: Ladder, scheduler: Seen) -> None:
            # Three new versions: the first match has two of them, the second the third.
            await until(lambda: len(ladder.told()) >= 2 and not scheduler.playing)
            await refused_again(scheduler)
            assert begun() == 2
            assert PaceChanged(Tempo.SETTLED, 1.0) in ladder.news
            for minute in (1, 2):
                clock.time = 60.0 * minute
                scheduler.look()
                await until(partial(stored, 2 + minute))
                await refused_again(scheduler)
                assert begun() == 2 + minute
            newcomer = ladder.enter("four")
            scheduler.look()
            await until(
                lambda: any(newcomer in told.playing.order.versions for told in ladder.told())
            )
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

    class Noted(Pace):
        def begin(self) -> None:
            begins.append(time.monotonic())  # its own clock
            super().begin()

    class Limited(Work):
        async def __call__(self, ladder: Ladder, scheduler: Seen) -> None:
            await until(lambda: len(begins) >= 6)

    run(ladder, Limited(), pace=Noted(PaceRules(matches_per_minute=300, settled_below=0.0)))
    assert begins[5] - begins[0] >= 0.95  # five gaps of a fifth of a second


def test_nothing_begins_while_it_drains_and_it_goes_on_afterwards(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder")
    for name in ("one", "two"):
        ladder.enter(name)
    counts: list[int] = []

    class Drain(Work):
        async def __call__(self, ladder: Ladder, scheduler: Seen) -> None:
            await until(lambda: len(ladder.told()) >= 2)
            scheduler.draining = True
            began = sum(isinstance(news, MatchAssigned) for news in ladder.news)
            await until(lambda: not scheduler.playing)
            looks = scheduler.looks
            await until(lambda: scheduler.looks >= looks + 2)  # by itself, twice a second
            counts.append(sum(isinstance(news, MatchAssigned) for news in ladder.news) - began)
            scheduler.draining = False
            scheduler.look()
            told = len(ladder.told())
            await until(lambda: len(ladder.told()) > told)

    run(ladder, Drain())
    assert counts == [0]
