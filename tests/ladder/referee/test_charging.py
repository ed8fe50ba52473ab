"""The clock: a bot pays for what it used, whatever it tries, and for nothing that others used."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

import pytest

from keltis_engine import Ruleset, find_variant
from keltis_ladder.match.clock import Clock, TimeControl
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.excuses import MOST_EXCUSED
from keltis_ladder.match.faults import Fault, Kind, PlatformFault
from keltis_ladder.match.results import GameResult, Loss, MatchResult
from keltis_ladder.programs.launchers import PlainLauncher, make_launcher
from keltis_ladder.referee.referee import Referee
from keltis_ladder.sandbox.cgroups import Groups, find_groups
from keltis_ladder.sandbox.limits import PLAY
from keltis_ladder.sandbox.sandbox import SandboxMissing, find_sandbox
from tests.ladder.support.arena import HOSTILE, Arena, arena
from tests.ladder.support.busy import bursts, busy_processes, pinned_to_one_core

try:
    MISSING = "" if find_sandbox().groups.can_count else "no control groups of version 2 here"
except SandboxMissing as error:
    MISSING = str(error)

metered = pytest.mark.skipif(bool(MISSING), reason=MISSING)
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root may use real-time scheduling")

SHORT = TimeControl(bank_ms=500, increment_ms=0, start_ms=20_000)
START_UP = 0.15  # seconds of CPU for an interpreter to start, and for the sandbox around it
GAIN = 1.05
LOADS = ["idle", "busy", "busy nice", "bursts"]


@contextlib.contextmanager
def load(name: str) -> Iterator[None]:
    """Make our core busy in some way, and stay on it."""
    with pinned_to_one_core(), contextlib.ExitStack() as stack:
        if name == "busy":
            stack.enter_context(busy_processes(6))
        elif name == "busy nice":
            stack.enter_context(busy_processes(2, nice=-10))
        elif name == "bursts":
            stack.enter_context(bursts(0.36, 0.14))
        yield


def play(ring: Arena, *entrants: Entrant, turns: int = 6) -> GameResult:
    ruleset = find_variant("weg-der-steine", {"turn_limit": turns})
    return ring.referee.play_game(ruleset, 2, entrants, 0)


def loss_of_first(game: GameResult) -> Loss:
    (loss,) = game.losses
    assert loss.seat == 0
    return loss


@metered
@pytest.mark.parametrize(
    "way",
    ["alone", "helpers", "threads", "kernel", "chatter", "affinity", "naps", "sleeps", "paused"],
)
def test_nobody_thinks_for_longer_than_the_clock(way: str) -> None:
    with pinned_to_one_core(), arena(SHORT) as ring:
        game = play(ring, ring.bot("thinks", way), ring.bot("honest"))
    loss = loss_of_first(game)
    assert (loss.fault.kind, loss.fault.code) == (Kind.TIMEOUT, "clock")
    assert loss.card["cpu_seconds"] <= GAIN * SHORT.bank_ms / 1000 + START_UP
    fatal = loss.card["fatal"]
    assert SHORT.bank_ms <= fatal["charged_ms"]
    assert fatal["charged_ms"] >= fatal["cpu_ms"]


@metered
@root_only
@pytest.mark.parametrize("name", LOADS)
def test_a_busy_machine_costs_nobody_a_game(name: str) -> None:
    """Each decision takes 60 ms of CPU, and the clock has little more."""
    control = TimeControl(bank_ms=60, increment_ms=75, start_ms=5000)
    with load(name), arena(control) as ring:
        game = play(ring, ring.bot("works"), ring.bot("works", "other"), turns=4)
    assert game.losses == []


@metered
@root_only
@pytest.mark.parametrize("way", ["alone", "helpers", "sleeps"])
@pytest.mark.parametrize("name", ["busy", "bursts"])
def test_a_busy_machine_saves_nobody_who_thinks_too_long(name: str, way: str) -> None:
    control = TimeControl(bank_ms=300, increment_ms=0, start_ms=20_000)
    with load(name), arena(control) as ring:
        game = play(ring, ring.bot("thinks", way), ring.bot("honest"))
    loss = loss_of_first(game)
    assert (loss.fault.kind, loss.fault.code) == (Kind.TIMEOUT, "clock")
    # A look at a deadline comes up to 10 ms late.
    assert loss.card["cpu_seconds"] <= GAIN * control.bank_ms / 1000 + START_UP + 0.01


@metered
def test_nobody_runs_while_paused() -> None:
    control = TimeControl(bank_ms=8000, increment_ms=100, start_ms=20_000)
    with pinned_to_one_core(), arena(control) as ring:
        game = play(ring, ring.bot("runs_paused"), ring.bot("works"), turns=24)
        (process,) = [p for slot, p in ring.referee.slots() if slot[0] == "runs_paused"]
        assert game.losses == []
        log = process.log_text()
        assert log.count("DENIED") == 2
        assert "BREACH" not in log
        assert process.child.meter is not None
        used = process.child.meter.cpu()
    own, other = game.times[0], game.times[1]
    assert other.wall > 0.5, "its opponent takes its time"
    assert used < own.wall + START_UP + 0.1 * other.wall


class Purse:
    """Adds up what each seat was charged."""

    def __init__(self) -> None:
        self.seconds = [0.0, 0.0]

    def decided(self, rotation: int, seat: int, action: int, spent_us: int) -> None:
        self.seconds[seat] += spent_us / 1e6

    def dropped(self, rotation: int, seat: int, fault: Fault) -> None:
        raise AssertionError(fault)

    def waiting(self) -> None:
        pass

    def ended(self, rotation: int) -> None:
        pass


@metered
def test_what_runs_on_after_an_answer_is_paid_for_with_the_next() -> None:
    """A child of this bot never rests: it is stopped meanwhile, and else the clock pays for it."""
    purse = Purse()
    ruleset = find_variant("weg-der-steine", {"turn_limit": 20})
    with pinned_to_one_core(), arena(TimeControl(8000, 100, 20_000)) as ring:
        entrants = [ring.bot("restless_child"), ring.bot("thoughtful")]
        ring.referee.play_game(ruleset, 2, entrants, 0, purse)
        (process,) = [p for slot, p in ring.referee.slots() if slot[0] == "restless_child"]
        assert process.child.meter is not None
        used = process.child.meter.cpu()
    assert used <= GAIN * purse.seconds[0] + START_UP


@metered
def test_a_bot_has_one_core_however_many_its_referee_has() -> None:
    launcher = make_launcher(True)
    child = launcher.start(
        Entrant("honest", "honest", ("python3", "honest.py", "-"), HOSTILE), PLAY
    )
    try:
        assert len(os.sched_getaffinity(child.program())) == 1
    finally:
        child.kill()


def test_a_debt_is_paid_with_the_next_decision() -> None:
    clock = Clock(TimeControl(bank_ms=100, increment_ms=20))
    clock.spend(0.125)
    assert clock.left == pytest.approx(0.015)


def bot(name: str, *arguments: str) -> Entrant:
    return Entrant(name, name, (sys.executable, f"{name}.py", "-", *arguments), HOSTILE)


def result_in_the_end(
    referee: Referee, ruleset: Ruleset, entrants: list[Entrant], troubles: list[str]
) -> MatchResult:
    """Play a match until the platform does not fail, as a dispatcher does."""
    while True:
        try:
            return referee.play_match(ruleset, 2, entrants)
        except PlatformFault as fault:
            troubles.append(str(fault))


@pytest.mark.parametrize(("way", "name"), [("threads", "busy"), ("sleeps", "idle")])
def test_without_groups_a_timeout_on_a_busy_machine_is_ours_at_most_twice_in_a_row(
    way: str, name: str
) -> None:
    ruleset = find_variant("weg-der-steine", {"turn_limit": 6})
    referee = Referee(PlainLauncher(), TimeControl(300, 0, 20_000))
    entrants = [bot("thinks", way), bot("honest")]
    troubles: list[str] = []
    try:
        with load(name):
            result = result_in_the_end(referee, ruleset, entrants, troubles)
    finally:
        referee.kill()
    assert all("while the machine was busy" in trouble for trouble in troubles)
    excuses = len(troubles)
    assert excuses <= MOST_EXCUSED
    assert excuses or way == "sleeps", "it waits while seven others want its core"
    faults = [[str(loss.fault.kind) for loss in game.losses] for game in result.games]
    assert faults == [["timeout"], ["timeout"]]


def test_groups_say_what_they_can_do() -> None:
    groups = find_groups()
    assert groups.can_count == any(base.version == 2 for base in groups.bases)
    assert not Groups([]).can_count
    assert not Groups([]).can_limit
