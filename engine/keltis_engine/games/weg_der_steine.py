"""Der Weg der Steine, the tile game: reveal stone tiles and lay them into rows."""

from __future__ import annotations

from typing import Final, final

from librt.strings import BytesWriter
from librt.vecs import vec
from mypy_extensions import i16, i64, mypyc_attr, u8

from keltis_engine.bits import BIT, count_of, spread
from keltis_engine.cards.kinds import (
    COLOURS,
    KIND_NAMES,
    KINDS,
    LETTERS,
    PACKED_KINDS,
    PACKED_LETTERS,
    colour_of,
)
from keltis_engine.cards.rows import CARD_ROWS
from keltis_engine.cards.stacks import empty_stacks, height, push, top
from keltis_engine.cards.streams import draw, next_card, stream_sizes
from keltis_engine.cards.unseen import count_pile, in_order, no_cards, no_counts, refill_pile
from keltis_engine.packing import NIL, write_array, write_field, write_ints
from keltis_engine.rng import DealStream, Rng
from keltis_engine.state import fields
from keltis_engine.state.state import LAST_TILE, LIMIT_REACHED, OVER, Game, State
from keltis_engine.state.verbs import NO_CARD, OPEN_CARD, OPEN_TIME, Verb
from keltis_engine.state.views import (
    View,
    names_of,
    pile_view,
    stack_views,
    write_names_of,
    write_pile,
    write_stacks,
)
from keltis_engine.table.scoring import by_count

ID: Final = "weg-der-steine"
VERSION: Final = 1

# The symbols on the tiles.
WISH_TILES: Final = ["R4", "R7", "Y6", "Y8", "V1", "V4", "G6", "G9", "B2", "B3"]
CLOVER_TILES: Final = ["R5", "R8", "Y1", "Y7", "V2", "V9", "G3", "G4", "B5", "B6"]
BONUS_TILES: Final = {
    "R6": 1, "Y4": 1, "V5": 1, "G1": 1, "B9": 1,
    "R2": 3, "Y3": 3, "V7": 3, "G5": 3, "B8": 3,
}  # fmt: skip
SYMBOLS: Final = (
    dict.fromkeys(WISH_TILES, "wish")
    | dict.fromkeys(CLOVER_TILES, "clover")
    | {name: str(bonus) for name, bonus in BONUS_TILES.items()}
)
WISHES: Final = vec[u8]([1 if name in WISH_TILES else 0 for name in KIND_NAMES])
CLOVERS: Final = vec[u8]([1 if name in CLOVER_TILES else 0 for name in KIND_NAMES])
BONUS: Final = vec[u8]([BONUS_TILES.get(name, 0) for name in KIND_NAMES])

ROW_SCORES: Final = vec[i64]([0, -4, -3, 2, 3, 6, 10])
WISH_SCORES: Final = vec[i64]([-4, -3, 2, 3, 6, 10])

# Phases.
TURN: Final = 1
REVEALED: Final = 2  # a tile was turned up: take it or leave it
LAST_TURN: Final = 3  # a clover's turn after the last tile, where the option grants it
PHASES: Final = ["over", "turn", "revealed", "last-turn"]

# Action ids.
REVEAL: Final = 0
TAKE: Final = 1  # + kind
KEEP: Final = 56
LEAVE: Final = 57
LAST_TAKE: Final = 58  # + kind
PASS: Final = 113
NOTATION: Final[list[str]] = (
    ["reveal"]
    + [f"take {name}" for name in KIND_NAMES]
    + ["keep", "leave"]
    + [f"last {name}" for name in KIND_NAMES]
    + ["pass"]
)

# What others may know of each decision. The caretaker prefers the first of these that is legal.
VERBS: Final[list[Verb]] = [
    Verb("leave", NO_CARD, OPEN_TIME),
    Verb("pass", NO_CARD, OPEN_TIME),
    Verb("keep", NO_CARD, OPEN_TIME),
    Verb("reveal", OPEN_CARD, OPEN_TIME),
    Verb("take", NO_CARD, OPEN_TIME),  # the tile lies open, and the notation names it
    Verb("last", NO_CARD, OPEN_TIME),
]

TILE_NAMES: Final = dict(enumerate(KIND_NAMES))
NO_TILE: Final = -1


GAME: Final[Game] = Game(ID, VERSION, PHASES, NOTATION, VERBS)


