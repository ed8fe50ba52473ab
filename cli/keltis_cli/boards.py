"""Draws a view as text: whoever draws a board draws it from here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rich.text import Text

from keltis_cli import board_kartenspiel, board_keltis, board_neue_wege, board_weg_der_steine
from keltis_cli.look import Look
from keltis_engine import View

DRAWERS: Final[dict[str, Callable[[View, Look], list[Text]]]] = {
    "keltis": board_keltis.draw,
    "neue-wege": board_neue_wege.draw,
    "kartenspiel": board_kartenspiel.draw,
    "weg-der-steine": board_weg_der_steine.draw,
}


def draw(view: View, look: Look) -> Text:
    """Return the board of a view; it is at most 80 cells wide."""
    lines = DRAWERS[view["variant"]](view, look)
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)
