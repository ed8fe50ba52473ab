"""The fit finds the skills that dense matrices find, in any order of matches, to the last bit."""

import random
from dataclasses import replace

import pytest
from librt.vecs import vec

from keltis_ladder.ratings.joint.fit import COLD, MOST_WARM_ROUNDS, WARM, Fit, Member
from keltis_ladder.ratings.joint.kinds import KINDS
from keltis_ladder.ratings.joint.numbers import NUMBERS
from keltis_ladder.ratings.joint.standings import rating, standing
from keltis_ladder.ratings.joint.statistics import Match, Statistics
from tests.ladder.ratings.joint.support.dense import Dense, times
from tests.ladder.ratings.joint.support.drawn import ALL_KINDS, COUNT, Drawn, newcomers

BOTS = 8


def skills(fit: Fit) -> list[float]:
    return list(fit.graph.skill)


def fitted(ladder: Drawn) -> Fit:
    return Fit.from_scratch(ladder.members, Statistics.of(ladder.matches), ladder.numbers)


def lineage() -> list[Member]:
    """Two bots with successors, one of which has two."""
    before = [None, None, 0, None, 2, 2, None, 1]
    return [Member(version, each, ALL_KINDS) for version, each in enumerate(before)]


@pytest.mark.parametrize("members", [newcomers(BOTS), lineage()])
def test_it_finds_what_dense_matrices_find(members: list[Member]) -> None:
    ladder = Drawn(3, members).play_at_random(200)
    expected, _ = Dense.of(members, NUMBERS).see_pairs(ladder.matches).solved()
    assert skills(fitted(ladder)) == pytest.approx(expected, abs=1e-7)


def test_all_pairs_of_a_table_say_what_the_table_says() -> None:
    """With equal luck a table of k is k - 1 observations: all its pairs, each for 1/k."""
    plain = replace(NUMBERS, pair=(1e-6,) * COUNT)
    for kind in (1, 2, 5):
        ladder = Drawn(4, newcomers(6), plain)
        for _ in range(40):
            ladder.play(kind, ladder.rng.sample(range(6), KINDS[kind].players))
        expected, _ = Dense.of(ladder.members, plain).see_tables(ladder.matches).solved()
        assert skills(fitted(ladder)) == pytest.approx(expected, abs=1e-6)


def test_the_order_of_matches_and_members_changes_not_one_bit() -> None:
    ladder = Drawn(5, lineage()).play_at_random(150)
    rng = random.Random(1)
    matches = rng.sample(ladder.matches, len(ladder.matches))
    members = rng.sample(ladder.members, len(ladder.members))
    again = Fit.from_scratch(members, Statistics.of(matches))
    first = fitted(ladder)
    for version in range(BOTS):
        for kind in range(COUNT):
            assert again.skill(version, kind) == first.skill(version, kind)


def test_after_each_match_it_is_where_a_cold_start_ends() -> None:
    ladder = Drawn(6, newcomers(BOTS)).play_at_random(300)
    warm = Fit.from_scratch(ladder.members, Statistics.of(ladder.matches[:200]))
    rounds = [warm.count(match) for match in ladder.matches[200:]]
    assert max(rounds) <= MOST_WARM_ROUNDS
    cold = skills(fitted(ladder))
    assert skills(warm) == pytest.approx(cold, abs=10 * WARM)
    warm.settle(COLD)
    assert skills(warm) == pytest.approx(cold, abs=1e-7)


def test_a_great_surprise_takes_no_longer_and_is_worked_off_by_the_next_matches() -> None:
    ladder = Drawn(12, lineage()).play_at_random(300)
    warm = fitted(ladder)
    shock = Match(0, (4, 5), (0, 50_000))
    assert warm.count(shock) == MOST_WARM_ROUNDS
    shocked = Fit.from_scratch(ladder.members, Statistics.of([*ladder.matches, shock]))
    calm = [Match(11, (0, 1, 3, 6), (0, 0, 0, 0))] * 10

    def off(fit: Fit) -> float:
        return max(abs(a - b) for a, b in zip(skills(warm), skills(fit), strict=True))

    first = off(shocked)
    for match in calm:
        warm.count(match)
    last = off(Fit.from_scratch(ladder.members, Statistics.of([*ladder.matches, shock, *calm])))
    assert last < 20 * WARM  # the margin of the surprise was 200 luck
    assert last < first / 10


def test_from_nothing_match_by_match_it_gets_there_too() -> None:
    ladder = Drawn(7, newcomers(4)).play_at_random(60)
    warm = Fit(newcomers(4))
    for match in ladder.matches:
        warm.count(match)
    warm.settle(COLD)
    assert skills(warm) == pytest.approx(skills(fitted(ladder)), abs=1e-7)


