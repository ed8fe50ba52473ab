"""How much luck a match holds: ``python -m bench.ratings.rating_model``.

Measures the two numbers that the rating model needs for each variant and number of players. A
graded pool of our own players meets in matches on duplicate deals, all in one process. Draws are
counted between players of the same kind. For beta, the matches are rated in sequence, and before
each of them the beliefs of that moment predict it: the beta that predicts best is the one. The same
predictions are made with TrueSkill's default numbers and with Elo, to see what measuring buys.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Final

from bench.keeping import day_and_machine, keep, table
from keltis_bots.budget import Playouts
from keltis_bots.greedy import choose
from keltis_bots.search import Search
from keltis_engine import VARIANTS, Rng, Ruleset, State, find_variant
from keltis_ladder.match.jobs import seed_of_match
from keltis_ladder.match.results import GameResult, MatchResult, rank_by
from keltis_ladder.match.rotation import entrants_by_seat
from keltis_ladder.ratings.model import PRIOR, SIGMA
from keltis_ladder.ratings.normal import cdf
from keltis_ladder.ratings.skill import Belief, Noise, rate, win_probability
from keltis_ladder.stats.statistics import Estimate, wilson

SEED: Final = 77
PLAYERS: Final = (2, 3, 4)
RARE: Final = 0.08  # how often a slow player is picked, against 1 for the others
BETAS: Final = [0.5 * 1.08**k for k in range(42)]
ORDERS: Final = 5  # in which the matches are rated
REACH: Final = 3  # places in the pool between neighbours, at most
SAMPLES: Final = 400
ELO_STEPS: Final = (8.0, 16.0, 32.0, 64.0)
USUAL_STEP: Final = 32.0


@dataclass(frozen=True)
class PlayerKind:
    """How a player of the pool decides: so many mistakes in 100 decisions, or by search."""

    name: str
    mistakes: int = 0
    playouts: int = 0

    @property
    def varied(self) -> bool:
        """Whether it plays otherwise in the next rotation, being in the same situation.

        Two players that hardly do are clones: on duplicate deals they draw whatever the game.
        """
        return self.mistakes >= 10 or self.playouts > 0


# From weak to strong.
KINDS: Final = (
    PlayerKind("random", mistakes=100),
    *(PlayerKind(f"greedy, {share} % random", mistakes=share) for share in (80, 50, 25, 10, 3)),
    PlayerKind("greedy"),
    PlayerKind("search, 8 playouts", playouts=8),
    PlayerKind("search, 24 playouts", playouts=24),
)
# Two bots of each kind that are as strong as each other, and the ladder cannot know it.
POOL: Final = tuple(kind for kind in KINDS for _ in range(1 + kind.varied))


class Player:
    """One seat in one game."""

    def __init__(self, kind: PlayerKind, seed: str) -> None:
        self.kind = kind
        self.chance = random.Random(seed)
        self.rng = Rng(self.chance.getrandbits(64))
        self.search = Search(self.chance.getrandbits(63))

    def decide(self, state: State) -> int:
        """Return an action."""
        if self.chance.randrange(100) < self.kind.mistakes:
            return self.chance.choice(state.legal_actions())
        if self.kind.playouts:
            return self.search.choose(state, Playouts(self.kind.playouts))
        return choose(state, self.rng)


def play(ruleset: Ruleset, kinds: Sequence[PlayerKind], seed: int) -> list[int]:
    """Play a match and return the ranks of its entrants, as the ladder ranks them."""
    count = len(kinds)
    games = []
    for rotation in range(count):
        state = ruleset.deal(count, seed)
        entrants = entrants_by_seat(rotation, count)
        seats = [Player(kinds[entrant], f"{seed}/{rotation}/{entrant}") for entrant in entrants]
        while not state.over:
            state.apply(seats[int(state.seat)].decide(state))
        scores = state.scores()
        games.append(GameResult(rotation, entrants, [], "", scores, rank_by(scores), []))
    return MatchResult(games).ranks


@dataclass(frozen=True)
class Met:
    """A match of bots, which are places in the pool, and their ranks."""

    bots: list[int]
    ranks: list[int]


def meet(ruleset: Ruleset, players: int, matches: int) -> list[Met]:
    """Play matches of the pool: half of them between neighbours, as a ladder pairs them."""
    chance = random.Random(f"{ruleset.id}/{players}")
    bots = range(len(POOL))
    met = []
    for number in range(matches):
        weights = [RARE if kind.playouts else 1.0 for kind in POOL]
        chosen: list[int] = []
        while len(chosen) < players:
            bot = chance.choices(bots, weights)[0]
            weights[bot] = 0.0
            if number % 2 and not chosen:
                weights = [w if abs(k - bot) <= REACH else 0.0 for k, w in enumerate(weights)]
            chosen.append(bot)
        kinds = [POOL[bot] for bot in chosen]
        met.append(Met(chosen, play(ruleset, kinds, seed_of_match(SEED, number))))
    return met


def drawn_pairs(ranks: Sequence[int]) -> int:
    return sum(one == other for one, other in combinations(ranks, 2))


def equal_draws(ruleset: Ruleset, players: int, matches: int) -> dict[str, tuple[int, int]]:
    """Return drawn pairs and all pairs, by kind, in matches between players of the same kind."""
    found = {}
    for place, kind in enumerate(KINDS):
        count = matches // 50 if kind.playouts else matches
        drawn = sum(
            drawn_pairs(play(ruleset, [kind] * players, seed_of_match(SEED + 1 + place, number)))
            for number in range(count)
        )
        found[kind.name] = drawn, count * players * (players - 1) // 2
    return found


def surprise(one: Belief, other: Belief, outcome: int, noise: Noise) -> float:
    """Return minus the logarithm of the probability that two compare as they did (-1, 0, 1)."""
    spread = math.sqrt(one.sigma**2 + other.sigma**2 + 2 * noise.beta**2)
    lead, margin = (one.mu - other.mu) / spread, noise.margin / spread
    win, loss = cdf(lead - margin), cdf(-lead - margin)
    chance = win if outcome > 0 else loss if outcome < 0 else 1 - win - loss
    return -math.log(max(chance, 1e-12))


def compare(one: int, other: int) -> int:
    """Return 1 if the first rank is the better one, -1 if it is worse, 0 for a draw."""
    return (one < other) - (one > other)


def surprises(met: list[Met], order: list[int], noise: Noise) -> list[float]:
    """Rate the matches in this order; return how surprising each was, a pair of it on average."""
    beliefs = [PRIOR] * len(POOL)
    found = [0.0] * len(met)
    for number in order:
        bots, ranks = met[number].bots, met[number].ranks
        before = [beliefs[bot] for bot in bots]
        pairs = list(combinations(range(len(bots)), 2))
        found[number] = math.fsum(
            surprise(before[i], before[j], compare(ranks[i], ranks[j]), noise) for i, j in pairs
        ) / len(pairs)
        for bot, belief in zip(bots, rate(before, ranks, noise, 0.0), strict=True):
            beliefs[bot] = belief
    return found


def orders_of(met: list[Met]) -> list[list[int]]:
    chance = random.Random(SEED)
    return [chance.sample(range(len(met)), len(met)) for _ in range(ORDERS)]


def surprises_by_beta(met: list[Met], draws: float) -> list[list[float]]:
    """Return the surprise of each match for each beta, averaged over the orders."""
    orders = orders_of(met)
    rows = []
    for beta in BETAS:
        runs = [surprises(met, order, Noise(beta, draws)) for order in orders]
        rows.append([math.fsum(column) / ORDERS for column in zip(*runs, strict=True)])
    return rows


def best_beta(totals: Sequence[float]) -> float:
    """Return the beta of least surprise, between those that were tried: by a parabola."""
    least = min(range(len(totals)), key=totals.__getitem__)
    if not 0 < least < len(totals) - 1:
        return BETAS[least]
    left, middle, right = totals[least - 1], totals[least], totals[least + 1]
    shift = (left - right) / (2 * (left - 2 * middle + right))
    return BETAS[least] * math.pow(BETAS[1] / BETAS[0], shift)


def beta_estimate(rows: list[list[float]]) -> Estimate:
    """Return the best beta with its 95 % interval, by drawing matches anew."""
    chance = random.Random(SEED)
    count = len(rows[0])
    found = []
    for _ in range(SAMPLES):
        drawn = chance.choices(range(count), k=count)
        found.append(best_beta([sum(map(row.__getitem__, drawn)) for row in rows]))
    found.sort()
    best = best_beta([math.fsum(row) for row in rows])
    return Estimate(best, found[SAMPLES // 40], found[-SAMPLES // 40 - 1])


def decided_surprise(met: list[Met], noise: Noise, tau: float) -> float:
    """Return the mean surprise of who was ahead, over the pairs that did not draw."""
    losses = []
    for order in orders_of(met):
        beliefs = [PRIOR] * len(POOL)
        for number in order:
            bots, ranks = met[number].bots, met[number].ranks
            for i, j in combinations(range(len(bots)), 2):
                if ranks[i] != ranks[j]:
                    ahead, behind = (i, j) if ranks[i] < ranks[j] else (j, i)
                    one, other = beliefs[bots[ahead]], beliefs[bots[behind]]
                    chance = win_probability(one, other, noise.beta)
                    losses.append(-math.log(max(chance, 1e-12)))
            after = rate([beliefs[bot] for bot in bots], ranks, noise, tau)
            for bot, belief in zip(bots, after, strict=True):
                beliefs[bot] = belief
    return math.fsum(losses) / len(losses)


def elo_surprise(met: list[Met], step: float) -> float:
    """Return the same for Elo; a match of many is all its pairs, each for its part of the step."""
    losses = []
    for order in orders_of(met):
        ratings = [0.0] * len(POOL)
        for number in order:
            bots, ranks = met[number].bots, met[number].ranks
            gains = [0.0] * len(bots)
            for i, j in combinations(range(len(bots)), 2):
                expected = 1 / (1 + 10 ** ((ratings[bots[j]] - ratings[bots[i]]) / 400))
                outcome = compare(ranks[i], ranks[j])
                if outcome:
                    chance = expected if outcome > 0 else 1 - expected
                    losses.append(-math.log(max(chance, 1e-12)))
                gain = step * ((1 + outcome) / 2 - expected) / (len(bots) - 1)
                gains[i] += gain
                gains[j] -= gain
            for bot, gain in zip(bots, gains, strict=True):
                ratings[bot] += gain
    return math.fsum(losses) / len(losses)


@dataclass(frozen=True)
class Measured:
    """One variant with one number of players."""

    variant: str
    players: int
    matches: int
    equal_draws: Estimate  # between players of the same kind, clones apart
    draws_by_kind: dict[str, tuple[int, int]]
    all_draws: Estimate  # in the matches of the pool
    beta: Estimate
    loss_by_beta: list[float]  # mean surprise of a pair, draws included, for each of BETAS
    loss: float  # of who is ahead, with the measured numbers and no drift
    default_loss: float  # with beta = SIGMA / 2, tau = SIGMA / 100, 10 % draws
    elo_loss: float  # K = 32
    tuned_elo_loss: float  # with the best of ELO_STEPS


def measure(variant: str, players: int, matches: int) -> Measured:
    """Play, count and fit."""
    ruleset = find_variant(variant, {})
    by_kind = equal_draws(ruleset, players, matches // 5)
    varied = [by_kind[kind.name] for kind in KINDS if kind.varied]
    equal = wilson(sum(drawn for drawn, _ in varied), sum(pairs for _, pairs in varied))
    met = meet(ruleset, players, matches)
    rows = surprises_by_beta(met, max(equal.value, 0.0005))
    beta = beta_estimate(rows)
    elo = {step: elo_surprise(met, step) for step in ELO_STEPS}
    return Measured(
        variant=variant,
        players=players,
        matches=matches,
        equal_draws=equal,
        draws_by_kind=by_kind,
        all_draws=wilson(
            sum(drawn_pairs(match.ranks) for match in met),
            matches * players * (players - 1) // 2,
        ),
        beta=beta,
        loss_by_beta=[math.fsum(row) / matches for row in rows],
        loss=decided_surprise(met, Noise(beta.value, max(equal.value, 0.0005)), 0.0),
        default_loss=decided_surprise(met, Noise(SIGMA / 2, 0.1), SIGMA / 100),
        elo_loss=elo[USUAL_STEP],
        tuned_elo_loss=min(elo.values()),
    )


@dataclass(frozen=True)
class Table:
    """How finely beta is told apart, and what that costs."""

    name: str
    betas: dict[str, float]
    loss: float  # mean surprise of a pair, draws included, every kind of match counted alike


def tables(measured: list[Measured]) -> list[Table]:
    """Compare a beta for each kind of match with one per variant, per number of players, for all.

    Betas that share a group are those of least surprise in all its matches.
    """
    groupings = {
        "one for each": [f"{one.variant}/{one.players}" for one in measured],
        "one per variant": [one.variant for one in measured],
        "one per number of players": [str(one.players) for one in measured],
        "one for all": ["all"] * len(measured),
    }
    found = []
    for name, groups in groupings.items():
        betas, losses = {}, []
        for group in dict.fromkeys(groups):
            members = [one for one, of in zip(measured, groups, strict=True) if of == group]
            by_beta = [sum(one.loss_by_beta[k] for one in members) for k in range(len(BETAS))]
            betas[group] = best_beta(by_beta)
            losses.append(min(by_beta))
        found.append(Table(name, betas, math.fsum(losses) / len(measured)))
    return found


def markdown(measured: list[Measured], compared: list[Table]) -> str:
    """Return the page to keep."""
    headings = ["variant", "players", "draws, equal", "draws, all", "beta", "95 %", "loss"]
    headings += ["TrueSkill default", "Elo, K = 32", "Elo, best K"]
    lines = [
        "# The rating model, measured",
        "",
        f"{day_and_machine()}. Made by `python -m bench.ratings.rating_model`:",
        f"{measured[0].matches} matches of each kind in a pool of {len(POOL)} bots.",
        "Loss is the mean of -ln(predicted probability) of who is ahead, over all pairs that did",
        "not draw, each predicted before its match; a coin has 0.693.",
        "",
    ]
    rows = []
    for one in measured:
        cells = [one.variant, f"{one.players}"]
        cells += [_percent(one.equal_draws), _percent(one.all_draws), f"{one.beta.value:.2f}"]
        cells += [f"{one.beta.low:.2f} to {one.beta.high:.2f}", f"{one.loss:.4f}"]
        cells += [f"{one.default_loss:.4f}", f"{one.elo_loss:.4f}", f"{one.tuned_elo_loss:.4f}"]
        rows.append(cells)
    lines += [*table(headings, rows), "", "| betas | loss, draws included | |", "|---|---|---|"]
    for each in compared:
        values = ", ".join(f"{group} {beta:.2f}" for group, beta in each.betas.items())
        lines.append(f"| {each.name} | {each.loss:.5f} | {values} |")
    return "\n".join(lines) + "\n"


def _percent(share: Estimate) -> str:
    return f"{share.value:.2%} ({share.low:.2%} to {share.high:.2%})"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.ratings.rating_model", description=__doc__
    )
    parser.add_argument("--matches", type=int, default=1500, help="of each kind")
    parser.add_argument("--machine", metavar="NAME", help="the machine's name in the file names")
    options = parser.parse_args()
    measured = []
    for variant in VARIANTS:
        for players in PLAYERS:
            begin = time.process_time()
            measured.append(measure(variant, players, options.matches))
            took = time.process_time() - begin
            beta = measured[-1].beta
            print(f"{variant}, {players} players: beta {beta}, {took:.0f} s", file=sys.stderr)
    compared = tables(measured)
    report = {
        "kinds": [asdict(kind) for kind in KINDS],
        "betas": BETAS,
        "measured": [asdict(one) for one in measured],
        "tables": [asdict(table) for table in compared],
    }
    page = markdown(measured, compared)
    keep("rating-model", report, page, options.machine)
    print(page)


if __name__ == "__main__":
    os.nice(5)
    main()
