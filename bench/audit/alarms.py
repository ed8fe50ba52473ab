"""Does the audit accuse the honest, and does it find the others: ``python -m bench.audit.alarms``.

Games are played once by the engine, honest ones and those of a bot that knows all hidden cards of
a deal when it meets it again. From these pools many careers are drawn, whose later games are
cheated as often as makes the wanted gain in winning chance.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from bench.audit.games import STYLES, Sample, play_styles, sample
from bench.keeping import keep
from keltis_engine import VARIANTS, find_variant
from keltis_ladder.audit.book import AuditBook, Played
from keltis_ladder.audit.evidence import BOT_LIMIT, UNIT, Contrast, Evidence, Test, nats, odds
from keltis_ladder.audit.rotations import SPREADS, contrast
from keltis_ladder.match.rotation import entrant_at, seat_of

SEED: Final = 2026
GAINS: Final = (2, 5, 10)  # points of winning chance in later games
LONGEST_CAREER: Final = 20_000  # matches of a career
AUTHORS: Final = 20  # whom a bot meets, in turn by lot
HOUSE: Final = 0.1  # of its matches against our own bots
LEVELS: Final = (20, 100, 1000)  # false alarms of one in so many are counted, too


@dataclass(frozen=True)
class Pools:
    """Matches of one variant."""

    variant: str
    honest: list[Sample]
    cheated: dict[str, list[Sample]]  # by what the knowledge is used for


@dataclass(frozen=True)
class Careers:
    """How often honest bots are accused."""

    what: str
    bots: int
    matches: int
    alarms: int  # at the limit of the ladder, for one variant and test
    reached: dict[int, int]  # bots whose evidence ever reached so much to one


@dataclass(frozen=True)
class Found:
    """How soon a cheater is found."""

    variant: str
    use: str
    test: str
    gain: int  # points of winning chance, in later games
    games: float  # share of later games that it cheats in
    median: int | None  # matches
    ninetieth: int | None


def pools_of(variant: str, deals: int) -> Pools:
    """Play the pools of a variant."""
    ruleset = find_variant(variant)
    return Pools(
        variant,
        [sample(ruleset, SEED + k, cheats=False) for k in range(deals)],
        {
            use: [
                sample(ruleset, SEED + deals * (1 + number) + k, True, use == "draws")
                for k in range(deals)
            ]
            for number, use in enumerate(("all decisions", "draws"))
        },
    )


def pools_from(report: Path) -> list[Pools]:
    """Return the pools of an earlier report."""

    def samples(plain: list[dict[str, list[Any]]]) -> list[Sample]:
        return [
            Sample(*(tuple(each[name]) for name in ("leads", "wins", "foresights")))
            for each in plain
        ]

    return [
        Pools(
            each["variant"],
            samples(each["honest"]),
            {use: samples(plain) for use, plain in each["cheated"].items()},
        )
        for each in json.loads(report.read_text(encoding="utf-8"))["pools"]
    ]


@dataclass(frozen=True)
class Styles:
    """Honest players of very different kinds, at tables of three."""

    variant: str
    tables: int
    pairs: int
    accused: int
    nearest: int  # the most evidence against a pair at the end, so much to one


def styles_at_tables(variant: str, tables: int) -> Styles:
    """Let players of all styles meet, three at a time, and test every pair."""
    ruleset = find_variant(variant)
    chance = random.Random(f"{SEED}/styles/{variant}")
    book = AuditBook()
    for number in range(1, tables + 1):
        bots = tuple(chance.sample(range(len(STYLES)), 3))
        games = tuple(
            play_styles(ruleset, SEED + number, [bots[(seat + k) % 3] for seat in range(3)])
            for k in range(3)
        )
        book.enter(Played(number, variant, bots, bots, bots, games))
    found = [pair.evidence for pair in book.pairs.values()]
    return Styles(
        variant,
        tables,
        len(found),
        sum(each.alarm is not None for each in found),
        max(odds(each.total, each.spread) for each in found),
    )


def contrast_of(variant: str, test: Test, match: Sample, first: int) -> Contrast:
    """Return what a test makes of a match whose game ``first`` was played first."""
    if test is Test.FORESIGHT:
        values = [match.foresights[first], match.foresights[1 - first]]
    else:
        unit = SPREADS[variant]
        values = [match.leads[game] * UNIT // unit for game in (first, 1 - first)]
    return contrast(values)


def careers(
    what: str, bots: int, matches: int, next_one: Callable[[random.Random], Contrast]
) -> Careers:
    """Let honest bots play for long, and look after every match."""
    chance = random.Random(f"{SEED}/{what}")
    reached = dict.fromkeys(LEVELS, 0)
    alarms = 0
    for _ in range(bots):
        total = spread = 0
        most = 0.0
        for _ in range(matches):
            new = next_one(chance)
            total += new.total
            spread += new.spread
            if total > 0:
                most = max(most, nats(total, spread))
        alarms += most >= BOT_LIMIT
        for level in LEVELS:
            reached[level] += most >= math.log(level)
    return Careers(what, bots, matches, alarms, reached)


def made_up(players: int) -> Callable[[random.Random], Contrast]:
    """Return a source of matches that are unkind to the test.

    A strong effect of the seats, deals that differ by their luck, long tails, whole points.
    """

    def next_one(chance: random.Random) -> Contrast:
        luck = [chance.gauss(0, 8) for _ in range(players)]
        first = chance.randrange(players)
        values = []
        for game in range(players):
            seat = seat_of(first, game, players)
            lead = 6 * (seat == 0) + luck[seat] + chance.gauss(0, 10)
            if chance.random() < 0.02:
                lead += chance.expovariate(1 / 60)
            values.append(round(lead) * UNIT // 14)
        return contrast(values)

    return next_one


def resampled(pools: Pools, test: Test) -> Callable[[random.Random], Contrast]:
    """Return a source of honest matches that the engine has played, their order by lot."""

    def next_one(chance: random.Random) -> Contrast:
        return contrast_of(pools.variant, test, chance.choice(pools.honest), chance.randrange(2))

    return next_one


def search_for(pools: Pools, use: str, gain: int, test: Test, tries: int) -> Found | None:
    """Draw careers of a cheater that gains so much, and see when each is found.

    None if the knowledge is not worth so much even in all later games.
    """
    cheated = pools.cheated[use]
    fair = statistics.fmean(sum(each.wins) / 2 for each in pools.honest)
    whole = statistics.fmean(each.wins[1] for each in cheated) - fair
    if whole < gain / 100:
        return None
    share = gain / 100 / whole
    chance = random.Random(f"{SEED}/{pools.variant}/{use}/{gain}/{test}")
    ends = []
    for _ in range(tries):
        evidence = Evidence()
        while evidence.alarm is None and evidence.matches < LONGEST_CAREER:
            if chance.random() < share:
                new = contrast_of(pools.variant, test, chance.choice(cheated), 0)
            else:
                honest = chance.choice(pools.honest)
                new = contrast_of(pools.variant, test, honest, chance.randrange(2))
            evidence.add(evidence.matches + 1, new, BOT_LIMIT, opponent(chance, test))
        ends.append(evidence.matches if evidence.alarm else LONGEST_CAREER + 1)
    ends.sort()
    median, ninetieth = ends[tries // 2], ends[tries * 9 // 10]
    return Found(
        pools.variant,
        use,
        str(test),
        gain,
        round(share, 3),
        median if median <= LONGEST_CAREER else None,
        ninetieth if ninetieth <= LONGEST_CAREER else None,
    )


def opponent(chance: random.Random, test: Test) -> list[int]:
    """Return the author of the next opponent; nobody for our own bots, and where it is not kept."""
    if test is not Test.LATER or chance.random() < HOUSE:
        return []
    return [chance.randrange(AUTHORS)]


@dataclass(frozen=True)
class Framed:
    """Honest bots whose opponents throw the later games on purpose."""

    liars: int  # authors who do so, of AUTHORS
    thrown: int  # points, in each later game against them
    bots: int
    matches: int
    alarms: int
    without: int  # alarms, were nobody left out


def framed(pools: Pools, liars: int, thrown: int, bots: int, matches: int) -> Framed:
    """Let honest bots meet authors of whom some want them accused."""
    chance = random.Random(f"{SEED}/framed/{liars}/{thrown}")
    alarms = without = 0
    for _ in range(bots):
        careful, plain = Evidence(), Evidence()
        for number in range(1, matches + 1):
            authors = opponent(chance, Test.LATER)
            match, first = chance.choice(pools.honest), chance.randrange(2)
            leads = [match.leads[first], match.leads[1 - first]]
            leads[1] += thrown * any(author < liars for author in authors)
            new = contrast([lead * UNIT // SPREADS[pools.variant] for lead in leads])
            careful.add(number, new, BOT_LIMIT, authors)
            plain.add(number, new, BOT_LIMIT)
        alarms += careful.alarm is not None
        without += plain.alarm is not None
    return Framed(liars, thrown, bots, matches, alarms, without)


def information(pools: Pools, gain: int) -> float:
    """Return the matches that any test needs, in the mean, that sees only who won.

    By Wald: the limit in nats over what one match tells at most, which is the divergence of what
    the first and a later game come to from the same with the order drawn by lot.
    """
    outcomes = [each.wins for each in pools.honest]
    size = 2 * len(outcomes)
    fair: dict[tuple[float, float], float] = {}
    for first, later in outcomes:
        for pair in ((first, later), (later, first)):
            fair[pair] = fair.get(pair, 0.0) + 1 / size
    lost = sum(share for (_, later), share in fair.items() if later == 0)
    moved = gain / 100 / lost  # of the lost later games, so many are won instead
    shifted = dict.fromkeys(fair, 0.0)
    for (first, later), share in fair.items():
        stays = share * (1 - moved) if later == 0 else share
        shifted[first, later] += stays
        shifted[first, 1.0] = shifted.get((first, 1.0), 0.0) + share - stays
    nats_each = sum(
        share * math.log(share / fair[pair])
        for pair, share in shifted.items()
        if share > 0 and pair in fair
    )
    return BOT_LIMIT / nats_each


def pair_careers(players: int, gain: float, tables: int, seed: int) -> list[int | None]:
    """Play made-up tables of ten bots; return when each pair was found, the colluders' first.

    ``gain`` is what each of the two gets when both are there, in usual spreads of a match.
    """
    chance = random.Random(f"{SEED}/pairs/{players}/{gain}/{seed}")
    strengths = [chance.gauss(0, 0.4) for _ in range(10)]
    book = AuditBook()
    unit = SPREADS["keltis"]
    for number in range(1, tables + 1):
        bots = chance.sample(range(10), players)
        together = 0 in bots and 1 in bots
        luck = [chance.gauss(0, 0.8) for _ in range(players)]
        games = []
        for rotation in range(players):
            scores = []
            for seat in range(players):
                bot = bots[entrant_at(seat, rotation, players)]
                extra = gain if together and bot < 2 else 0.0
                points = strengths[bot] + extra + luck[seat] + chance.gauss(0, 0.8)
                scores.append(round(points * unit))
            games.append(tuple(scores))
        book.enter(Played(number, "keltis", tuple(bots), tuple(bots), tuple(bots), tuple(games)))
    met = book.pairs[0, 1].evidence
    first = None
    if met.alarm is not None:
        first = _meetings(book, met, tables)
    others = [pair.evidence.alarm for ids, pair in book.pairs.items() if ids != (0, 1)]
    return [first, *others]


def _meetings(book: AuditBook, met: Evidence, tables: int) -> int:
    """Return about how many matches of the pair it took: they meet evenly."""
    assert met.alarm is not None
    return max(1, round(met.matches * met.alarm / tables))


@dataclass(frozen=True)
class PairsFound:
    """What the test of pairs did on made-up ladders."""

    players: int
    gain: float
    ladders: int
    found: int
    median: int | None  # matches of the pair with each other
    accused: int  # pairs of others
    pairs: int


def search_pairs(players: int, gain: float, ladders: int, tables: int) -> PairsFound:
    """Play ladders in which two share their hands, or nobody does with a gain of nothing."""
    ends, accused, pairs = [], 0, 0
    for seed in range(ladders):
        first, *others = pair_careers(players, gain, tables, seed)
        if first is not None:
            ends.append(first)
        accused += sum(alarm is not None for alarm in others)
        pairs += len(others)
    median = round(statistics.median(ends)) if len(ends) * 2 > ladders else None
    return PairsFound(players, gain, ladders, len(ends), median, accused, pairs)


def framed_table(framed_bots: Sequence[Framed]) -> list[str]:
    """Return whom opponents can have accused."""
    lines = ["## Honest bots whose opponents throw later games on purpose", ""]
    lines += [f"`later`, {AUTHORS} authors, a tenth of the matches against our own bots.", ""]
    lines += ["| authors who lie | points | bots | each | alarms | were nobody left out |"]
    lines += ["|---" * 6 + "|"]
    for bot in framed_bots:
        counts = (bot.liars, bot.thrown, bot.bots, bot.matches, bot.alarms, bot.without)
        lines.append(f"| {' | '.join(f'{count:,}' for count in counts)} |")
    return lines


def found_table(found: Sequence[Found]) -> list[str]:
    """Return how soon cheaters are found."""
    lines = ["## Matches until a cheater is found", ""]
    lines += ["| variant | knowledge used for | gain | cheated | test | median | 90 % |"]
    lines += ["|---" * 7 + "|"]
    for one in found:
        ends = [
            f"{end:,}" if end else f"over {LONGEST_CAREER:,}" for end in (one.median, one.ninetieth)
        ]
        cells = [one.variant, one.use, f"{one.gain} points", f"{one.games:.0%} of later games"]
        lines.append(f"| {' | '.join([*cells, one.test, *ends])} |")
    return lines


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


def markdown(
    honest: Sequence[Careers], found: Sequence[Found], bounds: dict[str, dict[int, float]],
    pairs: Sequence[PairsFound],
    styles: Sequence[Styles], framed_bots: Sequence[Framed],
) -> str:  # fmt: skip
    """Return the tables for docs/operators/audit.md."""
    lines = ["## Honest bots", ""]
    levels = " | ".join(f"ever {level:,} to 1 (allowed)" for level in LEVELS)
    lines += [f"| matches | bots | each | {levels} | alarms |", "|---" * (4 + len(LEVELS)) + "|"]
    for each in honest:
        cells = [each.what, f"{each.bots:,}", f"{each.matches:,}"]
        cells += [f"{each.reached[level]:,} ({each.bots / level:,.0f})" for level in LEVELS]
        lines.append(f"| {' | '.join([*cells, str(each.alarms)])} |")
    lines += ["", *framed_table(framed_bots)]
    lines += ["", *found_table(found)]
    lines += ["", "## What any test needs that sees only who won", ""]
    lines += [f"| variant | {' | '.join(f'{gain} points' for gain in GAINS)} |"]
    lines += ["|---" * (1 + len(GAINS)) + "|"]
    for variant, needed in bounds.items():
        lines.append(f"| {variant} | {' | '.join(f'{needed[gain]:,.0f}' for gain in GAINS)} |")
    lines += ["", "## Pairs at tables of three and four", ""]
    lines += ["| players | gain of each, in spreads | ladders | found | after | others accused |"]
    lines += ["|---" * 6 + "|"]
    for pair in pairs:
        after = f"{pair.median:,} matches together" if pair.median else "-"
        cells = [str(pair.players), f"{pair.gain:g}", str(pair.ladders), str(pair.found), after]
        lines.append(f"| {' | '.join([*cells, f'{pair.accused} of {pair.pairs:,}'])} |")
    lines += ["", "Honest players of very different kinds, at tables of three:", ""]
    lines += ["| variant | tables | pairs | accused | nearest |", "|---" * 5 + "|"]
    for style in styles:
        cells = [style.variant, f"{style.tables:,}", str(style.pairs), str(style.accused)]
        lines.append(f"| {' | '.join([*cells, f'{style.nearest:,} to 1'])} |")
    return "\n".join(lines) + "\n"


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