def test_a_match_can_be_taken_back() -> None:
    ladder = Drawn(8, newcomers(BOTS)).play_at_random(120)
    fit = fitted(ladder)
    before = skills(fit)
    more = [ladder.play(kind, range(KINDS[kind].players)) for kind in (0, 4, 8, 8)]
    for match in more:
        fit.count(match)
    assert skills(fit) != pytest.approx(before, abs=1e-2)
    for match in more:
        fit.take_back(match)
    fit.settle(COLD)
    assert skills(fit) == pytest.approx(before, abs=1e-7)


def test_what_was_not_counted_cannot_be_taken_back() -> None:
    fit = Fit(newcomers(3))
    fit.count(Match(0, (0, 1), (500, 0)))
    before = skills(fit)
    for match in (Match(0, (0, 2), (5, 0)), Match(1, (0, 1, 2), (5, 0, 0))):
        with pytest.raises(ValueError, match="not counted"):
            fit.take_back(match)
    fit.take_back(Match(0, (0, 1), (500, 0)))
    with pytest.raises(ValueError, match="not counted"):
        fit.take_back(Match(0, (0, 1), (500, 0)))
    fit.settle(COLD)
    assert before != skills(fit) == pytest.approx([0.0] * 3 * COUNT, abs=1e-7)


def test_who_is_not_known_cannot_have_played() -> None:
    with pytest.raises(ValueError, match="version 7 is not known"):
        Fit(newcomers(2)).count(Match(0, (0, 7), (5, 0)))
    with pytest.raises(ValueError, match="version 7 is not known"):
        Fit(newcomers(2)).change(Member(7, None, ALL_KINDS))


def test_nothing_played_leaves_everybody_at_the_centre() -> None:
    assert skills(Fit.from_scratch(newcomers(3), Statistics())) == [0.0] * 3 * COUNT


def test_nobody_becomes_certain_by_one_opponent() -> None:
    """A pair that met 10,000 times weighs less than its own effect would allow."""
    for kind in range(COUNT):
        fit = Fit(newcomers(2))
        edge = fit.graph.add_edge(kind, 0, 1)
        weights = []
        for met in (1, 9, 990, 9000):
            fit.graph.count(edge, met, 0)
            weights.append(fit.graph.weight[edge])
        limit = 1 / NUMBERS.pair[kind] ** 2
        assert weights == sorted(weights)
        assert weights[-1] < limit
        noise = KINDS[kind].players / 10_000
        assert weights[-1] == pytest.approx(1 / (1 / limit + noise))


def test_a_new_version_begins_where_its_predecessor_is() -> None:
    ladder = Drawn(9, newcomers(4)).play_at_random(80)
    fit = fitted(ladder)
    before = skills(fit)
    new = Member(9, 2, ALL_KINDS)
    fit.enter(new)
    assert skills(fit) == before + before[2 * COUNT : 3 * COUNT]
    assert fit.settle(COLD) == 0
    cold = Fit.from_scratch([*ladder.members, new], Statistics.of(ladder.matches))
    assert skills(cold) == pytest.approx(skills(fit), abs=1e-7)


def test_a_version_that_is_broken_leaves_the_interval_of_its_predecessor() -> None:
    """It loses by far: ten matches are enough."""
    ladder = Drawn(10, newcomers(6)).play_at_random(400)
    fit = fitted(ladder)
    before = standing(fit, 2, {0: 1.0})
    assert before is not None
    fit.enter(Member(9, 2, ALL_KINDS))
    unit = 24 * NUMBERS.luck[0]
    inherited = fit.skill(9, 0)
    for number in range(10):
        other = (0, 1, 3, 4, 5)[number % 5]
        lead = fit.skill(other, 0) - fit.skill(2, 0) + 3.0  # three luck below its predecessor
        fit.count(Match(0, (9, other), (0, round(unit * lead))))
    assert fit.skill(9, 0) < inherited - 2.0
    fit.change(Member(2, None, ALL_KINDS, active=False))
    after = rating(fit, 9, {0: 1.0})
    assert after is not None
    assert after < before.rating - 1.96 * before.sigma
    assert fit.skill(2, 0) > inherited - 1.0, "the old version is what it was"


def test_a_version_is_known_once_and_after_its_predecessor() -> None:
    fit = Fit(newcomers(2))
    with pytest.raises(ValueError, match="version 1 is known already"):
        fit.enter(Member(1, None, ALL_KINDS))
    with pytest.raises(ValueError, match="version 6 is not known, but 7 descends from it"):
        fit.enter(Member(7, 6, ALL_KINDS))
    with pytest.raises(ValueError, match="version 7 is not known"):
        Fit([Member(8, 7, ALL_KINDS)])


def test_what_is_known_before_any_match_is_what_dense_matrices_say() -> None:
    fit = Fit(lineage())
    _, covariance = Dense.of(lineage(), NUMBERS).solved()
    rng = random.Random(3)
    gradient = [rng.gauss(0, 1) for _ in range(COUNT * BOTS)]
    expected = sum(a * b for a, b in zip(times(covariance, gradient), gradient, strict=True))
    assert fit.graph.variance_before(vec[float](gradient)) == pytest.approx(expected)
