"""The table of ``kartenspiel``: wish stones and piles in the middle, everybody's rows below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from keltis_cli.draw.boards.pieces import (
    WIDTH,
    hand_lines,
    in_pairs,
    pile_line,
    player_line,
    row_line,
    title_line,
)
from keltis_cli.draw.look import LETTERS, QUIET, TITLE, Look, styled
from keltis_engine import View

COLUMN: Final = WIDTH // 2
STONES: Final = range(1, 10)


def draw(view: View, look: Look, names: Sequence[str]) -> list[Text]:
    """Draw the whole table."""
    facts = [f"draw pile {view['pile']['size']}", f"ended rows {view['ended_rows']}"]
    lines = [title_line(view, look, names, facts), wish_line(view, look), pile_line(view, look)]
    lines += in_pairs([player(view, seat, look, name) for seat, name in enumerate(names)], COLUMN)
    return lines + hand_lines(view, look)


def wish_line(view: View, look: Look) -> Text:
    """Draw the nine wish stones; those taken leave a gap."""
    line = styled("wishes ", QUIET)
    for value in STONES:
        if value in view["wish_row"]:
            line.append(f" {look.mark('wish')}{value} ", TITLE)
        else:
            line.append(f"  {look.mark('empty')} ", QUIET)
    return line


def player(view: View, seat: int, look: Look, name: str) -> list[Text]:
    """Draw a player's five rows, points row and wish stones."""
    width = COLUMN - 2
    stones = view["wish_stones"][seat]
    facts = " ".join(f"{look.mark('wish')}{stone}" for stone in stones)
    if len(stones) >= 5:
        facts = look.mark("wish") + "".join(map(str, stones))
    rows = view["rows"][seat]
    return [
        player_line(view, seat, look, name, facts, width),
        *(row_line(look, letter, rows[letter], width) for letter in LETTERS),
        row_line(look, "P", view["points_rows"][seat], width),
    ]
