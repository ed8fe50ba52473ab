"""Neue Wege, neue Ziele: the expansion board, where paths part and meet again."""

from __future__ import annotations

from typing import Final, final

from librt.strings import BytesWriter
from librt.vecs import vec
from mypy_extensions import i16, i64, mypyc_attr, u8

from keltis_engine.bits import BIT, count_of, spread
from keltis_engine.cards.hands import held
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
from keltis_engine.cards.stacks import height, pop, push
from keltis_engine.packing import NIL, texts, write_array, write_field, write_ints
from keltis_engine.rng import DealStream, Rng
from keltis_engine.state import fields
from keltis_engine.state.state import OVER, Game, State
from keltis_engine.state.verbs import NO_CARD, OPEN_CARD, OPEN_TIME, OWN_CARD, Verb
from keltis_engine.state.views import View, counts_view, write_counts
from keltis_engine.table.board import (
    ASK,
    GOAL_FIGURES,
    all_at_start,
    board_game_ending,
    figure_named,
    figure_to_move,
)
from keltis_engine.table.boards import (
    NETWORK,
    NETWORK_TILE_FIELDS,
    NO_STACK,
    PACKED_STACKS,
    STACK_NAMES,
    STACK_ON,
    STACK_SIZE,
)
from keltis_engine.table.card_table import CardTable, deal_cards
from keltis_engine.table.scoring import by_count

ID: Final = "neue-wege"
VERSION: Final = 1

# Tiles; 1 to 3 are that many points, wish stones have their colour.
NO_TILE: Final = 0
CLOVER_TILE: Final = 4
DROP_TILE: Final = 5
WISH_TILE: Final = 6  # + colour
TILE_NAMES: Final = ["", "1", "2", "3", "clover", "drop"] + [f"wish {c}" for c in LETTERS]
PACKED_TILES: Final = texts(TILE_NAMES)
TILES: Final = (
    [CLOVER_TILE] * 5
    + [DROP_TILE] * 5
    + [2, 2, 2, 2, 2, 3, 3]
    + [WISH_TILE + c for c in range(COLOURS)]
)

WISH_SCORES: Final = vec[i64]([-4, -3, 2, 3, 6, 10])  # by the number of different colours
SAME_COLOUR: Final = 3
SAME_COLOUR_SCORE: Final = 10

# Phases.
TURN: Final = 1
MOVE: Final = 2  # a card was laid: which figure moves where?
FIGURE: Final = 3  # the big one or a small one?
CLOVER: Final = 4
DROP: Final = 5
DRAW: Final = 6
PHASES: Final = ["over", "turn", "move", "figure", "clover", "drop", "draw"]

# Action ids.
LAY: Final = 0  # + kind
DISCARD: Final = 55  # + kind
MOVE_ALONG: Final = 110  # + edge
SMALL: Final = 169
BIG: Final = 170
CLOVER_ALONG: Final = 171  # + edge
STAY: Final = 230
DROP_ROW: Final = 231  # + colour
DROP_HAND: Final = 236  # + kind
KEEP: Final = 291
DRAW_CARD: Final = 292
TAKE: Final = 293  # + pile
NOTATION: Final[list[str]] = (
    [f"lay {name}" for name in KIND_NAMES]
    + [f"discard {name}" for name in KIND_NAMES]
    + [f"move {edge}" for edge in NETWORK.edge_names]
    + ["small", "big"]
    + [f"clover {edge}" for edge in NETWORK.edge_names]
    + ["stay"]
    + [f"drop row {letter}" for letter in LETTERS]
    + [f"drop hand {name}" for name in KIND_NAMES]
    + ["keep", "draw"]
    + [f"take {letter}" for letter in LETTERS]
)

# What others may know of each decision. The caretaker prefers the first of these that is legal.
VERBS: Final[list[Verb]] = [
    Verb("stay", NO_CARD, OPEN_TIME),
    Verb("keep", NO_CARD, OPEN_TIME),
    Verb("discard", NO_CARD, OPEN_TIME),
    Verb("draw", OWN_CARD, OPEN_TIME),
    Verb("drop", NO_CARD, OPEN_TIME),
    Verb("lay", NO_CARD, OPEN_TIME),
    Verb("take", OPEN_CARD, OPEN_TIME),
    Verb("small", NO_CARD, OPEN_TIME),
    Verb("big", NO_CARD, OPEN_TIME),
    Verb("move", NO_CARD, OPEN_TIME),
    Verb("clover", NO_CARD, OPEN_TIME),
]

