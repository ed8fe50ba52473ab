"""The refit does not depend on the order of results, and is right where the truth is known."""

import math
import random
from collections.abc import Sequence

import pytest

from keltis_ladder.ratings.model import MU, PRIOR, SIGMA, SUCCESSION, TAU, noise_of
from keltis_ladder.ratings.refit import Played, Refit, ancestors_first, refit
from keltis_ladder.ratings.refit_sweep import NOBODY, Network
from keltis_ladder.ratings.skill import Belief, Noise, rate
from tests.ladder.ratings.support.simulated import (
    VARIANT,
    Ladder,
    covered,
    covered_gaps,
    errors,
    grow,
    mean_square,
    rank_correlation,
)


def match(number: int, versions: Sequence[int], ranks: Sequence[int]) -> Played:
    return Played(str(number), tuple(versions), tuple(ranks), VARIANT, len(versions))


def network(
    games: list[tuple[list[int], list[int]]], predecessors: list[int], noise: Noise, step: float
) -> Network:
    """Games are versions, the best first, and their ranks."""
    drawn = []
    for _, ranks in games:
        drawn += [one == other for one, other in zip(ranks, [*ranks[1:], 0], strict=True)]
    entrants = [version for versions, _ in games for version in versions]
    ends = [sum(len(versions) for versions, _ in games[: k + 1]) for k in range(len(games))]
    return Network(
        Belief(25.0, 25 / 3), step, predecessors, entrants, ends, drawn, [noise] * len(games)
    )


@pytest.fixture(scope="module")
def ladders() -> list[tuple[Ladder, Refit]]:
    """Ladders with known skills, and their refits."""
    played = [grow(seed, 45, 1500, (2, 2, 3, 4), TAU) for seed in range(4)]
    return [(ladder, refit(ladder.played, ladder.predecessors)) for ladder in played]


def test_one_match_says_what_it_says_live() -> None:
    for ranks in ([1, 2], [1, 1], [2, 3, 1], [1, 3, 3, 2]):
        versions = range(len(ranks))
        live = rate([PRIOR] * len(ranks), ranks, noise_of(VARIANT, len(ranks)), 0.0)
        found = refit([match(1, versions, ranks)], dict.fromkeys(versions))
        assert found.converged
        for version in versions:
            assert found.beliefs[version].mu == pytest.approx(live[version].mu, abs=1e-5)
            assert found.beliefs[version].sigma == pytest.approx(live[version].sigma, abs=1e-5)


def test_another_implementation_finds_the_same() -> None:
    """Numbers by the package trueskillthroughtime 1.1.0: bot a improves in steps, b, c, d do not.

    Its entrants were given best first: with three or more in another order it confuses them.
    """
    a1, a2, a3, b, c, d = range(6)
    games = [
        ([a1, b], [1, 2]),
        ([b, c], [1, 1]),
        ([c, a1, d], [1, 2, 3]),
        ([a2, b], [1, 2]),
        ([d, c, b], [1, 2, 2]),
        ([d, a2], [1, 2]),
        ([a3, b, d, c], [1, 2, 3, 4]),
        ([b, d], [1, 2]),
        ([c, a3], [1, 1]),
        ([a3, c, b], [1, 1, 3]),
    ]
    lineage = [NOBODY, a1, a2, NOBODY, NOBODY, NOBODY]
    found = network(games, lineage, Noise(3.0, 0.1), step=4.0)
    assert found.settle(1e-10, 200)[1]
    expected = {
        a1: (26.3832948, 2.7536421),
        a2: (25.9219286, 2.6704791),
        a3: (27.3494721, 2.3319231),
        b: (24.062309, 1.8604587),
        c: (25.1536982, 1.8225486),
        d: (24.400698, 2.1314542),
    }
    for version, (mu, sigma) in expected.items():
        assert found.mean(version) == pytest.approx(mu, abs=1e-6)
        assert found.deviation(version) == pytest.approx(sigma, abs=1e-6)


def test_the_order_of_results_changes_nothing_at_all(ladders: list[tuple[Ladder, Refit]]) -> None:
    ladder, first = ladders[0]
    rng = random.Random(1)
    shuffled = rng.sample(ladder.played, len(ladder.played))
    lineage = rng.sample(list(ladder.predecessors.items()), len(ladder.predecessors))
    assert refit(iter(shuffled), dict(lineage)) == first


def test_live_ratings_do_depend_on_it() -> None:
    noise = noise_of(VARIANT, 2)
    results = [((0, 1), [1, 2]), ((1, 2), [1, 2]), ((0, 2), [2, 1])]

    def live(order: Sequence[int]) -> list[Belief]:
        beliefs = [PRIOR] * 3
        for k in order:
            (one, other), ranks = results[k]
            beliefs[one], beliefs[other] = rate([beliefs[one], beliefs[other]], ranks, noise, 0.0)
        return beliefs

    assert live([0, 1, 2]) != live([2, 1, 0])


