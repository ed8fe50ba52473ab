"""Our own work while a bot thinks: reading what it writes is its to pay for, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from keltis_ladder.referee.charging import QUICK, GroupAccount
from keltis_ladder.referee.charging_steal import Steal
from keltis_ladder.sandbox.meter import PRESSURE, STAT, Meter

WORK = 0.03  # seconds of CPU that each of our works takes here, so that it shows
LOOKS = 3
BOTS = 2.0  # seconds that the bot computes


@pytest.fixture
def group(tmp_path: Path) -> Callable[[float], None]:
    """The files of a control group, which show what the test wants."""

    def show(used: float) -> None:
        (tmp_path / STAT).write_text(f"usage_usec {round(used * 1e6)}\n")
        # However long we take, the bot could not run.
        (tmp_path / PRESSURE).write_text(f"full avg10=0.00 total={round(used * 1e9)}\n")

    show(0.0)
    return show


def work() -> None:
    end = time.thread_time() + WORK
    while time.thread_time() < end:
        pass


def charged(group: Callable[[float], None], place: Path, heard: bool) -> float:
    """Let a bot think while we look for its answer; return what it is charged, without its CPU."""
    meter = Meter(place)
    try:
        account = GroupAccount(meter, Steal(lambda: 0.0))
        account.begin(time.monotonic())
        time.sleep(2 * QUICK)
        account.find_nothing(time.monotonic(), due=False, heard=False)  # now it is slow
        account.wait_on()
        for _ in range(LOOKS):
            work()  # to find out what there is, and perhaps to read it
            account.wake()
            account.find_nothing(time.monotonic(), due=False, heard=heard)
            work()  # housekeeping
            account.wait_on()
        group(BOTS)
        return account.answered(time.monotonic(), BOTS).charged - BOTS
    finally:
        meter.close()


def test_looking_for_an_answer_and_housekeeping_cost_a_bot_nothing(
    group: Callable[[float], None], tmp_path: Path
) -> None:
    assert charged(group, tmp_path, heard=False) < WORK


def test_reading_what_it_writes_is_paid_for_by_the_bot(
    group: Callable[[float], None], tmp_path: Path
) -> None:
    assert LOOKS * WORK <= charged(group, tmp_path, heard=True) < (LOOKS + 1) * WORK
