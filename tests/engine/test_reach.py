"""Every action that a variant numbers can really happen."""

from collections.abc import Callable

import pytest

from keltis_engine import VARIANTS, Rng, State, find_variant
from keltis_engine.play.policies import eager, random

pytestmark = pytest.mark.one_form  # what can happen is the same in both forms
MOST_GAMES = 1000  # enough for all; the search stops as soon as nothing is missing


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_action_occurs_in_some_game(variant: str) -> None:
    ruleset = find_variant(variant)
    ids = actions_of_the_curious(variant)
    assert [ruleset.format(a) for a in range(ruleset.actions) if a not in ids] == []


def actions_of_the_curious(variant: str) -> set[int]:
    """Play games in which whatever was never done is done at the first chance."""
    done: set[int] = set()
    for seed in range(MOST_GAMES):
        ruleset = find_variant(variant, options_for(variant, seed))
        state = ruleset.deal(2 + seed % 3, seed)
        otherwise = habits(variant)[seed % 2]
        rng = Rng(seed)
        while not state.over:
            new = [action for action in state.legal_actions() if action not in done]
            action = new[0] if new else otherwise(state, rng)
            state.apply(action)
            done.add(action)
        if len(done) == ruleset.actions:
            break
    return done


def options_for(variant: str, seed: int) -> dict[str, int]:
    if variant == "weg-der-steine":
        return {"last_clover_turn": 1}
    if variant == "kartenspiel" and seed % 3:
        return {"turn_limit": 15 + seed % 20}  # to come to the final cards soon
    return {}


def habits(variant: str) -> list[Callable[[State, Rng], int]]:
    return [eager, shy] if variant == "weg-der-steine" else [eager, random]


def shy(state: State, rng: Rng) -> int:
    """Leave every tile but the last in the middle, so that the last turn finds them all there."""
    legal = state.legal_actions()
    if state.phase == "revealed":
        return legal[0] if state.view(state.seat)["pile"]["size"] == 0 else legal[-1]
    return legal[0]
