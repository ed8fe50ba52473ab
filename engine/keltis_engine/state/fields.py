"""The names of the fields of views, packed. ``docs/authors/engine.md`` says what they mean."""

from __future__ import annotations

from typing import Final

from keltis_engine.packing import text

# In every view.
VARIANT: Final = text("variant")
VERSION: Final = text("version")
OPTIONS: Final = text("options")
TURN_LIMIT: Final = text("turn_limit")
PLAYERS: Final = text("players")
VIEWER: Final = text("viewer")
SEAT: Final = text("seat")
PHASE: Final = text("phase")
TURN: Final = text("turn")
ENDING: Final = text("ending")
SCORES: Final = text("scores")
ROWS: Final = text("rows")
PILE: Final = text("pile")

# Of a hand, a pile, the cards that left the game.
CARDS: Final = text("cards")
SIZE: Final = text("size")
KNOWN: Final = text("known")
STREAMS: Final = text("streams")

# With hands.
HANDS: Final = text("hands")
PILES: Final = text("piles")
CLOSED: Final = text("closed")
REMOVED: Final = text("removed")
DRAWS: Final = text("draws")

# On the boards.
TILES: Final = text("tiles")
STACKS: Final = text("stacks")
FIGURES: Final = text("figures")
BIG: Final = text("big")
SMALL: Final = text("small")
IN_GOAL: Final = text("in_goal")
LAID: Final = text("laid")
ENTERING: Final = text("entering")
POINTS: Final = text("points")
WISH_STONES: Final = text("wish_stones")

# In kartenspiel.
END_CARD_OPENS_ROW: Final = text("end_card_opens_row")
POINTS_ON_END_CARD: Final = text("points_on_end_card")
POINTS_ROWS: Final = text("points_rows")
WISH_ROW: Final = text("wish_row")
ENDED_ROWS: Final = text("ended_rows")
ENDED_BY: Final = text("ended_by")
FINAL_CARDS: Final = text("final_cards")

# In weg-der-steine.
LAST_CLOVER_TURN: Final = text("last_clover_turn")
MIDDLE: Final = text("middle")
REVEALED: Final = text("revealed")
BONUS: Final = text("bonus")
