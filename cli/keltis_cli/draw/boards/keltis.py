"""The board of ``keltis``: five paths side by side, the start at the bottom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from keltis_cli.draw.boards.pieces import (
    WIDTH,
    beside,
    board_table,
    figure_text,
    figures_by_field,
    player_line,
    row_line,
    row_summaries,
    start_line,
    value_text,
)
from keltis_cli.draw.look import LETTERS, QUIET, Look, styled
from keltis_engine import View
from keltis_engine.table.boards import PATH_BOARD, PATH_STONES

CELL: Final = 7
BOARD_WIDTH: Final = 42
GOAL_FROM: Final = 7


def draw(view: View, look: Look, names: Sequence[str]) -> list[Text]:
    """Draw the whole table."""
    players = [line for seat, name in enumerate(names) for line in player(view, seat, look, name)]
    return board_table(view, look, names, beside(paths(view, look), players, BOARD_WIDTH))


def paths(view: View, look: Look) -> list[Text]:
    """Draw the five paths."""
    figures = figures_by_field(view)
    head = Text(" " * 6)
    for letter in LETTERS:
        cell = look.label(letter)
        cell.pad_right(CELL - cell.cell_len)
        head.append_text(cell)
    lines = [head]
    for stone in range(PATH_STONES, 0, -1):
        value = int(PATH_BOARD.values[PATH_BOARD.names.index(f"R{stone}")])
        line = value_text(value, stone >= GOAL_FROM, look).append(" ")
        for letter in LETTERS:
            field = f"{letter}{stone}"
            line.append_text(stone_cell(view, look, field, figures.get(field, "")))
        lines.append(line)
    lines.append(start_line(view, look, figures.get("start", "")))
    return lines


def stone_cell(view: View, look: Look, field: str, figures: str) -> Text:
    """Draw one stone with its tile and the figures on it."""
    tile = view["tiles"].get(field)
    cell = look.tile(tile) if tile else styled(f"{look.mark('empty')} ", QUIET)
    cell.append_text(figure_text(look, figures, CELL - 3))
    cell.pad_right(CELL - cell.cell_len)
    return cell


def player(view: View, seat: int, look: Look, name: str) -> list[Text]:
    """Draw a player's rows: whole for two players, in short for more."""
    width = WIDTH - BOARD_WIDTH
    facts = f"{look.mark('wish')}{view['wish_stones'][seat]} +{view['points'][seat]}"
    head = player_line(view, seat, look, name, facts, width)
    rows = view["rows"][seat]
    if view["players"] > 2:
        return [head, *row_summaries(look, rows, width)]
    return [head, *(row_line(look, letter, rows[letter], width) for letter in LETTERS)]
