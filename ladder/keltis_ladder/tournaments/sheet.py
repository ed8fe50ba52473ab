"""The score sheet: what every entrant has to show, counted from the matches that count.

All numbers are whole: scores are in twelfths of a win, pairs in halves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from keltis_ladder.tournaments.encounters import Encounter
from keltis_ladder.tournaments.pairings import WIN, LegResult, halves, leg_scores


@dataclass
class SheetLine:
    """One entrant's line."""

    score: int = 0  # in twelfths of a win
    played: int = 0
    wins: int = 0  # alone
    draws: int = 0  # the first place shared
    losses: int = 0
    byes: int = 0
    awarded: int = 0  # the part of the score that comes from byes
    twelfths: int = 0  # win shares over all games
    lead: Fraction = Fraction(0)  # in points, over the mean of the opponents
    faults: int = 0
    opponents: list[int] = field(default_factory=list)  # once for each table where they met
    empty_rounds: int = 0  # rounds without an opponent: byes, and tables where nothing counted


class Sheet:
    """The lines of all entrants, and what each two have of each other."""

    def __init__(self, entrants: int) -> None:
        self.lines = [SheetLine() for _ in range(entrants)]
        self.halves: defaultdict[tuple[int, int], int] = defaultdict(int)
        self.meetings: defaultdict[tuple[int, int], int] = defaultdict(int)  # matches, both ways

    def add(self, encounters: Iterable[Encounter]) -> None:
        """Count tables, finished or not."""
        for encounter in encounters:
            entrants = encounter.pairing.entrants
            counted = encounter.counted
            for result in counted:
                self._add_leg(entrants, result)
            for entrant in entrants:
                line = self.lines[entrant]
                if counted:
                    line.opponents += [other for other in entrants if other != entrant]
                elif encounter.closed:
                    line.empty_rounds += 1

    def add_bye(self, entrant: int) -> None:
        """Count a round without a table that is worth nothing, because everybody has as many."""
        self.lines[entrant].byes += 1

    def award_bye(self, entrant: int, value: int, matches: int) -> None:
        """Count a round without a table: its value, and an even share of the wins."""
        line = self.lines[entrant]
        line.byes += 1
        line.empty_rounds += 1
        line.score += value * matches
        line.awarded += value * matches
        line.twelfths += WIN * matches

    def _add_leg(self, entrants: tuple[int, ...], result: LegResult) -> None:
        total = sum(result.points)
        alone = result.ranks.count(1) == 1
        scores = leg_scores(result.ranks)
        for at, entrant in enumerate(entrants):
            line = self.lines[entrant]
            line.score += scores[at]
            line.played += 1
            line.wins += result.ranks[at] == 1 and alone
            line.draws += result.ranks[at] == 1 and not alone
            line.losses += result.ranks[at] != 1
            line.twelfths += result.twelfths[at]
            others = Fraction(total - result.points[at], len(entrants) - 1)
            line.lead += result.points[at] - others
            line.faults += result.faults[at]
            for other_at, other in enumerate(entrants):
                if other != entrant:
                    self.halves[entrant, other] += halves(result.ranks[at], result.ranks[other_at])
                    self.meetings[entrant, other] += 1
