"""A pool plays every match once, in order, whoever dies meanwhile, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from keltis_bots.framing import frame
from keltis_ladder.dispatch.child import MOST_TRIES, RefereeChild
from keltis_ladder.dispatch.pool import RefereePool
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.match.jobs import Job, seed_of_match
from keltis_ladder.match.results import MatchResult
from tests.ladder.support.arena import processes_with
from tests.ladder.support.small_bots import FIRST, entrant, write_bot

CONTROL = TimeControl(bank_ms=20_000, increment_ms=100)
CORES = sorted(os.sched_getaffinity(0))[:2]
VARIANT = "weg-der-steine"


def jobs(bots: tuple[Entrant, ...], count: int) -> list[Job]:
    return [Job(VARIANT, {}, seed_of_match(1, k), bots, CONTROL) for k in range(count)]


def decisions(results: Iterable[MatchResult]) -> list[list[list[int]]]:
    return [[game.actions for game in result.games] for result in results]


@pytest.fixture
def token() -> str:
    return f"token-{uuid.uuid4().hex}"


@pytest.fixture
def quick(tmp_path: Path, token: str) -> tuple[Entrant, ...]:
    bots = [write_bot(tmp_path / "first"), write_bot(tmp_path / "last", "return request.legal[-1]")]
    return tuple(entrant(bot, token) for bot in bots)


@pytest.fixture
def slow(tmp_path: Path, token: str) -> tuple[Entrant, ...]:
    bots = [write_bot(tmp_path / name, f"time.sleep(0.005)\n{FIRST}") for name in ("one", "two")]
    return tuple(entrant(bot, token) for bot in bots)


def all_gone(token: str) -> bool:
    """Return whether all processes end that have the token in their command line."""
    deadline = time.monotonic() + 300
    while processes_with(token):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_results_come_in_order_and_do_not_depend_on_the_number_of_cores(
    quick: tuple[Entrant, ...], token: str
) -> None:
    wanted = jobs(quick, 12)
    found = []
    for cores in (CORES, CORES[:1]):
        with RefereePool(cores, sandboxed=False) as pool:
            played = list(pool.play(wanted))
        assert [job.id for job, _ in played] == [job.id for job in wanted]
        assert all(len(result.games) == 2 for _, result in played)
        found.append(decisions(result for _, result in played))
    assert found[0] == found[1]
    assert all_gone(token)


def test_the_match_of_a_killed_referee_is_played_again_and_counted_once(
    slow: tuple[Entrant, ...], token: str
) -> None:
    wanted = jobs(slow, 8)
    with RefereePool(CORES, sandboxed=False) as pool:
        undisturbed = decisions(result for _, result in pool.play(wanted))
    with RefereePool(CORES, sandboxed=False) as pool:
        played: list[tuple[Job, MatchResult]] = []
        struck = False
        for job, result in pool.play(wanted):
            # Now and then all end at the same moment; then there is a next time.
            busy = next((referee for referee in pool._referees if referee.job), None)
            if busy is not None and not struck:
                busy.process.send_signal(signal.SIGKILL)
                struck = True
            played.append((job, result))
        assert struck
        assert pool.replaced == 1
    assert [job.id for job, _ in played] == [job.id for job in wanted]
    assert decisions(result for _, result in played) == undisturbed
    assert all_gone(token)


def oversized(bots: tuple[Entrant, ...]) -> tuple[Entrant, ...]:
    """Return the same bots, with claims that make a job of them larger than any pipe."""
    return tuple(replace(bot, variants=(VARIANT,) * 200_000) for bot in bots)


def test_a_job_larger_than_a_pipe_is_delivered(quick: tuple[Entrant, ...], token: str) -> None:
    wanted = jobs(oversized(quick), 3)
    assert len(frame(wanted[0].to_plain())) > 4 << 20
    with RefereePool(CORES, sandboxed=False) as pool:
        played = list(pool.play(wanted))
        assert pool.replaced == 0
    assert [job.id for job, _ in played] == [job.id for job in wanted]
    assert all(game.losses == [] for _, result in played for game in result.games)
    assert all_gone(token)


def test_a_referee_that_dies_before_it_has_read_its_job_is_replaced(
    quick: tuple[Entrant, ...], token: str
) -> None:
    wanted = jobs(oversized(quick), 2)
    with RefereePool(CORES[:1], sandboxed=False) as pool:
        assert len(list(pool.play(jobs(quick, 1)))) == 1
        (referee,) = pool._referees
        referee.process.send_signal(signal.SIGSTOP)
        playing = pool.play(wanted)
        dying = threading.Timer(0.2, referee.process.kill)
        dying.start()
        assert len(list(playing)) == 2
        dying.join()
        assert pool.replaced == 1
    assert all_gone(token)


def test_stopping_while_a_job_is_half_sent_leaves_nothing(quick: tuple[Entrant, ...]) -> None:
    with RefereePool(CORES[:1], sandboxed=False) as pool:
        assert len(list(pool.play(jobs(quick, 1)))) == 1
        (referee,) = pool._referees
        referee.process.send_signal(signal.SIGSTOP)
        pool._tries["half"] = 0
        pool._send(referee, replace(jobs(oversized(quick), 1)[0], id="half"))
        assert referee.has_unsent
        pool._dismiss(referee)
        assert len(list(pool.play(jobs(quick, 1)))) == 1


def test_a_referee_that_dies_while_it_has_nothing_to_do_is_replaced(
    quick: tuple[Entrant, ...],
) -> None:
    with RefereePool(CORES[:1], sandboxed=False) as pool:
        assert len(list(pool.play(jobs(quick, 1)))) == 1
        pool._referees[0].process.kill()
        assert len(list(pool.play(jobs(quick, 2)))) == 2
        assert pool.replaced == 1


def test_a_match_that_always_kills_its_referee_is_given_up(
    tmp_path: Path, slow: tuple[Entrant, ...]
) -> None:
    # Without a sandbox a bot can reach its referee, which is its parent.
    killer = write_bot(tmp_path / "killer", f"os.kill(os.getppid(), 9)\n{FIRST}")
    with (
        pytest.raises(PlatformFault, match=f"could not be finished in {MOST_TRIES} tries"),
        RefereePool(CORES[:1], sandboxed=False) as pool,
    ):
        list(pool.play(jobs((entrant(killer), slow[0]), 1)))
    assert pool.replaced == MOST_TRIES - 1


def test_a_referee_that_cannot_start_says_why(quick: tuple[Entrant, ...]) -> None:
    with (
        pytest.raises(PlatformFault, match="Invalid argument"),
        RefereePool([4095], sandboxed=False) as pool,
    ):
        list(pool.play(jobs(quick, 1)))


def test_stopping_in_the_middle_leaves_no_process_and_a_pool_that_can_go_on(
    slow: tuple[Entrant, ...], token: str
) -> None:
    with RefereePool(CORES, sandboxed=False) as pool:
        playing = pool.play(jobs(slow, 50))
        next(playing)
        assert processes_with(token)
        playing.close()
        assert all(referee.job is None for referee in pool._referees)
        assert len(list(pool.play(jobs(slow, 2)))) == 2
    assert all_gone(token)


def test_an_error_in_the_middle_leaves_no_process(slow: tuple[Entrant, ...], token: str) -> None:
    def play_and_fail() -> None:
        with RefereePool(CORES, sandboxed=False) as pool:
            for _ in pool.play(jobs(slow, 50)):
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_and_fail()
    assert all_gone(token)


def test_a_referee_whose_parent_has_gone_does_not_stay() -> None:
    somebody_else = str(os.getppid())
    command = [sys.executable, "-m", "keltis_ladder.referee.worker", "--parent", somebody_else]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=300)
    assert done.returncode == 1
    assert b"has gone" in done.stderr


def test_an_interrupt_while_a_job_is_being_written_stays_an_interrupt(
    quick: tuple[Entrant, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_half(referee: RefereeChild, job: Job) -> None:
        referee.job, referee._unsent = job, b"the other half"
        raise KeyboardInterrupt

    monkeypatch.setattr(RefereeChild, "send", write_half)
    with pytest.raises(KeyboardInterrupt), RefereePool(CORES[:1], sandboxed=False) as pool:
        list(pool.play(jobs(quick, 1)))
