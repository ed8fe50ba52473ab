"""Every category gets its share, whatever is chosen among those that lag."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keltis_ladder.errors import LadderError
from keltis_ladder.matchmaking import Category, Policy
from keltis_ladder.matchmaking.kind_shares import CategoryShares

CHANCE = st.builds(random.Random, st.integers(0, 10**6))
ALL = Policy().categories()


def test_variants_are_equal_and_two_players_are_half_of_each() -> None:
    shares = Policy().shares(ALL)
    assert sum(shares.values()) == pytest.approx(1)
    assert shares[Category("keltis", 2)] == pytest.approx(1 / 8)
    assert shares[Category("neue-wege", 3)] == shares[Category("neue-wege", 4)]
    assert shares[Category("neue-wege", 4)] == pytest.approx(1 / 16)


def test_what_cannot_be_played_leaves_its_share_to_its_variant_first() -> None:
    playable = [Category("keltis", 2), Category("keltis", 3), Category("kartenspiel", 4)]
    shares = Policy().shares(playable)
    assert shares[Category("kartenspiel", 4)] == pytest.approx(1 / 2)
    assert shares[Category("keltis", 2)] == pytest.approx(1 / 3)
    assert shares[Category("keltis", 3)] == pytest.approx(1 / 6)


def test_always_the_furthest_behind_keeps_all_within_a_match_or_two() -> None:
    shares, targets = CategoryShares(), Policy().shares(ALL)
    shares.change(targets)
    counts = dict.fromkeys(ALL, 0)
    for total in range(1, 1000):
        category = shares.lagging()[0]
        shares.take(category)
        counts[category] += 1
        for each in ALL:
            assert -1 < targets[each] * total - counts[each] < 2.2


@given(
    CHANCE,
    st.lists(st.tuples(st.sets(st.sampled_from(ALL)), st.integers(0, 60)), max_size=6),
)
def test_lags_stay_bounded_through_every_change(
    chance: random.Random, story: list[tuple[set[Category], int]]
) -> None:
    shares = CategoryShares()
    for playable, matches in story:
        shares.change(Policy().shares(sorted(playable)))
        assert bool(shares.lagging()) == bool(playable)
        for _ in range(matches if playable else 0):
            shares.take(chance.choice(shares.lagging()))
            assert sum(shares.lags.values()) == pytest.approx(0, abs=1e-6)
            for lag in shares.lags.values():
                assert -1 < lag < len(playable) - 1 + 1e-6


@pytest.mark.parametrize(
    "wrong",
    [
        {"players": {1: 1.0}},
        {"players": {}},
        {"variants": {"keltis": 0.0}},
        {"patience": 0.5},
        {"rotation": 1},
        {"busy": 0.0},
        {"hopeless": 0.5},
        {"deviation": -1.0},
        {"sample": 0},
        {"neighbours": 0},
        {"repetition": -0.1},
    ],
)
def test_a_policy_that_cannot_be_kept_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(LadderError, match="got"):
        Policy(**wrong)  # type: ignore[arg-type]
