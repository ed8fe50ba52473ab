"""Statistics are sums of whole numbers: in any order, and back again."""

import json
import random

import pytest

from keltis_ladder.ratings.joint.kinds import kind_number
from keltis_ladder.ratings.joint.statistics import Match, Meetings, Pair, Statistics, match_of
from keltis_ladder.ratings.model import UnknownMatch
from tests.ladder.ratings.joint.support.drawn import Drawn, newcomers


def played() -> list[Match]:
    return Drawn(1, newcomers(7)).play_at_random(300).matches


def test_every_pair_of_a_table_meets_once() -> None:
    match = match_of("keltis", [9, 2, 5], [100, 40, 70])
    kind = kind_number("keltis", 3)
    found = Statistics.of([match, match])
    assert found.pairs == {
        Pair(kind, 2, 5): Meetings(2, -60),
        Pair(kind, 2, 9): Meetings(2, -120),
        Pair(kind, 5, 9): Meetings(2, -60),
    }
    assert found.matches[kind] == 2
    assert found.squares[kind] == 2 * (30**2 + 60**2 + 30**2)


def test_the_order_of_matches_and_of_seats_is_irrelevant() -> None:
    matches, rng = played(), random.Random(2)
    turned = [Match(kind, versions[::-1], scores[::-1]) for kind, versions, scores in matches]
    assert Statistics.of(rng.sample(turned, len(turned))) == Statistics.of(matches)


def test_a_match_that_is_taken_back_leaves_no_trace() -> None:
    matches = played()
    found = Statistics.of(matches)
    for match in matches[100:]:
        found.take_back(match)
    assert found == Statistics.of(matches[:100])
    for match in matches[:100]:
        found.take_back(match)
    assert found == Statistics()


def test_what_was_not_counted_cannot_be_taken_back() -> None:
    found = Statistics.of([match_of("keltis", [1, 2], [5, 0])])
    before = found.to_plain()
    with pytest.raises(ValueError, match="not counted"):
        found.take_back(match_of("keltis", [1, 2, 3], [5, 0, 0]))
    assert found.to_plain() == before


def test_it_can_be_stored() -> None:
    found = Statistics.of(played())
    assert Statistics.from_plain(json.loads(json.dumps(found.to_plain()))) == found


def test_what_cannot_have_been_a_match_is_refused() -> None:
    with pytest.raises(ValueError, match="different versions"):
        match_of("keltis", [1, 1], [5, 0])
    with pytest.raises(ValueError, match="each with a score"):
        match_of("keltis", [1, 2], [5])
    with pytest.raises(UnknownMatch, match="5 players"):
        match_of("keltis", [1, 2, 3, 4, 5], [0] * 5)
