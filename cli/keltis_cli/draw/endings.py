"""How a game came to its end, in words."""

from __future__ import annotations

from typing import Final

SENTENCES: Final = {
    "figures": "the fifth figure has entered the goal area",
    "end cards": "five rows have an end card",
    "last card": "the last card of the draw pile is drawn",
    "last tile": "the last tile is revealed",
    "turn limit": "the turn limit is reached",
}
