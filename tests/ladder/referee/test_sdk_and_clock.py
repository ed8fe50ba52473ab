"""The bot's reckoning and the referee's clock agree, however busy the core is."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from bench.clock.load_strength import busy

from keltis_engine import find_variant
from keltis_ladder.match.clock import DEFAULT_CONTROL
from keltis_ladder.referee.bot_process import BotProcess
from keltis_ladder.referee.solo import Solo
from keltis_ladder.sandbox.limits import PLAY
from keltis_ladder.sandbox.sandbox import Sandbox

DECISIONS = 10
THINKING_MS = 30
SLEEPING_MS = 20
PATIENCE = 600.0  # seconds on the clock, which nobody needs
SOURCE = """
import time
from keltis_bots import run

def choose(request):
    first = request.used_ms
    while request.used_ms < {thinking}:
        pass
    {then}
    print("first", first, "used", request.used_ms)
    return request.legal[0]

run(choose)
"""


@dataclass
class Costs:
    """What some decisions cost, in milliseconds."""

    used: float = 0.0  # as the bot reckons
    first: float = 0.0  # of that, until it first looked: wall time, since nothing else is known
    charged: float = 0.0
    wall: float = 0.0
    given: float = 0.0  # back to the bot: the referee had no core, or a hypervisor took the bot's


def play(sandbox: Sandbox, home: Path, then: str, competitors: int) -> Costs:
    """Have a bot decide on a core that it has together with others, which compute all the time."""
    home.chmod(0o755)
    (home / "bot.py").write_text(SOURCE.format(thinking=THINKING_MS, then=then))
    core = max(os.sched_getaffinity(0))
    costs = Costs()
    with busy(core, competitors):
        process = BotProcess(sandbox.launch(["python3", "bot.py"], home, {}, PLAY, cpu=core), PLAY)
        try:
            process.greet(PATIENCE)
            solo = Solo(process, find_variant("keltis"), 2, 0, 5, DEFAULT_CONTROL)
            while process.requests < DECISIONS:
                action = solo.state.legal_actions()[0]
                if solo.is_asked():
                    action, effort = solo.ask(round(1000 * PATIENCE), PATIENCE)
                    costs.charged += 1000 * effort.charged
                    costs.wall += 1000 * effort.wall
                    costs.given += 1000 * (effort.delay + effort.stolen)
                solo.apply(action)
            told = re.findall(r"first (\S+) used (\S+)", process.log_text())
        finally:
            process.kill()
    assert len(told) == DECISIONS
    costs.first = sum(float(first) for first, _ in told)
    costs.used = sum(float(used) for _, used in told)
    return costs


@pytest.fixture
def counting(sandbox: Sandbox) -> Sandbox:
    if not sandbox.groups.can_count:
        pytest.skip("there is no clock that counts here")
    return sandbox


@pytest.mark.parametrize("competitors", [0, 3])
def test_computing_costs_what_the_bot_reckons(
    counting: Sandbox, tmp_path: Path, competitors: int
) -> None:
    costs = play(counting, tmp_path, "pass", competitors)
    assert THINKING_MS * DECISIONS <= costs.used <= 1.2 * THINKING_MS * DECISIONS + costs.first
    assert costs.charged <= 1.1 * costs.used
    # Before its first look a bot may be stalled, which it takes for its own time: the one step of
    # its reckoning that is not exact.
    assert costs.charged >= 0.9 * (costs.used - costs.first)
    if competitors:
        assert costs.wall > 1.5 * costs.charged, "the core was not busy"


@pytest.mark.parametrize("competitors", [0, 3])
def test_sleeping_never_costs_more_than_the_bot_reckons(
    counting: Sandbox, tmp_path: Path, competitors: int
) -> None:
    then = f"time.sleep({SLEEPING_MS / 1000})"
    costs = play(counting, tmp_path, then, competitors)
    assert costs.used >= (THINKING_MS + SLEEPING_MS) * DECISIONS
    # What we waited for a core ourselves, and what a hypervisor took, is taken off, even if the bot
    # slept or thought meanwhile.
    assert costs.charged + costs.given >= 0.95 * (THINKING_MS + SLEEPING_MS) * DECISIONS
    assert costs.charged <= 1.05 * costs.used
