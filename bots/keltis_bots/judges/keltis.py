"""How to judge the actions of ``keltis``: paths that will lead far, and rows that keep room."""

from __future__ import annotations

from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i16, i64

from keltis_bots.judges.judge import (
    CARD,
    DECIDED,
    POINT,
    Judge,
    Outlook,
    wanted,
    worth,
)
from keltis_engine.bits import BIT
from keltis_engine.cards.kinds import COLOURS, VALUES
from keltis_engine.cards.stacks import top
from keltis_engine.games.keltis import (
    CLOVER_ON,
    CLOVER_TILE,
    DISCARD,
    DRAW_CARD,
    LAY,
    MOVE_ON,
    SMALL,
    STAY,
    TAKE,
    KeltisState,
)
from keltis_engine.state.state import State
from keltis_engine.table.board import FIGURES, GOAL_FIGURES
from keltis_engine.table.boards import PATH_STONES

STONES: Final = vec[i64]([0, -4, -3, -2, 1, 2, 3, 6, 7, 10])
LAST_BEFORE_GOAL: Final = 6
WISHES: Final = vec[i64]([120, 350, 250, 300, 350, 0])  # what the next wish stone is worth
CLOVER: Final = 150  # a step for nothing, somewhere

HELD: Final = 85  # percent of the fitting cards in the hand that will be laid, given time
UNSEEN: Final = 60  # percent of the fitting cards drawn that will be laid
TURNS_PER_FIGURE: Final = 4  # so many turns of each player pass for each figure in the goal area
UNKNOWN_CARD: Final = 60  # what a card from the draw pile is worth
GIFT: Final = 60  # what it costs to discard a card that the next player can lay
BIG_FROM: Final = 350  # the path that promises so much gets the big figure


@final
class KeltisJudge(Judge):
    """Judges ``keltis``."""

    def __init__(self) -> None:
        self.outlook = Outlook(VALUES, 0)
        self.stones = vec[i64]([0] * COLOURS)  # by path: the stone of the own figure
        self.big_path: i64 = -1

    def weigh(self, state: State, actions: vec[i16], count: i64, appeals: vec[i64]) -> None:
        """Write the appeal of each of the first ``count`` actions, all legal, to ``appeals``."""
        assert isinstance(state, KeltisState)
        self.look(state)
        for k in range(count):
            appeals[k] = self.appeal(state, i64(actions[k]))

    def look(self, state: KeltisState) -> None:
        """Take in the situation of the player to act."""
        seat = state.seat
        turns = state.table.pile_size // state.players
        until_goal = TURNS_PER_FIGURE * (GOAL_FIGURES - state.in_goal)
        self.outlook.look(state.table, seat)
        self.outlook.expect(state.table, until_goal if until_goal < turns else turns, HELD, UNSEEN)
        for colour in range(i64(COLOURS)):
            self.stones[colour] = 0
        self.big_path = -1
        first = seat * FIGURES
        for k in range(first, first + FIGURES):
            field = i64(state.figures[k])
            if field:
                path = (field - 1) // PATH_STONES
                self.stones[path] = field - path * PATH_STONES
                if k == first:
                    self.big_path = path

    def appeal(self, state: KeltisState, action: i64) -> i64:
        """Return by how much an action changes what the player may hope for."""
        if action < DISCARD:
            return self.laying(state, action - LAY)
        if action < SMALL:
            return self.discarding(state, action - DISCARD)
        if action < MOVE_ON:
            if action == SMALL:
                return BIG_FROM
            path = state.entering // PATH_STONES
            return self.hope(state, path, 1)
        if action < CLOVER_ON:
            return self.moving(state, action - MOVE_ON)
        if action < STAY:
            return self.moving(state, action - CLOVER_ON)
        if action == STAY:
            return 0
        if action == DRAW_CARD:
            return self.drawing(state, UNKNOWN_CARD)
        return self.taking(state, action - TAKE)

    def hope(self, state: KeltisState, path: i64, stone: i64) -> i64:
        """Return what a path may score in the end if its figure stood on that stone."""
        return self.promise(state, path, stone, self.outlook.coming(state.table, state.seat, path))

    def promise(self, state: KeltisState, path: i64, stone: i64, more: i64) -> i64:
        """Return what a path may score whose figure on that stone will go so much further."""
        result = worth(STONES, stone * CARD + more)
        if path == self.big_path:
            result *= 2
        at = stone + 1
        while more > 0 and at <= PATH_STONES:
            tile = self.tile(state, path * PATH_STONES + at)
            result += tile if more >= CARD else tile * more // CARD
            more -= CARD
            at += 1
        if stone == 0 and result < 0:
            return 0  # nobody has to begin
        return result

    def tile(self, state: KeltisState, field: i64) -> i64:
        """Return what it is worth to arrive on a field."""
        tile = i64(state.tiles[field])
        if tile == CLOVER_TILE:
            return CLOVER
        if tile < CLOVER_TILE:
            return tile * POINT
        if state.wish_tiles & BIT[field]:
            wishes = i64(state.wishes[state.seat])
            return WISHES[wishes if wishes < 5 else 5]
        return 0

    def laying(self, state: KeltisState, card: i64) -> i64:
        """Judge a card laid: the step, what lies there, and the room that the row loses."""
        path = card // VALUES
        stone = self.stones[path]
        if stone == PATH_STONES:
            return self.best_move(state)
        ending = self.ending(state, path, stone)
        if ending:
            return ending
        more = self.outlook.coming_after(state.table, state.seat, card)
        gain = self.promise(state, path, stone + 1, more) - self.hope(state, path, stone)
        return gain + self.tile(state, path * PATH_STONES + stone + 1)

    def best_move(self, state: KeltisState) -> i64:
        """Judge a card laid on a finished path by the best other step."""
        best: i64 = -DECIDED
        for path in range(i64(COLOURS)):
            if self.stones[path] < PATH_STONES:
                gain = self.moving(state, path)
                if gain > best:
                    best = gain
        return best

    def ending(self, state: KeltisState, path: i64, stone: i64) -> i64:
        """Judge a step that ends the game; 0 if it does not."""
        if state.in_goal < GOAL_FIGURES - 1 or stone != LAST_BEFORE_GOAL:
            return 0
        seat = state.seat
        mine = state.score(seat) + 3
        if path == self.big_path:
            mine += 3
        for other in range(state.players):
            if other != seat and state.score(other) >= mine:
                return -DECIDED
        return DECIDED

    def moving(self, state: KeltisState, path: i64) -> i64:
        """Judge a step that costs no card."""
        stone = self.stones[path]
        ending = self.ending(state, path, stone)
        if ending:
            return ending
        gain = self.hope(state, path, stone + 1) - self.hope(state, path, stone)
        return gain + self.tile(state, path * PATH_STONES + stone + 1)

    def discarding(self, state: KeltisState, card: i64) -> i64:
        """Judge a discard: what the own rows lose, and what the next player gains."""
        path = card // VALUES
        stone = self.stones[path]
        before = self.hope(state, path, stone)
        self.outlook.lose(card)
        after = self.hope(state, path, stone)
        self.outlook.gain(card)
        gift: i64 = GIFT if wanted(state.table, state.seat, path, card) else 0
        return after - before - gift

    def taking(self, state: KeltisState, pile: i64) -> i64:
        """Judge a card from a discard pile."""
        stone = self.stones[pile]
        card = top(state.table.stacks, pile)
        before = self.hope(state, pile, stone)
        self.outlook.gain(card)
        after = self.hope(state, pile, stone)
        self.outlook.lose(card)
        return after - before
