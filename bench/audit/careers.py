"""Careers drawn from pools: how often the honest are accused, and how soon cheaters are found."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bench.audit.pools import SEED, Pools, contrast_of
from keltis_ladder.audit.evidence import BOT_LIMIT, UNIT, Contrast, Evidence, Test, nats
from keltis_ladder.audit.rotations import SPREADS, contrast
from keltis_ladder.match.rotation import seat_of

GAINS: Final = (2, 5, 10)  # points of winning chance in later games
LONGEST_CAREER: Final = 20_000  # matches of a career
AUTHORS: Final = 20  # whom a bot meets, in turn by lot
HOUSE: Final = 0.1  # of its matches against our own bots
LEVELS: Final = (20, 100, 1000)  # false alarms of one in so many are counted, too


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
