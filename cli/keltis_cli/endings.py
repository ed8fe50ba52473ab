"""How a finished game came to its end."""

from __future__ import annotations

from typing import Final

from keltis_engine import View

GOAL_FIGURES: Final = 5

FIGURES: Final = "figures"
END_CARDS: Final = "end cards"
LAST_CARD: Final = "last card"
LAST_TILE: Final = "last tile"
TURN_LIMIT: Final = "turn limit"

SENTENCES: Final = {
    FIGURES: "the fifth figure has entered the goal area",
    END_CARDS: "five rows have an end card",
    LAST_CARD: "the last card of the draw pile is drawn",
    LAST_TILE: "the last tile is revealed",
    TURN_LIMIT: "the turn limit is reached",
}


def ending(view: View) -> str:
    """Name what ended the game of a view whose game is over."""
    if view["variant"] == "weg-der-steine":
        return TURN_LIMIT if view["pile"]["size"] else LAST_TILE
    if view["pile"]["size"] == 0:
        return LAST_CARD
    if view.get("in_goal", 0) == GOAL_FIGURES:
        return FIGURES
    # Final cards may add end cards, so their number alone does not tell who ended the game.
    if view["variant"] == "kartenspiel" and view["turn"] < view["options"]["turn_limit"]:
        return END_CARDS
    return TURN_LIMIT
