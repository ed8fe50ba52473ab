"""What the judges of all four games share: appeals, and how many more cards a row can hope for.

A judge gives every legal action an **appeal**: by how much it changes what the player may hope to
score in the end, in hundredths of a point. It looks only at what the player to act may know. The
greedy bot plays the most appealing action, the searching bot plays whole games that way.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i16, i64, mypyc_attr, u8

from keltis_engine.bits import BIT
from keltis_engine.cards.hands import held, held_twice
from keltis_engine.cards.kinds import HAND_SIZE
from keltis_engine.cards.stacks import PLACES, height, top
from keltis_engine.games.kartenspiel_cards import POINTS
from keltis_engine.state.state import MOST_ACTIONS, State
from keltis_engine.table.card_table import CardTable

POINT: Final = 100  # appeals are hundredths of a point, hopes hundredths of a card
CARD: Final = 100
DECIDED: Final = 100_000  # an action that ends the game: more than anything else can weigh
LONG_GAME: Final = 40  # turns of each player after which a game should come to its end
TIME_ENOUGH: Final = 8  # turns in which a player can lay all he wants to of a hand
NO_APPEALS: Final = vec[i64]([0] * MOST_ACTIONS)

_COLUMN: Final = 12  # the widest colour: 0 to 10 and an end card
_SETS: Final = range(1 << _COLUMN)
VALUES_MASK: Final = (1 << 11) - 1
COUNT: Final = vec[u8]([members.bit_count() for members in _SETS])
LOWEST: Final = vec[u8](
    [(members & -members).bit_length() - 1 if members else 0 for members in _SETS]
)
HIGHEST: Final = vec[u8]([members.bit_length() - 1 if members else 0 for members in _SETS])
UPWARDS: Final = vec[i64]([VALUES_MASK & -(1 << value) for value in range(_COLUMN)])
DOWNWARDS: Final = vec[i64]([(2 << value) - 1 & VALUES_MASK for value in range(_COLUMN)])


@mypyc_attr(allow_interpreted_subclasses=False)
class Judge:
    """Knows what is worth doing in one game."""

    @abstractmethod
    def weigh(self, state: State, actions: vec[i16], count: i64, appeals: vec[i64]) -> None:
        """Write the appeal of each of the first ``count`` actions, all legal, to ``appeals``."""

    def advise(self, state: State, actions: vec[i16], appeals: vec[i64]) -> i64:
        """Return the most appealing action, the first of equals; the two vectors are scratch."""
        count = state.list_actions(actions)
        best: i64 = 0
        if count > 1:
            self.weigh(state, actions, count, appeals)
            for k in range(i64(1), count):
                if appeals[k] > appeals[best]:
                    best = k
        return i64(actions[best])

    def drawing(self, state: State, unknown_card: i64) -> i64:
        """Judge a draw from the pile. In a long game it has to appeal more and more.

        Otherwise players who only exchange cards with the discard piles would never end it.
        """
        late = state.turn - LONG_GAME * state.players
        return unknown_card + 2 * late if late > 0 else unknown_card


@final
class Outlook:
    """The cards of one player: those he holds, and those that may still come to him.

    A card in the hand counts as ``held`` hundredths of a card that will be laid, one that nobody
    has seen as ``rate``: it may come to others, or too late.
    """

    def __init__(self, width: i64, single: i64) -> None:
        self.width = width  # how many kinds a colour has
        self.single = single  # the kinds that exist only once, not twice
        self.hand: i64 = 0
        self.twice: i64 = 0
        # Kinds that cannot come: one copy lies on the table, is in the hand, or does not exist.
        self.gone: i64 = 0
        self.gone_twice: i64 = 0
        self.held: i64 = 0
        self.rate: i64 = 0

    def look(self, table: CardTable, seat: i64) -> None:
        """Take in the cards that a seat holds, and those that lie on the table."""
        self.hand = held(table.hands, seat)
        self.twice = held_twice(table.hands, seat)
        gone = self.single | self.hand
        gone_twice = self.single & self.hand | self.twice
        stacks = table.stacks
        for stack in range(table.piles * (i64(len(table.left)) + 1)):
            base = stack * PLACES
            for k in range(base + 1, base + 1 + i64(stacks[base])):
                card = i64(stacks[k])
                if card < POINTS:
                    bit = BIT[card]
                    gone_twice |= gone & bit
                    gone |= bit
        self.gone = gone
        self.gone_twice = gone_twice

    def expect(self, table: CardTable, turns: i64, use_held: i64, use_drawn: i64) -> None:
        """Set what cards count for when the player has so many turns left.

        Of the fitting cards he will lay so many percent of those he holds, if there is time, and
        so many of those that he draws.
        """
        self.held = use_held if turns > TIME_ENOUGH else use_held * turns // TIME_ENOUGH
        players = i64(len(table.left))
        unseen = table.pile_size + i64(len(table.removed)) + HAND_SIZE * (players - 1)
        self.rate = use_drawn * turns // unseen

    def lose(self, card: i64) -> None:
        """Think of a card as played."""
        bit = BIT[card]
        if self.twice & bit:
            self.twice ^= bit
        else:
            self.hand ^= bit

    def gain(self, card: i64) -> None:
        """Think of a card as held."""
        bit = BIT[card]
        self.twice |= self.hand & bit
        self.hand |= bit

    def cards(self, colour: i64, values: i64) -> i64:
        """Return how many cards of these values the player can hope to lay, in hundredths."""
        shift = colour * self.width
        hand = i64(COUNT[(self.hand >> shift) & values]) + i64(
            COUNT[(self.twice >> shift) & values]
        )
        unseen = (
            2 * i64(COUNT[values])
            - i64(COUNT[(self.gone >> shift) & values])
            - i64(COUNT[(self.gone_twice >> shift) & values])
        )
        return self.held * hand + self.rate * unseen

    def after(self, colour: i64, accepted: i64, top: i64) -> i64:
        """Return how many more cards a row can hope for that has this top card."""
        up = self.cards(colour, accepted & UPWARDS[top])
        down = self.cards(colour, accepted & DOWNWARDS[top])
        return up if up > down else down

    def from_scratch(self, colour: i64) -> i64:
        """Return how many cards a row can hope for that is begun with the cards of the hand."""
        values = (self.hand >> colour * self.width) & VALUES_MASK
        if values == 0:
            return 0
        up = self.cards(colour, UPWARDS[i64(LOWEST[values])])
        down = self.cards(colour, DOWNWARDS[i64(HIGHEST[values])])
        return up if up > down else down

    def coming(self, table: CardTable, seat: i64, colour: i64) -> i64:
        """Return how many more cards the seat's row of a colour can hope for."""
        row = table.row(seat, colour)
        if height(table.stacks, row) == 0:
            return self.from_scratch(colour)
        accepted = (table.accepts[seat] >> colour * self.width) & VALUES_MASK
        return self.after(colour, accepted, top(table.stacks, row) - colour * self.width)

    def coming_after(self, table: CardTable, seat: i64, card: i64) -> i64:
        """Return how many more cards a row can hope for once a card of the hand is laid there."""
        colour = card // self.width
        value = card - colour * self.width
        accepted = (table.accepts[seat] >> colour * self.width) & VALUES_MASK
        row = table.row(seat, colour)
        if height(table.stacks, row):
            last = top(table.stacks, row)
            if card > last:
                accepted &= UPWARDS[value]
            elif card < last:
                accepted &= DOWNWARDS[value]
        self.lose(card)
        more = self.after(colour, accepted, value)
        self.gain(card)
        return more


def wanted(table: CardTable, seat: i64, colour: i64, card: i64) -> bool:
    """Return whether the player after a seat could lay a card into a row that he has begun."""
    following = seat + 1
    if following == i64(len(table.left)):
        following = 0
    begun = height(table.stacks, table.row(following, colour)) > 0
    return begun and (table.accepts[following] & BIT[card]) != 0


def worth(table: vec[i64], hundredths: i64) -> i64:
    """Return what so many cards or steps score, in hundredths of a point, read between entries."""
    whole = hundredths // CARD
    last = i64(len(table)) - 1
    if whole >= last:
        return table[last] * POINT
    return table[whole] * POINT + (table[whole + 1] - table[whole]) * (hundredths - whole * CARD)
