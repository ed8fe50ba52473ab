"""The greedy bot: legal, fair, and much better than chance."""

import pytest

from keltis_bots.greedy import choose
from keltis_bots.judges import JUDGES
from keltis_engine import COMPILED, VARIANTS, Rng, restore
from keltis_engine.policies import random
from tests.bots.matches import play, wins_match
from tests.engine.positions import TABLES, played

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
