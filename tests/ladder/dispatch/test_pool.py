"""A pool yields results in order, and leaves nothing behind whenever it is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from keltis_ladder.dispatch.child import RefereeChild
from keltis_ladder.dispatch.pool import LOOK_AHEAD, RefereePool
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.jobs import Job
from tests.ladder.dispatch.support.playing import (
    CORES,
    PATIENCE,
    all_gone,
    jobs,
    oversized,
    slow_bots,
)
from tests.ladder.support.arena import processes_with
from tests.ladder.support.boxes import alive


def test_jobs_are_taken_only_as_referees_become_free(quick: tuple[Entrant, ...]) -> None:
    wanted = jobs(quick, 40)
    taken: list[str] = []

    def one_by_one() -> Iterator[Job]:
        for job in wanted:
            taken.append(job.id)
            yield job

    with RefereePool(CORES, sandboxed=False) as pool:
        for played, (job, _) in enumerate(pool.play(one_by_one()), 1):
            assert job.id == wanted[played - 1].id
            assert len(taken) <= played + LOOK_AHEAD * len(CORES)
    assert taken == [job.id for job in wanted]


def test_whoever_is_slow_to_take_results_makes_no_referee_seem_to_hang(
    tmp_path: Path, token: str
) -> None:
    wanted = jobs(slow_bots(tmp_path, token, seconds=0.02), 3)
    with RefereePool(CORES[:1], sandboxed=False, silence=5.0) as pool:
        played = []
        for job, _ in pool.play(wanted):
            played.append(job.id)
            time.sleep(5.5)  # more than a referee may be silent
        assert played == [job.id for job in wanted]
        assert pool.replaced == 0


def test_stopping_in_the_middle_leaves_no_process_and_a_pool_that_can_go_on(
    slow: tuple[Entrant, ...], token: str
) -> None:
    with RefereePool(CORES, sandboxed=False) as pool:
        before = pool.pids
        playing = pool.play(jobs(slow, 50))
        next(playing)
        assert processes_with(token)
        playing.close()
        assert alive(before) == []
        assert len(list(pool.play(jobs(slow, 2)))) == 2
        assert pool.replaced == 0, "nothing was wrong with the referees"
    assert all_gone(token)


def test_closing_breaks_off_what_nobody_takes_any_more(
    slow: tuple[Entrant, ...], token: str
) -> None:
    with RefereePool(CORES, sandboxed=False) as pool:
        playing = pool.play(jobs(slow, 50))
        next(playing)
        pids = pool.pids
        begin = time.monotonic()
        pool.close(patience=PATIENCE)
        assert time.monotonic() - begin < PATIENCE, "it waited for matches that nobody wants"
        assert alive(pids) == []
        playing.close()
    assert all_gone(token)


def test_an_error_in_the_middle_leaves_no_process(slow: tuple[Entrant, ...], token: str) -> None:
    def play_and_fail() -> None:
        with RefereePool(CORES, sandboxed=False) as pool:
            for _ in pool.play(jobs(slow, 50)):
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_and_fail()
    assert all_gone(token)


def test_stopping_while_a_job_is_half_sent_leaves_a_pool_that_can_go_on(
    quick: tuple[Entrant, ...], token: str
) -> None:
    def stop_the_second() -> Iterator[Job]:
        first, second, _ = jobs(quick, 3)
        yield first
        (pid,) = pool.pids
        os.kill(pid, signal.SIGSTOP)
        yield replace(second, entrants=oversized(second.entrants))

    with RefereePool(CORES[:1], sandboxed=False) as pool:
        playing = pool.play(stop_the_second())
        next(playing)
        with pytest.raises(TimeoutError), _interrupted():
            next(playing)
        assert len(list(pool.play(jobs(quick, 1)))) == 1
    assert all_gone(token)


@contextmanager
def _interrupted() -> Iterator[None]:
    """Have a signal break in soon, as an interrupt from the terminal does."""

    def raise_it(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, raise_it)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_an_interrupt_while_a_job_is_being_written_stays_an_interrupt(
    quick: tuple[Entrant, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_half(referee: RefereeChild, job: Job, excused: Mapping[str, int]) -> None:
        referee.job, referee._unsent = job, b"the other half"
        raise KeyboardInterrupt

    monkeypatch.setattr(RefereeChild, "send", write_half)
    with pytest.raises(KeyboardInterrupt), RefereePool(CORES[:1], sandboxed=False) as pool:
        list(pool.play(jobs(quick, 1)))


def test_an_interrupt_while_referees_start_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    pids: list[int] = []
    read = RefereeChild.read

    def interrupted(referee: RefereeChild) -> list[dict[str, Any]]:
        pids.append(referee.process.pid)
        read(referee)
        raise KeyboardInterrupt

    monkeypatch.setattr(RefereeChild, "read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        RefereePool(CORES, sandboxed=False)
    assert pids
    assert alive(pids) == []


def test_a_closed_pool_plays_nothing(quick: tuple[Entrant, ...]) -> None:
    with RefereePool(CORES[:1], sandboxed=False) as pool:
        pass
    pool.close()
    with pytest.raises(RuntimeError, match="closed"):
        list(pool.play(jobs(quick, 1)))


def test_a_referee_whose_parent_has_gone_does_not_stay() -> None:
    somebody_else = str(os.getppid())
    command = [sys.executable, "-m", "keltis_ladder.referee.worker", "--parent", somebody_else]
    command += ["--share", "1,1,1"]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=300)
    assert done.returncode == 1
    assert b"has gone" in done.stderr
