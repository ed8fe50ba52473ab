"""The kernel gives what the package ``trueskill`` does, over whole ladders and at their edges."""

import ast
import random
import sys
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keltis_engine import VARIANTS
from keltis_ladder.ratings.book import Book, Rate, Record, Share
from keltis_ladder.ratings.model import BETA, DRAWS, MU, PRIOR, SIGMA, TAU, noise_of
from keltis_ladder.ratings.package import (
    PackageFailed,
    PackageMissing,
    PackageRater,
    environment_of,
)
from keltis_ladder.ratings.skill import Belief, Noise, rate
from tests.places import ROOT

CLOSE = 1e-9  # points: a thousand times what is found, a thousandth of what the command allows
BOTS = 6
PACKAGES = ["bots", "ladder", "server", "cli"]

# Skills that are equal, near and far; ties as often as in no game of ours.
ladders = st.builds(
    lambda seed, players, spread, ties, matches: simulated(seed, players, spread, ties, matches),
    seed=st.integers(0, 2**32),
    players=st.sampled_from([(2,), (3,), (4,), (2, 3, 4)]),
    spread=st.sampled_from([0.0, 4.0, 12.0]),
    ties=st.sampled_from([0.0, 0.05, 0.5]),
    matches=st.integers(1, 20),
)


def simulated(
    seed: int, players: Sequence[int], spread: float, ties: float, matches: int
) -> list[Record]:
    """Return the results of bots whose skills are known, in matches of all variants."""
    chance = random.Random(seed)
    skills = [chance.gauss(MU, spread) for _ in range(BOTS)]
    found = []
    for number in range(1, matches + 1):
        variant, size = chance.choice(list(VARIANTS)), chance.choice(players)
        bots = chance.sample(range(BOTS), size)
        performed = {bot: chance.gauss(skills[bot], BETA[variant]) for bot in bots}
        order = sorted(bots, key=performed.__getitem__, reverse=True)
        ranks = {order[0]: 1}
        for place, (better, bot) in enumerate(pairwise(order), start=2):
            ranks[bot] = ranks[better] if chance.random() < ties else place
        shares = tuple(Share(bot, ranks[bot], 0, 0, (0,) * size) for bot in bots)
        found.append(Record(number, variant, size, shares))
    return found


def entered(history: list[Record], by: Rate) -> Book:
    # The last bot is a new version of the first.
    book = Book({bot: 0 if bot == BOTS - 1 else None for bot in range(BOTS)}, by)
    for record in history:
        book.enter(record)
    return book


def largest_difference(one: Book, other: Book) -> float:
    assert one.standings.keys() == other.standings.keys()
    pairs = [(one.standings[key].belief, other.standings[key].belief) for key in one.standings]
    return max(max(abs(a.mu - b.mu), abs(a.sigma - b.sigma)) for a, b in pairs)


@settings(max_examples=15, deadline=None)
@given(history=ladders)
def test_kernel_and_package_rate_any_ladder_alike(history: list[Record]) -> None:
    rater = PackageRater()
    assert largest_difference(entered(history, rate), entered(history, rater.rate)) < CLOSE
    assert rater.exactly == 0


def test_a_kernel_that_is_slightly_wrong_is_noticed() -> None:
    def too_sure(beliefs: list[Belief], ranks: list[int], noise: Noise, tau: float) -> list[Belief]:
        return rate(beliefs, ranks, Noise(noise.beta * (1 + 1e-6), noise.draw_probability), tau)

    def forgets_drift(
        beliefs: list[Belief], ranks: list[int], noise: Noise, _: float
    ) -> list[Belief]:
        return rate(beliefs, ranks, noise, 0.0)

    history = simulated(1, (2, 3, 4), 4.0, 0.05, 30)
    theirs = entered(history, PackageRater().rate)
    for wrong in (too_sure, forgets_drift):
        assert largest_difference(entered(history, wrong), theirs) > 100 * CLOSE


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_environment_has_the_numbers_of_the_model(variant: str, players: int) -> None:
    found = environment_of(variant, players)
    assert (found.mu, found.sigma, found.tau) == (MU, SIGMA, TAU)
    assert (found.beta, found.draw_probability) == (BETA[variant], DRAWS[variant][players])
    fresh = found.create_rating()
    assert fresh.mu == pytest.approx(PRIOR.mu, abs=1e-12)
    assert fresh.sigma == pytest.approx(PRIOR.sigma, abs=1e-12)


