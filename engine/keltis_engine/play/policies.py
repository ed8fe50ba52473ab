"""Built-in policies: simple players for self-play, tests and a first opponent.

A policy is given the state itself but looks only at what its seat may know. It does not try to
be strong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from keltis_engine.rng import Rng
from keltis_engine.state.state import State

Policy = Callable[[State, Rng], int]

_FORWARD: Final = ("lay ", "add ", "pair ", "take ", "last ", "move ", "clover ")
_PATIENCE: Final = 6  # kinds that the eager policy gives up for one card, at most


def random(state: State, rng: Rng) -> int:
    """Choose any legal action, each equally likely."""
    actions = state.legal_actions()
    return actions[int(rng.below(i64(len(actions))))]


def eager(state: State, rng: Rng) -> int:
    """Lay cards and advance wherever that leaves most room in the own rows.

    With it games end in every way: by figures, by end cards and by the last card drawn.
    """
    actions = state.legal_actions()
    phase = state.phase
    if phase == "draw":
        return actions[0] if rng.below(2) else _any_of(actions, rng)
    if phase == "revealed":
        return actions[0]
    if phase in ("figure", "drop"):
        return _any_of(actions, rng)
    forward = [action for action in actions if state.notation[action].startswith(_FORWARD)]
    if phase in ("final", "last-turn"):
        return _most_points(state, forward, actions[-1])
    if phase in ("move", "clover"):
        advance = _most_points(state, forward[1:], forward[0])
        return advance if rng.below(2) else _any_of(forward, rng)
    best = _most_room(state, forward, rng)
    if best >= 0:
        return best
    return _any_of([action for action in actions if action not in forward], rng)


def _any_of(actions: list[int], rng: Rng) -> int:
    return actions[int(rng.below(i64(len(actions))))]


def _most_room(state: State, actions: list[int], rng: Rng) -> int:
    """Return an action that leaves most room in the rows, or -1 if all cost too much."""
    seat = state.seat
    most = int(state.room(seat)) - _PATIENCE
    best: list[int] = []
    for action in actions:
        after = state.copy()
        after.play(action)
        room = int(after.room(seat))
        if room > most:
            best = []
            most = room
        if room == most:
            best.append(action)
    return _any_of(best, rng) if best else -1


def _most_points(state: State, actions: list[int], otherwise: int) -> int:
    """Return the action after which the own score is highest; the other one if it is as good."""
    best = otherwise
    most = _score_after(state, otherwise)
    for action in actions:
        score = _score_after(state, action)
        if score > most:
            most = score
            best = action
    return best


def _score_after(state: State, action: int) -> int:
    after = state.copy()
    after.play(action)
    return int(after.score(state.seat))


POLICIES: Final[dict[str, Policy]] = {"random": random, "eager": eager}
