"""Eliminations while they are played: who goes on to which table."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import Final

from keltis_ladder.match.table_labels import TableLabel
from keltis_ladder.tournaments.encounters import Encounter, Log
from keltis_ladder.tournaments.pairings import Pairing
from keltis_ladder.tournaments.plan import Plan
from keltis_ladder.tournaments.schedules.brackets import (
    GOES_ON,
    LOSER,
    SEED,
    WINNER,
    Node,
    Source,
    bracket_of,
)
from keltis_ladder.tournaments.series import fewest_legs
from keltis_ladder.tournaments.sheet import Sheet
from keltis_ladder.tournaments.standings import Standing, places_of
from keltis_ladder.tournaments.views import Origin, RoundView, TableState, TableView, view_of

STILL_IN: Final = -1  # better than any rank


class Knockout:
    """An elimination. ``tables`` has the encounter of each node whose entrants are known."""

    last_fixed = 0  # no withdrawal changes who meets whom

    def __init__(self, plan: Plan, log: Log) -> None:
        self.plan = plan
        self.log = log
        self.nodes = bracket_of(plan).nodes
        self.tables: dict[int, Encounter] = {}
        self.targets = {
            source: number for number, node in enumerate(self.nodes) for source in node.sources
        }

    def advance(self) -> list[Encounter]:
        """Open the tables whose entrants have become known."""
        new: list[Encounter] = []
        opened = True
        while opened:
            opened = False
            for number, node in enumerate(self.nodes):
                if number not in self.tables and self._ready(node):
                    self.tables[number] = Encounter(self.plan, self._pairing(number), self.log)
                    new.append(self.tables[number])
                    opened = True
        return new

    @property
    def over(self) -> bool:
        """Whether no further tables will come."""
        return all(number in self.tables or self._not_needed(number) for number in self._numbers)

    def to_come(self) -> int:
        """Return the fewest matches at tables that are not known yet."""
        waiting = sum(
            number not in self.tables and not self.nodes[number].second_chance
            for number in self._numbers
        )
        return waiting * fewest_legs(self.plan.matches)

    @property
    def _numbers(self) -> range:
        return range(len(self.nodes))

    def _ready(self, node: Node) -> bool:
        if any(self._entrant(source) is None for source in node.sources):
            return False
        return not node.second_chance or self._upset(node)

    def _upset(self, node: Node) -> bool:
        """Return whether the first final was lost by the one who had not lost before."""
        final = self.tables[node.sources[0].number]
        return final.order[0] != final.pairing.entrants[0]

    def _not_needed(self, number: int) -> bool:
        node = self.nodes[number]
        known = all(self._entrant(source) is not None for source in node.sources)
        return node.second_chance and known and not self._upset(node)

    def _entrant(self, source: Source) -> int | None:
        """Return who comes from a source, if that is known."""
        if source.kind == SEED:
            return source.number
        table = self.tables.get(source.number)
        if table is None or not table.closed:
            return None
        return table.order[0 if source.kind == WINNER else 1]

    def _pairing(self, number: int) -> Pairing:
        node = self.nodes[number]
        entrants = [self._entrant(source) for source in node.sources]
        return Pairing(
            round=node.round,
            table=node.table,
            entrants=tuple(entrant for entrant in entrants if entrant is not None),
            bracket=node.bracket,
            label=node.label,
            # From table to table, because later rounds have too few to give each its share.
            first=number * self.plan.matches % len(self.plan.variants),
        )

    def standings(self) -> list[Standing]:
        """Return where everybody stands; those who are still in share the first place."""
        ranks, last_tables = self._ranks()
        sheet = Sheet(self.plan.entrants)
        sheet.add(self.tables.values())
        won = [0] * self.plan.entrants
        for table in self.tables.values():
            if table.closed:
                won[table.order[0]] += 1
        order = sorted(range(self.plan.entrants), key=lambda e: (ranks[e], e))
        places = places_of(order, ranks.__getitem__)
        byes = set(self._byes())
        standings = []
        for entrant, place in zip(order, places, strict=True):
            line = sheet.lines[entrant]
            standings.append(
                Standing(
                    place=place,
                    entrant=entrant,
                    score=Fraction(won[entrant]),
                    played=line.played,
                    wins=line.wins,
                    draws=line.draws,
                    losses=line.losses,
                    byes=int(entrant in byes),
                    faults=line.faults,
                    eliminated_in=last_tables.get(entrant),
                    withdrawn=entrant in self.log.withdrawals,
                )
            )
        return standings

    def _ranks(self) -> tuple[list[int], dict[int, TableLabel]]:
        """Return the rank of everybody, and the labels of the tables that put them out."""
        ranks = [STILL_IN] * self.plan.entrants
        labels: dict[int, TableLabel] = {}
        for number, table in sorted(self.tables.items()):
            node = self.nodes[number]
            if not table.closed or self._goes_again(number):
                continue
            if node.decides is not None:
                for rank, entrant in enumerate(table.order, node.decides):
                    ranks[entrant] = rank
                    if rank:
                        labels.setdefault(entrant, node.label)
            elif node.out != GOES_ON:
                for entrant in table.order[1:]:
                    ranks[entrant] = node.out
                    labels[entrant] = node.label
        return ranks, labels

    def _goes_again(self, number: int) -> bool:
        again = self.targets.get(Source(LOSER, number))
        return again is not None and self.nodes[again].second_chance and not self._not_needed(again)

    def _byes(self) -> list[int]:
        """Return who has no table in the first round."""
        first = {
            source.number
            for node in self.nodes
            for source in node.sources
            if node.round == 1 and source.kind == SEED
        }
        return [entrant for entrant in range(self.plan.entrants) if entrant not in first]

    def views(self) -> list[RoundView]:
        """Return all rounds, with the tables that are not known yet."""
        rounds: defaultdict[int, list[TableView]] = defaultdict(list)
        for number in self._numbers:
            view = self._view(number)
            rounds[view.round].append(view)
        return [
            RoundView(
                number,
                tuple(sorted(tables, key=lambda view: view.table)),
                tuple(self._byes()) if number == 1 else (),
            )
            for number, tables in sorted(rounds.items())
        ]

    def bracket(self) -> list[RoundView]:
        """Return the rounds of each bracket on their own."""
        return [
            RoundView(
                number=view.number,
                tables=tuple(table for table in view.tables if table.bracket == bracket),
                byes=view.byes,
                bracket=bracket,
            )
            for bracket in dict.fromkeys(node.bracket for node in self.nodes)
            for view in self.views()
            if any(table.bracket == bracket for table in view.tables)
        ]

    def _view(self, number: int) -> TableView:
        node = self.nodes[number]
        table = self.tables.get(number)
        if table is not None:
            view = view_of(table)
        else:
            view = TableView(
                round=node.round,
                table=node.table,
                label=node.label,
                entrants=tuple(self._entrant(source) for source in node.sources),
                state=TableState.NOT_NEEDED if self._not_needed(number) else TableState.WAITING,
                bracket=node.bracket,
            )
        return replace(
            view,
            winner=table.order[0] if table is not None and table.closed else None,
            comes_from=tuple(self._origin(source) for source in node.sources),
            winner_to=self._target(Source(WINNER, number)),
            loser_to=self._target(Source(LOSER, number)),
        )

    def _origin(self, source: Source) -> Origin:
        if source.kind == SEED:
            return Origin(SEED, seed=source.number + 1)
        return Origin(source.kind, table=self.nodes[source.number].label)

    def _target(self, source: Source) -> TableLabel | None:
        """Return the label of the table that a source leads to; of a second final if it is due."""
        number = self.targets.get(source)
        if number is None or (self.nodes[number].second_chance and number not in self.tables):
            return None
        return self.nodes[number].label
