"""How much duplicate deals save: ``python -m bench.ratings.duplicate_deals``.

Two kinds of players meet: greedy, and greedy that plays every tenth decision at random. For each
variant the same deals are played in all rotations, with the draw pile as one stream per seat and as
one common pile. From the spread of the results follows how many games it takes to know the
difference between the two as well, with rotations and without.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any, Final

from bench.keeping import keep, table
from keltis_bots.greedy import choose
from keltis_engine import VARIANTS, Rng, Ruleset, State, find_variant
from keltis_ladder.match.jobs import seed_of_match

SEED: Final = 2026
MISTAKES: Final = 10  # one decision in so many is random, for the weaker players
HALF_WIDTH: Final = 0.02  # of the interval that the games are counted for, in win shares
DRAWS: Final = ("draw", "reveal")
SAMPLES: Final = 200


@dataclass(frozen=True)
class Saving:
    """One variant, with one way to deal the pile."""

    variant: str
    players: int
    streams: bool
    deals: int
    share: float  # the stronger player's mean share of the wins
    single_variance: float  # of a game, everybody on a new deal
    rotated_variance: float  # of a game that belongs to a match: players x that of the match's mean
    ratio: float  # how many games without rotations are worth one with them
    interval: tuple[float, float]  # 95 %
    lead_ratio: float  # the same if not the wins are counted but the lead in points
    lead_interval: tuple[float, float]

    def games(self, variance: float) -> int:
        """Return how many games make the interval narrow enough."""
        return round((1.96 / HALF_WIDTH) ** 2 * variance)


class CommonPile:
    """Makes every seat draw the next card of one common pile, as at a real table."""

    def __init__(self, state: State) -> None:
        self.table: Any = getattr(state, "table", state)
        self.order = list(self.table.pile)

    def before_draw(self, seat: int) -> None:
        """Swap the next common card to where the seat will draw."""
        pile, left = self.table.pile, self.table.left
        players = len(left)
        stream = (
            seat
            if left[seat]
            else max(range(players), key=lambda k: (left[k], -((k - seat) % players)))
        )
        place = stream + (left[stream] - 1) * players
        card = self.order.pop()
        if pile[place] == card:
            return
        for other in range(players):
            for k in range(left[other]):
                at = other + k * players
                if pile[at] == card:
                    pile[at], pile[place] = pile[place], card
                    return
        raise AssertionError("a card of the common pile is missing")


def play(
    ruleset: Ruleset, players: int, seed: int, strong: int, streams: bool
) -> tuple[float, float]:
    """Return the stronger player's share of the win and lead in points, from this seat."""
    state = ruleset.deal(players, seed)
    pile = None if streams else CommonPile(state)
    chance = random.Random(f"{seed}/{strong}/{streams}")
    rng = Rng(chance.getrandbits(64))
    while not state.over:
        seat = int(state.seat)
        if seat != strong and chance.randrange(MISTAKES) == 0:
            action = chance.choice(state.legal_actions())
        else:
            action = choose(state, rng)
        if pile is not None and state.notation[action] in DRAWS:
            pile.before_draw(seat)
        state.apply(action)
    winners, scores = state.winners(), state.scores()
    lead = scores[strong] - max(score for seat, score in enumerate(scores) if seat != strong)
    return (1 / len(winners) if strong in winners else 0.0), float(lead)


def measure(variant: str, players: int, streams: bool, deals: int) -> Saving:
    """Play the deals in all rotations."""
    ruleset = find_variant(variant, {})
    shares, leads = [], []
    for number in range(deals):
        seed = seed_of_match(SEED, number)
        games = [play(ruleset, players, seed, seat, streams) for seat in range(players)]
        shares.append([share for share, _ in games])
        leads.append([lead for _, lead in games])
    single, rotated = variances(shares)
    in_leads = variances(leads)
    return Saving(
        variant=variant,
        players=players,
        streams=streams,
        deals=deals,
        share=statistics.fmean(share for row in shares for share in row),
        single_variance=single,
        rotated_variance=rotated,
        ratio=single / rotated,
        interval=bootstrap(shares),
        lead_ratio=in_leads[0] / in_leads[1],
        lead_interval=bootstrap(leads),
    )


def bootstrap(rows: list[list[float]]) -> tuple[float, float]:
    """Return the 95 % interval of the ratio of the variances."""
    chance = random.Random(1)
    ratios = []
    for _ in range(SAMPLES):
        single, rotated = variances(chance.choices(rows, k=len(rows)))
        ratios.append(single / rotated)
    ratios.sort()
    return ratios[SAMPLES // 40], ratios[-SAMPLES // 40 - 1]


def variances(rows: list[list[float]]) -> tuple[float, float]:
    """Return the variance of a game on a deal of its own, and of a game in a match."""
    players = len(rows[0])
    by_seat = [variance([row[seat] for row in rows]) for seat in range(players)]
    matches = [sum(row) / players for row in rows]
    return statistics.fmean(by_seat), players * variance(matches)


def variance(values: list[float]) -> float:
    """Return the variance; the library's is exact, and much too slow for the bootstrap."""
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def markdown(savings: list[Saving]) -> str:
    """Return the table for docs/readers/duplicate-deals.md."""
    headings = ["variant", "players", "draw pile", "share", "games, new deals"]
    headings += ["games, rotations", "saved", "saved, in points"]
    rows = [
        [
            saving.variant,
            str(saving.players),
            "a stream per seat" if saving.streams else "common",
            f"{saving.share:.1%}",
            f"{saving.games(saving.single_variance):,}",
            f"{saving.games(saving.rotated_variance):,}",
            _with_interval(saving.ratio, saving.interval),
            _with_interval(saving.lead_ratio, saving.lead_interval),
        ]
        for saving in savings
    ]
    return "\n".join(table(headings, rows)) + "\n"


def _with_interval(ratio: float, interval: tuple[float, float]) -> str:
    return f"{ratio:.2f} ({interval[0]:.2f} to {interval[1]:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.ratings.duplicate_deals", description=__doc__
    )
    parser.add_argument("--deals", type=int, default=4000)
    parser.add_argument("--players", type=int, nargs="+", default=[2, 4])
    options = parser.parse_args()
    savings = []
    for variant in VARIANTS:
        for players in options.players:
            for streams in (False, True):
                begin = time.perf_counter()
                savings.append(measure(variant, players, streams, options.deals * 2 // players))
                took = time.perf_counter() - begin
                print(f"{variant}, {players} players: {took:.0f} s", file=sys.stderr)
    report = {
        "mistakes": MISTAKES,
        "half_width": HALF_WIDTH,
        "savings": [asdict(saving) for saving in savings],
    }
    keep("duplicate-deals", report)
    print(markdown(savings))


if __name__ == "__main__":
    os.nice(5)
    main()
