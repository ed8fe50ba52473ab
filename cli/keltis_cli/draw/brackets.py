"""Brackets as they are drawn: a column for each round, and lines from each table to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Final

from rich.text import Text

from keltis_cli.draw.look import QUIET, TITLE, Look
from keltis_cli.draw.strokes import counted, cut, fitting, joint, score_text, stroke
from keltis_ladder.match.table_labels import TableLabel, label_text
from keltis_ladder.tournaments.schedules.brackets import (
    FINALS,
    LOSERS,
    THIRD_PLACE,
    WINNER,
    WINNERS,
)
from keltis_ladder.tournaments.views import RoundView, TableState, TableView, origin_text

NARROWEST: Final = 6  # cells for a name
AIRY, TIGHT = 2, 1  # lines from one name to the next
LINKS: Final = 5  # cells from a score to the next name
UNKNOWN: Final = "-"
BLANK: Final = (" ", "")


@dataclass
class Tree:
    """Tables that lead to one last table, with the lines that their names are on."""

    tables: list[TableView]
    slots: dict[TableLabel, list[int]] = field(default_factory=dict)  # lines by label
    height: int = 0

    @property
    def last(self) -> TableView:
        """The table that all the others lead to."""
        return self.tables[-1]

    @property
    def rounds(self) -> list[int]:
        """The rounds, each of which has a column."""
        return sorted({table.round for table in self.tables})

    def lay_out(self, spacing: int) -> None:
        """Give every name a line."""
        self.slots.clear()
        self.height = 0
        self._place(self.last, {t.label: t for t in self.tables}, spacing)
        self.height -= spacing - 1

    def _place(self, table: TableView, sources: dict[TableLabel, TableView], spacing: int) -> int:
        """Place a table behind those that its entrants come from; return the winner's line."""
        rows = []
        for origin in table.comes_from:
            winner_of = origin.table if origin.kind == WINNER else None
            child = sources.get(winner_of) if winner_of is not None else None
            if child is not None:
                rows.append(self._place(child, sources, spacing))
            else:
                rows.append(self.height)
                self.height += spacing
        self.slots[table.label] = rows
        return self.way_out(table)

    def way_out(self, table: TableView) -> int:
        """Return the line of a table's winner."""
        rows = self.slots[table.label]
        return (rows[0] + rows[-1]) // 2


def bracket_lines(
    rounds: Sequence[RoundView], names: Sequence[str], width: int, height: int, look: Look
) -> list[Text] | None:
    """Return the bracket, without the first rounds if need be; none if it does not fit.

    The round that is played now is always in it.
    """
    tables = [table for view in rounds for table in view.tables]
    unfinished = [
        table.round for table in tables if table.state in (TableState.OPEN, TableState.WAITING)
    ]
    current = min(unfinished, default=max(table.round for table in tables))
    for first in range(1, current + 1):
        shown = [table for table in tables if table.round >= first]
        for spacing in (AIRY, TIGHT):
            drawn = _draw(shown, names, width, spacing, look)
            if drawn is not None and len(drawn) <= height:
                return drawn
    return None


def _draw(
    tables: Sequence[TableView], names: Sequence[str], width: int, spacing: int, look: Look
) -> list[Text] | None:
    """Return all trees, one below the other, and the tables that are in none."""
    lines: list[Text] = []
    for members in _trees(tables):
        tree = Tree(members)
        tree.lay_out(spacing)
        drawn = _draw_tree(tree, names, width, look)
        if drawn is None:
            return None
        lines += [*drawn, Text()]
    apart = [fitting(table_line(table, names, look), width, look) for table in _apart(tables)]
    return [*lines, *apart] if apart else lines[:-1]


def _trees(tables: Sequence[TableView]) -> list[list[TableView]]:
    """Return the tables of each tree in the order of their rounds."""
    double = any(table.bracket == LOSERS for table in tables)
    parts = [(WINNERS,), (LOSERS,)] if double else [(WINNERS, FINALS)]
    trees = [
        sorted(
            (t for t in tables if t.bracket in part and t.label != THIRD_PLACE),
            key=lambda table: (table.round, table.table),
        )
        for part in parts
    ]
    return [tree for tree in trees if tree]


def _apart(tables: Sequence[TableView]) -> list[TableView]:
    """Return the tables that stand alone: a match for the third place, grand finals."""
    last = max(table.round for table in tables)
    if any(table.bracket == LOSERS for table in tables):
        # Whether there is a second grand final is open for long.
        finals = [table for table in tables if table.bracket == FINALS]
        return [
            t for t in finals if t.round < last or t.state in (TableState.OPEN, TableState.DONE)
        ]
    return [table for table in tables if table.label == THIRD_PLACE]


