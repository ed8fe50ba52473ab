"""How to judge the actions of ``neue-wege``: good fields, wish stones, and rows that keep room."""

from __future__ import annotations

from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i16, i64

from keltis_bots.judges.judge import (
    CARD,
    DECIDED,
    POINT,
    VALUES_MASK,
    Judge,
    Outlook,
    wanted,
)
from keltis_engine.bits import BIT, index_of
from keltis_engine.cards.kinds import COLOURS, VALUES
from keltis_engine.cards.rows import CARD_ROWS
from keltis_engine.cards.stacks import PLACES, height, top
from keltis_engine.games.neue_wege import (
    CLOVER_ALONG,
    CLOVER_TILE,
    DISCARD,
    DRAW_CARD,
    DROP_HAND,
    DROP_ROW,
    DROP_TILE,
    KEEP,
    LAY,
    MOVE_ALONG,
    NO_TILE,
    SMALL,
    STAY,
    TAKE,
    WISH_TILE,
    NeueWegeState,
)
from keltis_engine.state.state import State
from keltis_engine.table.board import FIGURES, GOAL_FIGURES
from keltis_engine.table.boards import NETWORK, NO_STACK, STACK_ON

# What a figure may hope for by the row it stands on, at the start of the game; later the value of
# the field itself counts more and more.
_BY_ROW: Final = [0, 100, 230, 380, 560, 620, 740, 850, 870, 920, 1000]
PROMISES: Final = vec[i64](
    [_BY_ROW[0 if name == "start" else int(name[:-1])] for name in NETWORK.names]
)
LONG: Final = 16  # turns: with so many left, only promises count

STEP: Final = 170  # what a card that moves a figure is worth
HELD: Final = 75  # percent of the fitting cards in the hand that will be laid, given time
UNSEEN: Final = 60  # percent of the fitting cards drawn that will be laid
TURNS_PER_FIGURE: Final = 5  # so many turns of each player pass for each figure in the goal area
UNKNOWN_CARD: Final = 100  # what a card from the draw pile is worth
GIFT: Final = 50  # what it costs to discard a card that the next player can lay
CLOVER: Final = 170  # a step for nothing, somewhere
DROP: Final = 40  # more room in a row, or a better card
NEW_COLOUR: Final = vec[i64]([100, 350, 200, 300, 400, 0])  # by the colours of stones had so far
SAME_COLOUR: Final = vec[i64]([150, 300, 600, 0])  # by the stones of that colour had so far


