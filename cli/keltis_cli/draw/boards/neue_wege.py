"""The board of ``neue-wege``: ten rows of fields, joined by paths that part and meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from keltis_cli.draw.boards.pieces import (
    WIDTH,
    beside,
    board_table,
    colour_mark,
    figure_text,
    figures_by_field,
    player_line,
    row_line,
    row_summaries,
    start_line,
    value_text,
)
from keltis_cli.draw.look import LETTERS, QUIET, STYLES, TITLE, Look, styled
from keltis_engine import View
from keltis_engine.table.boards import NETWORK

BOARD_WIDTH: Final = 46
FIELD: Final = 8  # cells of a field, at most
EDGE: Final = 7  # cells of the left edge: row and value
GOAL_FROM: Final = 8

# Where the fields of each row begin, so that every edge leads to a neighbour.
FIVE: Final = (0, 8, 16, 24, 32)
PLACES: Final = {
    10: FIVE,
    9: FIVE,
    8: (4, 12, 20, 28),
    7: FIVE,
    6: FIVE,
    5: (0, 8, 20, 28),
    4: (4, 14, 24),
    3: FIVE,
    2: (0, 8, 20, 32),
    1: (0, 8, 20, 32),
}
# Between these rows and the next every path is straight and needs no line of its own.
STRAIGHT: Final = {1, 9}


def draw(view: View, look: Look, names: Sequence[str]) -> list[Text]:
    """Draw the whole table."""
    players = [line for seat, name in enumerate(names) for line in player(view, seat, look, name)]
    return board_table(view, look, names, beside(network(view, look), players, BOARD_WIDTH))


def network(view: View, look: Look) -> list[Text]:
    """Draw the fields and the paths between them."""
    figures = figures_by_field(view)
    lines = []
    for row in range(10, 0, -1):
        lines.append(field_line(view, look, row, figures))
        if row > 1 and row - 1 not in STRAIGHT:
            lines.append(path_line(row - 1))
    lines.append(start_line(view, look, figures.get("start", "")))
    return lines


def field_line(view: View, look: Look, row: int, figures: dict[str, str]) -> Text:
    """Draw one row of fields."""
    value = int(NETWORK.values[NETWORK.names.index(f"{row}a")])
    line = Text(f"{row:>2}").append_text(value_text(value, row >= GOAL_FROM, look))
    for letter, place in zip("abcde", PLACES[row], strict=False):
        line.pad_right(EDGE + place - line.cell_len)
        name = f"{row}{letter}"
        line.append_text(field_cell(view, look, name, figures.get(name, "")))
    return line


def field_cell(view: View, look: Look, name: str, figures: str) -> Text:
    """Draw one field: its colour, its tile or stack, and the figures on it."""
    cell = colour_mark(look, NETWORK.colours[NETWORK.names.index(name)])
    tile = view["tiles"].get(name)
    if tile:
        cell.append_text(look.tile(tile))
    elif view["stacks"].get(name):
        cell.append(f"{look.mark('stack')}{view['stacks'][name]}")
    else:
        cell.append("  ")
    return cell.append_text(figure_text(look, figures, FIELD - 4))


def path_line(row: int) -> Text:
    """Draw the paths from a row to the next one."""
    line = [" "] * BOARD_WIDTH
    for edge in NETWORK.edge_names:
        source, target = edge.split("-")
        if source[:-1] == str(row):
            begin = PLACES[row]["abcde".index(source[-1])]
            end = PLACES[row + 1]["abcde".index(target[-1])]
            sign = "|" if begin == end else "/" if begin < end else "\\"
            line[EDGE + 1 + (begin + end) // 2] = sign
    return styled("".join(line).rstrip(), QUIET)


def player(view: View, seat: int, look: Look, name: str) -> list[Text]:
    """Draw a player's rows and wish stones: whole for two players, in short for more."""
    width = WIDTH - BOARD_WIDTH
    rows = view["rows"][seat]
    lines = [player_line(view, seat, look, name, f"+{view['points'][seat]}", width)]
    if view["players"] > 2:
        lines += row_summaries(look, rows, width)
    else:
        lines += [row_line(look, letter, rows[letter], width) for letter in LETTERS]
    return [*lines, wish_line(view["wish_stones"][seat], look)]


def wish_line(stones: dict[str, int], look: Look) -> Text:
    """Draw the wish stones of a player by colour."""
    line = styled(f" {look.mark('wish')} ", TITLE)
    for letter in LETTERS:
        if stones[letter]:
            line.append(f"{look.symbol(letter)}{stones[letter]}", STYLES[letter]).append(" ")
    return line if any(stones.values()) else line.append("no wish stone", QUIET)
