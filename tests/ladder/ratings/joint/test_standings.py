"""What is shown: ratings, deviations, shares of wins, differences and rank ranges."""

import math
from collections.abc import Mapping
from statistics import NormalDist

import pytest

from keltis_ladder.ratings.joint.fit import Fit, Member
from keltis_ladder.ratings.joint.kinds import KINDS, scope_weights
from keltis_ladder.ratings.joint.numbers import NUMBERS
from keltis_ladder.ratings.joint.ranges import range_text, rank_ranges, told_apart
from keltis_ladder.ratings.joint.standings import (
    Score,
    Sources,
    Standing,
    difference,
    expected_share,
    leaderboard,
    rating,
    standing,
)
from keltis_ladder.ratings.joint.statistics import Match, Statistics
from keltis_ladder.ratings.scopes import OVERALL, Scope
from tests.ladder.ratings.joint.support.dense import Dense, Matrix, times
from tests.ladder.ratings.joint.support.drawn import ALL_KINDS, COUNT, Drawn, newcomers

BOTS = 6
NORMAL = NormalDist()
KELTIS_2 = scope_weights(Scope("keltis", 2))
SCOPES = [KELTIS_2, scope_weights(Scope("keltis", 0)), scope_weights(OVERALL)]


class Yardstick:
    """Ratings and their covariance by dense matrices, straight from the formulae."""

    def __init__(self, ladder: Drawn) -> None:
        dense = Dense.of(ladder.members, ladder.numbers).see_pairs(ladder.matches)
        self.skill, self.covariance = dense.solved()
        self.bots = len(ladder.members)
        self.meetings: dict[tuple[int, int, int], list[float]] = {}
        for match in ladder.matches:
            unit = 12 * len(match.versions) * ladder.numbers.luck[match.kind]
            for one, score in zip(match.versions, match.scores, strict=True):
                for other, its in zip(match.versions, match.scores, strict=True):
                    met = self.meetings.setdefault((match.kind, one, other), [])
                    met.append((score - its) / unit)

    def pair(self, kind: int, one: int, other: int) -> tuple[float, float, float]:
        """How far own meetings count, the lead, and the variance of what is left open."""
        pair = NUMBERS.pair[kind] ** 2
        gap = self.skill[COUNT * one + kind] - self.skill[COUNT * other + kind]
        met = self.meetings.get((kind, one, other), [])
        if not met:
            return 0.0, gap, pair
        noise = KINDS[kind].players / len(met)
        share = pair / (pair + noise)
        return share, (1 - share) * gap + share * sum(met) / len(met), share * noise

    def figure(self, bot: int, scope: Mapping[int, float], score: bool) -> tuple[float, float]:
        """Mean and standard deviation of a rating less 25, or of a share of wins."""
        value, stretch, missed = 0.0, 0.0, 0.0
        gradient = [0.0] * (COUNT * self.bots)
        doubts = [[0.0] * self.bots for _ in range(4)]
        others = [other for other in range(self.bots) if other != bot]
        for kind, weight in scope.items():
            variant = kind // 3
            slope = NUMBERS.slope[kind]
            for other in others:
                share, lead, rest = self.pair(kind, bot, other)
                part = weight / len(others)
                if score:
                    value += part * NORMAL.cdf(slope * lead)
                    part *= slope * NORMAL.pdf(slope * lead)
                else:
                    part *= NUMBERS.beta[variant]
                    value += part * lead
                    stretch += NUMBERS.stretch[kind] * part * lead
                gradient[COUNT * bot + kind] += part * (1 - share)
                gradient[COUNT * other + kind] -= part * (1 - share)
                doubts[variant][other] += part * math.sqrt(rest)
            missed += weight * NUMBERS.link[kind] if score else 0.0
        variance = quadratic(self.covariance, gradient) + stretch**2 + missed**2
        variance += sum(doubt**2 for each in doubts for doubt in each)
        return value, math.sqrt(variance)


def quadratic(matrix: Matrix, vector: list[float]) -> float:
    return sum(a * b for a, b in zip(times(matrix, vector), vector, strict=True))


@pytest.fixture(scope="module")
def ladder() -> Drawn:
    return Drawn(1, newcomers(BOTS)).play_at_random(150)


@pytest.fixture(scope="module")
def fit(ladder: Drawn) -> Fit:
    return Fit.from_scratch(ladder.members, Statistics.of(ladder.matches))


def shown(fit: Fit, version: int, scope: Mapping[int, float]) -> Standing:
    found = standing(fit, version, scope)
    assert found is not None
    return found


