"""The looker: looks at decisions by itself, may be killed at any moment, and keeps to its share."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import event, update

from keltis_ladder.match.orders import Purpose
from keltis_ladder.run.looker import IDLE, Looker
from keltis_ladder.run.looking import DecisionsLooked, Looking
from keltis_ladder.store.audit.book import advance, compare, looked_at
from keltis_ladder.store.database import Database
from keltis_ladder.store.schema.relations import GAME, JOB
from keltis_ladder.store.schema.upkeep import upgrade
from tests.ladder.store.support.ladders import dump, entered, stored
from tests.ladder.store.support.results import real, won_by

PATIENCE = 300.0
MATCHES = 4


@pytest.fixture
def ladder(tmp_path: Path) -> Database:
    """Return a ladder on which some real matches were played."""
    database = Database(str(tmp_path / "ladder.db"))
    upgrade(database)
    versions = entered(database, "a", "b")
    play(database, versions, range(1, MATCHES + 1))
    return database


def play(database: Database, versions: list[int], seeds: range) -> None:
    for seed in seeds:
        stored(database, versions, real("weg-der-steine", 2, seed=seed), seed=seed)
    database.write(advance)


def proved(database: Database) -> int:
    """Return how many matches were looked at, each once, and all adds up."""
    with database.reading() as session:
        assert compare(session).differences == []
        count = looked_at(session)
    assert len(dump(database)["foresight"]) == 2 * count
    return count


# The work itself


class Told:
    """Hears of matches."""

    def __init__(self) -> None:
        self.matches: list[int] = []
        self.suspects: list[int] = []

    def __call__(self, match: int, suspects: tuple[int, ...]) -> None:
        self.matches.append(match)
        self.suspects += suspects


def test_the_newest_match_comes_first_and_none_twice(ladder: Database) -> None:
    told = Told()
    looker = Looker(ladder, 0.5, told, clock=lambda: 0.0)
    for _ in range(MATCHES):
        looker.work()
    assert told.matches == [4, 3, 2, 1]
    assert looker.work() == IDLE
    assert proved(ladder) == MATCHES
    statements: list[str] = []
    event.listen(ladder.engine, "before_cursor_execute", lambda *more: statements.append(more[2]))
    assert looker.work() == IDLE
    assert len(statements) <= 2  # it looks, and sees that nothing has changed
    play(ladder, [1, 2], range(5, 6))
    looker.work()
    assert told.matches == [4, 3, 2, 1, 5]
    assert told.suspects == []


def test_another_one_goes_on_where_it_was(ladder: Database) -> None:
    first, second = Told(), Told()
    Looker(ladder, 0.5, first, clock=lambda: 0.0).work()
    looker = Looker(ladder, 0.5, second, clock=lambda: 0.0)
    while looker.work() != IDLE:
        pass
    assert (first.matches, second.matches) == ([4], [3, 2, 1])
    assert proved(ladder) == MATCHES


def test_what_cannot_be_looked_at_holds_up_nothing(
    ladder: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(ladder, [1, 2], real("weg-der-steine", 2, seed=9), purpose=Purpose.CHALLENGE)
    ladder.write(advance)
    with ladder.writing() as session:
        session.execute(update(GAME).where(GAME.c.match_number == 4).values(moves=b""))
        session.execute(update(JOB).values(options={"of": 9}).where(JOB.c.seed == "3"))
    told = Told()
    looker = Looker(ladder, 0.5, told, clock=lambda: 0.0)
    while looker.work() != IDLE:
        pass
    assert told.matches == [2, 1]
    assert "match 3 cannot be looked at" in capsys.readouterr().err
    assert looker.work() == IDLE


def test_what_the_audit_has_not_taken_in_yet_waits(ladder: Database) -> None:
    told = Told()
    looker = Looker(ladder, 0.5, told, clock=lambda: 0.0)
    while looker.work() != IDLE:
        pass
    stored(ladder, [1, 2], real("weg-der-steine", 2, seed=9), seed=9)
    assert looker.work() == IDLE
    ladder.write(advance)
    looker.work()
    assert told.matches[MATCHES:] == [5]


def test_it_keeps_to_its_share_of_a_core(ladder: Database) -> None:
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 3.0
        return now

    assert Looker(ladder, 0.2, Told(), clock).work() == pytest.approx(12.0)
    assert Looker(ladder, 1.0, Told(), clock).work() == 0.0


def test_to_be_cut_off_anywhere_leaves_a_whole_match_or_none(ladder: Database) -> None:
    looker = Looker(ladder, 0.5, Told(), clock=lambda: 0.0)

    def cut(*more: object) -> None:
        if str(more[2]).startswith("INSERT INTO audit_bot"):
            raise KeyboardInterrupt

    event.listen(ladder.engine, "before_cursor_execute", cut)
    with pytest.raises(KeyboardInterrupt):
        looker.work()
    event.remove(ladder.engine, "before_cursor_execute", cut)
    assert proved(ladder) == 0
    looker = Looker(ladder, 0.5, Told(), clock=lambda: 0.0)
    while looker.work() != IDLE:
        pass
    assert proved(ladder) == MATCHES


# The process


class Listener:
    """Hears of matches that were looked at."""

    def __init__(self) -> None:
        self.told: list[DecisionsLooked] = []
        self._news = asyncio.Event()

    def __call__(self, looked: DecisionsLooked) -> None:
        self.told.append(looked)
        self._news.set()

    async def until(self, enough: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not enough():
                self._news.clear()
                await self._news.wait()


def test_a_looker_that_is_killed_is_started_again_and_nothing_is_lost(
    ladder: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        monkeypatch.setattr("keltis_ladder.run.backoff.FIRST_PAUSE_SECONDS", 0.0)
        listener = Listener()
        beside = Looking(ladder, 1.0, listener)
        await beside.start()
        try:
            for count in range(1, MATCHES):
                await listener.until(lambda count=count: len(listener.told) >= count)  # type: ignore[misc]
                if beside.pid is not None:
                    os.kill(beside.pid, signal.SIGKILL)
            await listener.until(lambda: {each.match for each in listener.told} >= {1, 2, 3, 4})
        finally:
            await beside.stop()
        assert beside.pid is None
        assert proved(ladder) == MATCHES

    asyncio.run(scenario())


def test_the_end_of_its_input_ends_it(ladder: Database) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "keltis_ladder.run.looker", "--parent", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # it makes its session nice, which must not be ours
    )
    known = {"database": ladder.url, "share": 1.0}
    output, _ = child.communicate(json.dumps(known).encode() + b"\n", timeout=PATIENCE)
    assert child.returncode == 0
    assert [json.loads(line) for line in output.splitlines()] == [{"match": 4, "suspects": []}]


def test_without_results_there_is_none(tmp_path: Path) -> None:
    async def scenario() -> None:
        database = Database(str(tmp_path / "ladder.db"))
        upgrade(database)
        beside = Looking(database, 1.0, Listener())
        await beside.start()
        assert beside.pid is None
        await beside.stop()

    asyncio.run(scenario())


def test_a_bot_whose_decisions_fit_hidden_cards_is_told_of(
    ladder: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A foresight that nobody has: as if the first entrant knew everything in every later game.
    games = iter(range(1000))

    def all_knowing(*more: object) -> dict[int, int]:
        later = next(games) % 2
        return {seat: 10_000 if later and seat == 1 else 0 for seat in range(2)}

    monkeypatch.setattr("keltis_ladder.store.audit.decisions.foresight", all_knowing)
    for seed in range(10, 50):
        stored(ladder, [1, 2], won_by("keltis", 2, 0), seed=seed)
    ladder.write(advance)
    told = Told()
    looker = Looker(ladder, 0.5, told, clock=lambda: 0.0)
    while looker.work() != IDLE:
        pass
    assert len(told.suspects) == 1