@final
class NeueWegeJudge(Judge):
    """Judges ``neue-wege``."""

    def __init__(self) -> None:
        self.outlook = Outlook(VALUES, 0)
        self.turns: i64 = 0
        self.steps = vec[i64]([0] * COLOURS)  # by colour: the best step that a card allows

    def weigh(self, state: State, actions: vec[i16], count: i64, appeals: vec[i64]) -> None:
        """Write the appeal of each of the first ``count`` actions, all legal, to ``appeals``."""
        assert isinstance(state, NeueWegeState)
        self.look(state)
        if i64(actions[0]) < MOVE_ALONG:
            self.find_steps(state)
        for k in range(count):
            appeals[k] = self.appeal(state, i64(actions[k]))

    def look(self, state: NeueWegeState) -> None:
        """Take in the situation of the player to act."""
        turns = state.table.pile_size // state.players
        until_goal = TURNS_PER_FIGURE * (GOAL_FIGURES - state.in_goal)
        if until_goal < turns:
            turns = until_goal
        self.turns = turns if turns < LONG else LONG
        self.outlook.look(state.table, state.seat)
        self.outlook.expect(state.table, turns, HELD, UNSEEN)

    def find_steps(self, state: NeueWegeState) -> None:
        """Find for each colour the best step that a card of it allows."""
        for colour in range(i64(COLOURS)):
            self.steps[colour] = -DECIDED
        edges = NETWORK.open_edges(state.figures, state.seat)
        while edges:
            bit = edges & -edges
            edges ^= bit
            gain = self.step(state, index_of(bit))
            for colour in range(i64(COLOURS)):
                if NETWORK.onto[colour] & bit and gain > self.steps[colour]:
                    self.steps[colour] = gain

    def appeal(self, state: NeueWegeState, action: i64) -> i64:
        """Return by how much an action changes what the player may hope for."""
        if action < DISCARD:
            return self.laying(state, action - LAY)
        if action < MOVE_ALONG:
            return self.discarding(state, action - DISCARD)
        if action < SMALL:
            return self.step(state, action - MOVE_ALONG)
        if action == SMALL:
            return 0
        if action < CLOVER_ALONG:  # the big one: twice the way, for better or worse
            return self.way(state.entering)
        if action < STAY:
            return self.step(state, action - CLOVER_ALONG)
        if action == STAY:
            return 0
        if action < DROP_HAND:
            return self.dropping(state, action - DROP_ROW)
        if action < KEEP:
            return self.discarding(state, action - DROP_HAND) + UNKNOWN_CARD
        if action == KEEP:
            return 0
        if action == DRAW_CARD:
            return self.drawing(state, UNKNOWN_CARD)
        return self.taking(state, action - TAKE)

    # Steps

    def field(self, field: i64) -> i64:
        """Return what a figure on a field may hope for: late in the game, just its value."""
        now = NETWORK.values[field] * POINT
        return now + (PROMISES[field] - now) * self.turns // LONG

    def way(self, edge: i64) -> i64:
        """Return what it is worth to go along an edge, whatever lies there."""
        return self.field(i64(NETWORK.targets[edge])) - self.field(i64(NETWORK.sources[edge]))

    def step(self, state: NeueWegeState, edge: i64) -> i64:
        """Judge a figure's way along an edge and what lies there."""
        seat = state.seat
        source = i64(NETWORK.sources[edge])
        field = i64(NETWORK.targets[edge])
        gain = self.way(edge)
        if i64(state.figures[seat * FIGURES]) == source:
            gain *= 2
        if state.in_goal == GOAL_FIGURES - 1 and NETWORK.into_goal & BIT[edge]:
            return self.ending(state, source, field)
        stack = i64(STACK_ON[field])
        if stack != NO_STACK:
            if state.stone_stacks[stack]:
                gain += self.stone(state, stack)
            return gain
        tile = i64(state.tiles[field])
        if tile == NO_TILE:
            return gain
        if tile == CLOVER_TILE:
            return gain + CLOVER
        if tile == DROP_TILE:
            return gain + DROP
        if tile < WISH_TILE:
            return gain + tile * POINT
        if state.wish_tiles & BIT[field]:
            gain += self.stone(state, tile - WISH_TILE)
        return gain

    def stone(self, state: NeueWegeState, colour: i64) -> i64:
        """Return what a wish stone of a colour is worth."""
        first = state.seat * COLOURS
        same = i64(state.stones[first + colour])
        gain = SAME_COLOUR[same if same < 3 else 3]
        if same == 0:
            different: i64 = 0
            for k in range(first, first + COLOURS):
                if state.stones[k]:
                    different += 1
            gain += NEW_COLOUR[different]
        return gain

    def ending(self, state: NeueWegeState, source: i64, field: i64) -> i64:
        """Judge a step that ends the game."""
        seat = state.seat
        step = NETWORK.values[field] - NETWORK.values[source]
        mine = state.score(seat) + step
        if i64(state.figures[seat * FIGURES]) == source:
            mine += step
        for other in range(state.players):
            if other != seat and state.score(other) >= mine:
                return -DECIDED
        return DECIDED

    # Cards

    def cards(self, state: NeueWegeState, colour: i64) -> i64:
        """Return what the cards of a colour are worth that the player may still lay."""
        return self.outlook.coming(state.table, state.seat, colour) * STEP // CARD

    def laying(self, state: NeueWegeState, card: i64) -> i64:
        """Judge a card laid: the best step it allows, and the room that the row loses."""
        colour = card // VALUES
        after = self.outlook.coming_after(state.table, state.seat, card) * STEP // CARD
        return self.steps[colour] + after - self.cards(state, colour)

    def discarding(self, state: NeueWegeState, card: i64) -> i64:
        """Judge a discard: what the own rows lose, and what the next player gains."""
        colour = card // VALUES
        before = self.cards(state, colour)
        self.outlook.lose(card)
        after = self.cards(state, colour)
        self.outlook.gain(card)
        gift: i64 = GIFT if wanted(state.table, state.seat, colour, card) else 0
        return after - before - gift

    def dropping(self, state: NeueWegeState, colour: i64) -> i64:
        """Judge the last card of a row put on its pile: the room that the row gains."""
        table = state.table
        row = table.row(state.seat, colour)
        before = self.cards(state, colour)
        size = height(table.stacks, row)
        if size == 1:
            return self.outlook.from_scratch(colour) * STEP // CARD - before
        under = i64(table.stacks[row * PLACES + size - 1]) - colour * VALUES
        accepted = CARD_ROWS.row[colour]
        for k in range(row * PLACES + 2, row * PLACES + size):
            accepted = CARD_ROWS.after(accepted, i64(table.stacks[k - 1]), i64(table.stacks[k]))
        accepted = (accepted >> colour * VALUES) & VALUES_MASK
        return self.outlook.after(colour, accepted, under) * STEP // CARD - before

    def taking(self, state: NeueWegeState, pile: i64) -> i64:
        """Judge a card from a discard pile."""
        card = top(state.table.stacks, pile)
        before = self.cards(state, pile)
        self.outlook.gain(card)
        after = self.cards(state, pile)
        self.outlook.lose(card)
        return after - before
