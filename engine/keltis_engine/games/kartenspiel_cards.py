"""The cards of ``kartenspiel``, and the pairs that buy a wish stone."""

from __future__ import annotations

from typing import Final

from librt.vecs import vec
from mypy_extensions import i16, i64, u8

from keltis_engine.bits import BIT
from keltis_engine.cards.kinds import COLOURS, LETTERS
from keltis_engine.cards.rows import RowRule
from keltis_engine.packing import texts, texts_by_number

# Cards: colour * 12 + value for number cards, + 11 for end cards; 64 + value for points cards.
WIDTH: Final = 12
END: Final = 11
POINTS: Final = 64
POINTS_CARDS: Final = 11
TWICE: Final = [3, 4, 5, 6, 7]  # the values that each colour has twice
WISH_VALUES: Final = range(1, 10)  # the wish stones, one of each

COLOUR_NAMES: Final = [
    f"{letter}{'E' if value == END else value}" for letter in LETTERS for value in range(WIDTH)
]
POINTS_NAMES: Final = [f"P{value}" for value in range(POINTS_CARDS)]
CARD_NAMES: Final = dict(enumerate(COLOUR_NAMES)) | dict(enumerate(POINTS_NAMES, POINTS))
DECK: Final = list(CARD_NAMES) + [
    colour * WIDTH + value for colour in range(COLOURS) for value in [*TWICE, END]
]
PILE_LETTERS: Final = [*LETTERS, "P"]
PACKED_CARDS: Final = texts_by_number(CARD_NAMES)
PACKED_PILE_LETTERS: Final = texts(PILE_LETTERS)
PILES: Final = 6
POINTS_PILE: Final = 5
POINTS_ROW: Final = 5

NUMBER_ROWS: Final = RowRule(COLOURS, WIDTH)
END_CARDS: Final = sum(1 << colour * WIDTH + END for colour in range(COLOURS))
ONE_COLOUR: Final = (1 << WIDTH) - 1
OF_VALUE: Final = vec[i64](
    [sum(1 << colour * WIDTH + value for colour in range(COLOURS)) for value in range(WIDTH)]
)

# The pairs, by number: two cards of one value, the first in the order of the piles.
PAIRS: Final = [
    (value, first, second)
    for value in WISH_VALUES
    for first in range(PILES)
    for second in range(first, PILES)
    if first != second or (value in TWICE and first != POINTS_PILE)
]


def card_of(pile: int, value: int) -> int:
    """Return the number or points card of a pile that has that value."""
    return POINTS + value if pile == POINTS_PILE else pile * WIDTH + value


PAIR_VALUE: Final = vec[u8]([value for value, _, _ in PAIRS])
PAIR_FIRST: Final = vec[u8]([first for _, first, _ in PAIRS])
PAIR_SECOND: Final = vec[u8]([second for _, _, second in PAIRS])
_NUMBER_OF: Final = {pair: number for number, pair in enumerate(PAIRS)}
PAIR_NUMBER: Final = vec[i16](
    [
        _NUMBER_OF.get((value, first, second), -1)
        for value in range(WIDTH)
        for first in range(PILES)
        for second in range(PILES)
    ]
)


def accepts_after(accepted: i64, last: i64, card: i64) -> i64:
    """Return what a player's rows accept once a number or end card lies in its row.

    ``last`` is the value of the row's last number card, or -1 if it has none.
    """
    colour = card // WIDTH
    end = BIT[colour * WIDTH + END]
    row = NUMBER_ROWS.row[colour]
    if card - colour * WIDTH != END:
        if last >= 0:
            accepted = NUMBER_ROWS.after(accepted, colour * WIDTH + last, card)
        return accepted | end
    if accepted & row == end:
        return accepted ^ end  # the second end card closes the row
    return accepted & (end | ~row)
