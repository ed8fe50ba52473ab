"""Does the audit accuse the honest, and does it find the others: ``python -m bench.audit.alarms``.

Games are played once by the engine, honest ones and those of a bot that knows all hidden cards of
a deal when it meets it again. From these pools many careers are drawn, whose later games are
cheated as often as makes the wanted gain in winning chance.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from bench.audit.careers import GAINS, careers, framed, information, made_up, resampled, search_for
from bench.audit.pairs import search_pairs, styles_at_tables
from bench.audit.pools import SEED, Pools, pools_from, pools_of
from bench.audit.tables import found_table, framed_table, markdown
from bench.keeping import keep
from keltis_engine import VARIANTS
from keltis_ladder.audit.evidence import BOT_LIMIT, Test


def later_only(pools: Sequence[Pools], tries: int, bots: int, matches: int) -> None:
    """Measure the test of later games alone, in minutes: power, and who can be accused."""
    found = [
        search_for(each, "all decisions", gain, Test.LATER, tries)
        for each in pools
        for gain in (5, 10)
    ]
    bots_framed = [
        framed(pools[0], liars, thrown, bots, matches)
        for liars in (1, 2, 3, 4, 6)
        for thrown in (15, 40)
    ]
    known = [each for each in found if each is not None]
    text = "\n".join([*framed_table(bots_framed), "", *found_table(known)]) + "\n"
    figures = {
        "framed": [asdict(each) for each in bots_framed],
        "found": [asdict(each) for each in known],
    }
    keep("audit-later", figures, f"# Audit of later games\n\n{text}")
    print(text)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.audit.alarms", description=__doc__)
    parser.add_argument("--deals", type=int, default=120, help="matches in each pool")
    parser.add_argument("--bots", type=int, default=2000, help="honest careers of each kind")
    parser.add_argument("--matches", type=int, default=500, help="of each honest career")
    parser.add_argument("--tries", type=int, default=101, help="cheating careers of each kind")
    parser.add_argument("--tables", type=int, default=1500, help="of three, for each variant")
    parser.add_argument("--games", type=Path, help="take the games of an earlier report")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--later", action="store_true", help="the test of later games alone")
    options = parser.parse_args()
    if options.later:
        if not options.games:
            parser.error("--later needs --games")
        later_only(pools_from(options.games), options.tries, options.bots, options.matches)
        return
    begin = time.perf_counter()
    with ProcessPoolExecutor(options.workers) as pool:
        if options.games:
            pools = pools_from(options.games)
        else:
            pools = list(pool.map(pools_of, VARIANTS, [options.deals] * len(VARIANTS)))
        styles = list(pool.map(styles_at_tables, VARIANTS, [options.tables] * len(VARIANTS)))
    print(f"games: {time.perf_counter() - begin:.0f} s", file=sys.stderr)
    honest = [
        careers(f"made up, {n} players", options.bots, options.matches, made_up(n))
        for n in (2, 3, 4)
    ]
    honest += [
        careers(f"{each.variant}, {test}", options.bots, options.matches, resampled(each, test))
        for each in pools
        for test in Test
    ]
    tried = [
        search_for(each, use, gain, test, options.tries)
        for each in pools
        for use in each.cheated
        for gain in GAINS
        for test in Test
    ]
    found = [each for each in tried if each is not None]
    bounds = {each.variant: {gain: information(each, gain) for gain in GAINS} for each in pools}
    pairs = [
        search_pairs(players, gain, ladders=20, tables=4000)
        for players in (3, 4)
        for gain in (0.0, 0.15, 0.3, 0.6)
    ]
    framed_bots = [
        framed(pools[0], liars, thrown, options.bots // 20, 4 * options.matches)
        for liars in (1, 2, 3, 4, 6)
        for thrown in (15, 40)
    ]
    report = {
        "seed": SEED,
        "limit_nats": BOT_LIMIT,
        "honest": [asdict(each) for each in honest],
        "found": [asdict(each) for each in found],
        "bounds": bounds,
        "pairs": [asdict(each) for each in pairs],
        "styles": [asdict(each) for each in styles],
        "framed": [asdict(each) for each in framed_bots],
        "pools": [asdict(each) for each in pools],
    }
    text = markdown(honest, found, bounds, pairs, styles, framed_bots)
    keep("audit", report, f"# Audit\n\n{text}")
    print(text)


if __name__ == "__main__":
    os.nice(5)
    main()
