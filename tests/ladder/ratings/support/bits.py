"""Thousands of numbers from the rating arithmetic, as one digest."""

import hashlib
import random
import struct
from collections.abc import Iterator
from itertools import pairwise

from keltis_ladder.ratings import normal, skill
from keltis_ladder.ratings.refit_sweep import NOBODY, Network
from keltis_ladder.ratings.skill import Belief, Noise


def digest() -> str:
    numbers = [*functions(), *ratings(), *network()]
    return hashlib.sha256(struct.pack(f"<{len(numbers)}d", *numbers)).hexdigest()


def functions() -> Iterator[float]:
    rng = random.Random(1)
    for _ in range(1000):
        x = (rng.random() - 0.5) * 80
        margin = rng.random() * 3
        yield from (normal.exp(x), normal.expm1(x / 100), normal.pdf(x), normal.cdf(x))
        yield from normal.win_moments(x, margin)
        yield from normal.draw_moments(x, margin)
    for k in range(1, 50):
        yield normal.ppf(k / 50)


def ratings() -> Iterator[float]:
    rng = random.Random(2)
    beliefs = [Belief(25.0, 25 / 3)] * 12
    for _ in range(500):
        entrants = rng.sample(range(12), rng.randrange(2, 5))
        ranks = [rng.randrange(len(entrants)) for _ in entrants]
        noise = Noise(1 + 4 * rng.random(), 0.01 + 0.1 * rng.random())
        after = skill.rate([beliefs[k] for k in entrants], ranks, noise, 0.05)
        for k, belief in zip(entrants, after, strict=True):
            beliefs[k] = belief
            yield from (belief.mu, belief.sigma)
    for one, other in pairwise(beliefs):
        yield skill.win_probability(one, other, 3.0)
        yield from skill.expected_information(one, other, Noise(3.0, 0.05))


def network() -> Iterator[float]:
    rng = random.Random(3)
    entrants: list[int] = []
    ends: list[int] = []
    drawn: list[bool] = []
    for _ in range(300):
        count = rng.randrange(2, 5)
        entrants += rng.sample(range(20), count)
        drawn += [rng.random() < 0.1 for _ in range(count - 1)] + [False]
        ends.append(len(entrants))
    lineage = [NOBODY] * 15 + [3, 15, 16, 2, 4]
    found = Network(
        Belief(25.0, 25 / 3), 4.0, lineage, entrants, ends, drawn, [Noise(4, 0.1)] * 300
    )
    sweeps, _ = found.settle(1e-6, 50)
    yield float(sweeps)
    yield from (found.mean(version) for version in range(20))
    yield from (found.deviation(version) for version in range(20))


if __name__ == "__main__":
    print(skill.__file__, digest())
