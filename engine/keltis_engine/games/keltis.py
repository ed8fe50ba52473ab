"""Keltis, the board game: cards move figures along five stone paths."""

from __future__ import annotations

from typing import Final, final

from librt.strings import BytesWriter
from librt.vecs import vec
from mypy_extensions import i16, i64, mypyc_attr, u8

from keltis_engine.bits import BIT, count_of, index_of, spread
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
from keltis_engine.packing import NIL, texts, write_field, write_ints
from keltis_engine.rng import DealStream, Rng
from keltis_engine.state import fields
from keltis_engine.state.state import OVER, Game, State
from keltis_engine.state.verbs import NO_CARD, OPEN_CARD, OPEN_TIME, OWN_CARD, Verb
from keltis_engine.state.views import View
from keltis_engine.table.board import (
    ASK,
    GOAL_FIGURES,
    all_at_start,
    board_game_ending,
    figure_named,
    figure_to_move,
)
from keltis_engine.table.boards import PATH_BOARD, PATH_TILE_FIELDS
from keltis_engine.table.card_table import CardTable, deal_cards
from keltis_engine.table.scoring import by_count

ID: Final = "keltis"
VERSION: Final = 1

# Path tiles; 1 to 3 are that many points.
NO_TILE: Final = 0
CLOVER_TILE: Final = 4
WISH_TILE: Final = 5
TILE_NAMES: Final = ["", "1", "2", "3", "clover", "wish"]
PACKED_TILES: Final = texts(TILE_NAMES)
TILES: Final = [WISH_TILE] * 9 + [CLOVER_TILE] * 9 + [1, 1, 2, 2, 2, 3, 3]

WISH_SCORES: Final = vec[i64]([-4, -3, 2, 3, 6, 10])

# Phases.
TURN: Final = 1
FIGURE: Final = 2  # a figure leaves the start: the big one or a small one?
MOVE: Final = 3  # a card was laid on a finished path: which other figure moves?
CLOVER: Final = 4
DRAW: Final = 5
PHASES: Final = ["over", "turn", "figure", "move", "clover", "draw"]

# Action ids.
LAY: Final = 0  # + kind
DISCARD: Final = 55  # + kind
SMALL: Final = 110
BIG: Final = 111
MOVE_ON: Final = 112  # + path
CLOVER_ON: Final = 117  # + path
STAY: Final = 122
DRAW_CARD: Final = 123
TAKE: Final = 124  # + pile
NOTATION: Final[list[str]] = (
    [f"lay {name}" for name in KIND_NAMES]
    + [f"discard {name}" for name in KIND_NAMES]
    + ["small", "big"]
    + [f"move {letter}" for letter in LETTERS]
    + [f"clover {letter}" for letter in LETTERS]
    + ["stay", "draw"]
    + [f"take {letter}" for letter in LETTERS]
)

