"""Colours and card kinds.

The card kind of ``keltis``, ``neue-wege`` and ``weg-der-steine`` is ``colour * 11 + value``.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from keltis_engine.packing import texts

COLOURS: Final = 5
LETTERS: Final = ["R", "Y", "V", "G", "B"]  # red, yellow, violet, green, blue
VALUES: Final = 11  # 0 to 10
KINDS: Final = 55
HAND_SIZE: Final = 8
REMOVED_FOR_TWO: Final = 30  # cards that leave a two-player game unseen

KIND_NAMES: Final = [f"{letter}{value}" for letter in LETTERS for value in range(VALUES)]
PACKED_LETTERS: Final = texts(LETTERS)
PACKED_KINDS: Final = texts(KIND_NAMES)


def colour_of(kind: i64) -> i64:
    """Return the colour of a kind."""
    return kind // VALUES
