"""The built-in policies are players like others: they see what their seat may see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keltis_engine import VARIANTS, Rng, find_variant
from keltis_engine.play.policies import POLICIES
from tests.engine.support.positions import TABLES, played


@given(
    table=st.sampled_from(TABLES),
    seed=st.integers(0, 10_000),
    decisions=st.integers(0, 200),
    luck=st.integers(0, 10_000),
)
def test_a_policy_decides_by_what_its_seat_has_seen(
    table: tuple[str, int], seed: int, decisions: int, luck: int
) -> None:
    state = played(*table, seed, "eager", decisions)
    if state.over:
        return
    other = state.determinize(int(state.seat), Rng(luck))
    for policy in POLICIES.values():
        assert policy(state, Rng(luck)) == policy(other, Rng(luck))


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_policy_leaves_the_state_as_it_is(variant: str, name: str) -> None:
    for decisions in range(0, 100, 7):
        state = played(variant, 3, 11, "eager", decisions)
        before = state.reveal()
        if not state.over:
            assert POLICIES[name](state, Rng(1)) in state.legal_actions()
        assert state.reveal() == before


@pytest.mark.parametrize("variant", VARIANTS)
def test_eager_beats_random(variant: str) -> None:
    lead = 0
    for seed in range(30):
        state = find_variant(variant).deal(2, seed)
        eager = seed % 2
        rng = Rng(seed)
        while not state.over:
            state.apply(POLICIES["eager" if state.seat == eager else "random"](state, rng))
        scores = state.scores()
        lead += scores[eager] - scores[1 - eager]
    assert lead > 0
