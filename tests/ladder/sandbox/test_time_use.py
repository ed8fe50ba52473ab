"""What a program without a clock has used is told from what the machine kept from it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from keltis_ladder.sandbox import time_use
from keltis_ladder.sandbox.meter import PRESSURE, STAT, Meter
from keltis_ladder.sandbox.time_use import TimeUse

CORES = 2


class Machine:
    """A machine whose clocks and counters are set by hand."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        self.now = self.pressure = self.delay = 0.0
        self.stolen = [0.0] * CORES
        monkeypatch.setattr(time_use, "_now", lambda: self.now)
        monkeypatch.setattr(time_use, "machine_pressure", lambda: self.pressure)
        monkeypatch.setattr(time_use, "own_delay", lambda: self.delay)
        monkeypatch.setattr(time_use, "stolen_by_core", lambda: list(self.stolen))
        monkeypatch.setattr(time_use, "our_cores", lambda: CORES)

    def stall(self, seconds: float) -> None:
        """Let the group have waited for so long in all."""
        text = f"some avg10=0 total=0\nfull avg10=0 avg60=0 avg300=0 total={seconds * 1e6:.0f}\n"
        (self.directory / PRESSURE).write_text(text)

    def meter(self) -> Meter:
        """Return the meter of a group that has not waited yet."""
        self.stall(0)
        (self.directory / STAT).write_text("usage_usec 0\n")
        return Meter(self.directory)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


@pytest.fixture
def grouped(machine: Machine) -> Iterator[TimeUse]:
    meter = machine.meter()
    yield TimeUse(meter)
    meter.close()


def test_who_sleeps_uses_time(machine: Machine, grouped: TimeUse) -> None:
    machine.now = 300.0
    assert not grouped.exceeds(300.0, cpu=0.0)
    machine.now = 300.1
    assert grouped.exceeds(300.0, cpu=0.0)


def test_a_stall_of_the_group_is_not_its_own(machine: Machine, grouped: TimeUse) -> None:
    machine.now = 1000.0
    machine.stall(701.0)
    assert not grouped.exceeds(300.0, cpu=299.0)
    machine.now = 1002.0
    assert grouped.exceeds(300.0, cpu=301.0)


def test_what_we_waited_for_a_core_ourselves_is_not_its_own(
    machine: Machine, grouped: TimeUse
) -> None:
    machine.now, machine.delay = 400.0, 101.0
    assert not grouped.exceeds(300.0, cpu=0.0)
    machine.now = 401.1
    assert grouped.exceeds(300.0, cpu=0.0)


def test_what_a_hypervisor_stole_is_not_its_own(machine: Machine, grouped: TimeUse) -> None:
    machine.now, machine.stolen = 400.0, [20.0, 101.0]
    assert not grouped.exceeds(300.0, cpu=0.0)
    machine.now = 401.1
    assert grouped.exceeds(300.0, cpu=0.0)


def test_what_is_given_back_is_not_its_own(machine: Machine, grouped: TimeUse) -> None:
    grouped.give_back(60.0)
    grouped.give_back(41.0)
    machine.now = 400.0
    assert not grouped.exceeds(300.0, cpu=0.0)
    machine.now = 401.1
    assert grouped.exceeds(300.0, cpu=0.0)


@pytest.mark.parametrize("has_group", [True, False])
def test_computing_counts_whatever_the_stall_is_said_to_be(
    has_group: bool, machine: Machine
) -> None:
    meter = machine.meter()
    use = TimeUse(meter if has_group else None)
    machine.now = machine.pressure = 1000.0
    machine.stall(900.0)
    assert not use.exceeds(300.0, cpu=CORES * 300.0)
    assert use.exceeds(300.0, cpu=CORES * 300.0 + 1.0)
    meter.close()


def test_without_a_group_nobody_is_blamed_while_the_machine_is_visibly_busy(
    machine: Machine,
) -> None:
    use = TimeUse(None)
    machine.now, machine.pressure = 310.0, 32.0
    assert not use.exceeds(300.0, cpu=1.0)
    machine.now = 340.0
    assert use.exceeds(300.0, cpu=1.0)


def test_without_a_group_a_quiet_machine_is_no_excuse(machine: Machine) -> None:
    machine.pressure = machine.delay = 5000.0  # before it began
    use = TimeUse(None)
    machine.now, machine.pressure = 300.1, 5003.0
    assert use.exceeds(300.0, cpu=1.0)


def test_the_pressure_is_not_read_too_often(machine: Machine, grouped: TimeUse) -> None:
    machine.now = 400.0
    machine.stall(50.0)
    assert grouped.exceeds(300.0, cpu=0.0)
    machine.now = 400.01
    machine.stall(200.0)
    assert grouped.exceeds(300.0, cpu=0.0)  # to read so soon again would lose what it counts
    machine.now = 400.1
    assert not grouped.exceeds(300.0, cpu=0.0)


def test_the_real_machine_answers() -> None:
    use = TimeUse(None)
    began = time.monotonic()
    for _ in itertools.takewhile(lambda _: time.monotonic() < began + 0.01, itertools.count()):
        pass
    assert use.wall >= 0.01
    assert not use.exceeds(300.0, cpu=0.0)
    assert use.exceeds(0.001, cpu=1000.0)
