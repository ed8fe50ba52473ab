"""The fitter: publishes by itself, may be killed at any moment, and ends with who started it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import event

from keltis_ladder.ratings.scopes import OVERALL, Scope
from keltis_ladder.run.beside_child import Orders
from keltis_ladder.run.fitter import (
    LEAST_REST,
    REST_PER_WORK,
    SLICE,
    Fitter,
    rest_after,
)
from keltis_ladder.run.fitting import Fitting, JointPublished
from keltis_ladder.store.database import Database
from keltis_ladder.store.ratings.joint import reading
from keltis_ladder.store.ratings.joint.fitting import SCOPES
from keltis_ladder.store.ratings.joint.publishing import Published, outdated
from keltis_ladder.store.ratings.recomputing import compare
from keltis_ladder.store.schema.upkeep import upgrade
from tests.ladder.store.support.ladders import dump, entered, stored
from tests.ladder.store.support.results import won_by

PATIENCE = 300.0


@pytest.fixture
def ladder(tmp_path: Path) -> Database:
    database = Database(str(tmp_path / "ladder.db"))
    upgrade(database)
    versions = entered(database, "a", "b", "c")
    for winner in (0, 1, 0):
        stored(database, versions[:2], won_by("keltis", 2, winner))
    return database


def play(database: Database) -> int:
    """Store one more match; return its number."""
    with database.reading() as session:
        found = reading.standings(session)
    versions = [1, 2] if found is None else [line.version for line in found.lines][:2]
    return stored(database, versions, won_by("neue-wege", 2, 0)).number


def proved(database: Database) -> int:
    """Return how many published figures there are, all of them as they should be."""
    with database.reading() as session:
        found, _ = compare(session)
    assert found.examples == []
    return found.joint


# The work itself


def test_all_scopes_are_published_and_then_there_is_nothing_to_do(ladder: Database) -> None:
    told: list[Published] = []
    fitter = Fitter(ladder, told.append, clock=lambda: 0.0)
    fitter.work()
    assert [each.scope for each in told] == list(SCOPES)
    assert {each.as_of for each in told} == {3}
    fitter.work()
    before = dump(ladder)
    statements: list[str] = []
    event.listen(ladder.engine, "before_cursor_execute", lambda *more: statements.append(more[2]))
    fitter.work()
    assert len(statements) <= 4  # it looks, and sees that nothing has changed
    assert dump(ladder) == before
    assert proved(ladder) == 3 * len(SCOPES)


def test_a_result_or_a_version_is_followed(ladder: Database) -> None:
    told: list[Published] = []
    fitter = Fitter(ladder, told.append, clock=lambda: 0.0)
    fitter.work()
    fitter.work()
    told.clear()
    assert play(ladder) == 4
    fitter.work()
    assert [each.scope for each in told] == list(SCOPES)
    assert {each.as_of for each in told} == {4}
    fitter.work()
    told.clear()
    entered(ladder, "d")
    fitter.work()
    assert {each.scope for each in told} == set(SCOPES)
    assert proved(ladder) == 4 * len(SCOPES)


def test_where_a_scope_takes_long_all_have_their_turn(ladder: Database) -> None:
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += SLICE
        return now

    told: list[Scope] = []
    fitter = Fitter(ladder, lambda each: told.append(each.scope), clock)
    for _ in range(len(SCOPES)):
        play(ladder)
        before = len(told)
        fitter.work()
        assert told[before] == OVERALL
        assert len(told) == before + 2
    assert set(told) == set(SCOPES)
    proved(ladder)


def test_it_rests_four_times_as_long_as_it_worked() -> None:
    assert rest_after(0.0) == LEAST_REST
    assert rest_after(10.0) == 10.0 * REST_PER_WORK


def test_margins_of_another_release_are_not_fitted(ladder: Database) -> None:
    with ladder.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger SET joint_model = 0")
    told: list[Published] = []
    Fitter(ladder, told.append).work()
    assert told == []


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM joint_rating",
        "INSERT INTO joint_rating",
        "INSERT INTO joint_history",
        "UPDATE joint_mark",
    ],
)
@pytest.mark.parametrize("time", [1, 2])
def test_to_be_cut_off_anywhere_leaves_whole_publications(
    ladder: Database, statement: str, time: int
) -> None:
    Fitter(ladder, lambda _: None).work()
    play(ladder)
    seen = 0

    def cut(*more: object) -> None:
        nonlocal seen
        seen += str(more[2]).startswith(statement)
        if seen == time:
            raise KeyboardInterrupt

    event.listen(ladder.engine, "before_cursor_execute", cut)
    with pytest.raises(KeyboardInterrupt):
        Fitter(ladder, lambda _: None).work()
    event.remove(ladder.engine, "before_cursor_execute", cut)
    assert proved(ladder) == 3 * len(SCOPES)
    Fitter(ladder, lambda _: None).work()
    with ladder.reading() as session:
        assert outdated(session) == []
    assert proved(ladder) == 3 * len(SCOPES)


def test_orders_come_line_by_line() -> None:
    reading, writing = os.pipe()
    orders = Orders(reading)
    assert orders.next(0.0) is None
    os.write(writing, b"one\ntwo\nthr")
    assert [orders.next(None), orders.next(None), orders.next(0.0)] == [b"one", b"two", None]
    assert not orders.over
    os.close(writing)
    assert orders.next(None) is None
    assert orders.over
    os.close(reading)


# The process


class Listener:
    """Hears of publications."""

    def __init__(self) -> None:
        self.told: list[JointPublished] = []
        self._news = asyncio.Event()

    def __call__(self, published: JointPublished) -> None:
        self.told.append(published)
        self._news.set()

    async def until(self, enough: Callable[[list[JointPublished]], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not enough(self.told):
                self._news.clear()
                await self._news.wait()


def all_as_of(number: int) -> Callable[[list[JointPublished]], bool]:
    return lambda told: {each.scope for each in told if each.as_of >= number} == set(SCOPES)


def more_than(count: int) -> Callable[[list[JointPublished]], bool]:
    return lambda told: len(told) > count


def test_a_fitter_publishes_beside_a_ladder(ladder: Database) -> None:
    async def scenario() -> None:
        listener = Listener()
        beside = Fitting(ladder, listener)
        await beside.start()
        try:
            await listener.until(all_as_of(3))
            number = await asyncio.to_thread(play, ladder)
            await listener.until(all_as_of(number))
        finally:
            await beside.stop()
        assert beside.pid is None
        assert proved(ladder) == 3 * len(SCOPES)

    asyncio.run(scenario())


def test_without_results_there_is_none(tmp_path: Path) -> None:
    async def scenario() -> None:
        database = Database(str(tmp_path / "ladder.db"))
        upgrade(database)
        listener = Listener()
        beside = Fitting(database, listener)
        await beside.start()
        assert beside.pid is None
        versions = await asyncio.to_thread(entered, database, "a", "b")
        await asyncio.to_thread(stored, database, versions, won_by("keltis", 2, 0))
        beside.begin()
        beside.begin()
        await beside.finish()
        assert all_as_of(1)(listener.told)
        assert proved(database) == 2 * len(SCOPES)

    asyncio.run(scenario())


def test_a_fitter_that_is_killed_is_started_again_and_nothing_is_lost(
    ladder: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        monkeypatch.setattr("keltis_ladder.run.backoff.FIRST_PAUSE_SECONDS", 0.0)
        listener = Listener()
        beside = Fitting(ladder, listener)
        await beside.start()
        try:
            for count in (1, 4, 9):
                await listener.until(more_than(len(listener.told) + count - 1))
                assert beside.pid is not None
                os.kill(beside.pid, signal.SIGKILL)
                await asyncio.to_thread(play, ladder)
            await listener.until(all_as_of(6))
        finally:
            await beside.stop()
        assert proved(ladder) == 3 * len(SCOPES)

    asyncio.run(scenario())


def test_a_fitter_that_cannot_begin_is_tried_later_and_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        pauses: list[float] = []
        enough = asyncio.Event()
        really = asyncio.sleep

        async def sleep(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 3:
                enough.set()
                await really(PATIENCE)

        monkeypatch.setattr(asyncio, "sleep", sleep)
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        beside = Fitting(Database(str(tmp_path / "ladder.db")), lambda _: None)
        beside.begin()
        async with asyncio.timeout(PATIENCE):
            await enough.wait()
        await beside.finish()
        assert pauses == [1.0, 2.0, 4.0]
        assert "/nowhere/python" in caplog.text

    asyncio.run(scenario())


def start_child(database: Database) -> subprocess.Popen[bytes]:
    """Start a fitter as its parent would."""
    child = subprocess.Popen(
        [sys.executable, "-m", "keltis_ladder.run.fitter", "--parent", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # it makes its session nice, which must not be ours
    )
    assert child.stdin is not None
    child.stdin.write(json.dumps({"database": database.url}).encode() + b"\n")
    child.stdin.flush()
    return child


def test_the_end_of_its_input_ends_it(ladder: Database) -> None:
    child = start_child(ladder)
    output, _ = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0
    told = [json.loads(line) for line in output.splitlines()]
    assert {line["scope"] for line in told} == {str(scope) for scope in SCOPES}


def test_two_fitters_do_not_spoil_each_others_work(ladder: Database) -> None:
    children = [start_child(ladder) for _ in range(2)]
    for child in children:
        child.communicate(timeout=PATIENCE)
        assert child.returncode == 0
    assert proved(ladder) == 3 * len(SCOPES)
