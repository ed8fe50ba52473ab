"""The greedy bot: play what promises most, without thinking ahead.

What promises how much is the business of the judges, one for each game.
"""

from __future__ import annotations

from mypy_extensions import i64

from keltis_bots.judges import judge_for
from keltis_bots.judges.judge import NO_APPEALS
from keltis_engine.rng import Rng
from keltis_engine.state.state import NO_ACTIONS, State


def choose(state: State, rng: Rng) -> int:
    """Return the most appealing action of the player to act; any of them if several are equal.

    Judges look only at what that player may know, so it does not matter how the hidden cards of
    the state lie: one restored from a view will do.
    """
    actions = NO_ACTIONS[:]
    appeals = NO_APPEALS[:]
    count = state.list_actions(actions)
    judge_for(state).weigh(state, actions, count, appeals)
    best = appeals[0]
    for k in range(count):
        if appeals[k] > best:
            best = appeals[k]
    equal = [int(actions[k]) for k in range(count) if appeals[k] == best]
    return equal[int(rng.below(i64(len(equal))))]