@pytest.mark.parametrize("scope", SCOPES)
def test_ratings_and_deviations_are_those_of_dense_matrices(
    ladder: Drawn, fit: Fit, scope: Mapping[int, float]
) -> None:
    yardstick = Yardstick(ladder)
    for bot in range(BOTS):
        found = shown(fit, bot, scope)
        lead, sigma = yardstick.figure(bot, scope, score=False)
        assert found.rating == pytest.approx(25 + lead, abs=1e-6)
        assert found.rating == rating(fit, bot, scope)
        assert found.sigma == pytest.approx(sigma, rel=1e-3)
        share, deviation = yardstick.figure(bot, scope, score=True)
        assert found.score.value == pytest.approx(share, abs=1e-6)
        assert found.score.low == pytest.approx(max(0, share - 1.96 * deviation), abs=1e-3)
        assert found.score.high == pytest.approx(min(1, share + 1.96 * deviation), abs=1e-3)


@pytest.mark.parametrize("scope", SCOPES)
def test_a_difference_is_surer_than_two_ratings(fit: Fit, scope: Mapping[int, float]) -> None:
    one, other = shown(fit, 0, scope), shown(fit, 1, scope)
    found, back = difference(fit, 0, 1, scope), difference(fit, 1, 0, scope)
    assert found is not None
    assert back is not None
    assert found.lead == pytest.approx(one.rating - other.rating)
    assert found.lead == -back.lead
    assert found.sigma == pytest.approx(back.sigma)
    assert 0.7 < found.sigma / math.hypot(one.sigma, other.sigma) < 1.3
    assert found.better == pytest.approx(NORMAL.cdf(found.lead / found.sigma))
    assert found.better + back.better == pytest.approx(1)


def test_a_version_has_no_difference_to_itself(fit: Fit) -> None:
    with pytest.raises(ValueError, match="between two versions"):
        difference(fit, 3, 3, KELTIS_2)


def test_a_share_of_wins_is_that_of_the_lead(ladder: Drawn, fit: Fit) -> None:
    _, lead, _ = Yardstick(ladder).pair(0, 2, 4)
    assert expected_share(fit, 2, 4, 0) == pytest.approx(NORMAL.cdf(NUMBERS.slope[0] * lead))
    assert expected_share(fit, 2, 4, 0) + expected_share(fit, 4, 2, 0) == pytest.approx(1)


def test_with_all_active_ratings_of_a_kind_are_25_on_average(fit: Fit) -> None:
    for kind in range(COUNT):
        found = [rating(fit, bot, {kind: 1.0}) or 0.0 for bot in range(BOTS)]
        assert sum(found) / BOTS == pytest.approx(25)


def test_a_new_bot_is_at_25_as_uncertain_as_bots_differ() -> None:
    fit = Fit.from_scratch(newcomers(200), Statistics())
    found = shown(fit, 7, KELTIS_2)
    assert found.rating == 25
    assert found.sigma == pytest.approx(NUMBERS.beta[0] * NUMBERS.spread[0], rel=0.02)
    assert found.score.value == pytest.approx(0.5)
    assert found.sources == pytest.approx((0, 0, 1))


def test_a_field_of_one_is_measured_by_the_centre() -> None:
    fit = Fit.from_scratch(newcomers(1), Statistics())
    found = shown(fit, 0, KELTIS_2)
    assert found.rating == 25
    assert found.sigma == pytest.approx(NUMBERS.beta[0] * NUMBERS.spread[0])
    assert found.score.value == pytest.approx(0.5)
    assert leaderboard([found])[0][1:] == (1, 1)


def test_a_field_of_two_is_one_difference() -> None:
    matches = [Match(0, (0, 1), (480, 0))] * 20
    fit = Fit.from_scratch(newcomers(2), Statistics.of(matches))
    one, other = shown(fit, 0, KELTIS_2), shown(fit, 1, KELTIS_2)
    assert one.rating - 25 == pytest.approx(25 - other.rating)
    assert one.sigma == pytest.approx(other.sigma)
    lead = 480 / (24 * NUMBERS.luck[0])  # of every match; hardly any of it is held to be luck
    assert one.rating == pytest.approx(25 + NUMBERS.beta[0] * lead, rel=0.05)
    assert [line[1:] for line in leaderboard([other, one])] == [(1, 1), (2, 2)]


def test_who_has_retired_is_measured_but_measures_nobody(ladder: Drawn) -> None:
    active = [Member(bot, None, ALL_KINDS, active=bot < 4) for bot in range(BOTS)]
    fit = Fit.from_scratch(active, Statistics.of(ladder.matches))
    assert sum(rating(fit, bot, KELTIS_2) or 0.0 for bot in range(4)) == pytest.approx(100)
    everybody = Fit.from_scratch(ladder.members, Statistics.of(ladder.matches))
    for bot in range(BOTS):
        assert fit.skill(bot, 0) == everybody.skill(bot, 0), "its matches still count"
    retired = shown(fit, 5, KELTIS_2)
    leads = [fit.leads(5, 0).lead[other] for other in range(4)]
    assert retired.rating == pytest.approx(25 + NUMBERS.beta[0] * sum(leads) / 4)

    everybody.change(Member(4, None, ALL_KINDS, active=False))
    everybody.change(Member(5, None, ALL_KINDS, active=False))
    assert rating(everybody, 0, KELTIS_2) == rating(fit, 0, KELTIS_2)


