"""What people see of a tournament: rounds with their tables, and who has what of whom."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final

from keltis_ladder.match.table_labels import TableLabel, label_text
from keltis_ladder.tournaments.encounters import Encounter
from keltis_ladder.tournaments.pairings import WIN
from keltis_ladder.tournaments.schedules.brackets import LOSER, WINNER

ORIGINS: Final = {WINNER: "Winner", LOSER: "Loser"}


class TableState(StrEnum):
    """How far a table is."""

    WAITING = "waiting"  # not all its entrants are known yet
    OPEN = "open"  # some of its matches can be played now
    DONE = "done"
    NOT_NEEDED = "not needed"  # a second grand final after the first has decided


@dataclass(frozen=True)
class Origin:
    """Where an entrant of a table comes from: a seed, or another table."""

    kind: str  # SEED, WINNER or LOSER
    seed: int = 0  # from 1
    table: TableLabel | None = None


def origin_text(origin: Origin) -> str:
    """Return in English where an entrant comes from."""
    if origin.table is None:
        return f"Seed {origin.seed}"
    return f"{ORIGINS[origin.kind]} of {label_text(origin.table)}"


@dataclass(frozen=True)
class TableView:
    """A table of a round. What does not apply is empty."""

    round: int
    table: int
    label: TableLabel
    entrants: tuple[int | None, ...]  # None: not known yet
    state: TableState
    played: int = 0  # matches dealt with
    scores: tuple[Fraction, ...] = ()  # by entrant, over the regular matches
    forfeited: bool = False  # whether a match was, because somebody withdrew
    bracket: str = ""
    winner: int | None = None  # eliminations: who goes on
    comes_from: tuple[Origin, ...] = ()  # eliminations, by entrant
    winner_to: TableLabel | None = None  # eliminations
    loser_to: TableLabel | None = None


@dataclass(frozen=True)
class RoundView:
    """A round with its tables."""

    number: int
    tables: tuple[TableView, ...]
    byes: tuple[int, ...] = ()
    bracket: str = ""

    @property
    def state(self) -> TableState:
        """How far the round is."""
        states = {table.state for table in self.tables}
        for state in (TableState.OPEN, TableState.WAITING, TableState.DONE):
            if state in states:
                return state
        return TableState.NOT_NEEDED


@dataclass(frozen=True)
class Cell:
    """What one entrant has of another."""

    points: Fraction  # matches in which it was ahead, draws as halves
    matches: int


@dataclass(frozen=True)
class Crosstable:
    """The scores of each two who met, with the entrants in the order of the standings."""

    order: tuple[int, ...]
    cells: dict[tuple[int, int], Cell]


def view_of(encounter: Encounter) -> TableView:
    """Return what there is to see of a table that is known."""
    pairing = encounter.pairing
    return TableView(
        round=pairing.round,
        table=pairing.table,
        label=pairing.label,
        entrants=pairing.entrants,
        state=TableState.DONE if encounter.closed else TableState.OPEN,
        played=len(encounter.legs),
        scores=tuple(Fraction(score, WIN) for score in encounter.scores()),
        forfeited=bool(encounter.forfeited),
        bracket=pairing.bracket,
    )
