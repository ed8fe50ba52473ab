"""Decisions that fit hidden cards are seen, and those of honest players are not."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from bench.audit.games import sample

from keltis_engine import VARIANTS, Rng, State, find_variant
from keltis_engine.play.policies import eager
from keltis_ladder.audit.evidence import BOT_LIMIT, Evidence, nats
from keltis_ladder.audit.foresight import foresight, shuffled
from keltis_ladder.audit.rotations import contrast


def pile_of(state: State) -> list[int]:
    holder: Any = getattr(state, "table", state)
    players = len(holder.left)
    return [
        int(holder.pile[stream + k * players])
        for stream in range(players)
        for k in range(int(holder.left[stream]))
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_only_the_order_of_the_face_down_pile_is_changed(variant: str) -> None:
    state = find_variant(variant).deal(3, 5)
    rng = Rng(5)
    for _ in range(30):
        state.apply(eager(state, rng))
    before = pile_of(state)
    other = shuffled(state, random.Random(1))
    assert pile_of(state) == before
    assert pile_of(other) != before
    assert sorted(pile_of(other)) == sorted(before)
    for seat in range(3):
        assert other.view(seat) == state.view(seat)
    while not other.over:  # it can be played to its end
        other.apply(eager(other, rng))


def test_the_same_game_has_the_same_foresight() -> None:
    ruleset = find_variant("weg-der-steine")
    state, rng, actions = ruleset.deal(2, 3), Rng(3), []
    while not state.over:
        actions.append(eager(state, rng))
        state.apply(actions[-1])
    once = foresight(ruleset, 2, 3, actions, [0, 1])
    assert once == foresight(ruleset, 2, 3, actions, [0, 1])
    assert once.keys() == {0, 1}


@pytest.mark.slow
def test_a_bot_that_knows_the_cards_of_the_other_rotation_is_found() -> None:
    ruleset = find_variant("weg-der-steine")
    evidence = Evidence()
    while evidence.alarm is None and evidence.matches < 60:
        match = sample(ruleset, 100 + evidence.matches, cheats=True)
        evidence.add(evidence.matches + 1, contrast(match.foresights), BOT_LIMIT)
    assert evidence.alarm is not None


@pytest.mark.slow
def test_a_bot_that_knows_nothing_is_as_good_in_the_first_game_as_in_the_second() -> None:
    ruleset = find_variant("weg-der-steine")
    evidence = Evidence()
    for seed in range(12):
        match = sample(ruleset, seed, cheats=False)
        evidence.add(seed + 1, contrast(match.foresights), BOT_LIMIT)
    # Of all choices of seeds one in a hundred, at most, would come to more.
    assert nats(evidence.total, evidence.spread) < math.log(100)
