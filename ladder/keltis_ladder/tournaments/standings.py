"""Standings of round robins, Swiss tournaments and gauntlets, with their tie-breaks.

Tie-breaks are exact numbers, compared in the order of their column; who is equal in all of them
shares the place. ``docs/readers/tournaments.md`` gives the reasons for the order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Final

from keltis_ladder.match.table_labels import TableLabel
from keltis_ladder.tournaments.pairings import WIN
from keltis_ladder.tournaments.plan import GAUNTLET, ROUND_ROBIN, SWISS
from keltis_ladder.tournaments.sheet import Sheet

DIRECT: Final = "direct encounter"
BUCHHOLZ_CUT: Final = "Buchholz cut 1"
BUCHHOLZ: Final = "Buchholz"
SONNEBORN: Final = "Sonneborn-Berger"
SHARES: Final = "win shares"
LEAD: Final = "points ahead"
FAULTS: Final = "faults"  # the only one of which less is better

TIE_BREAKS: Final = {
    ROUND_ROBIN: (DIRECT, SONNEBORN, SHARES, LEAD, FAULTS),
    SWISS: (BUCHHOLZ_CUT, BUCHHOLZ, SONNEBORN, SHARES, LEAD, FAULTS),
    GAUNTLET: (SONNEBORN, SHARES, LEAD, FAULTS),
}


@dataclass(frozen=True)
class TieBreak:
    """One column of a table of standings."""

    name: str
    value: Fraction


@dataclass(frozen=True)
class Standing:
    """Where an entrant stands."""

    place: int  # from 1; equal places are shared
    entrant: int
    score: Fraction  # matches won; in eliminations: tables won
    tie_breaks: tuple[TieBreak, ...] = ()
    played: int = 0  # matches that count, forfeited ones too
    wins: int = 0  # the first place alone
    draws: int = 0  # the first place shared
    losses: int = 0
    byes: int = 0
    faults: int = 0
    eliminated_in: TableLabel | None = None  # eliminations: the table that put it out
    withdrawn: bool = False
    group: str = ""  # gauntlet: "challengers" or "opponents", each with places of their own


@dataclass(frozen=True)
class Ranking:
    """How the entrants of a league are ranked: the columns, and scores seen by opponents."""

    sheet: Sheet
    columns: tuple[str, ...]
    seen: Sequence[int]  # by entrant: the score that counts for opponents' tie-breaks
    players: int
    withdrawn: frozenset[int]

    def rank(self, entrants: Sequence[int], group: str = "") -> list[Standing]:
        """Return the standings of some entrants among themselves."""
        values = {entrant: self._tie_breaks(entrant, entrants) for entrant in entrants}
        merits = {entrant: self._merit(entrant, values[entrant]) for entrant in entrants}
        order = sorted(entrants, key=lambda entrant: (merits[entrant], entrant))
        places = places_of(order, merits.__getitem__)
        return [
            self._standing(entrant, place, values[entrant], group)
            for entrant, place in zip(order, places, strict=True)
        ]

    def _merit(self, entrant: int, values: tuple[TieBreak, ...]) -> tuple[Fraction, ...]:
        """Return what to sort by: the best comes first."""
        return (
            Fraction(-self.sheet.lines[entrant].score),
            *(tie.value if tie.name == FAULTS else -tie.value for tie in values),
        )

    def _standing(
        self, entrant: int, place: int, values: tuple[TieBreak, ...], group: str
    ) -> Standing:
        line = self.sheet.lines[entrant]
        return Standing(
            place=place,
            entrant=entrant,
            score=Fraction(line.score, WIN),
            tie_breaks=values,
            played=line.played,
            wins=line.wins,
            draws=line.draws,
            losses=line.losses,
            byes=line.byes,
            faults=line.faults,
            withdrawn=entrant in self.withdrawn,
            group=group,
        )

    def _tie_breaks(self, entrant: int, among: Sequence[int]) -> tuple[TieBreak, ...]:
        line = self.sheet.lines[entrant]
        seen = self._opponents_scores(entrant)
        values = {
            DIRECT: self._direct(entrant, among),
            BUCHHOLZ_CUT: Fraction(sum(seen) - min(seen, default=0), WIN),
            BUCHHOLZ: Fraction(sum(seen), WIN),
            SONNEBORN: self._sonneborn(entrant),
            SHARES: Fraction(line.twelfths, WIN),
            LEAD: line.lead,
            FAULTS: Fraction(line.faults),
        }
        return tuple(TieBreak(name, values[name]) for name in self.columns)

    def _direct(self, entrant: int, among: Sequence[int]) -> Fraction:
        """Return the points won from those with the same score."""
        lines = self.sheet.lines
        level = [other for other in among if lines[other].score == lines[entrant].score]
        return Fraction(sum(self.sheet.halves.get((entrant, other), 0) for other in level), 2)

    def _opponents_scores(self, entrant: int) -> list[int]:
        """Return the scores of all met; for a round without a table, one's own in their place."""
        line = self.sheet.lines[entrant]
        own = [line.score] * (line.empty_rounds * (self.players - 1))
        return [self.seen[other] for other in line.opponents] + own

    def _sonneborn(self, entrant: int) -> Fraction:
        """Return the points won from each opponent, times that opponent's score, in all."""
        line = self.sheet.lines[entrant]
        total = sum(
            self.sheet.halves[entrant, other] * self.seen[other]
            for other in dict.fromkeys(line.opponents)
        )
        own = line.awarded * (self.players - 1) * line.score
        return Fraction(total, 2 * WIN) + Fraction(own, WIN * WIN)


def places_of(order: Sequence[int], merit: Callable[[int], object]) -> list[int]:
    """Return the places of entrants in order; equals share the better place."""
    places: list[int] = []
    for _, level in groupby(order, key=merit):
        places += [len(places) + 1] * len(list(level))
    return places
