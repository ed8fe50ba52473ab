"""Exhaustive counts: how many ways the next decisions can go."""

from __future__ import annotations

from mypy_extensions import i64

from keltis_engine.errors import EngineError
from keltis_engine.state.state import NO_ACTIONS, State


def perft(state: State, depth: int) -> int:
    """Return the number of sequences of that many decisions; games that end earlier end there.

    A finished game counts once, at whatever depth it ended. The draw pile is as dealt, so a
    draw has one outcome.
    """
    if depth < 0:
        raise EngineError(f"depth {depth} makes no sense: count from depth 0")
    return int(_count(state, depth))


def _count(state: State, depth: i64) -> i64:
    into = NO_ACTIONS[:]
    count = state.list_actions(into)
    if count == 0 or depth == 0:
        return 1
    if depth == 1:
        return count
    total: i64 = 0
    for k in range(count):
        after = state.copy()
        after.play(i64(into[k]))
        total += _count(after, depth - 1)
    return total


def divide(state: State, depth: int) -> dict[str, int]:
    """Return the count below each of the next actions, by notation."""
    if depth < 1:
        raise EngineError(f"depth {depth} cannot be divided: it takes at least depth 1")
    result: dict[str, int] = {}
    for action in state.legal_actions():
        after = state.copy()
        after.apply(action)
        result[state.notation[action]] = perft(after, depth - 1)
    return result
