"""Referees are looked after in one way, for ``match`` and for a server: each test is for both."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from keltis_bots.framing import frame
from keltis_ladder.dispatch.child import MOST_TRIES
from keltis_ladder.dispatch.supervisor import MOST_STARTS
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.match.jobs import Job
from tests.ladder.dispatch.support.faces import Pids, Play, by_dispatcher, by_pool
from tests.ladder.dispatch.support.playing import (
    CORES,
    PATIENCE,
    actions_of,
    all_gone,
    in_front,
    jobs,
    oversized,
)
from tests.ladder.support.arena import HOSTILE
from tests.ladder.support.small_bots import FIRST, entrant, write_bot

pytestmark = pytest.mark.parametrize("play", [by_pool, by_dispatcher])


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def signalled(number: signal.Signals) -> Callable[[Pids], None]:
    """Return what sends a signal to the only referee."""

    def send(pids: Pids) -> None:
        (pid,) = pids()
        os.kill(pid, number)

    return send


class Held:
    """A match in whose middle a bot waits for the test, the first time that it is played."""

    def __init__(self, directory: Path, token: str) -> None:
        self.reached, self.going_on = directory / "reached", directory / "going-on"
        waits = f"""
        if asked > 5 and not os.path.exists({str(self.reached)!r}):
            open({str(self.reached)!r}, "w").close()
            while not os.path.exists({str(self.going_on)!r}):
                time.sleep(0.01)
        return request.legal[0]
        """
        bots = (write_bot(directory / "waits", waits), write_bot(directory / "first"))
        patient = TimeControl(bank_ms=int(PATIENCE * 1000))
        self.jobs = jobs(tuple(entrant(bot, token) for bot in bots), 2, patient)

    def struck(self, number: signal.Signals) -> Callable[[Pids], None]:
        """Return what sends the referee a signal in the middle of the match."""

        def strike(pids: Pids) -> None:
            until(self.reached.exists)
            signalled(number)(pids)
            self.going_on.touch()

        return strike


def test_results_do_not_depend_on_the_number_of_cores(
    play: Play, quick: tuple[Entrant, ...], token: str
) -> None:
    wanted = jobs(quick, 12)
    found = []
    for cores in (CORES, CORES[:1]):
        played = play(wanted, cores)
        assert all(len(result.games) == 2 for result in played.results)
        assert played.replaced == 0
        found.append([actions_of(result) for result in played.results])
    assert found[0] == found[1]
    assert all_gone(token)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_the_match_of_a_referee_that_dies_or_hangs_is_played_again_and_counted_once(
    play: Play, tmp_path: Path, token: str, number: signal.Signals
) -> None:
    held = Held(tmp_path, token)
    silence = 8.0 if number == signal.SIGSTOP else PATIENCE
    struck = play(held.jobs, CORES[:1], silence=silence, meanwhile=held.struck(number))
    assert struck.replaced == 1
    undisturbed = play(held.jobs, CORES[:1])
    assert undisturbed.replaced == 0
    for one, other in zip(struck.results, undisturbed.results, strict=True):
        assert actions_of(one) == actions_of(other)
        assert all(game.losses == [] for game in one.games)
    assert all_gone(token)


def test_a_bot_that_thinks_longer_than_a_referee_may_be_silent_is_no_hang(
    play: Play, tmp_path: Path, token: str
) -> None:
    patient = TimeControl(bank_ms=20_000, increment_ms=0, start_ms=20_000)
    pause = f"""
    def pause_once(name):
        if not os.path.exists(f"{tmp_path}/{{name}}"):
            open(f"{tmp_path}/{{name}}", "w").close()
            time.sleep(6.5)
    pause_once("started")
    """
    slow = write_bot(tmp_path / "slow", f"pause_once('asked')\n{FIRST}", before=pause)
    quick = Entrant("honest", "honest", (sys.executable, "honest.py", token), HOSTILE)
    job = Job("keltis", {"turn_limit": 8}, 1, (entrant(slow, token), quick), patient)
    played = play([job], CORES[:1], silence=6.0)
    assert played.replaced == 0
    assert all(game.losses == [] for game in played.results[0].games)


def test_a_job_larger_than_a_pipe_is_delivered(
    play: Play, quick: tuple[Entrant, ...], token: str
) -> None:
    wanted = jobs(oversized(quick), 3)
    assert len(frame(wanted[0].to_plain())) > 4 << 20
    played = play(wanted)
    assert played.replaced == 0
    assert all(game.losses == [] for result in played.results for game in result.games)
    assert all_gone(token)


@pytest.mark.parametrize("how", ["dies", "hangs"])
def test_a_referee_that_has_read_half_of_a_job_holds_nobody_up(
    play: Play, quick: tuple[Entrant, ...], token: str, how: str
) -> None:
    wanted = [*jobs(oversized(quick), 1), *jobs(quick, 1)]

    def meanwhile(pids: Pids) -> None:
        (pid,) = pids()
        until(lambda: waits_in_pipe(pid))
        if how == "dies":
            os.kill(pid, signal.SIGKILL)

    played = play(
        wanted,
        CORES[:1],
        silence=10.0 if how == "hangs" else PATIENCE,
        before=signalled(signal.SIGSTOP),
        meanwhile=meanwhile,
    )
    assert played.replaced == 1
    assert all(game.losses == [] for result in played.results for game in result.games)
    assert all_gone(token)


def waits_in_pipe(pid: int) -> bool:
    """Return whether a process, which has been stopped, has something to read."""
    try:
        pipe = os.open(f"/proc/{pid}/fd/0", os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:  # it has hung for too long, and was ended
        return True
    try:
        return fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)) != bytes(4)
    finally:
        os.close(pipe)


def test_a_referee_that_dies_while_it_has_nothing_to_do_is_replaced(
    play: Play, quick: tuple[Entrant, ...]
) -> None:
    played = play(jobs(quick, 2), CORES[:1], before=signalled(signal.SIGKILL))
    assert len(played.results) == 2
    assert played.replaced == 1


def test_a_match_that_always_kills_its_referee_is_given_up(
    play: Play, tmp_path: Path, quick: tuple[Entrant, ...], token: str
) -> None:
    # Without a sandbox a bot can reach its referee, which is its parent.
    killer = write_bot(tmp_path / "killer", f"os.kill(os.getppid(), 9)\n{FIRST}")
    reason = rf"could not be finished in {MOST_TRIES} tries: .* ended with code -9"
    with pytest.raises(PlatformFault, match=reason):
        play(jobs((entrant(killer, token), quick[0]), 1), CORES[:1])
    assert all_gone(token)


def test_a_referee_that_cannot_start_says_why(play: Play, quick: tuple[Entrant, ...]) -> None:
    with pytest.raises(PlatformFault, match=rf"{MOST_STARTS} times in a row: .*Invalid argum"):
        play(jobs(quick, 1), [CORES[0], 4095])


def test_a_referee_that_cannot_start_again_says_why(
    play: Play, tmp_path: Path, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(tmp_path, token)

    def strike(pids: Pids) -> None:
        until(held.reached.exists)
        in_front(monkeypatch, tmp_path / "msgpack.py", "raise OSError('the disk is gone')")
        held.struck(signal.SIGKILL)(pids)

    with pytest.raises(PlatformFault, match=r"could not start .*: the disk is gone"):
        play(held.jobs, CORES[:1], meanwhile=strike)
    assert all_gone(token)


def test_a_missing_sandbox_is_named(
    play: Play, quick: tuple[Entrant, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = "from keltis_ladder.sandbox import sandbox\nsandbox.TOOLS_PATH = '/nowhere'\n"
    in_front(monkeypatch, tmp_path / "sitecustomize.py", source)
    with pytest.raises(PlatformFault, match="bubblewrap is not installed"):
        play(jobs(quick, 1), CORES[:1], sandboxed=True)