@final
@mypyc_attr(free_list_len=1, acyclic=True)
class WegDerSteineState(State):
    """A game of ``weg-der-steine``."""

    def __init__(
        self,
        players: i64,
        seat: i64,
        stage: i64,
        turn: i64,
        turn_limit: i64,
        last_clover_turn: bool,
        accepts: vec[i64],
        stacks: vec[u8],
        bonus: vec[u8],
        wishes: vec[u8],
        pile: vec[u8],
        left: vec[u8],
        pile_size: i64,
        middle: i64,
        revealed: i64,
    ) -> None:
        self.game = GAME
        self.players = players
        self.seat = seat
        self.stage = stage
        self.turn = turn
        self.turn_limit = turn_limit
        self.last_clover_turn = last_clover_turn
        self.accepts = accepts  # by seat: the tiles that its rows still accept
        self.stacks = stacks  # five rows for each seat
        self.bonus = bonus  # by seat
        self.wishes = wishes  # by seat: wish stones taken
        self.pile = pile  # the face-down tiles; never changes, so copies share it
        self.left = left
        self.pile_size = pile_size
        self.middle = middle  # the tiles that lie face up
        self.revealed = revealed  # in phase REVEALED: the tile just turned up

    def copy(self) -> WegDerSteineState:
        """Return an independent copy."""
        return WegDerSteineState(
            self.players,
            self.seat,
            self.stage,
            self.turn,
            self.turn_limit,
            self.last_clover_turn,
            self.accepts[:],
            self.stacks[:],
            self.bonus[:],
            self.wishes[:],
            self.pile,
            self.left[:],
            self.pile_size,
            self.middle,
            self.revealed,
        )

    # What is legal

    def list_actions(self, into: vec[i16]) -> i64:
        """Write the legal actions, ascending, to the front of ``into``; return their number."""
        stage = self.stage
        accepted = self.accepts[self.seat]
        if stage == TURN:
            into[0] = REVEAL
            return spread(self.middle & accepted, TAKE, into, 1)
        if stage == REVEALED:
            if not accepted & BIT[self.revealed]:
                into[0] = LEAVE
                return 1
            into[0] = KEEP
            into[1] = LEAVE
            return 2
        if stage == LAST_TURN:
            count = spread(self.middle & accepted, LAST_TAKE, into, 0)
            into[count] = PASS
            return count + 1
        return 0

    # What happens

    def play(self, action: i64) -> None:
        """Carry out an action known to be legal. ``apply`` is the one that checks."""
        if action == REVEAL:
            self.revealed = draw(self.pile, self.left, self.seat)
            self.pile_size -= 1
            self.stage = REVEALED
        elif action < KEEP:
            self.take_from_middle(action - TAKE)
        elif action == KEEP:
            tile = self.revealed
            self.revealed = NO_TILE
            self.take(tile)
        elif action == LEAVE:
            self.middle |= BIT[self.revealed]
            self.revealed = NO_TILE
            self.end_turn(False)
        elif action < PASS:
            self.take_from_middle(action - LAST_TAKE)
        else:
            self.stage = OVER

    def take_from_middle(self, tile: i64) -> None:
        """Take a face-up tile."""
        self.middle ^= BIT[tile]
        self.take(tile)

    def take(self, tile: i64) -> None:
        """Lay a tile into the own row of its colour; a clover gives another turn."""
        seat = self.seat
        row = seat * COLOURS + colour_of(tile)
        self.accepts[seat] &= ~BIT[tile]
        if height(self.stacks, row):
            self.accepts[seat] = CARD_ROWS.after(self.accepts[seat], top(self.stacks, row), tile)
        push(self.stacks, row, tile)
        self.wishes[seat] += WISHES[tile]
        self.bonus[seat] += BONUS[tile]
        self.end_turn(CLOVERS[tile] == 1)

    def end_turn(self, again: bool) -> None:
        """Pass the turn on, or let the same player have another one; maybe end the game."""
        if self.turn == self.turn_limit:
            self.stage = OVER
        elif self.pile_size:
            self.turn += 1
            self.stage = TURN
            if not again:
                seat = self.seat + 1
                self.seat = 0 if seat == self.players else seat
        elif again and self.last_clover_turn:
            self.turn += 1
            self.stage = LAST_TURN
        else:
            # Ruling: a clover taken on the last turn gives no further one.
            self.stage = OVER

    @property
    def ending(self) -> str | None:
        """What ended the game, one of ``ENDINGS``; none while it goes on."""
        if self.stage != OVER:
            return None
        return LIMIT_REACHED if self.pile_size else LAST_TILE

    # What it is worth

    def score(self, seat: i64) -> i64:
        """Return the seat's total as it stands."""
        return (
            self.row_score(seat)
            + by_count(WISH_SCORES, i64(self.wishes[seat]))
            + i64(self.bonus[seat])
        )

    def row_score(self, seat: i64) -> i64:
        """Return the points for the lengths of the seat's rows."""
        total: i64 = 0
        for row in range(seat * COLOURS, seat * COLOURS + COLOURS):
            total += by_count(ROW_SCORES, height(self.stacks, row))
        return total

    def breakdown(self) -> list[dict[str, int]]:
        """Return each seat's points by component; they add up to ``scores()``."""
        return [
            {
                "rows": int(self.row_score(seat)),
                "wish_stones": int(by_count(WISH_SCORES, i64(self.wishes[seat]))),
                "bonus": int(self.bonus[seat]),
            }
            for seat in range(self.players)
        ]

    # Who may know what

    def determinize(self, seat: int, rng: Rng) -> WegDerSteineState:
        """Return a random complete state: only the face-down tiles are unknown, to all alike."""
        self.at_table(seat)
        state = self.copy()
        counts = no_counts()
        count_pile(counts, self.pile, self.left)
        unseen = in_order(counts, self.pile_size)
        rng.shuffle(unseen)
        state.pile = no_cards(i64(len(self.pile)))
        refill_pile(unseen, 0, state.pile, state.left)
        return state

    def room(self, seat: i64) -> i64:
        """Return how many tiles the seat's rows still accept."""
        return count_of(self.accepts[seat])

    def outcome(self, action: int) -> str | None:
        """Return the tile that ``reveal`` would turn up."""
        if action == REVEAL:
            return TILE_NAMES[int(next_card(self.pile, self.left, self.seat))]
        return None

    def seen_by(self, viewer: int) -> View:
        """Build the view of a seat, ``PUBLIC`` or ``EVERYTHING``."""
        players = int(self.players)
        return {
            **self.common_view(viewer, {"last_clover_turn": int(self.last_clover_turn)}),
            "rows": [
                stack_views(self.stacks, COLOURS * seat, LETTERS, TILE_NAMES)
                for seat in range(players)
            ],
            "middle": names_of(self.middle, KIND_NAMES),
            "revealed": TILE_NAMES[int(self.revealed)] if self.stage == REVEALED else None,
            "pile": pile_view(self.pile, self.left, viewer, TILE_NAMES),
            "bonus": [int(bonus) for bonus in self.bonus],
            "wish_stones": [int(wishes) for wishes in self.wishes],
        }

    def write_view(self, out: BytesWriter, viewer: i64) -> None:
        """Write what ``seen_by`` builds."""
        self.write_ruleset(out, size=16, options=2)
        write_field(out, fields.LAST_CLOVER_TURN, i64(self.last_clover_turn))
        self.write_standing(out, viewer)
        out.write(fields.ROWS)
        write_array(out, self.players)
        for seat in range(self.players):
            write_stacks(out, self.stacks, seat * COLOURS, PACKED_LETTERS, PACKED_KINDS)
        out.write(fields.MIDDLE)
        write_names_of(out, self.middle, PACKED_KINDS)
        out.write(fields.REVEALED)
        out.write(PACKED_KINDS[self.revealed] if self.stage == REVEALED else NIL)
        out.write(fields.PILE)
        write_pile(out, self.pile, self.left, viewer, PACKED_KINDS)
        out.write(fields.BONUS)
        write_ints(out, self.bonus)
        out.write(fields.WISH_STONES)
        write_ints(out, self.wishes)


def deal(players: int, stream: DealStream, options: dict[str, int]) -> WegDerSteineState:
    """Mix all tiles face down."""
    pile = vec[u8]([kind for kind in range(KINDS)])
    stream.shuffle(pile)
    return WegDerSteineState(
        players=players,
        seat=0,
        stage=TURN,
        turn=1,
        turn_limit=options["turn_limit"],
        last_clover_turn=options["last_clover_turn"] != 0,
        accepts=vec[i64]([CARD_ROWS.all] * players),
        stacks=empty_stacks(players * COLOURS),
        bonus=vec[u8]([0] * players),
        wishes=vec[u8]([0] * players),
        pile=pile,
        left=stream_sizes(KINDS, players),
        pile_size=KINDS,
        middle=0,
        revealed=NO_TILE,
    )
