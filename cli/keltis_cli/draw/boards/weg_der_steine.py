"""The table of ``weg-der-steine``: all 55 tiles on a grid, everybody's rows below.

The grid shows where each tile is: face up in the middle, in somebody's row, or still face down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from keltis_cli.draw.boards.pieces import (
    WIDTH,
    fitted_name,
    in_pairs,
    player_line,
    row_line,
    title_line,
)
from keltis_cli.draw.look import LETTERS, QUIET, SEAT_MARKS, Look, styled
from keltis_engine import View
from keltis_engine.games.weg_der_steine import SYMBOLS

COLUMN: Final = WIDTH // 2
CELL: Final = 6
VALUES: Final = range(11)


def draw(view: View, look: Look, names: Sequence[str]) -> list[Text]:
    """Draw the whole table."""
    lines = [
        title_line(view, look, names, [f"{view['pile']['size']} face down"]),
        *grid(view, look),
        legend(view, look, names),
    ]
    lines += in_pairs([player(view, seat, look, name) for seat, name in enumerate(names)], COLUMN)
    return lines


def grid(view: View, look: Look) -> list[Text]:
    """Draw a line for each colour and a column for each value."""
    owners = {
        card: SEAT_MARKS[seat].lower()
        for seat, rows in enumerate(view["rows"])
        for row in rows.values()
        for card in row
    }
    lines = [styled("      " + "".join(f"{value:<{CELL}}" for value in VALUES), QUIET)]
    for letter in LETTERS:
        line = Text(" ").append_text(look.label(letter))
        line.pad_right(6 - line.cell_len)
        for value in VALUES:
            line.append_text(tile_cell(view, look, f"{letter}{value}", owners))
        lines.append(line)
    return lines


def tile_cell(view: View, look: Look, tile: str, owners: dict[str, str]) -> Text:
    """Draw one tile where it belongs on the grid, with its symbol."""
    symbol = SYMBOLS.get(tile, "")
    mark = f"+{symbol}" if symbol.isdigit() else look.mark(symbol) if symbol else ""
    if tile in view["middle"] or tile == view["revealed"]:
        cell = look.card(tile).append(mark)
    else:
        cell = styled(f"{owners.get(tile, look.mark('empty'))} {mark}", QUIET)
    cell.pad_right(CELL - cell.cell_len)
    return cell


def legend(view: View, look: Look, names: Sequence[str]) -> Text:
    """Say what the signs mean; while a tile is turned up, say that instead."""
    if view["revealed"] is not None:
        line = Text(" has turned up ").append_text(look.card(view["revealed"]))
        name = fitted_name(names[view["seat"]], WIDTH - 1 - line.cell_len, look)
        return Text(f" {name}").append_text(line)
    marks = ", ".join(SEAT_MARKS[seat].lower() for seat in range(view["players"]))
    return Text(
        f" {look.mark('empty')} face down   {marks} in that row   {look.mark('clover')} again"
        f"   {look.mark('wish')} wish stone   +n bonus",
        QUIET,
    )


def player(view: View, seat: int, look: Look, name: str) -> list[Text]:
    """Draw a player's rows."""
    width = COLUMN - 2
    facts = f"{look.mark('wish')}{view['wish_stones'][seat]} +{view['bonus'][seat]}"
    rows = view["rows"][seat]
    return [
        player_line(view, seat, look, name, facts, width),
        *(row_line(look, letter, rows[letter], width) for letter in LETTERS),
    ]