def test_a_version_that_never_played_passes_on_what_is_known() -> None:
    opponent, first, silent, last = range(4)
    lineage = {opponent: None, first: None, silent: first, last: silent}
    step = SUCCESSION * SUCCESSION

    after_first = refit([match(1, [first, opponent], [1, 2])], lineage).beliefs
    for version, steps in ((silent, 1), (last, 2)):
        assert after_first[version].mu == pytest.approx(after_first[first].mu, abs=1e-5)
        expected = math.sqrt(after_first[first].sigma ** 2 + steps * step)
        assert after_first[version].sigma == pytest.approx(expected, abs=1e-5)

    # Back from the last: what is normal stays normal, so the first is a regression on it.
    prior = SIGMA * SIGMA
    wide = Belief(MU, math.sqrt(prior + 2 * step))
    of_last, _ = rate([wide, PRIOR], [1, 2], noise_of(VARIANT, 2), 0.0)
    after_last = refit([match(1, [last, opponent], [1, 2])], lineage).beliefs
    for version, shared in ((last, prior + 2 * step), (silent, prior + step), (first, prior)):
        slope = shared / (prior + 2 * step)
        assert after_last[version].mu == pytest.approx(MU + slope * (of_last.mu - MU), abs=1e-5)
        learned = slope * slope * (wide.sigma**2 - of_last.sigma**2)
        assert after_last[version].sigma == pytest.approx(math.sqrt(shared - learned), abs=1e-5)


def test_two_bots_may_descend_from_the_same_version() -> None:
    root, left, right, opponent = range(4)
    lineage = {root: None, left: root, right: root, opponent: None}
    found = refit([match(1, [left, opponent], [1, 2])], lineage).beliefs
    assert found[left].mu > found[root].mu > MU
    assert found[right].mu == pytest.approx(found[root].mu)
    both = [match(1, [left, opponent], [1, 2]), match(2, [right, opponent], [1, 2])]
    mirrored = refit(both, lineage).beliefs
    assert mirrored[left].mu == pytest.approx(mirrored[right].mu, abs=1e-5)


def test_leaps_end_where_sweeps_do_and_much_sooner() -> None:
    """Rated high on a long ladder: news has far to go."""
    rng = random.Random(5)
    games = []
    for _ in range(600):
        low = rng.randrange(27)
        one, other = rng.sample(range(low, low + 3), 2)
        better = max(one, other) if rng.random() < 0.7 else min(one, other)
        games.append(([better, one + other - better], [1, 2]))
    lineage = [NOBODY] * 30
    noise = Noise(4.0, 0.02)
    plain = network(games, lineage, noise, 1.0)
    sweeps = 0
    while True:
        before = plain.means()
        plain.sweep()
        sweeps += 1
        if max(abs(a - b) for a, b in zip(before, plain.means(), strict=True)) < 1e-6:
            break
    hasty = network(games, lineage, noise, 1.0)
    taken, converged = hasty.settle(1e-6, 1000)
    assert converged
    assert sweeps > 4 * taken
    for version in range(30):
        assert hasty.mean(version) == pytest.approx(plain.mean(version), abs=1e-3)
        assert hasty.deviation(version) == pytest.approx(plain.deviation(version), abs=1e-4)


def test_all_sorts_of_small_ladders_settle() -> None:
    """Also those where the better always wins, which pull the means apart without end."""
    rng = random.Random(6)
    for luck in (0.0, 0.3, 3.0):
        for count in (2, 3, 4, 6, 12):
            for step in (0.01, 4.0):
                skills = [rng.gauss(0, 1) for _ in range(count)]
                lineage = [rng.choice([NOBODY, *range(version)]) for version in range(count)]
                games = []
                for _ in range(40):
                    versions = rng.sample(range(count), min(count, rng.randrange(2, 5)))
                    performed = {v: skills[v] + rng.gauss(0, luck) for v in versions}
                    versions.sort(key=lambda v: -performed[v])
                    games.append((versions, list(range(len(versions)))))
                found = network(games, lineage, Noise(rng.choice((1.7, 4.6)), 0.02), step)
                sweeps, converged = found.settle(1e-6, 300)
                assert converged, (luck, count, step, sweeps)


