"""The book of the audit: what all matches say about each bot and each pair, match by match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from keltis_ladder.audit.evidence import BOT_LIMIT, Contrast, Evidence, Test, pair_limit
from keltis_ladder.audit.pairs import Strength, luck, surprises
from keltis_ladder.audit.rotations import contrast, margins


@dataclass(frozen=True)
class Played:
    """A match of the ladder in which nobody dropped out; lists are by entrant."""

    number: int
    variant: str
    versions: tuple[int, ...]
    bots: tuple[int, ...]
    authors: tuple[int | None, ...]  # none: our own, who want nobody accused
    games: tuple[tuple[int, ...], ...]  # scores by seat, rotation by rotation


class Key(NamedTuple):
    """Which evidence about a bot."""

    bot: int
    variant: str
    test: Test


class StrengthKey(NamedTuple):
    """Whose strength, in which kind of match."""

    version: int
    variant: str
    players: int


@dataclass
class Pair:
    """Two bots that met at tables of three or four."""

    rank: int  # it was the rank-th pair of one of them
    evidence: Evidence = field(default_factory=Evidence)


class AuditBook:
    """All evidence. Every step of it is a whole number."""

    def __init__(self) -> None:
        self.bots: dict[Key, Evidence] = {}
        self.pairs: dict[tuple[int, int], Pair] = {}
        self.strengths: dict[StrengthKey, Strength] = {}
        self.partners: Counter[int] = Counter()  # pairs that each bot is one of

    def enter(self, match: Played) -> list[int]:
        """Take in the next match; return the bots that it made suspicious."""
        leads = [margins(match.variant, match.games, each) for each in range(len(match.bots))]
        found = []
        for bot, author, lead in zip(match.bots, match.authors, leads, strict=True):
            strangers = set(match.authors) - {None, author}
            key = Key(bot, match.variant, Test.LATER)
            if self.add(match.number, key, contrast(lead), strangers):
                found.append(bot)
        if len(match.bots) > 2:
            found += self._enter_pairs(match, [sum(lead) // len(lead) for lead in leads])
        return found

    def add(
        self, number: int, key: Key, new: Contrast, strangers: Iterable[int | None] = ()
    ) -> bool:
        """Add to the evidence about a bot; say whether it is an alarm now, and was none before."""
        authors = [author for author in strangers if author is not None]
        return self.bots.setdefault(key, Evidence()).add(number, new, BOT_LIMIT, authors)

    def _enter_pairs(self, match: Played, leads: Sequence[int]) -> list[int]:
        strengths = [
            self.strengths.setdefault(StrengthKey(version, match.variant, len(leads)), Strength())
            for version in match.versions
        ]
        settled = all(strength.settled for strength in strengths)
        beyond = surprises(leads, strengths)
        found: list[int] = []
        for one, other in combinations(range(len(leads)), 2) if settled else ():
            ids = match.bots[one], match.bots[other]
            if ids[0] == ids[1]:  # versions of one bot, in a ladder of old
                continue
            pair = self._pair(min(ids), max(ids))
            new = luck(beyond[one], beyond[other])
            if pair.evidence.add(match.number, new, pair_limit(pair.rank)):
                found += ids
        return found

    def _pair(self, one: int, other: int) -> Pair:
        pair = self.pairs.get((one, other))
        if pair is None:
            for bot in (one, other):
                self.partners[bot] += 1
            pair = Pair(max(self.partners[one], self.partners[other]))
            self.pairs[one, other] = pair
        return pair
