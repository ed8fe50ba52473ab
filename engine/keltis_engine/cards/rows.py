"""Colour rows: which cards still fit.

While all values of a row are equal its direction is open. The first different value fixes it,
and from then on only values between the top card and the end of that direction fit. What the
rows of a player accept is one set of card kinds, all colours together.
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i64, u8

from keltis_engine.cards.kinds import VALUES
from keltis_engine.cards.stacks import PLACES


@final
class RowRule:
    """The row rule for kinds numbered ``colour * width + value``, with values from 0 to 10.

    Kinds with a higher remainder (end cards) have no value and are never touched by it.
    """

    def __init__(self, colours: int, width: int) -> None:
        row = (1 << width) - 1
        values = (1 << VALUES) - 1
        kinds = range(colours * width)
        self.all: i64 = (1 << colours * width) - 1
        self.row = vec[i64]([row << colour * width for colour in range(colours)])
        self.below = vec[i64]([((1 << k % width) - 1) << k - k % width for k in kinds])
        self.above = vec[i64]([(values & -(2 << k % width)) << k - k % width for k in kinds])

    def after(self, accepted: i64, top: i64, card: i64) -> i64:
        """Return what is accepted once the card lies on that top card of its row."""
        if card > top:
            return accepted & ~self.below[card]
        if card < top:
            return accepted & ~self.above[card]
        return accepted

    def again(self, accepted: i64, stacks: vec[u8], stack: i64, colour: i64) -> i64:
        """Return what is accepted when the row of a colour is read again from its first card."""
        accepted |= self.row[colour]
        base = stack * PLACES
        for k in range(i64(2), i64(stacks[base]) + 1):
            accepted = self.after(accepted, i64(stacks[base + k - 1]), i64(stacks[base + k]))
        return accepted


CARD_ROWS: Final = RowRule(5, 11)
