"""The greedy bot: legal, fair, and much better than chance."""

import pytest

from keltis_bots.greedy import choose
from keltis_bots.judges import JUDGES
from keltis_engine import COMPILED, VARIANTS, Rng, find_variant, restore
from keltis_engine.play.policies import random
from tests.bots.support.matches import play, wins_match
from tests.engine.support.positions import TABLES, played
from tests.engine.support.situations import kartenspiel

SEEDS = range(10) if COMPILED else range(3)
MOMENTS = [0, 1, 7, 30, 61, 90] if COMPILED else [0, 30]


def test_every_variant_has_a_judge() -> None:
    assert list(JUDGES) == list(VARIANTS)


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_its_games_end_by_themselves(variant: str, players: int) -> None:
    """Also without an opponent who draws; each action is checked when it is applied."""
    rng = Rng(players)
    for seed in SEEDS:
        state = play(variant, seed, [lambda state: choose(state, rng)] * players)
        assert state.ending != "turn limit"


def test_it_lays_a_points_card_on_an_end_card_where_that_is_worth_most() -> None:
    rows = "R1 R2 R3 R4 R5 RE"  # the seventh card is worth three points, the points row one
    state = kartenspiel(hands=["P5 P9"], rows=[rows], points_on_end_card=1)
    assert state.notation[choose(state, Rng(1))] == "lay P5 on R"
    forbidden = kartenspiel(hands=["P5 P9"], rows=[rows])
    assert forbidden.notation[choose(forbidden, Rng(1))] in ("lay P5", "lay P9")


def test_it_plays_whole_games_with_points_cards_on_end_cards() -> None:
    ruleset = find_variant("kartenspiel", {"points_on_end_card": 1})
    for seed in range(6):
        state = ruleset.deal(2 + seed % 3, seed)
        while not state.over:
            action = choose(state, Rng(seed))
            assert choose(restore(state.view(int(state.seat)), Rng(7)), Rng(seed)) == action
            state.apply(action)
        assert state.ending != "turn limit"


@pytest.mark.parametrize(("variant", "players"), TABLES)
@pytest.mark.parametrize("decisions", MOMENTS)
def test_the_choice_depends_on_the_view_alone(variant: str, players: int, decisions: int) -> None:
    state = played(variant, players, 5, "eager", decisions)
    if state.over:
        state = played(variant, players, 5, "eager", decisions // 2)
    view = state.view(int(state.seat))

    choices = {choose(restore(view, Rng(seed)), Rng(1)) for seed in range(8)}
    assert choices == {choose(state, Rng(1))}


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_beats_random_play(variant: str) -> None:
    greedy, chance = Rng(1), Rng(2)
    won = [
        wins_match(variant, seed, lambda s: choose(s, greedy), lambda s: random(s, chance))
        for seed in SEEDS
    ]
    assert sum(won) >= len(SEEDS) - 1
