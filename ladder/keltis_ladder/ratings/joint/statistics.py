"""Statistics: all that the fit needs of the matches. Whole numbers, so their order is irrelevant.

For every pair of versions and kind of match: how often they met, and the sum of their margins. For
every kind: matches and the sum of squared margins, which the luck is estimated from. A match is
taken back by subtraction, and leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple, Self

from keltis_ladder.ratings.joint.kinds import KINDS, kind_number


class Match(NamedTuple):
    """A rated match: versions, and their scores as ``match_scores`` makes them."""

    kind: int
    versions: tuple[int, ...]
    scores: tuple[int, ...]


class Pair(NamedTuple):
    """Two versions in a kind of match; the smaller id comes first."""

    kind: int
    low: int
    high: int


class Meetings(NamedTuple):
    """How often two met, and by how much the first was ahead in all, in the unit of scores."""

    met: int
    margin: int


NEVER = Meetings(0, 0)


def match_of(variant: str, versions: Sequence[int], scores: Sequence[int]) -> Match:
    """Return a match, or raise if it cannot have been one."""
    kind = kind_number(variant, len(versions))
    if len(set(versions)) < len(versions) or len(scores) != len(versions):
        raise ValueError(
            "a match is between different versions, each with a score; "
            f"got {list(versions)} and {list(scores)}"
        )
    return Match(kind, tuple(versions), tuple(scores))


def margins_of(match: Match) -> list[tuple[Pair, int]]:
    """Return the pairs of a match, each with its margin."""
    entrants = sorted(zip(match.versions, match.scores, strict=True))
    return [
        (Pair(match.kind, low, high), score - other)
        for (low, score), (high, other) in combinations(entrants, 2)
    ]


@dataclass
class Statistics:
    """Sums over matches."""

    pairs: dict[Pair, Meetings] = field(default_factory=dict)
    matches: list[int] = field(default_factory=lambda: [0] * len(KINDS))  # by kind
    squares: list[int] = field(default_factory=lambda: [0] * len(KINDS))

    @classmethod
    def of(cls, matches: Iterable[Match]) -> Self:
        """Return the statistics of matches, in whatever order they come."""
        found = cls()
        for match in matches:
            found.add(match)
        return found

    def add(self, match: Match) -> None:
        """Count a match."""
        self._count(match, 1)

    def take_back(self, match: Match) -> None:
        """Let a match that was counted not have been."""
        if any(pair not in self.pairs for pair, _ in margins_of(match)):
            raise ValueError(f"a match is taken back that was not counted: {match}")
        self._count(match, -1)

    def _count(self, match: Match, sign: int) -> None:
        self.matches[match.kind] += sign
        for pair, margin in margins_of(match):
            met, total = self.pairs.get(pair, NEVER)
            met += sign
            self.squares[match.kind] += sign * margin * margin
            if met:
                self.pairs[pair] = Meetings(met, total + sign * margin)
            else:
                del self.pairs[pair]

    def rows(self) -> list[tuple[Pair, Meetings]]:
        """Return all pairs in their fixed order."""
        return sorted(self.pairs.items())

    def to_plain(self) -> dict[str, Any]:
        """Return it as lists and numbers."""
        return {
            "matches": list(self.matches),
            "squares": list(self.squares),
            "pairs": [[*pair, *meetings] for pair, meetings in self.rows()],
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """Return the statistics that ``to_plain`` wrote."""
        pairs = {
            Pair(kind, low, high): Meetings(met, margin)
            for kind, low, high, met, margin in plain["pairs"]
        }
        return cls(pairs, list(plain["matches"]), list(plain["squares"]))
