"""The bot's own reckoning of its time: CPU time where the clock counts that, never too little."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from keltis_bots.budget import Milliseconds
from keltis_bots.stopwatch import Stopwatch
from tests.bots.support.piped import environment

# Only a stopwatch in a process of its own is alone there: the tests' own process has helpers.
ALONE = """
import json, os, subprocess, sys, threading, time
from keltis_bots.budget import Milliseconds
from keltis_bots.stopwatch import Stopwatch

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

begin, cpu = time.perf_counter(), time.process_time()
watch = Stopwatch(begin, cpu=True)
{body}
print(json.dumps(dict(
    counted=watch.seconds(),
    wall=time.perf_counter() - begin,
    cpu=time.process_time() - cpu,
)))
"""
# On one core the helper takes about half of the time, which is the bot's to pay.
HELPED = """
helper = subprocess.Popen([sys.executable, '-c', 'while True: pass'])
for _ in range(40):
    burn(0.01)
    watch.seconds()
helper.kill()
helper.wait()
"""
BUSY = "print(flush=True)\nwhile True: pass"


class FakeMachine:
    """Its clocks go when a test says so."""

    def __init__(self) -> None:
        self.wall = 100.0
        self.cpu = 3.0
        self.sleeps = 7
        self.reaped = 0.5
        self.children = False

    def run(self, seconds: float) -> None:
        self.wall += seconds
        self.cpu += seconds

    def stall(self, seconds: float) -> None:
        self.wall += seconds

    def sleep(self, seconds: float) -> None:
        self.wall += seconds
        self.sleeps += 1

    def usage(self, who: int) -> resource.struct_rusage:
        cpu = self.reaped if who == resource.RUSAGE_CHILDREN else self.cpu
        return resource.struct_rusage((cpu, 0.0, *[0] * 12, self.sleeps, 0))

    def wait(self, kind: int, id: int, options: int) -> None:
        assert options & os.WNOHANG
        assert options & os.WNOWAIT  # the child stays for whoever started it
        if not self.children:
            raise ChildProcessError


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    machine = FakeMachine()
    monkeypatch.setattr(time, "perf_counter", lambda: machine.wall)
    monkeypatch.setattr(time, "process_time", lambda: machine.cpu)
    monkeypatch.setattr(resource, "getrusage", machine.usage)
    monkeypatch.setattr(os, "waitid", machine.wait)
    return machine


def test_a_wall_clock_counts_all_time(machine: FakeMachine) -> None:
    watch = Stopwatch(machine.wall - 0.5, cpu=False)
    machine.run(0.25)
    machine.stall(2.0)
    machine.sleep(1.0)
    assert watch.seconds() == pytest.approx(3.75)


def test_computing_costs_cpu_time_and_stalls_cost_nothing(machine: FakeMachine) -> None:
    watch = Stopwatch(machine.wall, cpu=True)
    for _ in range(10):
        machine.run(0.01)
        machine.stall(0.5)
        machine.run(0.01)
        assert watch.seconds() <= 0.2 + 1e-9
    assert watch.seconds() == pytest.approx(0.2)


def test_what_passed_until_the_first_look_counts_as_wall_time(machine: FakeMachine) -> None:
    arrived = machine.wall
    machine.stall(0.75)
    assert Stopwatch(arrived, cpu=True).seconds() == pytest.approx(0.75)


def test_sleeping_costs_wall_time(machine: FakeMachine) -> None:
    watch = Stopwatch(machine.wall, cpu=True)
    machine.sleep(0.5)
    assert watch.seconds() == pytest.approx(0.5)
    machine.stall(0.25)
    machine.run(0.25)
    assert watch.seconds() == pytest.approx(0.75)


def test_a_stall_that_might_have_been_a_sleep_counts(machine: FakeMachine) -> None:
    watch = Stopwatch(machine.wall, cpu=True)
    machine.stall(0.5)
    machine.sleep(0.5)
    assert watch.seconds() == pytest.approx(1.0)


@pytest.mark.parametrize("ended", [False, True])
def test_what_a_child_may_have_used_counts(machine: FakeMachine, ended: bool) -> None:
    watch = Stopwatch(machine.wall, cpu=True)
    machine.stall(0.5)  # we were ready, but the child ran
    if ended:
        machine.reaped += 0.5
    else:
        machine.children = True
    assert watch.seconds() == pytest.approx(0.5)
    machine.children = False
    machine.stall(0.25)
    assert watch.seconds() == pytest.approx(0.5)


def test_threads_on_several_cores_cost_all_their_cpu_time(machine: FakeMachine) -> None:
    watch = Stopwatch(machine.wall, cpu=True)
    machine.run(0.5)
    machine.cpu += 0.5
    assert watch.seconds() == pytest.approx(1.0)


def test_a_budget_ends_when_the_stopwatch_says_so(machine: FakeMachine) -> None:
    budget = Milliseconds(100, Stopwatch(machine.wall, cpu=True))
    for _ in range(9):
        machine.run(0.01)
        machine.stall(1.0)
        assert budget.used(0) < 1
    assert budget.used(0) == pytest.approx(0.9)
    machine.run(0.02)
    assert budget.used(0) == pytest.approx(1.1)


def test_a_budget_includes_what_passed_before_it_was_made(machine: FakeMachine) -> None:
    watch = Stopwatch(machine.wall, cpu=True)
    machine.run(0.05)  # decoding the view, say
    assert Milliseconds(100, watch).used(0) == pytest.approx(0.5)


def test_a_budget_without_a_stopwatch_counts_wall_time_from_now(machine: FakeMachine) -> None:
    budget = Milliseconds(100)
    assert budget.used(0) == 0
    machine.stall(0.05)
    assert budget.used(0) == pytest.approx(0.5)


@contextmanager
def busy_core(competitors: int) -> Iterator[set[int]]:
    """Yield a core on which other processes compute all the time."""
    core = {max(os.sched_getaffinity(0))}
    others = [
        subprocess.Popen(
            [sys.executable, "-c", BUSY],
            stdout=subprocess.PIPE,
            preexec_fn=lambda: os.sched_setaffinity(0, core),
        )
        for _ in range(competitors)
    ]
    try:
        for other in others:
            assert other.stdout
            other.stdout.readline()
        yield core
    finally:
        for other in others:
            other.kill()
            other.communicate()


def alone(body: str, core: set[int] | None = None) -> SimpleNamespace:
    """Run this in a process with a stopwatch; return what was counted and what was used."""
    done = subprocess.run(
        [sys.executable, "-c", ALONE.format(body=body)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=environment(),
        preexec_fn=lambda: os.sched_setaffinity(0, core) if core else None,
    )
    return SimpleNamespace(**json.loads(done.stdout))


def test_on_a_busy_core_a_budget_lasts_for_its_cpu_time() -> None:
    body = "budget = Milliseconds(400, watch)\nwhile budget.used(0) < 1: pass"
    with busy_core(3) as core:
        ran = alone(body, core)
    assert ran.wall > 2 * ran.cpu, "the core was not busy"
    assert ran.cpu > 0.3  # all but steps in which it slept as well, for want of memory say
    assert ran.counted >= ran.cpu


@pytest.mark.parametrize(
    ("body", "at_least"),
    [
        ("time.sleep(0.3)", 0.3),
        ("for _ in range(30): burn(0.001); time.sleep(0.01); watch.seconds()", 0.33),
        ("subprocess.run([sys.executable, '-c', 'import time; time.sleep(0.3)'])", 0.3),
        ("os.waitpid(os.spawnv(os.P_NOWAIT, '/bin/sleep', ['sleep', '0.3']), 0)", 0.3),
        ("nap = threading.Thread(target=time.sleep, args=(0.3,)); nap.start(); nap.join()", 0.3),
        (HELPED, 0.5),
    ],
)
def test_whoever_waits_or_has_helpers_pays_wall_time(body: str, at_least: float) -> None:
    core = {max(os.sched_getaffinity(0))}
    assert alone(body, core).counted >= at_least
