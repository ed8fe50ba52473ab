"""The numbers of the model make sense together."""

from dataclasses import replace

import pytest
from librt.vecs import vec

from keltis_ladder.ratings.joint.kinds import KINDS, kind_number, scope_weights
from keltis_ladder.ratings.joint.matrices import invert, zeros
from keltis_ladder.ratings.joint.numbers import MODEL_VERSION, NUMBERS
from keltis_ladder.ratings.model import BETA, UnknownMatch
from keltis_ladder.ratings.scopes import OVERALL, Scope
from tests.ladder.ratings.joint.support.dense import COUNT, identity, square, times


def correlation(one: int, other: int) -> float:
    covariance = square(NUMBERS.covariance())
    return covariance[one][other] / (NUMBERS.spread[one] * NUMBERS.spread[other])


def inverse(matrix: list[float]) -> list[float]:
    found = zeros(COUNT * COUNT)
    invert(vec[float](matrix), COUNT, found, 0)
    return list(found)


def test_a_version_has_the_betas_of_trueskill() -> None:
    assert NUMBERS.version == MODEL_VERSION
    assert NUMBERS.beta == tuple(BETA.values())


def test_players_are_a_chain_and_variants_are_alike() -> None:
    for variant, (up, further) in enumerate(NUMBERS.near):
        two, three, four = range(3 * variant, 3 * variant + 3)
        assert correlation(two, two) == pytest.approx(1)
        assert correlation(four, four) == pytest.approx(1)
        assert correlation(two, three) == pytest.approx(up)
        assert correlation(three, four) == pytest.approx(further)
        assert correlation(two, four) == pytest.approx(up * further)
    keltis, stones = kind_number("keltis", 2), kind_number("weg-der-steine", 2)
    assert correlation(keltis, stones) == pytest.approx(NUMBERS.alike[0][3])
    assert correlation(keltis + 2, stones + 2) == pytest.approx(NUMBERS.alike[0][3], rel=0.1)


def test_a_successor_is_nearer_than_a_stranger() -> None:
    new, step = square(NUMBERS.covariance()), square(NUMBERS.step_covariance())
    for kind in range(COUNT):
        width = NUMBERS.succession[kind] ** 2
        assert step[kind][kind] == pytest.approx(width * new[kind][kind])
        assert step[kind][0] == pytest.approx(width * new[kind][0])


def test_the_inverse_is_one() -> None:
    covariance = NUMBERS.covariance()
    found = square(inverse(covariance))
    for column, unit in zip(zip(*found, strict=True), identity(COUNT), strict=True):
        product = times(square(covariance), list(column))
        assert product == pytest.approx(unit, abs=1e-9)


def test_correlations_that_contradict_each_other_are_refused() -> None:
    alike = (
        (1.0, 0.9, -0.9, 0.0),
        (0.9, 1.0, 0.9, 0.0),
        (-0.9, 0.9, 1.0, 0.0),
        (0.0, 0.0, 0.0, 1.0),
    )
    with pytest.raises(ValueError, match="contradict each other"):
        inverse(replace(NUMBERS, alike=alike).covariance())


def test_numbers_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="12 kinds"):
        replace(NUMBERS, luck=(1.0,))
    with pytest.raises(ValueError, match="4 variants"):
        replace(NUMBERS, win=(5, 5))
    with pytest.raises(ValueError, match="above 0"):
        replace(NUMBERS, pair=(0.0,) * COUNT)
    with pytest.raises(ValueError, match="between -1 and 1"):
        replace(NUMBERS, near=((1.0, 0.5),) * 4)


def test_a_scope_weighs_kinds_as_they_are_played() -> None:
    assert scope_weights(Scope("keltis", 3)) == {1: 1.0}
    assert scope_weights(Scope("neue-wege", 0)) == {3: 0.5, 4: 0.25, 5: 0.25}
    assert scope_weights(Scope("all", 2)) == dict.fromkeys((0, 3, 6, 9), 0.25)
    overall = scope_weights(OVERALL)
    assert len(overall) == len(KINDS)
    assert sum(overall.values()) == pytest.approx(1)
    with pytest.raises(UnknownMatch, match="chess/2"):
        scope_weights(Scope("chess", 2))
