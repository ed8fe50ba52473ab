"""Tables of three and four: how the test of pairs does."""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass

from bench.audit.games import STYLES, play_styles
from bench.audit.pools import SEED
from keltis_engine import find_variant
from keltis_ladder.audit.book import AuditBook, Played
from keltis_ladder.audit.evidence import Evidence, odds
from keltis_ladder.audit.rotations import SPREADS
from keltis_ladder.match.rotation import entrant_at


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
