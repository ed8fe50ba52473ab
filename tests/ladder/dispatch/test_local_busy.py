"""A match that the machine was too busy for is postponed: that is no try, and nobody's fault."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from keltis_ladder.dispatch import pool as pools
from keltis_ladder.dispatch.child import MOST_TRIES
from keltis_ladder.dispatch.dispatcher import (
    AttemptFailed,
    MatchAbandoned,
    MatchFinished,
    MatchPostponed,
    MatchStarted,
    Outcome,
)
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.dispatch.overlong import MOST_OVERLONG
from keltis_ladder.dispatch.pool import MOST_POSTPONED, RefereePool
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.excuses import MOST_EXCUSED
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.match.jobs import Job
from tests.ladder.dispatch.support.playing import CORES, Record, finished, in_front, jobs, run

# Referees load this before anything else, and play as a file says: a word for each match.
SPOIL = '''
import pathlib
from keltis_ladder.match.excuses import Excuses
from keltis_ladder.match.faults import InDoubt, MachineBusy, PlatformFault
from keltis_ladder.referee import referee

PLAN = pathlib.Path({plan!r})

class Spoiled:
    """Plays as a referee does, if the machine lets it."""

    def __init__(self, launcher, **bounds):
        self.referee = referee_of(launcher, **bounds)
        self.control, self.excuses = self.referee.control, Excuses()

    def play_match(self, ruleset, seed, entrants, watcher):
        plan = PLAN.read_text().split()
        PLAN.write_text(" ".join(plan[1:]))
        if plan and plan[0] == "busy":
            raise MachineBusy("the match takes too long: the machine is too busy")
        if plan and plan[0] == "fail":
            raise PlatformFault("the kernel ended the bot")
        if plan and plan[0] == "doubt" and self.excuses.grant(entrants[0].key):
            raise InDoubt("failed while the machine was busy", entrants[0].key)
        self.referee.control = self.control
        return self.referee.play_match(ruleset, seed, entrants, watcher)

    def close(self):
        self.referee.close()

referee_of, referee.Referee = referee.Referee, Spoiled
'''
ONLY_IN_REFEREES = """
import sys

if "keltis_ladder.referee.worker" in sys.orig_argv:
    import spoil
"""


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file that says what becomes of the next matches: busy, fail, doubt or fine."""
    plan = tmp_path / "plan"
    plan.write_text("")
    (tmp_path / "front").mkdir()
    (tmp_path / "front/spoil.py").write_text(SPOIL.format(plan=str(plan)))
    in_front(monkeypatch, tmp_path / "front/sitecustomize.py", ONLY_IN_REFEREES)
    return plan


def outcomes(wanted: list[Job], record: Record, cores: list[int] = CORES[:1]) -> list[Outcome]:
    """Have matches played one after the other, each once."""

    async def play() -> list[Outcome]:
        async with LocalDispatcher(cores, sandboxed=False, on_event=record) as dispatcher:
            return [await dispatcher.submit(job) for job in wanted]

    return run(play())


def test_a_machine_that_is_too_busy_postpones_a_match_for_ever(
    plan: Path, quick: tuple[Entrant, ...]
) -> None:
    (job,) = jobs(quick, 1)
    record = Record()
    plan.write_text("busy " * 20)
    for outcome in outcomes([job] * 20, record):
        assert isinstance(outcome, MatchPostponed)
        assert "too busy" in outcome.reason
    # Each of them is told to the operator, and none is tried again at once.
    assert record.kinds(job) == ["MatchStarted", "AttemptFailed", "MatchPostponed"] * 20
    tries = [e.tries for e in record.of(job) if isinstance(e, MatchStarted | AttemptFailed)]
    assert set(tries) == {1}


