"""How to judge the actions of ``kartenspiel``: long rows, pairs, and when to end."""

from __future__ import annotations

from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i16, i64

from keltis_bots.judges.judge import (
    CARD,
    DECIDED,
    DOWNWARDS,
    POINT,
    UPWARDS,
    VALUES_MASK,
    Judge,
    Outlook,
    wanted,
    worth,
)
from keltis_engine.bits import BIT, count_of
from keltis_engine.cards.kinds import COLOURS
from keltis_engine.cards.stacks import height, top
from keltis_engine.games.kartenspiel import (
    ADD,
    DISCARD,
    DISCARD_POINTS,
    DONE,
    DRAW_CARD,
    ENDED_ROWS,
    FINAL,
    FINAL_CARDS,
    LAY_ON,
    LAY_POINTS,
    PAIR,
    ROW_SCORES,
    TAKE,
    KartenspielState,
)
from keltis_engine.games.kartenspiel_cards import (
    END,
    PAIR_FIRST,
    PAIR_SECOND,
    PAIR_VALUE,
    POINTS_PILE,
    WIDTH,
)
from keltis_engine.state.state import State

SINGLE: Final = sum(
    1 << colour * WIDTH + value for colour in range(COLOURS) for value in (0, 1, 2, 8, 9, 10)
)
WISHES: Final = vec[i64]([280, 250, 300, 280, 330, 0])  # what the next wish stone is worth

HELD: Final = 85  # percent of the fitting cards in the hand that will be laid, given time
UNSEEN: Final = 60  # percent of the fitting cards drawn that will be laid
TURNS_PER_END: Final = 6  # so many turns of each player pass for each row with an end card
POINTS_HELD: Final = 60  # what a points card in the hand is worth
UNKNOWN_CARD: Final = 60  # what a card from the draw pile is worth
GIFT: Final = 60  # what it costs to discard a card that the next player can lay
SURE_LEAD: Final = 3  # points ahead, enough to end the game before the final cards