def test_a_bot_of_one_variant_is_rated_by_it_alone(ladder: Drawn) -> None:
    keltis = frozenset((0, 1, 2))
    members = [Member(bot, None, ALL_KINDS if bot else keltis) for bot in range(BOTS)]
    matches = [match for match in ladder.matches if 0 not in match.versions or match.kind in keltis]
    fit = Fit.from_scratch(members, Statistics.of(matches))
    assert standing(fit, 0, scope_weights(Scope("neue-wege", 0))) is None
    assert rating(fit, 0, {3: 1.0}) is None
    assert difference(fit, 0, 1, {3: 1.0}) is None
    assert rating(fit, 0, SCOPES[2]) == pytest.approx(rating(fit, 0, SCOPES[1]))
    others = [rating(fit, bot, {3: 1.0}) or 0.0 for bot in range(1, BOTS)]
    assert sum(others) / (BOTS - 1) == pytest.approx(25), "it is not part of that field"


def test_a_kind_rests_on_others_until_it_is_played() -> None:
    """One bot plays keltis with two players only; the others play everything."""
    ladder = Drawn(2, newcomers(BOTS))
    for number in range(400):
        kind = number % COUNT
        ladder.play(kind, ladder.rng.sample(range(1, BOTS), KINDS[kind].players))
    for number in range(60):
        ladder.play(0, (0, 1 + number % 5))
    fit = Fit.from_scratch(ladder.members, Statistics.of(ladder.matches))
    played, near, far = (shown(fit, 0, {kind: 1.0}) for kind in (0, 1, 9))
    for found in (played, near, far):
        assert sum(found.sources) == pytest.approx(1)
        assert min(found.sources) >= 0
    assert played.sources.own > 0.8
    assert near.sources.others > 0.8, "with three players it is much the same"
    assert 0.1 < far.sources.others < 0.6, "another game says less about this one"
    for _ in range(60):
        fit.count(ladder.play(1, ladder.rng.sample(range(BOTS), 3)))
    assert shown(fit, 0, {1: 1.0}).sources.own > 2 * near.sources.own


def test_two_equal_sources_tell_half_each() -> None:
    """The shares are those of information: as often against one opponent as against the other."""
    matches = [Match(0, (0, 1), (100, 0))] * 4
    fit = Fit.from_scratch(newcomers(2), Statistics.of(matches))
    # A difference of two bots: matches say 1 / (pair² + 2 / 4), the prior 1 / (2 spread²).
    own = 1 / (NUMBERS.pair[0] ** 2 + 0.5)
    before = 1 / (2 * NUMBERS.spread[0] ** 2)
    found = shown(fit, 0, KELTIS_2).sources
    assert found.own == pytest.approx(own / (own + before), rel=1e-6)
    assert found.others == pytest.approx(0, abs=1e-9)


def test_rank_ranges_go_from_the_certainly_better_to_the_certainly_worse() -> None:
    ratings, sigmas = [30.0, 28.0, 27.5, 20.0], [0.5, 1.0, 0.3, 5.0]
    assert rank_ranges(ratings, sigmas) == [(1, 3), (1, 4), (2, 4), (1, 4)]
    assert rank_ranges(ratings, [0.01] * 4) == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert rank_ranges([25.0] * 3, [0.0] * 3) == [(1, 3)] * 3
    assert rank_ranges([], []) == []


def test_told_apart_is_beyond_2_241_deviations() -> None:
    assert not told_apart(2.24 * 5, 3, 4)
    assert told_apart(2.242 * 5, 3, 4)
    assert told_apart(-2.242 * 5, 4, 3)


def test_a_range_is_written_as_people_write_it() -> None:
    assert range_text(3, 5) == "3-5"
    assert range_text(4, 4) == "4"


def test_a_leaderboard_is_in_order() -> None:
    def line(version: int, value: float) -> Standing:
        return Standing(version, value, 0.1, Score(0.5, 0.4, 0.6), Sources(1, 0, 0))

    lines = leaderboard([line(3, 25.0), line(1, 27.0), line(2, 25.0)])
    assert [each.standing.version for each in lines] == [1, 2, 3]
    assert [(each.best, each.worst) for each in lines] == [(1, 1), (2, 3), (2, 3)]
