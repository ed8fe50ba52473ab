"""Estimate the numbers of the joint model anew: ``python -m bench.ratings.joint_numbers``.

From the statistics of matches, by maximum marginal likelihood: which luck, spread, pair effect and
correlations make the margins that were seen most likely, whatever the skills? Without a file our
own players of graded strength meet; ``--statistics FILE`` takes what ``Statistics.to_plain`` wrote.
The numbers of the current version count like a few observations, so that few matches give sane
ones.

Skills are unknown, so it goes in turns (expectation maximisation): work out the skills with the
numbers so far, then the numbers that suit them best. All of it is dense, by numpy, which the server
does without. ``slope`` and ``link`` are about won games, ``beta``, ``win`` and ``forfeit`` are
chosen: they stay.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.keeping import keep
from bench.ratings.rating_model import POOL, Player
from keltis_engine import Ruleset, find_variant
from keltis_ladder.match.jobs import seed_of_match
from keltis_ladder.match.results import GameResult, MatchResult, rank_by
from keltis_ladder.match.rotation import entrants_by_seat
from keltis_ladder.ratings.joint.kinds import KINDS, PLAYERS, VARIANTS
from keltis_ladder.ratings.joint.numbers import NUMBERS, Numbers
from keltis_ladder.ratings.joint.scores import TWELFTHS, match_scores
from keltis_ladder.ratings.joint.statistics import Statistics, match_of

SEED: Final = 17
COUNT: Final = len(KINDS)
# How many observations, bots, pairs and bots the numbers so far count like.
HELD_LUCK: Final = 30.0
HELD_SPREAD: Final = 4.0
HELD_PAIR: Final = 20.0
HELD_ALIKE: Final = 10.0
MOST_ALIKE: Final = 0.99
LEAST_PAIR: Final = 0.01
CLOSE: Final = 1e-3  # no number changes by a larger share in a turn
MOST_TURNS: Final = 200
RARE: Final = 0.25  # how often a slow player is chosen

Array = Any  # numpy has no types here: it is not installed where types are checked


def play(ruleset: Ruleset, bots: Sequence[int], seed: int) -> MatchResult:
    """Play a match between players of the pool, in all rotations."""
    count = len(bots)
    games = []
    for rotation in range(count):
        state = ruleset.deal(count, seed)
        entrants = entrants_by_seat(rotation, count)
        seats = [Player(POOL[bots[k]], f"{seed}/{rotation}/{k}") for k in entrants]
        while not state.over:
            state.apply(seats[int(state.seat)].decide(state))
        scores = state.scores()
        games.append(GameResult(rotation, entrants, [], "", scores, rank_by(scores), []))
    return MatchResult(games)


def meet(matches: int) -> Statistics:
    """Let the pool play so many matches of each kind."""
    found = Statistics()
    weights = [RARE if kind.playouts else 1.0 for kind in POOL]
    for variant, players in KINDS:
        chance = random.Random(f"{SEED}/{variant}/{players}")
        ruleset = find_variant(variant, {})
        for number in range(matches):
            table: list[int] = []
            while len(table) < players:
                bot = chance.choices(range(len(POOL)), weights)[0]
                if bot not in table:
                    table.append(bot)
            result = play(ruleset, table, seed_of_match(SEED, number))
            found.add(match_of(variant, table, match_scores(variant, result)))
        print(f"{variant} with {players} players: played", file=sys.stderr)
    return found


@dataclass
class Seen:
    """All pairs that met, as arrays: by pair, in points a game."""

    kind: Array
    one: Array  # unknowns: COUNT * bot + kind
    other: Array
    met: Array
    margin: Array  # the mean
    bots: int
    matches: Array  # by kind
    squares: Array  # by kind: sum of squared margins

    @classmethod
    def of(cls, statistics: Statistics) -> Seen:
        rows = statistics.rows()
        versions = sorted({version for pair, _ in rows for version in (pair.low, pair.high)})
        places = {version: place for place, version in enumerate(versions)}
        units = np.array([TWELFTHS * kind.players for kind in KINDS], dtype=float)
        kind = np.array([pair.kind for pair, _ in rows], dtype=int)
        met = np.array([meetings.met for _, meetings in rows], dtype=float)
        margin = np.array([meetings.margin for _, meetings in rows], dtype=float)
        return cls(
            kind=kind,
            one=np.array([places[pair.low] for pair, _ in rows], dtype=int) * COUNT + kind,
            other=np.array([places[pair.high] for pair, _ in rows], dtype=int) * COUNT + kind,
            met=met,
            margin=margin / met / units[kind],
            bots=len(versions),
            matches=np.array(statistics.matches, dtype=float),
            squares=np.array([float(square) for square in statistics.squares]) / units**2,
        )


@dataclass
class Skills:
    """The posterior of the skills, with numbers that were given."""

    mean: Array
    covariance: Array
    weight: Array  # of each pair
    likelihood: float  # logarithm of the marginal one, but for a constant

    @classmethod
    def of(cls, seen: Seen, numbers: Numbers) -> Skills:
        luck, pair = np.array(numbers.luck), np.array(numbers.pair)
        players = np.array([kind.players for kind in KINDS])
        weight = 1 / (pair[seen.kind] ** 2 + players[seen.kind] / seen.met)
        prior = np.array(numbers.covariance()).reshape(COUNT, COUNT)
        precision = np.kron(np.eye(seen.bots), np.linalg.inv(prior))
        pull = np.zeros(len(precision))
        margin = seen.margin / luck[seen.kind]
        for one, other, sign in ((seen.one, seen.other, 1), (seen.other, seen.one, -1)):
            np.add.at(precision, (one, one), weight)
            np.add.at(precision, (one, other), -weight)
            np.add.at(pull, one, sign * weight * margin)
        covariance = np.linalg.inv(precision)
        mean = covariance @ pull
        return cls(mean, covariance, weight, _likelihood(seen, numbers, weight, precision, mean))


def _likelihood(
    seen: Seen, numbers: Numbers, weight: Array, precision: Array, mean: Array
) -> float:
    """Of the mean margins of pairs, and of how single matches scatter about them.

    With two players it is exact. At larger tables the effects of pairs are taken for independent.
    """
    luck = np.array(numbers.luck)
    players = np.array([kind.players for kind in KINDS])
    prior = np.array(numbers.covariance()).reshape(COUNT, COUNT)
    margin = seen.margin / luck[seen.kind]
    found = np.log(weight).sum() - (weight * margin**2).sum() + mean @ precision @ mean
    found -= np.linalg.slogdet(precision)[1] + seen.bots * np.linalg.slogdet(prior)[1]
    scatter = seen.squares - np.bincount(seen.kind, seen.met * seen.margin**2, COUNT)
    freedom = seen.matches * (players - 1)
    found -= (scatter / players / luck**2 + 2 * freedom * np.log(luck)).sum()
    return float(found / 2)


def better(seen: Seen, now: Numbers, held: Numbers) -> Numbers:
    """Return the numbers that suit the skills best which these numbers lead to."""
    skills = Skills.of(seen, now)
    spread, near, alike = _spreads(seen, skills, held)
    return replace(
        now,
        luck=_lucks(seen, skills, now, held),
        pair=_pairs(seen, skills, now, held),
        spread=spread,
        near=near,
        alike=alike,
    )


def _gaps(seen: Seen, skills: Skills) -> tuple[Array, Array]:
    """Mean and variance of the difference in skill of each pair."""
    diagonal = np.diag(skills.covariance)
    between = skills.covariance[seen.one, seen.other]
    variance = diagonal[seen.one] + diagonal[seen.other] - 2 * between
    return skills.mean[seen.one] - skills.mean[seen.other], variance


def _lucks(seen: Seen, skills: Skills, now: Numbers, held: Numbers) -> tuple[float, ...]:
    """From how margins of single matches differ from what their pair has on average."""
    gap, variance = _gaps(seen, skills)
    found = []
    for kind, (_, players) in enumerate(KINDS):
        mine = seen.kind == kind
        luck, met = now.luck[kind], seen.met[mine]
        margin = seen.margin[mine] / luck
        share = now.pair[kind] ** 2 * skills.weight[mine]
        lead = (1 - share) * gap[mine] + share * margin
        open_variance = (1 - share) ** 2 * variance[mine] + share * players / met
        scatter = seen.squares[kind] / luck**2
        scatter += (met * (lead**2 + open_variance - 2 * margin * lead)).sum()
        freedom = seen.matches[kind] * (players - 1)
        held_scatter = HELD_LUCK * (held.luck[kind] / luck) ** 2
        found.append(luck * math.sqrt((scatter / players + held_scatter) / (freedom + HELD_LUCK)))
    return tuple(found)


def _pairs(seen: Seen, skills: Skills, now: Numbers, held: Numbers) -> tuple[float, ...]:
    """One step of Fisher's scoring each, at most to the double or the half.

    The margin of one pair varies like two lucks at any table. Only all pairs of a table of k count
    like k each, since they are k - 1 observations and not k (k - 1) / 2. What is believed so far
    counts like pairs whose effect is known exactly: few matches say little about it, and one that
    is held to be too small makes intervals too narrow.
    """
    gap, variance = _gaps(seen, skills)
    found = []
    for kind in range(COUNT):
        mine = seen.kind == kind
        margin = seen.margin[mine] / now.luck[kind]
        off = (margin - gap[mine]) ** 2 + variance[mine]
        here, there = now.pair[kind] ** 2, held.pair[kind] ** 2
        weight = 1 / (here + 2 / seen.met[mine])
        held_weight = HELD_PAIR / there**2
        slope = (weight**2 * off - weight).sum() + held_weight * (there - here)
        further = here + slope / ((weight**2).sum() + held_weight)
        bounded = min(max(further, here / 4, LEAST_PAIR**2), 4 * here)
        found.append(math.sqrt(bounded))
    return tuple(found)


def _spreads(
    seen: Seen, skills: Skills, held: Numbers
) -> tuple[tuple[float, ...], tuple[tuple[float, float], ...], tuple[tuple[float, ...], ...]]:
    """From the second moments of the skills: how far they spread, and how alike they are."""
    blocks = skills.covariance.reshape(seen.bots, COUNT, seen.bots, COUNT)
    mean = skills.mean.reshape(seen.bots, COUNT)
    second = mean.T @ mean + np.einsum("bibj->ij", blocks)
    held_spread = HELD_SPREAD * np.array(held.spread) ** 2
    spread = np.sqrt((np.diag(second) + held_spread) / (seen.bots + HELD_SPREAD))
    deviation = np.sqrt(np.diag(second))
    alike = second / np.outer(deviation, deviation)

    def mixed(value: float, before: float) -> float:
        mean = (seen.bots * value + HELD_ALIKE * before) / (seen.bots + HELD_ALIKE)
        return float(min(mean, MOST_ALIKE))

    steps, count = len(PLAYERS) - 1, len(PLAYERS)
    near = []
    for variant in range(len(VARIANTS)):
        first = count * variant
        links = [alike[first + k, first + k + 1] for k in range(steps)]
        up, further = map(mixed, links, held.near[variant])
        near.append((up, further))
    between = np.eye(len(VARIANTS))
    for one in range(len(VARIANTS)):
        for other in range(one):
            kinds = [alike[count * one + k, count * other + k] for k in range(count)]
            value = mixed(float(np.mean(kinds)), held.alike[one][other])
            between[one, other] = between[other, one] = value
    return tuple(spread.tolist()), tuple(near), _possible(between)


def _possible(alike: Array) -> tuple[tuple[float, ...], ...]:
    """Return the correlations, made such that they do not contradict each other."""
    values, vectors = np.linalg.eigh(alike)
    mended = (vectors * np.maximum(values, 0.02)) @ vectors.T
    scale = np.sqrt(np.diag(mended))
    return tuple(map(tuple, (mended / np.outer(scale, scale)).tolist()))


def estimate(statistics: Statistics, held: Numbers = NUMBERS) -> tuple[Numbers, list[float]]:
    """Return the most likely numbers, and how likely those of each turn were."""
    seen = Seen.of(statistics)
    numbers, course = held, []
    for _ in range(MOST_TURNS):
        course.append(Skills.of(seen, numbers).likelihood)
        further = better(seen, numbers, held)
        change = max(
            abs(new / old - 1)
            for new, old in zip(
                (*further.luck, *further.spread, *further.pair),
                (*numbers.luck, *numbers.spread, *numbers.pair),
                strict=True,
            )
        )
        numbers = further
        if change < CLOSE:
            break
    return numbers, course


def markdown(numbers: Numbers, course: list[float], statistics: Statistics, source: str) -> str:
    """Return the page to keep."""
    lines = [
        "# The numbers of the joint model, estimated",
        "",
        f"{source} {sum(statistics.matches):,} matches, {len(statistics.pairs):,} pairs. Held by",
        f"the numbers of version {NUMBERS.version}, which are in brackets. The logarithm of the",
        f"likelihood went from {course[0]:.1f} to {course[-1]:.1f} in {len(course)} turns.",
        "",
        "| kind | luck | spread | pair |",
        "|---|--:|--:|--:|",
    ]
    for number, (variant, players) in enumerate(KINDS):
        cells = [f"{variant}, {players}"]
        for found, before in (
            (numbers.luck, NUMBERS.luck),
            (numbers.spread, NUMBERS.spread),
            (numbers.pair, NUMBERS.pair),
        ):
            cells.append(f"{found[number]:.2f} ({before[number]:.2f})")
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", f"| | near: 2-3, 3-4 | {' | '.join(VARIANTS)} |", "|---" * 6 + "|"]
    for row, name in enumerate(VARIANTS):
        near = ", ".join(f"{step:.2f}" for step in numbers.near[row])
        alike = " | ".join(f"{value:.2f}" for value in numbers.alike[row])
        lines.append(f"| {name} | {near} | {alike} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.ratings.joint_numbers", description=__doc__
    )
    parser.add_argument("--matches", type=int, default=300, help="of each kind")
    parser.add_argument("--statistics", type=Path, metavar="FILE", help="of matches played before")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write the statistics to a file")
    parser.add_argument("--machine", metavar="NAME", help="the machine's name in the file names")
    parser.add_argument("--dry-run", action="store_true", help="write no results")
    options = parser.parse_args()
    if options.statistics:
        statistics = Statistics.from_plain(json.loads(options.statistics.read_text("utf-8")))
        source = "From a file."
    else:
        statistics = meet(options.matches)
        source = f"{len(POOL)} of our own players."
    if options.keep:
        options.keep.write_text(json.dumps(statistics.to_plain()) + "\n", encoding="utf-8")
    numbers, course = estimate(statistics)
    page = markdown(numbers, course, statistics, source)
    if not options.dry_run:
        report = {"numbers": asdict(numbers), "likelihoods": course}
        keep("joint-numbers", report, page, options.machine)
    print(page)


if __name__ == "__main__":
    os.nice(5)
    main()
