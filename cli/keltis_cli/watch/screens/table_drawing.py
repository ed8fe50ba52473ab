"""The board of a match: with the bots' names, and in as few lines as there are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rich.text import Text

from keltis_cli.draw.boards.boards import draw
from keltis_cli.draw.boards.pieces import WIDTH, hand_lines
from keltis_cli.draw.look import Look
from keltis_cli.draw.strokes import cut
from keltis_engine import View

SEAT: Final = re.compile(r"seat (\d)(?: \(you\))?")
GAP: Final = re.compile(r"  +")
SHORTEST: Final = 6  # cells of a name, as "seat 0" has


def table_lines(view: View, names: Sequence[str], look: Look, most: int) -> list[Text]:
    """Return the board, in at most so many lines if that can be; all that is known stays on it.

    ``names`` are those of the bots by seat. Where lines are rare, hands share one, and in the last
    resort the title goes, as the head of the screen says most of it, too.
    """
    drawn = list(draw(view, look).split("\n", allow_blank=True))
    hands = hand_lines(view, look) if "hands" in view else []
    board = [named(line, names, look) for line in drawn[: len(drawn) - len(hands)]]
    if hands and len(board) + len(hands) > most:
        lines = max(1, most - len(board))
        hands = joined(hands, columns=-(-len(hands) // lines))
    if len(board) + len(hands) > most:
        board = board[1:]
    return [*board, *hands]


def joined(hands: Sequence[Text], columns: int) -> list[Text]:
    """Return hands side by side, in so many columns if they are short enough, or else in two."""
    for count in range(columns, 1, -1):
        width = WIDTH // count
        if all(hand.cell_len < width for hand in hands):
            return [
                _row(hands[first : first + count], width) for first in range(0, len(hands), count)
            ]
    return list(hands)


def _row(hands: Sequence[Text], width: int) -> Text:
    line = Text()
    for place, hand in enumerate(hands):
        line.pad_right(place * width - line.cell_len)
        line.append_text(hand)
    return line


def named(line: Text, names: Sequence[str], look: Look) -> Text:
    """Return a line with the bots' names for their seats; it does not become wider."""
    found = SEAT.search(line.plain)
    while found:
        begin, end = found.span()
        seat = int(found[1])
        if seat >= len(names):
            return line
        gap = GAP.search(line.plain, end)
        spare = gap.end() - gap.start() - 2 if gap else WIDTH - line.cell_len
        room = max(SHORTEST, end - begin + spare)
        name = cut(names[seat], room, look)
        style = next((span.style for span in line.spans if span.start <= begin < span.end), "")
        grown = len(name) - (end - begin)
        rest = line[end:]
        if gap:
            blanks = max(1, gap.end() - gap.start() - grown)
            rest = line[end : gap.start()].append(" " * blanks).append_text(line[gap.end() :])
        line = line[:begin].append(name, style).append_text(rest)
        found = SEAT.search(line.plain, begin + len(name))
    return line