@final
class KartenspielJudge(Judge):
    """Judges ``kartenspiel``."""

    def __init__(self) -> None:
        self.outlook = Outlook(WIDTH, SINGLE)

    def weigh(self, state: State, actions: vec[i16], count: i64, appeals: vec[i64]) -> None:
        """Write the appeal of each of the first ``count`` actions, all legal, to ``appeals``."""
        assert isinstance(state, KartenspielState)
        self.look(state)
        for k in range(count):
            appeals[k] = self.appeal(state, i64(actions[k]))

    def look(self, state: KartenspielState) -> None:
        """Take in the situation of the player to act."""
        outlook = self.outlook
        outlook.look(state.table, state.seat)
        if state.stage == FINAL:
            # One card now, and maybe one more; nothing is drawn any more.
            outlook.held = CARD if state.final_cards == FINAL_CARDS else 0
            outlook.rate = 0
            return
        turns = state.table.pile_size // state.players
        until_end = TURNS_PER_END * (ENDED_ROWS - state.ended_rows)
        if until_end < turns:
            turns = until_end
        outlook.expect(state.table, turns + FINAL_CARDS, HELD, UNSEEN)

    def appeal(self, state: KartenspielState, action: i64) -> i64:
        """Return by how much an action changes what the player may hope for."""
        if action < DISCARD:
            return self.laying(state, action)
        if action < DISCARD_POINTS:
            return self.discarding(state, action - DISCARD)
        if action < PAIR:
            return -POINTS_HELD
        if action < DRAW_CARD:
            return self.pairing(state, action - PAIR)
        if action == DRAW_CARD:
            return self.drawing(state, UNKNOWN_CARD)
        if action < ADD:
            return self.taking(state, action - TAKE)
        if action < DONE:
            return self.laying(state, action - ADD)
        return 0

    # Rows

    def hope(self, state: KartenspielState, colour: i64) -> i64:
        """Return what a row may score in the end."""
        table = state.table
        row = table.row(state.seat, colour)
        size = height(table.stacks, row)
        if size == 0:
            more = self.outlook.from_scratch(colour)
            if more == 0:
                return 0
            result = worth(ROW_SCORES, more + self.ends(colour))
            return result if result > 0 else 0
        last = state.last_value(state.seat, colour)
        accepted = (table.accepts[state.seat] >> colour * WIDTH) & (VALUES_MASK | BIT[END])
        return self.promise(colour, size, accepted, last)

    def promise(self, colour: i64, size: i64, accepted: i64, last: i64) -> i64:
        """Return what a row may score that has so many cards and this last value, or -1."""
        more: i64 = 0
        if last >= 0:
            more = self.outlook.after(colour, accepted & VALUES_MASK, last)
        if accepted & BIT[END]:
            more += self.ends(colour)
        return worth(ROW_SCORES, size * CARD + more)

    def ends(self, colour: i64) -> i64:
        """Return how many end cards the player can hope to lay, in hundredths."""
        return self.outlook.cards(colour, BIT[END])

    # Actions

    def laying(self, state: KartenspielState, laying: i64) -> i64:
        """Judge a card laid into a row."""
        if laying >= LAY_ON:
            colour = (laying - LAY_ON) % COLOURS
            return self.lengthening(state, colour)
        if laying >= LAY_POINTS:
            return POINT - POINTS_HELD if state.stage != FINAL else POINT
        table = state.table
        seat = state.seat
        colour = laying // WIDTH
        value = laying - colour * WIDTH
        row = table.row(seat, colour)
        size = height(table.stacks, row)
        before = self.hope(state, colour)
        if state.stage == FINAL:
            before = worth(ROW_SCORES, size * CARD)
        last = state.last_value(seat, colour)
        accepted = (table.accepts[seat] >> colour * WIDTH) & (VALUES_MASK | BIT[END])
        if value == END:
            if size and last < 0:
                accepted = 0  # the second end card
            else:
                accepted = BIT[END]
                if state.ended_rows == ENDED_ROWS - 1 and state.stage != FINAL:
                    return self.ending(state, size)
            last = -1
        else:
            if value < last:
                accepted &= DOWNWARDS[value] | BIT[END]
            elif last >= 0 and value > last:
                accepted &= UPWARDS[value] | BIT[END]
            accepted |= BIT[END]
            last = value
        self.outlook.lose(laying)
        after = self.promise(colour, size + 1, accepted, last)
        self.outlook.gain(laying)
        return after - before

    def lengthening(self, state: KartenspielState, colour: i64) -> i64:
        """Judge a points card that lengthens a row."""
        table = state.table
        seat = state.seat
        size = height(table.stacks, table.row(seat, colour))
        last = state.last_value(seat, colour)
        accepted = (table.accepts[seat] >> colour * WIDTH) & (VALUES_MASK | BIT[END])
        gain = self.promise(colour, size + 1, accepted, last)
        if state.stage == FINAL:
            return gain - worth(ROW_SCORES, size * CARD)
        return gain - self.promise(colour, size, accepted, last) - POINTS_HELD

    def ending(self, state: KartenspielState, size: i64) -> i64:
        """Judge the end card that ends the game."""
        seat = state.seat
        mine = state.score(seat) + ROW_SCORES[size + 1 if size < 8 else 9]
        mine -= ROW_SCORES[size if size < 9 else 9] + SURE_LEAD
        for other in range(state.players):
            if other != seat and state.score(other) >= mine:
                return -DECIDED
        return DECIDED

    def discarding(self, state: KartenspielState, card: i64) -> i64:
        """Judge a discard: what the own rows lose, and what the next player gains."""
        colour = card // WIDTH
        before = self.hope(state, colour)
        self.outlook.lose(card)
        after = self.hope(state, colour)
        self.outlook.gain(card)
        gift: i64 = GIFT if wanted(state.table, state.seat, colour, card) else 0
        return after - before - gift

    def pairing(self, state: KartenspielState, pair: i64) -> i64:
        """Judge a pair: the wish stone and the second new card for two cards."""
        value = i64(PAIR_VALUE[pair])
        first = i64(PAIR_FIRST[pair])
        second = i64(PAIR_SECOND[pair])
        stones = count_of(state.wishes[state.seat])
        gain = WISHES[stones if stones < 5 else 5] + UNKNOWN_CARD
        gain += self.discarding(state, first * WIDTH + value)
        if second == POINTS_PILE:
            return gain - POINTS_HELD
        self.outlook.lose(first * WIDTH + value)
        gain += self.discarding(state, second * WIDTH + value)
        self.outlook.gain(first * WIDTH + value)
        return gain

    def taking(self, state: KartenspielState, pile: i64) -> i64:
        """Judge a card from a discard pile."""
        if pile == POINTS_PILE:
            return POINTS_HELD
        card = top(state.table.stacks, pile)
        before = self.hope(state, pile)
        self.outlook.gain(card)
        after = self.hope(state, pile)
        self.outlook.lose(card)
        return after - before