def test_draws_alone_settle_the_deviations_too() -> None:
    """The means never move, which must not pass for having converged."""
    found = refit([match(k, [0, 1], [1, 1]) for k in range(50)], {0: None, 1: None})
    assert found.beliefs[0].mu == pytest.approx(MU)
    assert found.sweeps > 2
    again = network([([0, 1], [1, 1])] * 50, [NOBODY] * 2, noise_of(VARIANT, 2), 1.0)
    again.settle(1e-12, 1000)
    assert found.beliefs[0].sigma == pytest.approx(again.deviation(0), abs=1e-5)


def test_a_refit_without_time_says_so() -> None:
    games = [([0, 1], [1, 2])] * 20 + [([1, 2], [1, 2])] * 20
    assert network(games, [NOBODY] * 3, Noise(4.0, 0.02), 1.0).settle(1e-9, 2) == (2, False)


def test_nothing_played_leaves_the_priors() -> None:
    found = refit([], {1: None, 2: 1})
    assert found.converged
    assert found.beliefs[1] == PRIOR
    assert found.beliefs[2].sigma == pytest.approx(math.hypot(SIGMA, SUCCESSION))


def test_live_and_refit_agree_within_their_uncertainty(
    ladders: list[tuple[Ladder, Refit]],
) -> None:
    for ladder, found in ladders:
        assert found.converged
        refitted = {version: belief.mu for version, belief in found.beliefs.items()}
        live = {version: belief.mu for version, belief in ladder.live.items()}
        assert rank_correlation(live, refitted) > 0.97
        assert rank_correlation(ladder.skills, refitted) > 0.9
        assert covered_gaps(ladder.live, refitted) > 0.95


def test_gaps_between_neighbours_are_as_certain_as_they_say(
    ladders: list[tuple[Ladder, Refit]],
) -> None:
    live = [covered_gaps(ladder.live, ladder.skills) for ladder, _ in ladders]
    refitted = [covered_gaps(found.beliefs, ladder.skills) for ladder, found in ladders]
    assert 0.91 < sum(live) / len(live) < 0.99
    assert 0.92 < sum(refitted) / len(refitted) < 0.99


def test_across_the_whole_ladder_the_refit_is_nearly_as_certain_as_it_says(
    ladders: list[tuple[Ladder, Refit]],
) -> None:
    """Errors that neighbours share do not show in their intervals: see docs/readers/ratings.md."""
    live = [covered(ladder.live, ladder.skills) for ladder, _ in ladders]
    refitted = [covered(found.beliefs, ladder.skills) for ladder, found in ladders]
    assert 0.80 < sum(refitted) / len(refitted) < 0.98
    assert 0.50 < sum(live) / len(live) < sum(refitted) / len(refitted)


def test_the_refit_is_more_accurate_than_live_ratings(
    ladders: list[tuple[Ladder, Refit]],
) -> None:
    live: list[float] = []
    refitted: list[float] = []
    for ladder, found in ladders:
        live += errors(ladder.live, ladder.skills).values()
        refitted += errors(found.beliefs, ladder.skills).values()
    assert mean_square(refitted) < 0.7 * mean_square(live)


def test_early_bots_profit_when_their_opponents_become_known() -> None:
    """Each met one opponent that nobody knew, and never played again."""
    live: list[float] = []
    refitted: list[float] = []
    for seed in range(8):
        ladder = Ladder(seed)
        early = [ladder.add() for _ in range(12)]
        later = [ladder.add() for _ in range(12)]
        for _ in range(5):
            for versions in zip(early, later, strict=True):
                ladder.play(versions)
        for _ in range(300):
            ladder.play(ladder.pair(later))
        found = refit(ladder.played, ladder.predecessors)
        of_live = errors(ladder.live, ladder.skills)
        of_refit = errors(found.beliefs, ladder.skills)
        live += [of_live[version] for version in early]
        refitted += [of_refit[version] for version in early]
    assert mean_square(refitted) < 0.75 * mean_square(live)


@pytest.mark.parametrize(
    ("played", "predecessors", "complaint"),
    [
        ([match(1, [1, 2], [1, 2])], {1: None}, "version 2 played in match 1"),
        ([match(1, [1, 1], [1, 2])], {1: None}, "two versions or more"),
        ([match(1, [1], [1])], {1: None}, "two versions or more"),
        ([match(1, [1, 2], [1])], {1: None, 2: None}, "each with a rank"),
        ([match(1, [1, 2], [1, 2])] * 2, {1: None, 2: None}, "given twice"),
        ([], {1: 2, 2: 3, 3: 1}, "descends from itself"),
        ([], {1: 7}, "version 7 is not known"),
    ],
)
def test_what_makes_no_sense_is_refused(
    played: list[Played], predecessors: dict[int, int | None], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        refit(played, predecessors)


def test_every_version_comes_after_its_predecessor() -> None:
    assert ancestors_first({5: None, 1: 3, 3: 4, 4: None, 2: 1}) == [4, 3, 1, 2, 5]
