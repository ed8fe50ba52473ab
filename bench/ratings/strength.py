"""How strong the reference bots are: ``python -m bench.ratings.strength``.

Real matches: bot processes in the sandbox, the default clock, one referee per core. In each variant
greedy meets random and search meets greedy, two players, on duplicate deals.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, dataclass
from typing import Final

from bench.keeping import day_and_machine, keep, table
from keltis_engine import VARIANTS
from keltis_ladder.dispatch.pool import RefereePool
from keltis_ladder.match.entrants import built_in
from keltis_ladder.match.jobs import Job, seed_of_match
from keltis_ladder.stats.tally import Tally

SEED: Final = 41
GOALS: Final = {"random": 0.95, "greedy": 0.65}  # of decided matches, against this opponent


@dataclass(frozen=True)
class Strength:
    """What a bot did against a weaker one."""

    variant: str
    bot: str
    opponent: str
    matches: int
    won: int
    drawn: int
    lost: int
    rate: float  # of decided matches
    low: float
    high: float
    games_won: float
    lead: float  # points per game
    faults: int
    slowest_ms: float


def measure(pool: RefereePool, variant: str, bot: str, opponent: str, matches: int) -> Strength:
    """Play the matches."""
    tally = Tally([bot, opponent])
    entrants = (built_in(bot), built_in(opponent))
    jobs = (Job(variant, {}, seed_of_match(SEED, number), entrants) for number in range(matches))
    for _, result in pool.play(jobs):
        tally.add(result)
    duel = tally.duel(0, 1)
    return Strength(
        variant=variant,
        bot=bot,
        opponent=opponent,
        matches=matches,
        won=duel.wins,
        drawn=duel.draws,
        lost=duel.losses,
        rate=duel.rate.value,
        low=duel.rate.low,
        high=duel.rate.high,
        games_won=tally.share(0).value,
        lead=tally.lead().value,
        faults=tally.faults.total(),
        slowest_ms=1000 * tally.efforts[0].longest,
    )


def markdown(strengths: list[Strength]) -> str:
    """Return the page to keep."""
    headings = ["variant", "bot", "opponent", "won", "drawn", "lost", "of decided", "95 %", "goal"]
    headings += ["games won", "points", "faults"]
    lines = [
        "# Strength of the reference bots",
        "",
        f"{day_and_machine()}. Made by `python -m bench.ratings.strength`: duplicate matches of",
        "two players in the sandbox, 1 s + 20 ms, one referee per core.",
        "",
    ]
    rows = []
    for one in strengths:
        cells = [one.variant, one.bot, one.opponent, f"{one.won}", f"{one.drawn}", f"{one.lost}"]
        cells += [f"{one.rate:.1%}", f"{one.low:.1%} to {one.high:.1%}"]
        cells += [f"{GOALS[one.opponent]:.0%}", f"{one.games_won:.1%}", f"{one.lead:+.1f}"]
        rows.append([*cells, str(one.faults)])
    return "\n".join([*lines, *table(headings, rows)]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.ratings.strength", description=__doc__)
    parser.add_argument("--matches", type=int, default=400, help="of greedy against random")
    parser.add_argument("--search-matches", type=int, default=100, help="of search against greedy")
    parser.add_argument("--machine", metavar="NAME", help="the machine's name in the file names")
    options = parser.parse_args()
    strengths = []
    pairs = (("greedy", "random", options.matches), ("search", "greedy", options.search_matches))
    with RefereePool() as pool:
        for bot, opponent, matches in pairs:
            for variant in VARIANTS:
                strengths.append(measure(pool, variant, bot, opponent, matches))
                print(strengths[-1], file=sys.stderr, flush=True)
    report = {
        "strengths": [asdict(one) for one in strengths],
    }
    page = markdown(strengths)
    keep("strength", report, page, options.machine)
    print(page)


if __name__ == "__main__":
    main()
