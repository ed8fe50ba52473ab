"""On a machine that others keep busy, who thinks too long is timed out, and nobody else ever.

``bench/clock/fairness.py`` in small: the same bots, sandbox, referees and loads.
"""

from __future__ import annotations

import os

import pytest
from bench.clock.fairness import BOTS, GUILTY, LOADS, Games, Way, play

from keltis_ladder.match.clock import TimeControl
from keltis_ladder.sandbox.sandbox import Sandbox

SEARCH, GREEDY, STARTER, SLEEPS, COMPUTES = BOTS
PAIRS = [(STARTER, SEARCH), (COMPUTES, GREEDY), (SEARCH, SLEEPS)]  # the longest match first
SHORT = Games(turn_limit=2, control=TimeControl(bank_ms=40, increment_ms=2, start_ms=20_000))
PATIENCE = 20.0  # minutes


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may take cores from others")
@pytest.mark.parametrize("load", LOADS[1:])
def test_only_who_thinks_too_long_is_timed_out_beside(load: str, sandbox: Sandbox) -> None:
    if not sandbox.groups.can_count:
        pytest.skip("there is no clock that counts here")
    way = Way(load, nice=0, asked=len(PAIRS))
    play(way, PATIENCE, PAIRS, SHORT)
    assert way.matches == len(PAIRS)
    assert way.platform_faults == 0
    assert set(way.games) == {bot.name for bot in BOTS}
    assert set(way.timeouts) == set(GUILTY)
    assert way.is_fair, way