one_sided = st.integers(2, 4).flatmap(
    lambda n: st.tuples(
        st.lists(
            st.builds(
                Belief, st.sampled_from([-2000.0, -400.0, 0.0, 25.0, 600.0]), st.floats(1, 9)
            ),
            min_size=n,
            max_size=n,
        ),
        st.permutations(list(range(1, n + 1))),
    )
)


@settings(max_examples=20, deadline=None)
@given(match=one_sided)
@example(match=([Belief(-225.0, 1.0), Belief(25.0, 1.0)], [1, 2]))
@example(match=([Belief(25.0, 1.0), Belief(-225.0, 1.0)], [1, 2]))
@example(match=([Belief(25.0, 1.0), Belief(-225.0, 1.0)], [1, 1]))
def test_where_the_numbers_of_the_package_end_it_takes_mpmath(
    match: tuple[list[Belief], list[int]],
) -> None:
    before, ranks = match
    rater = PackageRater()
    noise = noise_of("keltis", len(before))
    theirs = rater.rate(before, ranks, noise, TAU)
    ours = rate(before, ranks, noise, TAU)
    gaps = [abs(a.mu - b.mu) for a in before for b in before]
    if len(before) == 2:
        assert rater.exactly == (max(gaps) > 200)
    for one, other in zip(ours, theirs, strict=True):
        assert one.mu == pytest.approx(other.mu, rel=1e-6, abs=1e-6)
        assert one.sigma == pytest.approx(other.sigma, rel=1e-6)


def test_a_draw_that_the_model_excludes_is_an_error_on_both_sides() -> None:
    for by in (rate, PackageRater().rate):
        with pytest.raises(ValueError, match="the draw probability is 0; ranks"):
            by([PRIOR, PRIOR], [1, 1], Noise(1.7, 0.0), TAU)
    ours = rate([PRIOR, PRIOR], [1, 2], Noise(1.7, 0.0), TAU)
    theirs = PackageRater().rate([PRIOR, PRIOR], [1, 2], Noise(1.7, 0.0), TAU)
    assert ours[0].mu == pytest.approx(theirs[0].mu, abs=CLOSE)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    unusual = Noise(1.75, 0.015)  # no environment of it was made before
    monkeypatch.setitem(sys.modules, "mpmath", None)
    with pytest.raises(PackageMissing, match="run pip install mpmath"):
        PackageRater().rate([Belief(-900.0, 1.0), PRIOR], [1, 2], unusual, TAU)
    monkeypatch.setitem(sys.modules, "trueskill", None)
    with pytest.raises(PackageMissing, match="run pip install trueskill"):
        PackageRater().rate([PRIOR, PRIOR], [1, 2], Noise(1.76, 0.015), TAU)


def test_what_the_package_cannot_rate_is_told() -> None:
    with pytest.raises(PackageFailed, match=r"cannot rate \[Belief\(mu=25.0, sigma=0.0\)"):
        PackageRater().rate(
            [Belief(25.0, 0.0), Belief(-900.0, 1.0)], [1, 2], noise_of("keltis", 2), TAU
        )


def imported_at_once(source: str) -> set[str]:
    """Return the packages that a module imports when it is imported itself."""
    names: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return {name.split(".")[0] for name in names}


def test_no_module_of_ours_loads_the_package_before_it_is_asked_for() -> None:
    assert imported_at_once("import trueskill.backends as b") == {"trueskill"}
    sources = [path.read_text() for part in PACKAGES for path in (ROOT / part).rglob("*.py")]
    assert len(sources) > 300
    slow = ("trueskill", "mpmath")
    named = [source for source in sources if any(name in source for name in slow)]
    assert named
    assert not any(set(slow) & imported_at_once(source) for source in named)
