"""Whoever dies or hangs, every match is played once, no bot is blamed, and nothing stays behind."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from pathlib import Path

import pytest

from keltis_ladder.dispatch.child import MOST_TRIES
from keltis_ladder.dispatch.dispatcher import (
    AttemptFailed,
    MatchAbandoned,
    MatchFinished,
    MatchStarted,
)
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.match.jobs import Job
from keltis_ladder.sandbox.child import descendants
from tests.ladder.dispatch.support.playing import (
    CORES,
    Record,
    actions_of,
    all_gone,
    finished,
    in_front,
    jobs,
    oversized,
    replayed,
    run,
    slow_bots,
    until_streamed,
)
from tests.ladder.support.small_bots import FIRST, entrant, write_bot

KILLS = 20


def test_referees_killed_at_random_moments_cost_nothing_but_time(
    slow: tuple[Entrant, ...], token: str
) -> None:
    (wanted,) = jobs(slow, 1)
    record = Record()
    rng = random.Random(8)
    played: list[Job] = []

    async def play() -> int:
        async with LocalDispatcher(CORES, sandboxed=False, on_event=record) as dispatcher:
            reference = actions_of(finished(await dispatcher.submit(wanted)))
            stop = asyncio.Event()

            async def play_on() -> None:
                """Play the same deal over and over."""
                while not stop.is_set():
                    job = Job(wanted.variant, {}, wanted.seed, slow, wanted.control)
                    played.append(job)
                    outcome = await dispatcher.submit(job)
                    if isinstance(outcome, MatchFinished):
                        assert actions_of(outcome.result) == reference
                        assert all(game.losses == [] for game in outcome.result.games)

            players = [asyncio.create_task(play_on()) for _ in CORES]
            killed: set[int] = set()  # a dead one stays in the list until that is noticed
            for _ in range(KILLS):
                await asyncio.sleep(rng.uniform(0.0, 0.4))
                while not (
                    busy := [
                        pid
                        for pid in dispatcher.pids
                        if pid not in killed and len(descendants(pid)) > 1
                    ]
                ):
                    await asyncio.sleep(0.01)
                victim = rng.choice(busy)
                killed.add(victim)
                os.kill(victim, signal.SIGKILL)
            stop.set()
            await asyncio.gather(*players)
            return dispatcher.replaced

    replaced = run(play())
    troubles = 0
    for job in played:
        *before, last = record.kinds(job)
        tries = (len(before) + 1) // 2
        assert before == (["MatchStarted", "AttemptFailed"] * tries)[: len(before)]
        assert last == ("MatchFinished" if before[-1] == "MatchStarted" else "MatchAbandoned")
        assert tries == MOST_TRIES or last == "MatchFinished"
        assert [e.tries for e in record.of(job) if isinstance(e, MatchStarted)] == [
            *range(1, tries + 1)
        ]
        if last == "MatchFinished":
            assert replayed(record.last_try(job), 2)
        troubles += before.count("AttemptFailed")
    # Between two matches there is nobody to trouble.
    assert KILLS - 5 <= troubles <= replaced <= KILLS
    assert all_gone(token)


def test_a_referee_that_hangs_is_replaced_and_its_match_played_again(
    slow: tuple[Entrant, ...], token: str
) -> None:
    (job,) = jobs(slow, 1)
    record = Record()

    async def play() -> None:
        dispatcher = LocalDispatcher(CORES[:1], sandboxed=False, on_event=record, silence=6.0)
        async with dispatcher:
            (pid,) = dispatcher.pids
            future = dispatcher.submit(job)
            await until_streamed(record, job)
            os.kill(pid, signal.SIGSTOP)
            begin = time.monotonic()
            result = finished(await future)
            assert time.monotonic() - begin > 5.9
            assert all(game.losses == [] for game in result.games)
            assert replayed(record.last_try(job), 2) == actions_of(result)
            assert dispatcher.replaced == 1
            assert dispatcher.pids != [pid]

    run(play())
    assert record.kinds(job) == ["MatchStarted", "AttemptFailed", "MatchStarted", "MatchFinished"]
    (trouble,) = [event for event in record.events if isinstance(event, AttemptFailed)]
    assert "said nothing for 6 s" in trouble.reason
    assert trouble.tries == 1
    assert all_gone(token)


def test_what_was_not_read_in_time_is_no_silence_of_the_referee(tmp_path: Path, token: str) -> None:
    (job,) = jobs(slow_bots(tmp_path, token, seconds=0.02), 1)
    record = Record()

    async def play() -> None:
        dispatcher = LocalDispatcher(CORES[:1], sandboxed=False, on_event=record, silence=6.0)
        async with dispatcher:
            future = dispatcher.submit(job)
            await until_streamed(record, job)
            time.sleep(6.5)  # somebody keeps the event loop busy
            dispatcher._referees.look_for_silence()
            assert len(finished(await future).games) == 2

    run(play())
    assert record.kinds(job) == ["MatchStarted", "MatchFinished"]


def test_a_match_that_always_kills_its_referee_fails_and_the_next_one_does_not(
    tmp_path: Path, quick: tuple[Entrant, ...], token: str
) -> None:
    # Without a sandbox a bot can reach its referee, which is its parent.
    killer = write_bot(tmp_path / "killer", f"os.kill(os.getppid(), 9)\n{FIRST}")
    (bad,) = jobs((entrant(killer, token), quick[0]), 1)
    (good,) = jobs(quick, 1)
    record = Record()

    async def play() -> None:
        async with LocalDispatcher(CORES[:1], sandboxed=False, on_event=record) as dispatcher:
            futures = [dispatcher.submit(job) for job in (bad, good)]
            outcome = await futures[0]
            assert isinstance(outcome, MatchAbandoned)
            assert f"could not be finished in {MOST_TRIES} tries" in outcome.reason
            assert "ended with code -9" in outcome.reason
            assert finished(await futures[1]) is not None
            assert dispatcher.replaced == MOST_TRIES

    run(play())
    assert record.kinds(bad) == ["MatchStarted", "AttemptFailed"] * MOST_TRIES + ["MatchAbandoned"]
    assert record.kinds(good) == ["MatchStarted", "MatchFinished"]


def test_a_referee_that_has_read_half_of_a_job_that_is_withdrawn_holds_nobody_up(
    slow: tuple[Entrant, ...], token: str
) -> None:
    (large,), (small,) = jobs(oversized(slow), 1), jobs(slow, 1)

    async def play() -> int:
        async with LocalDispatcher(CORES[:1], sandboxed=False) as dispatcher:
            (pid,) = dispatcher.pids
            os.kill(pid, signal.SIGSTOP)
            waiting = dispatcher.submit(large)
            await asyncio.sleep(0)
            waiting.cancel()
            await dispatcher.wait_free()
            finished(await dispatcher.submit(small))
            return dispatcher.replaced

    assert run(play()) == 0
    assert all_gone(token)


def test_when_no_referee_can_be_started_any_more_everybody_who_waits_is_told(
    slow: tuple[Entrant, ...], token: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    playing, waiting = jobs(slow, 2)
    record = Record()

    async def play() -> None:
        dispatcher = LocalDispatcher(CORES[:1], sandboxed=False, on_event=record)
        async with dispatcher:
            futures = [dispatcher.submit(job) for job in (playing, waiting)]
            await until_streamed(record, playing)
            in_front(monkeypatch, tmp_path / "msgpack.py", "raise OSError('the disk is gone')")
            os.kill(dispatcher.pids[0], signal.SIGKILL)
            with pytest.raises(PlatformFault, match=r"could not start .*: the disk is gone"):
                await dispatcher.wait_free()
            for future in futures:
                with pytest.raises(PlatformFault, match="could not start"):
                    await future
            with pytest.raises(PlatformFault, match="could not start"):
                dispatcher.submit(playing)
            assert dispatcher.pids == []

    run(play())
    assert record.kinds(playing) == ["MatchStarted", "AttemptFailed", "MatchWithdrawn"]
    assert record.kinds(waiting) == ["MatchWithdrawn"]
    assert all_gone(token)
