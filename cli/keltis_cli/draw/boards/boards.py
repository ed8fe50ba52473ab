"""Draws a view as text: whoever draws a board draws it from here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rich.text import Text

from keltis_cli.draw.boards import kartenspiel as board_kartenspiel
from keltis_cli.draw.boards import keltis as board_keltis
from keltis_cli.draw.boards import neue_wege as board_neue_wege
from keltis_cli.draw.boards import weg_der_steine as board_weg_der_steine
from keltis_cli.draw.look import Look
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
