"""What a hypervisor takes from a core is given back, and nothing else is."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from keltis_ladder.referee.charging_steal import Steal
from keltis_ladder.sandbox.meter import TICK_SECONDS, stolen


class Core:
    """A core that is stolen from as the test wants; it shows whole ticks, as the kernel does."""

    def __init__(self, stolen: float) -> None:
        self.stolen = stolen

    def read(self) -> float:
        return self.stolen // TICK_SECONDS * TICK_SECONDS


def decide(steal: Steal, core: Core, taken: float, slept: float = 0.0) -> float:
    """Have a decision in which so much was stolen; return what the bot is not given back."""
    steal.begin(exactly=True)
    core.stolen += taken
    explained = steal.explain(taken + slept)
    steal.settle(explained)
    return taken + slept - explained


def test_many_small_thefts_cost_a_bot_nothing() -> None:
    chance = random.Random(5)
    core = Core(stolen=3.0)
    steal = Steal(core.read)
    takings = [chance.choice([0.0, 0.001, 0.004, 0.009, 0.03]) for _ in range(1000)]
    assert sum(decide(steal, core, taken) for taken in takings) == pytest.approx(0.0, abs=1e-6)


def test_who_sleeps_gets_no_more_than_was_stolen_and_one_tick() -> None:
    core = Core(stolen=3.0)
    steal = Steal(core.read)
    slept = [decide(steal, core, taken=0.012, slept=0.05) for _ in range(100)]
    assert sum(slept) >= 100 * 0.05 - 2 * TICK_SECONDS


def test_what_was_stolen_between_two_decisions_is_no_bots() -> None:
    core = Core(stolen=3.0)
    steal = Steal(core.read)
    for _ in range(20):
        core.stolen += 1.0
        decide(steal, core, taken=0.0, slept=0.05)
    assert decide(steal, core, taken=0.0, slept=0.05) == pytest.approx(0.05)


def test_nobody_is_given_anything_where_nothing_was_ever_stolen() -> None:
    steal = Steal(Core(stolen=0.0).read)
    assert decide(steal, Core(stolen=0.0), taken=0.0, slept=0.05) == pytest.approx(0.05)


def figures() -> dict[int, int]:
    """Return the ticks that were stolen from each core."""
    lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
    cores = [line.split() for line in lines if re.match(r"cpu\d", line)]
    return {int(name.removeprefix("cpu")): int(fields[7]) for name, *fields in cores}


def test_the_figure_of_a_core_is_that_of_the_kernel() -> None:
    before = figures()
    found = {core: round(stolen(core) / TICK_SECONDS) for core in before}
    after = figures()
    for core, ticks in found.items():
        assert before[core] <= ticks <= after[core]
    assert stolen(None) == 0.0
