"""The table of a tournament: places, scores, tie-breaks, and who did what against whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from rich.text import Text

from keltis_cli.draw.look import QUIET, TITLE, Look
from keltis_cli.draw.strokes import score_text, stroke
from keltis_cli.draw.tables.columns import Column, fitted, numbers, texts
from keltis_cli.draw.tables.leaderboard import ALARM
from keltis_ladder.match.table_labels import label_text
from keltis_ladder.tournaments.plan import SWISS, TWO, Plan
from keltis_ladder.tournaments.standings import (
    BUCHHOLZ,
    BUCHHOLZ_CUT,
    DIRECT,
    FAULTS,
    LEAD,
    SHARES,
    SONNEBORN,
    Standing,
)
from keltis_ladder.tournaments.views import Cell, Crosstable, RoundView, TableState, TableView

NAME_WIDTH: Final = 10  # cells for a name at least
SHORT: Final = {
    DIRECT: "direct",
    BUCHHOLZ_CUT: "BH-1",
    BUCHHOLZ: "BH",
    SONNEBORN: "SB",
    SHARES: "shares",
    LEAD: "ahead",
}
BYE: Final = "bye"


@dataclass(frozen=True)
class Tables:
    """A tournament at one moment, as far as its tables show it."""

    plan: Plan
    names: Sequence[str]
    standings: Sequence[Standing]
    rounds: Sequence[RoundView]
    crosstable: Crosstable | None = None
    bracket: Sequence[RoundView] = ()


def standings_lines(
    tables: Tables, width: int, look: Look, most: int | None = None, ties_first: bool = False
) -> list[Text]:
    """Return the standings, the groups of a gauntlet one below the other.

    In a narrow terminal tie-breaks give way to the results of each, or with ``ties_first`` the
    other way round.
    """
    groups = list(dict.fromkeys(standing.group for standing in tables.standings))
    lines: list[Text] = []
    for group in groups:
        members = [standing for standing in tables.standings if standing.group == group]
        columns = _columns(tables, members, group, look, ties_first)
        lines += [*fitted(columns, width, look), Text()]
    lines.pop()
    if most is not None and len(lines) > most:
        left = Text(f"and {len(lines) - most + 1} more lines", QUIET)
        lines = [*lines[: max(0, most - 1)], left]
    return lines


def _columns(
    tables: Tables, members: Sequence[Standing], group: str, look: Look, ties_first: bool
) -> list[Column]:
    names = [_name(standing, tables) for standing in members]
    shared = [standing.place for standing in members]
    places = [
        f"{standing.place}=" if shared.count(standing.place) > 1 else f"{standing.place} "
        for standing in members
    ]
    faults = [Text(str(s.faults), ALARM if s.faults else QUIET) for s in members]
    columns = [
        numbers("", places),
        texts(group or "bot", names, look, least=NAME_WIDTH),
        numbers("score", [score_text(standing.score, look) for standing in members]),
        _side_by_side(
            [
                ("W", [str(standing.wins) for standing in members]),
                ("D", [str(standing.draws) for standing in members]),
                ("L", [str(standing.losses) for standing in members]),
            ],
            spare=30,
        ),
        *_results(tables, members, look, spare=20 if ties_first else 2),
        *_tie_breaks(members, look, spare=2 if ties_first else 20),
        numbers("faults", faults, spare=1),
    ]
    if tables.plan.elimination:
        out = [standing.eliminated_in for standing in members]
        texts_of = ["" if label is None else label_text(label) for label in out]
        columns.append(texts("out in", texts_of, look, least=12, spare=3))
    return columns


def _name(standing: Standing, tables: Tables) -> Text:
    name = tables.names[standing.entrant] + (" (withdrawn)" if standing.withdrawn else "")
    return Text(name, TITLE if standing.place == 1 else "")


def _tie_breaks(members: Sequence[Standing], look: Look, spare: int) -> list[Column]:
    """Return a column for each tie-break; the later it decides, the sooner it goes."""
    return [
        numbers(
            SHORT[tie.name],
            [number_text(standing.tie_breaks[place].value, look) for standing in members],
            spare=spare + place,
        )
        for place, tie in enumerate(members[0].tie_breaks)
        if tie.name != FAULTS
    ]


def number_text(value: Fraction, look: Look) -> str:
    """Return a tie-break: exactly if it is in halves, otherwise rounded."""
    if value >= 0 and (value * 2).denominator == 1:
        return score_text(value, look)
    return f"{float(value):.2f}".rstrip("0").rstrip(".")


def _results(tables: Tables, members: Sequence[Standing], look: Look, spare: int) -> list[Column]:
    """Return who did what against whom: a crosstable, or a Swiss tournament's rounds.

    All of them or none: they go together.
    """
    if tables.plan.elimination:
        return []
    if tables.plan.format == SWISS:
        cells = [
            (f"r{view.number}", [_of_round(view, s.entrant, tables, look) for s in members])
            for view in tables.rounds
        ]
    elif tables.crosstable is not None:
        cells = _cross(tables, tables.crosstable, members, look)
    else:
        return []
    return [_side_by_side(cells, spare)] if cells else []


def _cross(
    tables: Tables, crosstable: Crosstable, members: Sequence[Standing], look: Look
) -> list[tuple[str, list[str]]]:
    """Return what each has of each other one, who are numbered as they stand."""
    others = [standing for standing in tables.standings if _meet(standing, members)]
    return [
        (
            str(number),
            [_cell(crosstable, standing.entrant, other.entrant, look) for standing in members],
        )
        for number, other in enumerate(others, 1)
    ]


def _meet(standing: Standing, members: Sequence[Standing]) -> bool:
    """Return whether somebody is met by these: in a gauntlet those of the other group are."""
    return not standing.group or standing.group != members[0].group


def _cell(crosstable: Crosstable, one: int, other: int, look: Look) -> str:
    if one == other:
        return stroke("self", look)
    cell: Cell | None = crosstable.cells.get((one, other))
    return stroke("dot", look) if cell is None else score_text(cell.points, look)


def _of_round(view: RoundView, entrant: int, tables: Tables, look: Look) -> str:
    """Return a Swiss round: + = - and the place of the opponent, or what a larger table gave."""
    if entrant in view.byes:
        return BYE
    table = next((table for table in view.tables if entrant in table.entrants), None)
    if table is None:
        return ""
    at = table.entrants.index(entrant)
    if tables.plan.players > TWO:
        return score_text(table.scores[at], look) if table.played else stroke("dot", look)
    order = [standing.entrant for standing in tables.standings]
    opponent = table.entrants[1 - at]
    assert opponent is not None
    sign = _sign(table, at) if table.state == TableState.DONE else stroke("dot", look)
    return f"{sign}{order.index(opponent) + 1}"


def _sign(table: TableView, at: int) -> str:
    mine, other = table.scores[at], table.scores[1 - at]
    return "+" if mine > other else "-" if mine < other else "="


def _side_by_side(cells: Sequence[tuple[str, Sequence[str]]], spare: int) -> Column:
    """Return several narrow columns as one."""
    width = max(len(text) for heading, column in cells for text in [heading, *column])
    rows = [[heading for heading, _ in cells], *zip(*(column for _, column in cells), strict=True)]
    lines = [" ".join(f"{text:>{width}}" for text in row) for row in rows]
    size = len(lines[0])

    def draw(_: int) -> list[Text]:
        return [Text(lines[0], QUIET), *(Text(line) for line in lines[1:])]

    return Column(size, size, draw, spare=spare)