CARD_NAMES: Final = dict(enumerate(KIND_NAMES))
NO_EDGE: Final = 0


GAME: Final[Game] = Game(ID, VERSION, PHASES, NOTATION, VERBS)


@final
@mypyc_attr(free_list_len=1, acyclic=True)
class NeueWegeState(State):
    """A game of ``neue-wege``."""

    def __init__(
        self,
        players: i64,
        seat: i64,
        stage: i64,
        turn: i64,
        turn_limit: i64,
        table: CardTable,
        figures: vec[u8],
        points: vec[u8],
        stones: vec[u8],
        stone_stacks: vec[u8],
        tiles: vec[u8],
        wish_tiles: i64,
        in_goal: i64,
        laid: i64,
        entering: i64,
        draws: i64,
    ) -> None:
        self.game = GAME
        self.players = players
        self.seat = seat
        self.stage = stage
        self.turn = turn
        self.turn_limit = turn_limit
        self.table = table
        self.figures = figures
        self.points = points  # by seat: from tiles
        self.stones = stones  # five numbers for each seat: wish stones by colour
        self.stone_stacks = stone_stacks  # by colour: the wish stones left on its stack
        self.tiles = tiles  # by field; never changes, so copies share it
        self.wish_tiles = wish_tiles  # the fields that still hold their wish stone
        self.in_goal = in_goal  # figures in the goal area, all seats together
        self.laid = laid  # in phase MOVE: the colour of the card that was laid
        self.entering = entering  # in phase FIGURE: the edge the figure will take
        self.draws = draws  # cards to draw this turn

    def copy(self) -> NeueWegeState:
        """Return an independent copy."""
        return NeueWegeState(
            self.players,
            self.seat,
            self.stage,
            self.turn,
            self.turn_limit,
            self.table.copy(),
            self.figures[:],
            self.points[:],
            self.stones[:],
            self.stone_stacks[:],
            self.tiles,
            self.wish_tiles,
            self.in_goal,
            self.laid,
            self.entering,
            self.draws,
        )

    # What is legal

    def list_actions(self, into: vec[i16]) -> i64:
        """Write the legal actions, ascending, to the front of ``into``; return their number."""
        seat = self.seat
        stage = self.stage
        if stage == TURN:
            hand = held(self.table.hands, seat)
            fitting = hand & self.table.accepts[seat] & self.movable_kinds()
            count = spread(fitting, LAY, into, 0)
            return spread(hand, DISCARD, into, count)
        if stage == DRAW:
            return self.table.list_sources(DRAW_CARD, TAKE, into)
        if stage == MOVE:
            edges = NETWORK.open_edges(self.figures, seat)
            return spread(edges & NETWORK.onto[self.laid], MOVE_ALONG, into, 0)
        if stage == FIGURE:
            into[0] = SMALL
            into[1] = BIG
            return 2
        if stage == CLOVER:
            count = spread(NETWORK.open_edges(self.figures, seat), CLOVER_ALONG, into, 0)
            into[count] = STAY
            return count + 1
        if stage == DROP:
            return self.list_drops(into)
        return 0

    def movable_kinds(self) -> i64:
        """Return the kinds that would move a figure.

        Ruling: a card may be laid only if it moves a figure.
        """
        edges = NETWORK.open_edges(self.figures, self.seat)
        kinds: i64 = 0
        for colour in range(i64(COLOURS)):
            if edges & NETWORK.onto[colour]:
                kinds |= CARD_ROWS.row[colour]
        return kinds

    def list_drops(self, into: vec[i16]) -> i64:
        """Write the actions for all cards that may be dropped, and for keeping them."""
        count: i64 = 0
        for colour in range(i64(COLOURS)):
            if height(self.table.stacks, self.table.row(self.seat, colour)):
                into[count] = i16(DROP_ROW + colour)
                count += 1
        count = spread(held(self.table.hands, self.seat), DROP_HAND, into, count)
        into[count] = KEEP
        return count + 1

    # What happens

    def play(self, action: i64) -> None:
        """Carry out an action known to be legal. ``apply`` is the one that checks."""
        if action < DISCARD:
            self.laid = colour_of(action)
            self.table.lay(CARD_ROWS, self.seat, self.laid, action)
            self.stage = MOVE
        elif action < MOVE_ALONG:
            kind = action - DISCARD
            self.table.discard(self.seat, colour_of(kind), kind)
            self.stage = DRAW
        elif action < SMALL:
            self.walk(action - MOVE_ALONG)
        elif action < CLOVER_ALONG:
            self.enter(action == BIG)
        elif action < STAY:
            self.walk(action - CLOVER_ALONG)
        elif action == STAY or action == KEEP:
            self.stage = DRAW
        elif action < DROP_HAND:
            self.drop_from_row(action - DROP_ROW)
        elif action < KEEP:
            kind = action - DROP_HAND
            self.table.discard(self.seat, colour_of(kind), kind)
            self.draws = 2
            self.stage = DRAW
        elif action == DRAW_CARD:
            self.table.draw(self.seat)
            self.refill()
        else:
            self.table.take(self.seat, action - TAKE)
            self.refill()

    def walk(self, edge: i64) -> None:
        """Move a figure along an edge; where the big one or a small one could go, ask which."""
        figure = figure_to_move(self.figures, self.seat, i64(NETWORK.sources[edge]))
        if figure == ASK:
            self.entering = edge
            self.stage = FIGURE
        else:
            self.arrive(figure, edge)

    def enter(self, big: bool) -> None:
        """Let the named figure take the edge that was waiting for it."""
        edge = self.entering
        source = i64(NETWORK.sources[edge])
        self.entering = NO_EDGE
        self.arrive(figure_named(self.figures, self.seat, source, big), edge)

    def arrive(self, figure: i64, edge: i64) -> None:
        """Put the figure on the edge's end and carry out what lies there."""
        field = i64(NETWORK.targets[edge])
        self.figures[figure] = u8(field)
        self.stage = DRAW
        if NETWORK.into_goal & BIT[edge]:
            self.in_goal += 1
            if self.in_goal == GOAL_FIGURES:
                self.stage = OVER
                return
        stack = i64(STACK_ON[field])
        if stack != NO_STACK:
            if self.stone_stacks[stack]:
                self.stone_stacks[stack] -= 1
                self.stones[self.seat * COLOURS + stack] += 1
            return
        tile = self.tiles[field]
        if tile == NO_TILE:
            return
        if tile == CLOVER_TILE:
            self.stage = CLOVER
        elif tile == DROP_TILE:
            self.stage = DROP
        elif tile < WISH_TILE:
            self.points[self.seat] += tile
        elif self.wish_tiles & BIT[field]:
            self.wish_tiles ^= BIT[field]
            self.stones[self.seat * COLOURS + i64(tile) - WISH_TILE] += 1

    def drop_from_row(self, colour: i64) -> None:
        """Put the last card of an own row on its discard pile.

        Ruling: the row's direction is worked out again from the cards that remain.
        """
        table = self.table
        row = table.row(self.seat, colour)
        push(table.stacks, colour, pop(table.stacks, row))
        table.closed |= BIT[colour]
        accepted = table.accepts[self.seat]
        table.accepts[self.seat] = CARD_ROWS.again(accepted, table.stacks, row, colour)
        self.stage = DRAW

    def refill(self) -> None:
        """Go on until the hand is full again; the last card of the draw pile ends the game."""
        if self.table.pile_size == 0:
            self.stage = OVER
        elif self.draws > 1:
            self.draws -= 1
        else:
            self.end_turn()

    def end_turn(self) -> None:
        """Pass the turn on, or end the game at the turn limit."""
        if self.turn == self.turn_limit:
            self.stage = OVER
            return
        self.turn += 1
        seat = self.seat + 1
        self.seat = 0 if seat == self.players else seat
        self.table.closed = 0
        self.draws = 1
        self.stage = TURN

    @property
    def ending(self) -> str | None:
        """What ended the game, one of ``ENDINGS``; none while it goes on."""
        if self.stage != OVER:
            return None
        return board_game_ending(self.in_goal, self.table.pile_size)

    # What it is worth

    def score(self, seat: i64) -> i64:
        """Return the seat's total as it stands."""
        return (
            i64(self.points[seat])
            + NETWORK.figure_score(self.figures, seat)
            + self.wish_score(seat)
        )

    def wish_score(self, seat: i64) -> i64:
        """Return the points for different colours and for many stones of one colour."""
        different: i64 = 0
        total: i64 = 0
        for k in range(seat * COLOURS, seat * COLOURS + COLOURS):
            if self.stones[k]:
                different += 1
            if self.stones[k] >= SAME_COLOUR:
                total += SAME_COLOUR_SCORE
        return total + by_count(WISH_SCORES, different)

    def breakdown(self) -> list[dict[str, int]]:
        """Return each seat's points by component; they add up to ``scores()``."""
        return [
            {
                "tiles": int(self.points[seat]),
                "figures": int(NETWORK.figure_score(self.figures, seat)),
                "wish_stones": int(self.wish_score(seat)),
            }
            for seat in range(self.players)
        ]

    # Who may know what

    def determinize(self, seat: int, rng: Rng) -> NeueWegeState:
        """Return a random complete state that agrees with everything the seat has seen."""
        state = self.copy()
        state.table.redeal(self.at_table(seat), rng)
        return state

    def room(self, seat: i64) -> i64:
        """Return how many card kinds the seat's rows still accept."""
        return count_of(self.table.accepts[seat])

    def outcome(self, action: int) -> str | None:
        """Return the card that a legal action would draw or take, if it does."""
        if action >= DRAW_CARD:
            return CARD_NAMES[int(self.table.outcome(self.seat, action - TAKE))]
        return None

    def seen_by(self, viewer: int) -> View:
        """Build the view of a seat, ``PUBLIC`` or ``EVERYTHING``."""
        players = int(self.players)
        return {
            **self.common_view(viewer, {}),
            **self.table.seen_by(viewer, LETTERS, CARD_NAMES),
            "tiles": NETWORK.tile_view(self.tiles, self.wish_tiles, WISH_TILE, TILE_NAMES),
            "stacks": counts_view(self.stone_stacks, 0, STACK_NAMES),
            "figures": NETWORK.figure_views(self.figures, players),
            "in_goal": int(self.in_goal),
            "laid": LETTERS[self.laid] if self.stage == MOVE else None,
            "entering": NETWORK.edge_names[self.entering] if self.stage == FIGURE else None,
            "draws": int(self.draws),
            "points": [int(points) for points in self.points],
            "wish_stones": [
                counts_view(self.stones, seat * COLOURS, LETTERS) for seat in range(players)
            ],
        }

    def write_view(self, out: BytesWriter, viewer: i64) -> None:
        """Write what ``seen_by`` builds."""
        self.write_ruleset(out, size=25, options=1)
        self.write_standing(out, viewer)
        self.table.write_view(out, viewer, PACKED_LETTERS, PACKED_KINDS)
        out.write(fields.TILES)
        NETWORK.write_tiles(out, self.tiles, self.wish_tiles, WISH_TILE, PACKED_TILES)
        out.write(fields.STACKS)
        write_counts(out, self.stone_stacks, 0, PACKED_STACKS)
        out.write(fields.FIGURES)
        NETWORK.write_figures(out, self.figures, self.players)
        write_field(out, fields.IN_GOAL, self.in_goal)
        out.write(fields.LAID)
        out.write(PACKED_LETTERS[self.laid] if self.stage == MOVE else NIL)
        out.write(fields.ENTERING)
        out.write(NETWORK.packed_edges[self.entering] if self.stage == FIGURE else NIL)
        write_field(out, fields.DRAWS, self.draws)
        out.write(fields.POINTS)
        write_ints(out, self.points)
        out.write(fields.WISH_STONES)
        write_array(out, self.players)
        for seat in range(self.players):
            write_counts(out, self.stones, seat * COLOURS, PACKED_LETTERS)


def deal(players: int, stream: DealStream, options: dict[str, int]) -> NeueWegeState:
    """Shuffle and deal."""
    kinds = list(range(KINDS))
    deck = vec[u8](kinds + kinds)
    stream.shuffle(deck)
    order = vec[u8](TILES)
    stream.shuffle(order)
    tiles, wish_tiles = NETWORK.place_tiles(NETWORK_TILE_FIELDS, order, WISH_TILE)
    return NeueWegeState(
        players=players,
        seat=0,
        stage=TURN,
        turn=1,
        turn_limit=options["turn_limit"],
        table=deal_cards(deck, players, COLOURS, CARD_ROWS.all),
        figures=all_at_start(players),
        points=vec[u8]([0] * players),
        stones=vec[u8]([0] * (players * COLOURS)),
        stone_stacks=vec[u8]([STACK_SIZE] * COLOURS),
        tiles=tiles,
        wish_tiles=wish_tiles,
        in_goal=0,
        laid=0,
        entering=NO_EDGE,
        draws=1,
    )
