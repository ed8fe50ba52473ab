"""The entry point of drawing: a view of any game as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rich.text import Text

from keltis_cli.draw.boards import kartenspiel, keltis, neue_wege, weg_der_steine
from keltis_cli.draw.boards.pieces import seat_names
from keltis_cli.draw.look import Look
from keltis_engine import View

DRAWERS: Final[dict[str, Callable[[View, Look, Sequence[str]], list[Text]]]] = {
    "keltis": keltis.draw,
    "neue-wege": neue_wege.draw,
    "kartenspiel": kartenspiel.draw,
    "weg-der-steine": weg_der_steine.draw,
}


def draw(view: View, look: Look, names: Sequence[str] = ()) -> Text:
    """Return the board of a view; it is at most 80 cells wide.

    ``names`` are those of the players by seat; without them they are called by their seats.
    """
    lines = DRAWERS[view["variant"]](view, look, names or seat_names(view))
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)
