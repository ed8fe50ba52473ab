"""The scheduler keeps a ladder going: all it has played is stored, nothing is left behind."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlmodel import select

from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.orders import Order
from keltis_ladder.match.reasons import MatchReason, Reason
from keltis_ladder.match.results import MatchResult
from keltis_ladder.matchmaking.fair_shares import Flow
from keltis_ladder.matchmaking.matchmaker import Matchmaker
from keltis_ladder.run.course import Entry
from keltis_ladder.run.playing import Playing
from keltis_ladder.run.programs import Programs, enter_program, keep_program
from keltis_ladder.run.scheduler import (
    MatchAssigned,
    News,
    PlatformTrouble,
    ResultStored,
    Scheduler,
)
from keltis_ladder.run.tournaments import Director
from keltis_ladder.run.transactions import Transactions
from keltis_ladder.store.bots.catalogue import (
    HOUSE,
    add_version,
    ensure_author,
    ensure_bot,
    set_aside,
)
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_ladder.store.matches.finishing import Stored
from keltis_ladder.store.matches.queue import LEASE, add_job
from keltis_ladder.store.ratings.recomputing import compare
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import (
    FaultRecord,
    Job,
    JobState,
    Match,
    Rating,
    TournamentState,
    Version,
)
from keltis_ladder.store.schema.version_states import VersionCause, VersionState
from keltis_ladder.tournaments.plan import Plan
from tests.ladder.store.support.templates import place_database
from tests.ladder.support.small_bots import write_bot

CONTROL = TimeControl(bank_ms=20_000, increment_ms=100)
PATIENCE = 300.0


class Ladder:
    """A ladder in a directory of its own, with what its scheduler says."""

    def __init__(self, directory: Path) -> None:
        self.home = Home(directory, str(place_database(directory / "ladder.db")))
        self.database = self.home.open()
        self.news: list[News] = []

    def enter(self, name: str, program: str | None = "random") -> int:
        with self.database.writing() as session:
            bot = ensure_bot(session, ensure_author(session, HOUSE, house=True), name)
            version, _ = add_version(
                session,
                bot,
                variants=["weg-der-steine"],
                players=[2],
                program=f"{program} 0" if program else None,
                cause=VersionCause.ENTERED,
            )
            assert version.id is not None
            return version.id

    def told(self) -> list[ResultStored]:
        return [news for news in self.news if isinstance(news, ResultStored)]

    def run(
        self,
        enough: Callable[["Ladder", Scheduler], bool],
        matchmaking: bool = True,
        make_transactions: type[Transactions] = Transactions,
    ) -> None:
        """Let the scheduler work until it is enough."""

        async def work() -> None:
            dispatcher = LocalDispatcher(sandboxed=False)
            await dispatcher.start()
            transactions = make_transactions(
                self.database, Programs(self.home, None, print), CONTROL
            )
            matchmaker = Matchmaker() if matchmaking else None
            scheduler = Scheduler(
                transactions,
                Director(transactions.database),
                dispatcher,
                matchmaker,
                self.news.append,
                width=3,
            )
            running = asyncio.create_task(scheduler.run())
            try:
                await until(lambda: running.done() or enough(self, scheduler))
                scheduler.stop()
                await running
            finally:
                await dispatcher.close()

        asyncio.run(work())


async def until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.01)


@pytest.fixture
def ladder(tmp_path: Path) -> Ladder:
    return Ladder(tmp_path)


def jobs_by_state(database: Database) -> dict[str, int]:
    with database.reading() as session:
        states = list(session.exec(select(Job.state)))
    return {state: states.count(state) for state in states}


def test_matches_are_stored_as_they_are_told_and_ratings_recompute(ladder: Ladder) -> None:
    for name in ("one", "two", "three"):
        ladder.enter(name)
    ladder.run(lambda ladder, _: len(ladder.told()) >= 12)
    told = ladder.told()
    with ladder.database.reading() as session:
        stored = {match.job_id: match.number for match in session.exec(select(Match))}
        found, _ = compare(session)
        assert session.exec(select(FaultRecord)).all() == []
    assert {news.playing.job.id: news.stored.number for news in told} == stored
    assert found.equal
    assert found.matches == len(told)


class SlowTransactions(Transactions):
    """Takes longer to store a result than a match takes."""

    def store(self, playing: Playing, result: MatchResult) -> Stored:
        time.sleep(0.2)
        return super().store(playing, result)


def test_no_more_begins_than_can_be_stored(ladder: Ladder) -> None:
    for name in ("one", "two", "three"):
        ladder.enter(name)
    widths: set[int] = set()

    def enough(ladder: Ladder, scheduler: Scheduler) -> bool:
        widths.add(scheduler.width)
        return len(ladder.told()) >= 6

    ladder.run(enough, make_transactions=SlowTransactions)
    begun = stored = most = 0
    for news in ladder.news:
        begun += isinstance(news, MatchAssigned)
        stored += isinstance(news, ResultStored)
        most = max(most, begun - stored)
    (width,) = widths
    # As many as wait to be stored when the last one begins, those being played, and that one.
    assert most <= 2 * width


class LateTransactions(Transactions):
    """Stores the first result only when its lease has ended and the queue was looked at again."""

    late = ""
    looks = 0

    def waiting(self, without: frozenset[int], resting: frozenset[str]) -> set[Flow]:
        found = super().waiting(without, resting)
        self.looks += 1
        return found

    def store(self, playing: Playing, result: MatchResult) -> Stored:
        if not self.late:
            self.late = playing.order.id
            with self.database.writing() as session:
                session.get_one(Job, self.late).lease_until = now() - LEASE
            enough, deadline = self.looks + 3, time.monotonic() + PATIENCE
            while self.looks < enough and time.monotonic() < deadline:
                time.sleep(0.01)
        return super().store(playing, result)


def test_a_match_whose_result_is_still_to_be_stored_is_not_played_again(ladder: Ladder) -> None:
    versions = (ladder.enter("one"), ladder.enter("two"))
    with ladder.database.writing() as session:
        wanted = add_job(session, Order("weg-der-steine", versions), now()).id
    ladder.run(
        lambda ladder, _: bool(ladder.told()),
        matchmaking=False,
        make_transactions=LateTransactions,
    )
    assert [news.playing.order.id for news in ladder.told()] == [wanted]
    assert sum(isinstance(news, MatchAssigned) for news in ladder.news) == 1
    with ladder.database.reading() as session:
        assert session.get_one(Job, wanted).tries == 1, "a lease that ended is no try"


def test_what_is_under_way_when_it_stops_is_played_by_the_next_one(ladder: Ladder) -> None:
    for name in ("one", "two"):
        ladder.enter(name)
    ladder.run(lambda ladder, scheduler: len(ladder.told()) >= 2 and len(scheduler.playing) > 1)
    states = jobs_by_state(ladder.database)
    assert JobState.LEASED not in states
    assert states[JobState.WAITING] >= 1
    waiting = states[JobState.WAITING]
    before = len(ladder.told())
    ladder.run(lambda ladder, _: len(ladder.told()) >= before + waiting, matchmaking=False)
    assert jobs_by_state(ladder.database) == {JobState.DONE: before + waiting}


def test_a_new_version_plays_at_once(ladder: Ladder) -> None:
    for name in ("one", "two", "three", "four"):
        ladder.enter(name)
    newcomer: list[int] = []
    entered_at: list[int] = []

    def enough(ladder: Ladder, scheduler: Scheduler) -> bool:
        if len(ladder.told()) >= 5 and not newcomer:
            newcomer.append(ladder.enter("newcomer"))
            entered_at.append(len(ladder.news))
            scheduler.look()
        return any(
            newcomer and newcomer[0] in news.playing.order.versions for news in ladder.told()
        )

    ladder.run(enough)
    mine = next(
        news
        for news in ladder.news
        if isinstance(news, MatchAssigned) and newcomer[0] in news.playing.order.versions
    )
    assert mine.playing.order.reason == Reason(MatchReason.NEW_VERSION)
    # Whatever began after it came, began after its own first match, or was proposed before.
    assert len(entered_at) == 1
    between = ladder.news[entered_at[0] : ladder.news.index(mine)]
    assert sum(isinstance(news, MatchAssigned) for news in between) <= 1


def test_who_leaves_is_not_seated_any_more(ladder: Ladder) -> None:
    versions = [ladder.enter(name) for name in ("one", "two", "three")]
    gone: list[int] = []

    def enough(ladder: Ladder, scheduler: Scheduler) -> bool:
        if len(ladder.told()) >= 4 and not gone:
            with ladder.database.writing() as session:
                set_aside(session, versions[0], VersionCause.TAKEN_BACK, text="enough")
            gone.append(len(ladder.news))
            scheduler.look()
        return bool(gone) and len(begun_since(gone[0])) > 10

    def begun_since(moment: int) -> list[MatchAssigned]:
        return [news for news in ladder.news[moment:] if isinstance(news, MatchAssigned)]

    ladder.run(enough)
    late = begun_since(gone[0])[1:]  # the first may have been about to begin
    assert all(versions[0] not in news.playing.order.versions for news in late)


def test_a_bot_from_a_directory_plays_and_a_changed_one_is_a_new_version(
    ladder: Ladder, tmp_path: Path
) -> None:
    directory = write_bot(tmp_path / "mine", variants=["weg-der-steine"], players=[2])
    ladder.enter("one")
    first = submit(ladder, directory)
    assert submit(ladder, directory) == first
    write_bot(directory, "return request.legal[-1]", variants=["weg-der-steine"], players=[2])
    second = submit(ladder, directory)
    assert second != first

    def enough(ladder: Ladder, _: Scheduler) -> bool:
        return any(second in news.playing.order.versions for news in ladder.told())

    ladder.run(enough)
    assert all(first not in news.playing.order.versions for news in ladder.told())
    with ladder.database.reading() as session:
        assert session.exec(select(FaultRecord)).all() == []
        old = session.get(Version, first)
        assert old is not None
        assert old.state == VersionState.SUPERSEDED


def submit(ladder: Ladder, directory: Path, name: str = "Ada") -> int:
    manifest, kept = keep_program(ladder.home, directory)
    with ladder.database.writing() as session:
        author = ensure_author(session, name)
        version = enter_program(session, author, manifest, kept, VersionCause.ENTERED)
        assert version.id is not None
        return version.id


def test_a_tournament_in_the_queue_is_played_to_its_end_beside_the_ladder(ladder: Ladder) -> None:
    versions = [ladder.enter(name) for name in ("one", "two", "three")]
    entries = [Entry(version, f"bot{version}") for version in versions]
    plan = Plan("round-robin", entrants=3, variants=("weg-der-steine",))
    ids: list[int] = []

    def enough(ladder: Ladder, scheduler: Scheduler) -> bool:
        if not ids:
            ids.append(scheduler.director.create("cup", plan, entries, CONTROL))
            scheduler.director.start(ids[0])
        state = scheduler.director.course(ids[0]).record.state
        return state == TournamentState.FINISHED and len(ladder.told()) >= 6

    ladder.run(enough)
    of_cup = [news for news in ladder.told() if news.playing.order.tournament_id == ids[0]]
    assert len(of_cup) == 3
    assert not any(news.stored.beliefs for news in of_cup)  # it was not rated
    with ladder.database.reading() as session:
        assert session.exec(select(Rating)).first() is not None


def test_a_ladder_where_nobody_may_meet_waits_in_peace(ladder: Ladder) -> None:
    ladder.enter("alone")
    begin = time.monotonic()
    ladder.run(lambda *_: time.monotonic() > begin + 1.5)
    assert ladder.told() == []
    assert not [news for news in ladder.news if isinstance(news, PlatformTrouble)]
