"""The board of a match: with the bots' names, and in as few lines as there are."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from keltis_cli.draw.boards.boards import draw
from keltis_cli.draw.boards.pieces import WIDTH, hand_lines
from keltis_cli.draw.look import Look
from keltis_engine import View


def table_lines(view: View, names: Sequence[str], look: Look, most: int) -> list[Text]:
    """Return the board, in at most this many lines if that can be; all that is known stays on it.

    ``names`` are those of the bots by seat. Where lines are rare, hands share one, and in the last
    resort the title goes, as the head of the screen says most of it, too.
    """
    drawn = list(draw(view, look, names).split("\n", allow_blank=True))
    hands = hand_lines(view, look) if "hands" in view else []
    board = drawn[: len(drawn) - len(hands)]
    if hands and len(board) + len(hands) > most:
        lines = max(1, most - len(board))
        hands = joined(hands, columns=-(-len(hands) // lines))
    if len(board) + len(hands) > most:
        board = board[1:]
    return [*board, *hands]


def joined(hands: Sequence[Text], columns: int) -> list[Text]:
    """Return hands side by side, in this many columns if they are short enough, or else in two."""
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