def table_line(table: TableView, names: Sequence[str], look: Look) -> Text:
    """Return a table in one line."""
    line = Text(f"{label_text(table.label)}: ", QUIET)
    for at, entrant in enumerate(table.entrants):
        line.append(" v " if at else "", QUIET)
        name = origin_text(table.comes_from[at]) if entrant is None else names[entrant]
        line.append(name, _style(table, entrant))
        if table.played:
            line.append(f" {score_text(table.scores[at], look)}", _style(table, entrant))
    if table.winner is not None:
        line.append(f", won by {names[table.winner]}")
    return line


def _style(table: TableView, entrant: int | None) -> str:
    if entrant is None:
        return QUIET
    if table.winner is None:
        return ""
    return f"{TITLE} not dim" if entrant == table.winner else QUIET


def _draw_tree(tree: Tree, names: Sequence[str], width: int, look: Look) -> list[Text] | None:
    columns = tree.rounds
    score = max(
        (len(score_text(s, look)) for table in tree.tables for s in table.scores), default=1
    )
    room = (width - len(columns) * (1 + score + LINKS)) // (len(columns) + 1)
    if room < NARROWEST:
        return None
    beside = 1 + score + LINKS
    heads_width = max(len(_round_name(table)) for table in tree.tables) + 2
    name = min(room, max(NARROWEST, heads_width - beside, *(len(text) for text in names)))
    step = name + beside
    canvas = Canvas(width, tree.height, look)
    heads = Canvas(width, 1, look)
    for table in tree.tables:
        left = columns.index(table.round) * step
        heads.write(0, left, cut(_round_name(table), step - 2, look), QUIET)
        target = next((t for t in tree.tables if t.label == table.winner_to), None)
        end = columns.index(target.round) * step if target else left + step
        _draw_table(canvas, tree, table, names, (left, name, score, end))
    root = tree.last
    if root.winner is not None:
        at = columns.index(root.round) * step + step
        canvas.write(tree.way_out(root), at, cut(names[root.winner], name, look), TITLE)
    return heads.lines() + canvas.lines()


def _draw_table(
    canvas: Canvas,
    tree: Tree,
    table: TableView,
    names: Sequence[str],
    places: tuple[int, int, int, int],
) -> None:
    """Draw a table: its names and scores, the line that joins them, and the way to the next."""
    left, name, score, end = places
    look, rows, out = canvas.look, tree.slots[table.label], tree.way_out(table)
    bar = left + name + 1 + score + 2
    for at, (row, entrant) in enumerate(zip(rows, table.entrants, strict=True)):
        text = UNKNOWN if entrant is None else cut(names[entrant], name, look)
        canvas.write(row, left, text, _style(table, entrant))
        if table.played:
            number = score_text(table.scores[at], look)
            canvas.write(row, left + name + 1, f"{number:>{score}}", _style(table, entrant))
        canvas.write(row, bar - 1, stroke("line", look), QUIET)
    for row in range(rows[0], rows[-1] + 1):
        sign = joint(row > rows[0], row < rows[-1], row in rows, row == out, look)
        canvas.write(row, bar, sign, QUIET)
    canvas.write(out, bar + 1, stroke("line", look) * (end - bar - 2), QUIET)


def _round_name(table: TableView) -> str:
    """Return what all tables of a round are called."""
    return label_text(replace(table.label, table=0))


class Canvas:
    """Cells to draw on."""

    def __init__(self, width: int, height: int, look: Look) -> None:
        self.look = look
        self.width = width
        self.cells = [[BLANK] * width for _ in range(height)]

    def write(self, row: int, at: int, text: str, style: str) -> None:
        """Write a text; what is beyond the edge is lost."""
        for k, char in enumerate(text):
            if at + k < self.width:
                self.cells[row][at + k] = (char, style)

    def lines(self) -> list[Text]:
        """Return what was drawn."""
        found = []
        for row in self.cells:
            line = Text()
            for style, cells in groupby(row, key=itemgetter(1)):
                line.append("".join(char for char, _ in cells), style)
            line.rstrip()
            found.append(line)
        return found


def table_list(
    rounds: Sequence[RoundView], names: Sequence[str], width: int, most: int, look: Look
) -> list[Text]:
    """Return the rounds that are being played, table by table; what is done comes last."""
    lines: list[Text] = []
    for view in rounds:
        if view.state not in (TableState.OPEN, TableState.WAITING):
            continue
        order = [TableState.OPEN, TableState.WAITING, TableState.DONE, TableState.NOT_NEEDED]
        tables = sorted(view.tables, key=lambda table: order.index(table.state))
        done = sum(table.state == TableState.DONE for table in tables)
        head = f"Round {view.number}: {done} of {counted(len(tables), 'table')} decided"
        lines += [Text(head, TITLE), *(table_line(table, names, look) for table in tables)]
    if len(lines) > most:
        lines = [*lines[: max(0, most - 1)], Text(f"and {len(lines) - most + 1} more", QUIET)]
    return [fitting(line, width, look) for line in lines]