# What others may know of each decision. The caretaker prefers the first of these that is legal.
VERBS: Final[list[Verb]] = [
    Verb("stay", NO_CARD, OPEN_TIME),
    Verb("discard", NO_CARD, OPEN_TIME),
    Verb("draw", OWN_CARD, OPEN_TIME),
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
class KeltisState(State):
    """A game of ``keltis``."""

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
        wishes: vec[u8],
        tiles: vec[u8],
        wish_tiles: i64,
        in_goal: i64,
        entering: i64,
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
        self.wishes = wishes  # by seat: wish stones taken
        self.tiles = tiles  # by field; never changes, so copies share it
        self.wish_tiles = wish_tiles  # the fields that still hold their wish stone
        self.in_goal = in_goal  # figures in the goal area, all seats together
        self.entering = entering  # in phase FIGURE: the edge the figure will take

    def copy(self) -> KeltisState:
        """Return an independent copy."""
        return KeltisState(
            self.players,
            self.seat,
            self.stage,
            self.turn,
            self.turn_limit,
            self.table.copy(),
            self.figures[:],
            self.points[:],
            self.wishes[:],
            self.tiles,
            self.wish_tiles,
            self.in_goal,
            self.entering,
        )

    # What is legal

    def list_actions(self, into: vec[i16]) -> i64:
        """Write the legal actions, ascending, to the front of ``into``; return their number."""
        seat = self.seat
        stage = self.stage
        if stage == TURN:
            hand = held(self.table.hands, seat)
            count = spread(hand & self.table.accepts[seat], LAY, into, 0)
            return spread(hand, DISCARD, into, count)
        if stage == DRAW:
            return self.table.list_sources(DRAW_CARD, TAKE, into)
        if stage == FIGURE:
            into[0] = SMALL
            into[1] = BIG
            return 2
        if stage == MOVE:
            return self.list_paths(MOVE_ON, into)
        if stage == CLOVER:
            count = self.list_paths(CLOVER_ON, into)
            into[count] = STAY
            return count + 1
        return 0

    def list_paths(self, base: i64, into: vec[i16]) -> i64:
        """Write an action for each path on which the player can move a figure."""
        edges = PATH_BOARD.open_edges(self.figures, self.seat)
        count: i64 = 0
        for colour in range(i64(COLOURS)):
            if edges & PATH_BOARD.onto[colour]:
                into[count] = i16(base + colour)
                count += 1
        return count

    # What happens

    def play(self, action: i64) -> None:
        """Carry out an action known to be legal. ``apply`` is the one that checks."""
        if action < DISCARD:
            self.lay(action)
        elif action < SMALL:
            self.discard(action - DISCARD)
        elif action < MOVE_ON:
            self.enter(action == BIG)
        elif action < CLOVER_ON:
            self.advance(action - MOVE_ON)
        elif action < STAY:
            self.advance(action - CLOVER_ON)
        elif action == STAY:
            self.stage = DRAW
        elif action == DRAW_CARD:
            self.draw_card()
        else:
            self.table.take(self.seat, action - TAKE)
            self.end_turn()

    def lay(self, kind: i64) -> None:
        """Lay a card into the own row and move the figure on its path."""
        colour = colour_of(kind)
        self.table.lay(CARD_ROWS, self.seat, colour, kind)
        self.advance(colour)

    def discard(self, kind: i64) -> None:
        """Put a card on the pile of its colour."""
        self.table.discard(self.seat, colour_of(kind), kind)
        self.stage = DRAW

    def advance(self, colour: i64) -> None:
        """Move the own figure of a path one stone, or let one enter if none is there.

        Ruling: where the own figure stands on the end stone, another one must move; and a figure
        that came onto its path without a card is moved by the first card like any other.
        """
        edge = PATH_BOARD.open_edges(self.figures, self.seat) & PATH_BOARD.onto[colour]
        if edge:
            self.walk(index_of(edge))
        else:
            self.stage = MOVE

    def walk(self, edge: i64) -> None:
        """Move a figure along an edge; where the big one or a small one could go, ask which."""
        figure = figure_to_move(self.figures, self.seat, i64(PATH_BOARD.sources[edge]))
        if figure == ASK:
            self.entering = edge
            self.stage = FIGURE
        else:
            self.arrive(figure, edge)

    def enter(self, big: bool) -> None:
        """Let the named figure take the edge that was waiting for it."""
        edge = self.entering
        source = i64(PATH_BOARD.sources[edge])
        self.entering = NO_EDGE
        self.arrive(figure_named(self.figures, self.seat, source, big), edge)

    def arrive(self, figure: i64, edge: i64) -> None:
        """Put the figure on the edge's end and carry out the tile there."""
        field = i64(PATH_BOARD.targets[edge])
        self.figures[figure] = u8(field)
        self.stage = DRAW
        if PATH_BOARD.into_goal & BIT[edge]:
            self.in_goal += 1
            if self.in_goal == GOAL_FIGURES:
                self.stage = OVER
                return
        tile = self.tiles[field]
        if tile == NO_TILE:
            return
        if tile == CLOVER_TILE:
            self.stage = CLOVER
        elif tile == WISH_TILE:
            if self.wish_tiles & BIT[field]:
                self.wish_tiles ^= BIT[field]
                self.wishes[self.seat] += 1
        else:
            self.points[self.seat] += tile

    def draw_card(self) -> None:
        """Draw from the pile; its last card ends the game."""
        self.table.draw(self.seat)
        if self.table.pile_size:
            self.end_turn()
        else:
            self.stage = OVER

    def end_turn(self) -> None:
        """Pass the turn on, or end the game at the turn limit."""
        if self.turn == self.turn_limit:
            self.stage = OVER
            return
        self.turn += 1
        seat = self.seat + 1
        self.seat = 0 if seat == self.players else seat
        self.table.closed = 0
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
            + PATH_BOARD.figure_score(self.figures, seat)
            + by_count(WISH_SCORES, i64(self.wishes[seat]))
        )

    def breakdown(self) -> list[dict[str, int]]:
        """Return each seat's points by component; they add up to ``scores()``."""
        return [
            {
                "tiles": int(self.points[seat]),
                "figures": int(PATH_BOARD.figure_score(self.figures, seat)),
                "wish_stones": int(by_count(WISH_SCORES, i64(self.wishes[seat]))),
            }
            for seat in range(self.players)
        ]

    # Who may know what

    def determinize(self, seat: int, rng: Rng) -> KeltisState:
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
            "tiles": PATH_BOARD.tile_view(self.tiles, self.wish_tiles, WISH_TILE, TILE_NAMES),
            "figures": PATH_BOARD.figure_views(self.figures, players),
            "in_goal": int(self.in_goal),
            "entering": PATH_BOARD.edge_names[self.entering] if self.stage == FIGURE else None,
            "points": [int(points) for points in self.points],
            "wish_stones": [int(wishes) for wishes in self.wishes],
        }

    def write_view(self, out: BytesWriter, viewer: i64) -> None:
        """Write what ``seen_by`` builds."""
        self.write_ruleset(out, size=22, options=1)
        self.write_standing(out, viewer)
        self.table.write_view(out, viewer, PACKED_LETTERS, PACKED_KINDS)
        out.write(fields.TILES)
        PATH_BOARD.write_tiles(out, self.tiles, self.wish_tiles, WISH_TILE, PACKED_TILES)
        out.write(fields.FIGURES)
        PATH_BOARD.write_figures(out, self.figures, self.players)
        write_field(out, fields.IN_GOAL, self.in_goal)
        out.write(fields.ENTERING)
        out.write(PATH_BOARD.packed_edges[self.entering] if self.stage == FIGURE else NIL)
        out.write(fields.POINTS)
        write_ints(out, self.points)
        out.write(fields.WISH_STONES)
        write_ints(out, self.wishes)


def deal(players: int, stream: DealStream, options: dict[str, int]) -> KeltisState:
    """Shuffle and deal."""
    kinds = list(range(KINDS))
    deck = vec[u8](kinds + kinds)
    stream.shuffle(deck)
    order = vec[u8](TILES)
    stream.shuffle(order)
    tiles, wish_tiles = PATH_BOARD.place_tiles(PATH_TILE_FIELDS, order, WISH_TILE)
    return KeltisState(
        players=players,
        seat=0,
        stage=TURN,
        turn=1,
        turn_limit=options["turn_limit"],
        table=deal_cards(deck, players, COLOURS, CARD_ROWS.all),
        figures=all_at_start(players),
        points=vec[u8]([0] * players),
        wishes=vec[u8]([0] * players),
        tiles=tiles,
        wish_tiles=wish_tiles,
        in_goal=0,
        entering=NO_EDGE,
    )
