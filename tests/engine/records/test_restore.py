"""A view is enough to search: it can be made into a game again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keltis_engine import VARIANTS, EngineError, Rng, State, find_variant, restore
from keltis_engine.errors import BadView
from keltis_engine.play.policies import POLICIES
from tests.engine.support.positions import played

OPTIONS: dict[str, list[dict[str, int]]] = {
    "keltis": [{}, {"turn_limit": 40}],
    "neue-wege": [{}, {"turn_limit": 40}],
    "kartenspiel": [{}, {"end_card_opens_row": 0}, {"points_on_end_card": 1}],
    "weg-der-steine": [{}, {"last_clover_turn": 1}],
}


def mixed_game(variant: str, options: dict[str, int], players: int, seed: int, stop: int) -> State:
    state = find_variant(variant, options).deal(players, seed)
    rng = Rng(seed)
    for _ in range(stop):
        if state.over:
            break
        state.apply(POLICIES["eager" if rng.below(4) else "random"](state, rng))
    return state


@given(
    variant=st.sampled_from(list(VARIANTS)),
    other=st.booleans(),
    players=st.integers(2, 4),
    seed=st.integers(0, 10_000),
    stop=st.integers(0, 300),
)
def test_a_restored_game_is_the_determinized_one(
    variant: str, other: bool, players: int, seed: int, stop: int
) -> None:
    state = mixed_game(variant, OPTIONS[variant][other], players, seed, stop)
    for seat in range(players):
        view = json.loads(json.dumps(state.view(seat)))
        restored = restore(view, Rng(5))
        determinized = state.determinize(seat, Rng(5))
        assert restored.reveal() == determinized.reveal()
        assert restored.view(seat) == view
        play_both_to_the_end(restored, determinized)


def play_both_to_the_end(one: State, other: State) -> None:
    """The two go on alike, so nothing that the views do not show was lost."""
    rng = Rng(9)
    while not one.over:
        assert one.legal_actions() == other.legal_actions()
        action = POLICIES["random"](one, rng)
        one.apply(action)
        other.apply(action)
    assert one.reveal() == other.reveal()


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_phase_can_be_restored(variant: str) -> None:
    options = {} if variant == "keltis" else OPTIONS[variant][1]
    missing = set(find_variant(variant).deal(2, 0).game.phases)
    for seed in range(200):
        state = find_variant(variant, options).deal(3, seed)
        rng = Rng(seed)
        while True:
            if state.phase in missing:
                missing.remove(state.phase)
                for seat in range(3):
                    assert restore(state.view(seat), Rng(1)).view(seat) == state.view(seat)
            if state.over:
                break
            state.apply(POLICIES["eager" if rng.below(9) else "random"](state, rng))
        if not missing:
            return
    pytest.fail(f"no game came to {missing}")


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_no_view_of_a_seat_is_refused(variant: str) -> None:
    state = played(variant, 2, 3, "eager", 30)
    spectators = state.view("spectators")
    with pytest.raises(BadView, match="not 'spectators'"):
        restore(spectators, Rng(1))
    view = state.view(0)
    for field in view:
        broken: dict[str, Any] = {name: value for name, value in view.items() if name != field}
        if field not in ("version", "scores") and (field != "ending" or variant == "kartenspiel"):
            with pytest.raises(EngineError):
                restore(broken, Rng(1))


def test_cards_that_do_not_add_up_are_refused() -> None:
    view = played("keltis", 2, 3, "eager", 30).view(0)
    view["pile"]["streams"][0] += 1
    with pytest.raises(BadView, match="do not add up"):
        restore(view, Rng(1))
    tiles = played("weg-der-steine", 3, 3, "eager", 30).view(0)
    tiles["pile"]["streams"][0] += 1
    with pytest.raises(BadView, match="unseen"):
        restore(tiles, Rng(1))
