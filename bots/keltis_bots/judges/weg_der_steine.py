"""How to judge the actions of ``weg-der-steine``: rows that can grow, what others want."""

from __future__ import annotations

from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i16, i64

from keltis_bots.judges.judge import (
    CARD,
    COUNT,
    DOWNWARDS,
    POINT,
    UPWARDS,
    VALUES_MASK,
    Judge,
    worth,
)
from keltis_engine.bits import BIT
from keltis_engine.cards.kinds import COLOURS, VALUES
from keltis_engine.cards.rows import CARD_ROWS
from keltis_engine.cards.stacks import PLACES, height, top
from keltis_engine.games.weg_der_steine import (
    BONUS,
    CLOVERS,
    KEEP,
    LAST_TAKE,
    LEAVE,
    PASS,
    REVEAL,
    ROW_SCORES,
    TAKE,
    WISHES,
    WegDerSteineState,
)
from keltis_engine.state.state import State

STONES: Final = vec[i64]([150, 350, 150, 300, 350, 0])  # what the next wish stone is worth
CLOVER: Final = 200  # another turn
REVEALING: Final = 130  # a look at a new tile, and the choice to take it
FACE_UP: Final = 45  # percent of the fitting tiles in the middle that the player will get, in time
FACE_DOWN: Final = 80  # percent, shared by all players, of those not turned up yet
DENIED: Final = 40  # percent of what the next player loses


@final
class WegDerSteineJudge(Judge):
    """Judges ``weg-der-steine``."""

    def __init__(self) -> None:
        self.face_down: i64 = 0  # the tiles that nobody has seen
        self.face_up: i64 = 0
        self.rate_up: i64 = 0
        self.rate_down: i64 = 0

    def weigh(self, state: State, actions: vec[i16], count: i64, appeals: vec[i64]) -> None:
        """Write the appeal of each of the first ``count`` actions, all legal, to ``appeals``."""
        assert isinstance(state, WegDerSteineState)
        self.look(state)
        for k in range(count):
            appeals[k] = self.appeal(state, i64(actions[k]))

    def look(self, state: WegDerSteineState) -> None:
        """Take in the situation."""
        seen = state.middle
        for row in range(state.players * COLOURS):
            base = row * PLACES
            for k in range(base + 1, base + 1 + i64(state.stacks[base])):
                seen |= BIT[i64(state.stacks[k])]
        if state.revealed >= 0:
            seen |= BIT[state.revealed]
        self.face_down = CARD_ROWS.all & ~seen
        self.face_up = state.middle
        turns = state.pile_size // state.players
        self.rate_up = FACE_UP if turns > 8 else turns * FACE_UP // 8
        self.rate_down = FACE_DOWN // state.players

    def appeal(self, state: WegDerSteineState, action: i64) -> i64:
        """Return by how much an action changes what the player may hope for."""
        if action == REVEAL:
            return REVEALING
        if action < KEEP:
            return self.taking(state, action - TAKE)
        if action == KEEP:
            return self.taking(state, state.revealed)
        if action == LEAVE:
            return 0
        if action < PASS:
            return self.taking(state, action - LAST_TAKE)
        return 0

    def taking(self, state: WegDerSteineState, tile: i64) -> i64:
        """Judge a tile taken: what it brings, and what the next player would have had from it."""
        following = state.seat + 1
        if following == state.players:
            following = 0
        gain = self.gain(state, state.seat, tile)
        if state.accepts[following] & BIT[tile]:
            lost = self.gain(state, following, tile)
            if lost > 0:
                gain += lost * DENIED // 100
        return gain

    def gain(self, state: WegDerSteineState, seat: i64, tile: i64) -> i64:
        """Return what a fitting tile is worth to a seat."""
        colour = tile // VALUES
        value = tile - colour * VALUES
        row = seat * COLOURS + colour
        size = height(state.stacks, row)
        accepted = (state.accepts[seat] >> colour * VALUES) & VALUES_MASK & ~BIT[value]
        result = i64(BONUS[tile]) * POINT
        if size:
            last = top(state.stacks, row) - colour * VALUES
            up = self.more(colour, accepted & UPWARDS[last])
            down = self.more(colour, accepted & DOWNWARDS[last])
            result -= worth(ROW_SCORES, size * CARD + (up if up > down else down))
            if value > last:
                more = self.more(colour, accepted & UPWARDS[value])
            else:
                more = self.more(colour, accepted & DOWNWARDS[value])
        else:
            up = self.more(colour, accepted & UPWARDS[value])
            down = self.more(colour, accepted & DOWNWARDS[value])
            more = up if up > down else down
        result += worth(ROW_SCORES, (size + 1) * CARD + more)
        if WISHES[tile]:
            wishes = i64(state.wishes[seat])
            result += STONES[wishes if wishes < 5 else 5]
        if CLOVERS[tile]:
            result += CLOVER
        return result

    def more(self, colour: i64, values: i64) -> i64:
        """Return how many of these tiles a player can hope for, in hundredths."""
        shift = colour * VALUES
        return self.rate_up * i64(COUNT[(self.face_up >> shift) & values]) + self.rate_down * i64(
            COUNT[(self.face_down >> shift) & values]
        )
