"""Round robins, gauntlets and Swiss tournaments: everybody plays on, and scores add up."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Final

from keltis_ladder.tournaments.encounters import Encounter, Log
from keltis_ladder.tournaments.pairings import WIN, Pairing
from keltis_ladder.tournaments.plan import GAUNTLET, TWO, Plan
from keltis_ladder.tournaments.schedules.round_robins import schedule, seated
from keltis_ladder.tournaments.schedules.swiss_pairs import choose_bye, pair_off
from keltis_ladder.tournaments.schedules.swiss_tables import choose_byes, seat_tables
from keltis_ladder.tournaments.sheet import Sheet
from keltis_ladder.tournaments.standings import TIE_BREAKS, Ranking, Standing
from keltis_ladder.tournaments.views import Cell, Crosstable, RoundView, view_of

CHALLENGERS: Final = "challengers"
OPPONENTS: Final = "opponents"


class League:
    """A tournament in which scores add up; ``byes`` are by round, like the tables."""

    def __init__(self, plan: Plan, log: Log) -> None:
        self.plan = plan
        self.log = log
        self.rounds: list[list[Encounter]] = []
        self.byes: list[list[int]] = []

    def sheet(self) -> Sheet:
        """Return the score sheet as it is now."""
        sheet = Sheet(self.plan.entrants)
        for tables, byes in zip(self.rounds, self.byes, strict=True):
            sheet.add(tables)
            for entrant in byes:
                self._count_bye(sheet, entrant)
        return sheet

    def views(self) -> list[RoundView]:
        """Return the rounds that have been paired."""
        return [
            RoundView(number, tuple(view_of(table) for table in tables), tuple(byes))
            for number, (tables, byes) in enumerate(zip(self.rounds, self.byes, strict=True), 1)
        ]

    def standings(self) -> list[Standing]:
        """Return where everybody stands."""
        sheet = self.sheet()
        ranking = Ranking(
            sheet=sheet,
            columns=TIE_BREAKS[self.plan.format],
            seen=self._seen(sheet),
            players=self.plan.players,
            withdrawn=frozenset(self.log.withdrawals),
        )
        everybody = range(self.plan.entrants)
        if self.plan.format != GAUNTLET:
            return ranking.rank(everybody)
        challengers = everybody[: self.plan.challengers]
        opponents = everybody[self.plan.challengers :]
        return ranking.rank(challengers, CHALLENGERS) + ranking.rank(opponents, OPPONENTS)

    def crosstable(self) -> Crosstable:
        """Return what each two have of each other."""
        sheet = self.sheet()
        return Crosstable(
            order=tuple(standing.entrant for standing in self.standings()),
            cells={
                pair: Cell(Fraction(sheet.halves[pair], 2), matches)
                for pair, matches in sorted(sheet.meetings.items())
            },
        )

    def _add_round(self, pairings: Sequence[Pairing]) -> list[Encounter]:
        tables = [Encounter(self.plan, pairing, self.log) for pairing in pairings]
        self.rounds.append(tables)
        return tables

    def _count_bye(self, sheet: Sheet, entrant: int) -> None:
        sheet.add_bye(entrant)

    def _seen(self, sheet: Sheet) -> list[int]:
        """Return the scores by which opponents are judged."""
        return [line.score for line in sheet.lines]


class FixedLeague(League):
    """A round robin or a gauntlet: everything can be played from the beginning."""

    last_fixed = 0  # no withdrawal changes who meets whom

    def advance(self) -> list[Encounter]:
        """Return the tables that can be played now and could not before."""
        if self.rounds:
            return []
        new: list[Encounter] = []
        everybody = range(self.plan.entrants)
        for pairings in schedule(self.plan):
            new += self._add_round(pairings)
            seated_now = {entrant for pairing in pairings for entrant in pairing.entrants}
            waiting = [entrant for entrant in everybody if entrant not in seated_now]
            self.byes.append([] if self.plan.format == GAUNTLET else waiting)
        return new

    @property
    def over(self) -> bool:
        """Whether no further tables will come."""
        return True

    def to_come(self) -> int:
        """Return the fewest matches at tables that are not known yet."""
        return 0


class SwissLeague(League):
    """A Swiss tournament: each round is paired from the scores when the one before it is over."""

    @property
    def last_fixed(self) -> int:
        """The last round that has been paired: a withdrawal can only come after it."""
        return len(self.rounds)

    def advance(self) -> list[Encounter]:
        """Pair the next round if the last one is over."""
        new: list[Encounter] = []
        while not self.over and all(table.closed for tables in self.rounds for table in tables):
            new += self._pair()
        return new

    @property
    def over(self) -> bool:
        """Whether no further round will be paired."""
        following = len(self.rounds) + 1
        return following > self.plan.length or len(self._active(following)) < self.plan.players

    def to_come(self) -> int:
        """Return the fewest matches of the rounds that are not paired yet."""
        following = range(len(self.rounds) + 1, self.plan.length + 1)
        tables = sum(len(self._active(number)) // self.plan.players for number in following)
        return tables * self.plan.matches

    def _active(self, number: int) -> list[int]:
        """Return who takes part in a round."""
        gone = self.log.withdrawals
        return [e for e in range(self.plan.entrants) if gone.get(e, number) >= number]

    def _pair(self) -> list[Encounter]:
        sheet = self.sheet()
        number = len(self.rounds) + 1
        order = sorted(self._active(number), key=lambda e: (-sheet.lines[e].score, e))
        byes = self._choose_byes(order, sheet)
        order = [entrant for entrant in order if entrant not in byes]
        scores = [sheet.lines[entrant].score for entrant in order]
        meetings = self._meetings(order)
        found: Sequence[tuple[int, ...]]
        if self.plan.players == TWO:
            found = pair_off(scores, meetings)
        else:
            found = seat_tables(scores, meetings, self.plan.players)
        tables = [tuple(order[position] for position in table) for table in found]
        # All begin with the same variant: everybody plays each of them equally often.
        places = [[number - 1] * len(tables)]
        self.byes.append(byes)
        return self._add_round(seated([tables], places, self.plan, number - 1)[0])

    def _choose_byes(self, order: list[int], sheet: Sheet) -> list[int]:
        byes = [sheet.lines[entrant].byes for entrant in order]
        too_many = len(order) % self.plan.players
        if too_many and self.plan.players == TWO:
            return [order[choose_bye(byes, self._meetings(order))]]
        return [order[position] for position in choose_byes(byes, too_many)]

    def _meetings(self, order: list[int]) -> list[list[int]]:
        """Return how often each two sat at one table."""
        position = {entrant: at for at, entrant in enumerate(order)}
        meetings = [[0] * len(order) for _ in order]
        for tables in self.rounds:
            for table in tables:
                there = [position[e] for e in table.pairing.entrants if e in position]
                for one, other in combinations(there, 2):
                    meetings[one][other] += 1
                    meetings[other][one] += 1
        return meetings

    def _count_bye(self, sheet: Sheet, entrant: int) -> None:
        """Count a bye: a win at tables of two, where the last placed has it.

        At larger tables up to three have one at the same time, good ones too: half a win, which is
        what a table is worth on average.
        """
        value = WIN if self.plan.players == TWO else WIN // 2
        sheet.award_bye(entrant, value, self.plan.matches)

    def _seen(self, sheet: Sheet) -> list[int]:
        """Return the scores, with a draw for each round that somebody was no longer there."""
        over = sum(all(table.closed for table in tables) for tables in self.rounds)
        seen = super()._seen(sheet)
        for entrant, last in self.log.withdrawals.items():
            seen[entrant] += max(over - last, 0) * self.plan.matches * WIN // 2
        return seen