def test_a_match_that_alone_never_ends_is_given_up_and_its_bots_are_shown(
    plan: Path, quick: tuple[Entrant, ...], slow: tuple[Entrant, ...]
) -> None:
    (hostile,), (honest,) = jobs(quick, 1), jobs(slow, 1)
    plan.write_text("busy fine " * MOST_OVERLONG)

    async def play() -> list[Outcome]:
        async with LocalDispatcher(CORES[:1], sandboxed=False) as dispatcher:
            found = []
            for _ in range(MOST_OVERLONG):
                assert dispatcher.suspects == {}
                found.append(await dispatcher.submit(hostile))
                finished(await dispatcher.submit(honest))
            assert dispatcher.suspects == {bot.name: MOST_OVERLONG for bot in quick}
            finished(await dispatcher.submit(hostile))
            assert dispatcher.suspects == {}
            return found

    *first, last = run(play())
    assert all(isinstance(outcome, MatchPostponed) for outcome in first)
    assert isinstance(last, MatchAbandoned)
    assert "others came to their end" in last.reason


def test_bots_whose_matches_alone_fail_are_named_and_those_of_a_broken_machine_are_not(
    plan: Path, quick: tuple[Entrant, ...], slow: tuple[Entrant, ...]
) -> None:
    hostile, (honest,) = jobs(quick, 2 * MOST_OVERLONG), jobs(slow, 1)
    broken, alone = hostile[:MOST_OVERLONG], hostile[MOST_OVERLONG:]
    plan.write_text("fail " * MOST_TRIES * MOST_OVERLONG)

    async def play() -> list[Outcome]:
        async with LocalDispatcher(CORES[:1], sandboxed=False) as dispatcher:
            found = [await dispatcher.submit(job) for job in broken]
            assert dispatcher.suspects == {}
            for job in alone:
                finished(await dispatcher.submit(honest))
                plan.write_text("fail " * MOST_TRIES)
                found.append(await dispatcher.submit(job))
            assert dispatcher.suspects.keys() == {bot.name for bot in quick}
            return found

    found = run(play())
    assert all(isinstance(outcome, MatchAbandoned) for outcome in found)
    suspects = [outcome.suspects for outcome in found if isinstance(outcome, MatchAbandoned)]
    names = tuple(bot.name for bot in quick)
    # The last of a broken machine's counts as the first: others had come to their end since.
    assert suspects[:-2] == [()] * (len(found) - 2)
    assert suspects[-2:] == [names] * 2


def test_a_bot_is_excused_only_so_often_by_all_referees_together(
    plan: Path, quick: tuple[Entrant, ...]
) -> None:
    wanted = jobs(quick, MOST_EXCUSED + 1)
    plan.write_text("doubt " * len(wanted))

    async def play() -> list[Outcome]:
        found: list[Outcome] = []
        async with LocalDispatcher(CORES[:1], sandboxed=False) as dispatcher:
            for job in wanted:  # each by a referee that knows nothing of the others
                found.append(await dispatcher.submit(job))
                os.kill(dispatcher.pids[0], signal.SIGKILL)
                while dispatcher.replaced < len(found):
                    await asyncio.shield(dispatcher.change())
                await dispatcher.wait_free()
        return found

    kinds = [type(outcome) for outcome in run(play())]
    assert kinds == [MatchPostponed] * MOST_EXCUSED + [MatchFinished]


def test_a_pool_plays_it_again_after_a_pause_and_says_so(
    plan: Path, quick: tuple[Entrant, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "LONGEST_PAUSE", 0.0)
    wanted = jobs(quick, 3)
    plan.write_text("busy busy fine busy doubt doubt fine")
    told: list[str] = []
    with RefereePool(CORES[:1], sandboxed=False, on_wait=told.append) as pool:
        assert [job.id for job, _ in pool.play(wanted)] == [job.id for job in wanted]
    assert len(told) == 5
    assert all("busy; it is played again in" in text for text in told)


def test_a_pool_does_not_wait_for_ever(
    plan: Path, quick: tuple[Entrant, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "LONGEST_PAUSE", 0.0)
    plan.write_text("busy " * 100)
    told: list[str] = []
    with (
        RefereePool(CORES[:1], sandboxed=False, on_wait=told.append) as pool,
        pytest.raises(PlatformFault, match=f"put off {MOST_POSTPONED} times in a row"),
    ):
        list(pool.play(jobs(quick, 1)))
    assert len(told) == MOST_POSTPONED
