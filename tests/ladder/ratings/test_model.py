"""The model knows every game that there is, and says so if asked for another."""

import math

import pytest

from keltis_engine import VARIANTS, find_variant
from keltis_ladder.ratings.model import (
    MU,
    NOISE,
    PRIOR,
    SIGMA,
    SUCCESSION,
    UnknownMatch,
    noise_of,
    start_of,
)
from keltis_ladder.ratings.scopes import ALL, ANY, OVERALL, Scope, scopes_of
from keltis_ladder.ratings.skill import Belief


def test_there_are_numbers_for_every_variant_and_number_of_players() -> None:
    kinds = {(name, n) for name in VARIANTS for n in find_variant(name, {}).players}
    assert set(NOISE) == kinds
    for variant, players in kinds:
        noise = noise_of(variant, players)
        assert 0 < noise.draw_probability < 0.2
        assert 0.5 < noise.beta < SIGMA


def test_unknown_matches_are_refused_with_what_there_is() -> None:
    for variant, players in (("chess", 2), ("keltis", 5), ("all", 2), ("keltis", 0)):
        with pytest.raises(UnknownMatch, match=r"there are: kartenspiel with 2, .*keltis with 2"):
            noise_of(variant, players)


def test_a_first_version_starts_from_the_prior() -> None:
    assert start_of(None) == PRIOR == Belief(MU, SIGMA)


def test_a_next_version_starts_where_its_predecessor_is_but_less_sure() -> None:
    start = start_of(Belief(31.0, 1.0))
    assert start.mu == 31.0
    assert start.sigma == pytest.approx(math.sqrt(1 + SUCCESSION**2))
    assert start_of(Belief(31.0, 8.0)).sigma == SIGMA


def test_a_match_counts_in_four_scopes_in_this_order() -> None:
    assert scopes_of("keltis", 3) == (
        Scope("keltis", 3),
        Scope("keltis", ANY),
        Scope(ALL, 3),
        Scope(ALL, ANY),
    )
    assert scopes_of("keltis", 3)[-1] == OVERALL


def test_scopes_are_written_and_read_back() -> None:
    assert [str(scope) for scope in scopes_of("neue-wege", 2)] == [
        "neue-wege/2",
        "neue-wege/any",
        "all/2",
        "all/any",
    ]
    for scope in scopes_of("neue-wege", 2):
        assert Scope.parse(str(scope)) == scope


@pytest.mark.parametrize(
    "text", ["", "keltis", "keltis/", "/2", "keltis/0", "keltis/-1", "keltis/x", "keltis/2/3"]
)
def test_what_is_no_scope_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a scope is written like"):
        Scope.parse(text)
