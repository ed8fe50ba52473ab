"""A table as it stands: what was played, what is due, and what was forfeited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from keltis_ladder.tournaments.pairings import Leg, LegResult, Pairing, walkover
from keltis_ladder.tournaments.plan import Plan
from keltis_ladder.tournaments.series import series_due, series_order, series_scores


@dataclass
class Log:
    """Everything that has happened. With the plan it says all there is to know."""

    results: dict[str, LegResult] = field(default_factory=dict)  # by the key of the leg
    voids: set[str] = field(default_factory=set)  # keys of legs that count for nobody
    withdrawals: dict[int, int] = field(default_factory=dict)  # last rounds, in order of leaving

    def known(self, key: str) -> bool:
        """Return whether a leg has been dealt with."""
        return key in self.results or key in self.voids

    def gone(self, pairing: Pairing) -> int | None:
        """Return who of a table withdrew before it: the first to do so, if there were several.

        Those who followed had already won by then, and nothing that was decided is undone.
        """
        for entrant, last in self.withdrawals.items():
            if entrant in pairing.entrants and last < pairing.round:
                return entrant
        return None


class Encounter:
    """One table and the state of its matches."""

    def __init__(self, plan: Plan, pairing: Pairing, log: Log) -> None:
        self.plan = plan
        self.pairing = pairing
        self.legs: dict[int, LegResult | None] = {}  # None: it counts for nobody
        self.forfeited: set[int] = set()
        self.due: list[int] = []
        self.order: list[int] = []  # of a decided table of an elimination: the winner first
        self._take_known(log)
        self.settle(log)

    @property
    def closed(self) -> bool:
        """Whether all its matches have been dealt with."""
        return not self.due

    @property
    def counted(self) -> list[LegResult]:
        """The results that count."""
        return [result for result in self.legs.values() if result is not None]

    def leg(self, number: int) -> Leg:
        """Return one of its matches."""
        variants = self.plan.variants
        variant = variants[(self.pairing.first + number - 1) % len(variants)]
        return Leg(self.pairing, number, variant)

    def due_legs(self) -> list[Leg]:
        """Return the matches that can be played now."""
        return [self.leg(number) for number in self.due]

    def take(self, number: int, log: Log) -> None:
        """Count a leg that has just been dealt with."""
        self.legs[number] = log.results.get(self.leg(number).key)
        self.settle(log)

    def settle(self, log: Log) -> None:
        """Work out what is due; what somebody who withdrew would have to play is forfeited."""
        self.due = self._needed(self.legs)
        gone = log.gone(self.pairing)
        while self.due and gone is not None:
            for number in self.due:
                self.legs[number] = walkover(self.pairing, {gone})
                self.forfeited.add(number)
            self.due = self._needed(self.legs)
        if self.closed and self.plan.elimination:
            self.order = series_order(self.pairing.entrants, self.plan.matches, self.legs)

    def scores(self) -> list[int]:
        """Return the scores over its regular matches, in twelfths, in the pairing's order."""
        return series_scores(len(self.pairing.entrants), self.plan.matches, self.legs)

    def _take_known(self, log: Log) -> None:
        """Count what the log already has, in whatever order it came."""
        players = len(self.pairing.entrants)
        progress = True
        while progress:
            progress = False
            for number in self._needed(self.legs):
                key = self.leg(number).key
                if log.known(key):
                    result = self.legs[number] = log.results.get(key)
                    progress = True
                    if result is not None:
                        result.check(players)

    def _needed(self, legs: Mapping[int, LegResult | None]) -> list[int]:
        if self.plan.elimination:
            return series_due(len(self.pairing.entrants), self.plan.matches, legs)
        return [number for number in range(1, self.plan.matches + 1) if number not in legs]
