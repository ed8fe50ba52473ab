"""Play whole games in compiled code: for tree search, statistics and benchmarks."""

from __future__ import annotations

from mypy_extensions import i64

from keltis_engine.rng import Rng
from keltis_engine.state.state import NO_ACTIONS, OVER, State


def playout(state: State, rng: Rng) -> int:
    """Play uniformly at random to the end; return the number of decisions."""
    into = NO_ACTIONS[:]
    decisions: i64 = 0
    while state.stage != OVER:
        count = state.list_actions(into)
        state.play(i64(into[rng.below(count)]))
        decisions += 1
    return int(decisions)


def playouts(root: State, rng: Rng, count: int) -> int:
    """Play that many copies of a state to the end; return the number of decisions."""
    decisions = 0
    for _ in range(count):
        decisions += playout(root.copy(), rng)
    return decisions
