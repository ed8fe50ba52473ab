"""A tournament: a plan and what has happened, from which everything else follows.

Nothing here knows of clocks, databases or processes. The caller that holds a tournament plays
the matches that are due, records their results, and keeps the same results somewhere safe; after a
crash ``restore`` makes the same tournament from them again, pairing by pairing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from keltis_ladder.errors import LadderError
from keltis_ladder.tournaments.encounters import Encounter, Log
from keltis_ladder.tournaments.knockout import Knockout
from keltis_ladder.tournaments.league import FixedLeague, League, SwissLeague
from keltis_ladder.tournaments.pairings import Leg, LegResult, walkover
from keltis_ladder.tournaments.plan import SWISS, Plan
from keltis_ladder.tournaments.standings import Standing
from keltis_ladder.tournaments.views import Crosstable, RoundView


class Course(Protocol):
    """How a format goes on: what each of them has to answer."""

    @property
    def last_fixed(self) -> int:
        """The last round whose pairings a withdrawal would change."""

    @property
    def over(self) -> bool:
        """Whether no further tables will come."""

    def advance(self) -> list[Encounter]:
        """Return the tables that can be played now and could not before."""

    def to_come(self) -> int:
        """Return the fewest matches at tables that are not known yet."""

    def views(self) -> list[RoundView]:
        """Return the rounds for display."""

    def standings(self) -> list[Standing]:
        """Return where everybody stands."""


class Tournament:
    """A tournament as it stands."""

    def __init__(self, plan: Plan, log: Log | None = None) -> None:
        plan.check()
        self.plan = plan
        self._log = Log() if log is None else log
        self._tables: dict[str, Encounter] = {}
        self._open: dict[str, Encounter] = {}
        self._course = _course(plan, self._log)
        self._advance()

    @property
    def results(self) -> Mapping[str, LegResult]:
        """The recorded results by the keys of their legs."""
        return self._log.results

    @property
    def voids(self) -> Collection[str]:
        """The keys of the legs that count for nobody, in order."""
        return sorted(self._log.voids)

    @property
    def withdrawals(self) -> Mapping[int, int]:
        """Who withdrew, and after which round, in the order in which they did."""
        return self._log.withdrawals

    def due(self) -> list[Leg]:
        """Return all matches that can be played now and are not recorded, the earliest first."""
        tables = sorted(self._open.values(), key=_order)
        return [leg for table in tables for leg in table.due_legs()]

    def is_due(self, key: str) -> bool:
        """Return whether a result of this leg would be recorded."""
        table, number = self._find(key)
        return table is not None and number in table.due

    def record(self, key: str, result: LegResult) -> None:
        """Count the result of a match; the same result again changes nothing."""
        known = self._log.results.get(key)
        if known == result:
            return
        if known is not None:
            raise LadderError(f"match {key} has another result already: a result cannot change")
        table, number = self._expect(key)
        result.check(len(table.pairing.entrants))
        self._log.results[key] = result
        self._take(table, number)

    def void(self, key: str) -> None:
        """Let a match that could never be played count for nobody."""
        if key in self._log.voids:
            return
        table, number = self._expect(key)
        self._log.voids.add(key)
        self._take(table, number)

    def withdraw(self, entrant: int, after_round: int) -> None:
        """Let an entrant leave after a round: what it has not played of later rounds is forfeited.

        What it owes of earlier rounds stays due: play it, or record ``walkovers``. A Swiss
        tournament does not pair it any more; rounds that are paired stay as they are.
        """
        if self._log.withdrawals.get(entrant) == after_round:
            return
        self._check_withdrawal(entrant, after_round)
        self._log.withdrawals[entrant] = after_round
        for table in list(self._open.values()):
            if entrant in table.pairing.entrants:
                table.settle(self._log)
                self._close(table)
        self._advance()

    @property
    def earliest_withdrawal(self) -> int:
        """The first round after which somebody can withdraw now."""
        return self._course.last_fixed

    def walkovers(self, entrant: int) -> list[tuple[Leg, LegResult]]:
        """Return what to record for all that is due of an entrant if it cannot play any more."""
        return [
            (leg, walkover(leg.pairing, {entrant}))
            for leg in self.due()
            if entrant in leg.pairing.entrants
        ]

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to play."""
        return not self._open and self._course.over

    @property
    def progress(self) -> tuple[int, int]:
        """How many matches have been dealt with, and how many there will be at least."""
        played = sum(len(table.legs) for table in self._tables.values())
        due = sum(len(table.due) for table in self._open.values())
        return played, played + due + self._course.to_come()

    @property
    def rounds(self) -> list[RoundView]:
        """The rounds with their tables and byes; of a Swiss tournament those that are paired."""
        return self._course.views()

    @property
    def round(self) -> int:
        """The first round in which something is due; after the end, the last one."""
        if self._open:
            return min(table.pairing.round for table in self._open.values())
        return max(table.pairing.round for table in self._tables.values())

    def standings(self) -> list[Standing]:
        """Return where everybody stands now; final when the tournament is finished."""
        return self._course.standings()

    def crosstable(self) -> Crosstable:
        """Return what each two have of each other."""
        if not isinstance(self._course, League):
            raise LadderError(f"a {self.plan.format} has no crosstable: look at its bracket")
        return self._course.crosstable()

    def bracket(self) -> list[RoundView]:
        """Return the rounds of each bracket: who met, who went on, and where to."""
        if not isinstance(self._course, Knockout):
            raise LadderError(f"a {self.plan.format} has no bracket: look at its crosstable")
        return self._course.bracket()

    def check_log(self) -> None:
        """Raise if the log has something that this tournament could not have recorded."""
        tables = self._tables.values()
        used = {table.leg(number).key for table in tables for number in table.legs}
        strange = [key for key in (*self.results, *self.voids) if key not in used]
        strange += [key for key in self.voids if key in self.results]
        if strange:
            raise LadderError(
                f"match {strange[0]!r} does not belong to this tournament: "
                "the results and the plan are not of the same one"
            )
        for entrant in self.withdrawals:
            self._check_entrant(entrant)

    def _find(self, key: str) -> tuple[Encounter | None, int]:
        """Return the table of a leg and its number there; 0 if it cannot be one."""
        name, _, text = key.rpartition("/")
        number = int(text) if text.isdecimal() else 0
        return self._tables.get(name), number if str(number) == text else 0

    def _expect(self, key: str) -> tuple[Encounter, int]:
        """Return the table and number of a leg that is due, or raise."""
        table, number = self._find(key)
        if table is None or number not in table.due:
            raise LadderError(f"no match {key!r} is due: {self._why_not(key, table, number)}")
        return table, number

    def _why_not(self, key: str, table: Encounter | None, number: int) -> str:
        if self._log.known(key):
            return "it has been dealt with already"
        if table is None:
            return "there is no such table yet; ask for those that are due"
        if number in table.forfeited:
            return "it was forfeited when somebody withdrew"
        return "its table has no such match, or is decided without it"

    def _check_withdrawal(self, entrant: int, after_round: int) -> None:
        self._check_entrant(entrant)
        if entrant in self._log.withdrawals:
            raise LadderError(
                f"entrant {entrant} has withdrawn already, "
                f"after round {self._log.withdrawals[entrant]}"
            )
        if self.finished:
            raise LadderError("the tournament is over: nobody can withdraw any more")
        if after_round < self.earliest_withdrawal:
            raise LadderError(
                f"entrant {entrant} cannot withdraw after round {after_round}: take "
                f"{self.earliest_withdrawal} or later, because what is paired stays paired, "
                "and record walkovers for what it cannot play any more"
            )

    def _check_entrant(self, entrant: int) -> None:
        if not 0 <= entrant < self.plan.entrants:
            raise LadderError(
                f"there is no entrant {entrant}: they are 0 to {self.plan.entrants - 1}"
            )

    def _take(self, table: Encounter, number: int) -> None:
        table.take(number, self._log)
        self._close(table)
        if table.closed:
            self._advance()

    def _close(self, table: Encounter) -> None:
        if table.closed:
            self._open.pop(table.pairing.key, None)

    def _advance(self) -> None:
        for table in self._course.advance():
            self._tables[table.pairing.key] = table
            if not table.closed:
                self._open[table.pairing.key] = table


def restore(
    plan: Plan,
    results: Mapping[str, LegResult],
    voids: Collection[str] = (),
    withdrawals: Mapping[int, int] | None = None,
) -> Tournament:
    """Return the tournament in which all this was recorded.

    Results and voids may come in any order, withdrawals in the order in which they happened.
    """
    log = Log(dict(results), set(voids), dict(withdrawals or {}))
    tournament = Tournament(plan, log)
    tournament.check_log()
    return tournament


def _course(plan: Plan, log: Log) -> Course:
    if plan.elimination:
        return Knockout(plan, log)
    return SwissLeague(plan, log) if plan.format == SWISS else FixedLeague(plan, log)


def _order(table: Encounter) -> tuple[int, int]:
    return table.pairing.round, table.pairing.table
