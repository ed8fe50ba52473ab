"""The cards of a game: hands, rows, discard piles, the draw pile and the cards left out."""

from __future__ import annotations

from typing import Any, final

from librt.strings import BytesWriter
from librt.vecs import vec
from mypy_extensions import i16, i64, mypyc_attr, u8

from keltis_engine.bits import BIT
from keltis_engine.cards.hands import empty_hands, gain, gain_openly, give_up_hidden, lose
from keltis_engine.cards.kinds import HAND_SIZE, LETTERS, PACKED_LETTERS, REMOVED_FOR_TWO
from keltis_engine.cards.rows import RowRule
from keltis_engine.cards.stacks import empty_stacks, filled, height, pop, push, top
from keltis_engine.cards.streams import draw, next_card, stream_sizes
from keltis_engine.cards.unseen import count_pile, in_order, no_cards, no_counts, refill_pile
from keltis_engine.packing import write_array
from keltis_engine.rng import Rng
from keltis_engine.state import fields
from keltis_engine.state.views import (
    hand_views,
    names_of,
    pile_view,
    removed_view,
    stack_views,
    write_hands,
    write_names_of,
    write_pile,
    write_removed,
    write_stacks,
)


@final
@mypyc_attr(free_list_len=1, acyclic=True)
class CardTable:
    """All cards of one game. Mutable; ``copy`` is independent."""

    def __init__(
        self,
        hands: vec[i64],
        accepts: vec[i64],
        stacks: vec[u8],
        piles: i64,
        pile: vec[u8],
        left: vec[u8],
        pile_size: i64,
        removed: vec[u8],
        closed: i64,
    ) -> None:
        self.hands = hands
        self.accepts = accepts  # by seat: the kinds that its rows still accept
        self.stacks = stacks  # the discard piles, then as many rows for each seat
        self.piles = piles  # how many discard piles there are
        self.pile = pile  # never changes, so copies share it
        self.left = left
        self.pile_size = pile_size
        self.removed = removed  # never changes
        self.closed = closed  # the discard piles that received a card this turn

    def copy(self) -> CardTable:
        """Return an independent copy."""
        return CardTable(
            self.hands[:],
            self.accepts[:],
            self.stacks[:],
            self.piles,
            self.pile,
            self.left[:],
            self.pile_size,
            self.removed,
            self.closed,
        )

    def redeal(self, seat: i64, rng: Rng) -> None:
        """Deal all anew that the seat has not seen; copies share no card of it afterwards."""
        counts = no_counts()
        sizes = self.left[:]  # by seat, as many as there are streams
        total = self.pile_size + i64(len(self.removed))
        for other in range(i64(len(sizes))):
            hidden: i64 = 0
            if other != seat:
                hidden = give_up_hidden(self.hands, other, counts)
            sizes[other] = u8(hidden)
            total += hidden
        count_pile(counts, self.pile, self.left)
        for card in self.removed:
            counts[i64(card)] += 1

        unseen = in_order(counts, total)
        rng.shuffle(unseen)
        at: i64 = 0
        for other in range(i64(len(sizes))):
            for _ in range(i64(sizes[other])):
                gain(self.hands, other, i64(unseen[at]))
                at += 1
        self.pile = no_cards(i64(len(self.pile)))
        at = refill_pile(unseen, at, self.pile, self.left)
        self.removed = unseen[at:]

    def row(self, seat: i64, colour: i64) -> i64:
        """Return the number of the stack that is the seat's row of a colour (or of points)."""
        return self.piles + seat * self.piles + colour

    def lay(self, rule: RowRule, seat: i64, colour: i64, card: i64) -> None:
        """Lay a card from the hand into the own row of its colour."""
        lose(self.hands, seat, card)
        row = self.row(seat, colour)
        if height(self.stacks, row):
            self.accepts[seat] = rule.after(self.accepts[seat], top(self.stacks, row), card)
        push(self.stacks, row, card)

    def discard(self, seat: i64, pile: i64, card: i64) -> None:
        """Put a card from the hand on a discard pile, which is closed for this turn."""
        lose(self.hands, seat, card)
        push(self.stacks, pile, card)
        self.closed |= BIT[pile]

    def list_sources(self, draw_action: i64, take_action: i64, into: vec[i16]) -> i64:
        """Write the actions for all places from which a card may be taken now."""
        into[0] = i16(draw_action)
        count: i64 = 1
        for pile in range(self.piles):
            # Written in any case, counted only if it may be taken: a branch here would be a guess
            # that the processor often gets wrong, and this is a hot spot of every playout.
            into[count] = i16(take_action + pile)
            count += filled(self.stacks, pile) & ~(self.closed >> pile)
        return count

    def draw(self, seat: i64) -> None:
        """Draw a card from the draw pile."""
        gain(self.hands, seat, draw(self.pile, self.left, seat))
        self.pile_size -= 1

    def take(self, seat: i64, pile: i64) -> None:
        """Take the top card of a discard pile, for all to see."""
        gain_openly(self.hands, seat, pop(self.stacks, pile))

    def outcome(self, seat: i64, pile: i64) -> i64:
        """Return the card that the seat would take from a discard pile or, with -1, draw."""
        if pile < 0:
            return next_card(self.pile, self.left, seat)
        return top(self.stacks, pile)

    def seen_by(self, viewer: int, letters: list[str], names: dict[int, str]) -> dict[str, Any]:
        """Return the part of a view that is about the cards."""
        players = len(self.left)
        return {
            "hands": hand_views(self.hands, viewer, players, names),
            "rows": [
                stack_views(self.stacks, int(self.row(seat, 0)), LETTERS, names)
                for seat in range(players)
            ],
            "piles": stack_views(self.stacks, 0, letters, names),
            "closed": names_of(self.closed, letters),
            "pile": pile_view(self.pile, self.left, viewer, names),
            "removed": removed_view(self.removed, viewer, names),
        }

    def write_view(
        self, out: BytesWriter, viewer: i64, letters: list[bytes], names: list[bytes]
    ) -> None:
        """Write the fields that ``seen_by`` returns."""
        players = i64(len(self.left))
        out.write(fields.HANDS)
        write_hands(out, self.hands, viewer, players, names)
        out.write(fields.ROWS)
        write_array(out, players)
        for seat in range(players):
            write_stacks(out, self.stacks, self.row(seat, 0), PACKED_LETTERS, names)
        out.write(fields.PILES)
        write_stacks(out, self.stacks, 0, letters, names)
        out.write(fields.CLOSED)
        write_names_of(out, self.closed, letters)
        out.write(fields.PILE)
        write_pile(out, self.pile, self.left, viewer, names)
        out.write(fields.REMOVED)
        write_removed(out, self.removed, viewer, names)


def deal_cards(deck: vec[u8], players: int, piles: int, accepted: int) -> CardTable:
    """Deal a shuffled deck: eight cards each, with two players some that leave the game."""
    hands = empty_hands(players)
    dealt = players * HAND_SIZE
    for k in range(dealt):
        gain(hands, k // HAND_SIZE, i64(deck[k]))
    first = dealt + (REMOVED_FOR_TWO if players == 2 else 0)
    pile = deck[first:]
    return CardTable(
        hands=hands,
        accepts=vec[i64]([accepted] * players),
        stacks=empty_stacks(piles + players * piles),
        piles=piles,
        pile=pile,
        left=stream_sizes(len(pile), players),
        pile_size=i64(len(pile)),
        removed=deck[dealt:first],
        closed=0,
    )
