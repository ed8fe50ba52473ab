"""Situations: a position of a game, written down as a player would describe it.

Cards, tiles and fields have the names of the notation, separated by blanks, and everything that
belongs to the seats is a list with one text for each seat; what is left out is empty:

    keltis(hands=["R3 B10", "Y1"], rows=["B4 B7"], figures=["big B2, R1"], tiles={"R3": "clover"})

The cards are taken out of the real deck, so no card can be there once too often. The
draw pile is ``pile``, for each seat the cards that it will draw in that order. Without it, all
cards that are nowhere else form the pile. The path tiles are those given and no others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from librt.vecs import vec
from mypy_extensions import u8

from keltis_engine import State, find_variant
from keltis_engine.cards.hands import empty_hands, gain
from keltis_engine.cards.kinds import COLOURS, KIND_NAMES, LETTERS
from keltis_engine.cards.rows import CARD_ROWS
from keltis_engine.cards.stacks import push
from keltis_engine.cards.streams import stream_sizes
from keltis_engine.games.kartenspiel import KartenspielState
from keltis_engine.games.kartenspiel_cards import CARD_NAMES, PILE_LETTERS
from keltis_engine.games.keltis import TILE_NAMES as PATH_TILE_NAMES
from keltis_engine.games.keltis import WISH_TILE as PATH_WISH_TILE
from keltis_engine.games.keltis import KeltisState
from keltis_engine.games.neue_wege import TILE_NAMES as NETWORK_TILE_NAMES
from keltis_engine.games.neue_wege import WISH_TILE as NETWORK_WISH_TILE
from keltis_engine.games.neue_wege import NeueWegeState
from keltis_engine.games.weg_der_steine import TURN, WegDerSteineState
from keltis_engine.table.board import FIGURES, START, Board
from keltis_engine.table.boards import (
    NETWORK,
    NETWORK_TILE_FIELDS,
    PATH_BOARD,
    PATH_TILE_FIELDS,
    STACK_NAMES,
)

CardState = TypeVar("CardState", KeltisState, NeueWegeState, KartenspielState)
BoardState = TypeVar("BoardState", KeltisState, NeueWegeState)

CARDS = {name: kind for kind, name in enumerate(KIND_NAMES)}
CARDS_AND_POINTS = {name: card for card, name in CARD_NAMES.items()}


def keltis(
    *,
    players: int = 2,
    hands: Sequence[str] = (),
    rows: Sequence[str] = (),
    piles: str = "",
    pile: Sequence[str] | None = None,
    figures: Sequence[str] = (),
    tiles: Mapping[str, str] | None = None,
    points: Sequence[int] = (),
    wishes: Sequence[int] = (),
    seat: int = 0,
    **options: int,
) -> KeltisState:
    """Return a game of ``keltis`` in which the seat begins its turn."""
    state = find_variant("keltis", options).deal(players, 0)
    assert isinstance(state, KeltisState)
    _set_cards(state, CARDS, LETTERS, hands, rows, piles, pile, _lay_into_row(state))
    _set_figures(state, PATH_BOARD, figures)
    spots = [PATH_BOARD.names[field] for field in PATH_TILE_FIELDS]
    _set_tiles(state, PATH_BOARD, tiles or {}, spots, PATH_TILE_NAMES, PATH_WISH_TILE)
    state.points = vec[u8](_for_all(points, players))
    state.wishes = vec[u8](_for_all(wishes, players))
    state.seat = seat
    return state


def neue_wege(
    *,
    players: int = 2,
    hands: Sequence[str] = (),
    rows: Sequence[str] = (),
    piles: str = "",
    pile: Sequence[str] | None = None,
    figures: Sequence[str] = (),
    tiles: Mapping[str, str] | None = None,
    stacks: Mapping[str, int] | None = None,
    points: Sequence[int] = (),
    stones: Sequence[str] = (),
    seat: int = 0,
    **options: int,
) -> NeueWegeState:
    """Return a game of ``neue-wege``; ``stones`` are letters, as in ``"BBBY"``."""
    state = find_variant("neue-wege", options).deal(players, 0)
    assert isinstance(state, NeueWegeState)
    _set_cards(state, CARDS, LETTERS, hands, rows, piles, pile, _lay_into_row(state))
    _set_figures(state, NETWORK, figures)
    spots = [NETWORK.names[field] for field in NETWORK_TILE_FIELDS]
    _set_tiles(state, NETWORK, tiles or {}, spots, NETWORK_TILE_NAMES, NETWORK_WISH_TILE)
    for field, size in (stacks or {}).items():
        state.stone_stacks[STACK_NAMES.index(field)] = size
    state.points = vec[u8](_for_all(points, players))
    for owner, letters in enumerate(stones):
        for letter in letters:
            state.stones[owner * COLOURS + LETTERS.index(letter)] += 1
    state.seat = seat
    return state


def kartenspiel(
    *,
    players: int = 2,
    hands: Sequence[str] = (),
    rows: Sequence[str] = (),
    piles: str = "",
    pile: Sequence[str] | None = None,
    wishes: Sequence[Sequence[int]] = (),
    seat: int = 0,
    **options: int,
) -> KartenspielState:
    """Return a game of ``kartenspiel``; ``P5`` lies in the points row, ``P5/R`` in a colour row."""
    state = find_variant("kartenspiel", options).deal(players, 0)
    assert isinstance(state, KartenspielState)

    def lay(owner: int, action: int, card: str) -> None:
        state.lay(action)

    _set_cards(state, CARDS_AND_POINTS, PILE_LETTERS, hands, rows, piles, pile, lay)
    for owner, values in enumerate(wishes):
        for value in values:
            state.wish_row ^= 1 << value
            state.wishes[owner] |= 1 << value
    state.seat = seat
    return state


def weg_der_steine(
    *,
    players: int = 2,
    rows: Sequence[str] = (),
    middle: str = "",
    face_down: Sequence[str] | None = None,
    seat: int = 0,
    **options: int,
) -> WegDerSteineState:
    """Return a game of ``weg-der-steine``; ``face_down`` is what each seat will reveal."""
    state = find_variant("weg-der-steine", options).deal(players, 0)
    assert isinstance(state, WegDerSteineState)
    box = Counter(KIND_NAMES)
    for owner, tiles in enumerate(rows):
        for tile in tiles.split():
            _take_out(box, tile)
            if not state.accepts[owner] >> CARDS[tile] & 1:
                raise ValueError(f"{tile} does not fit into the rows {tiles!r}")
            state.seat = owner
            state.take(CARDS[tile])
    for tile in middle.split():
        _take_out(box, tile)
        state.middle |= 1 << CARDS[tile]
    state.pile, state.left = _streams(box, CARDS, face_down, players)
    state.pile_size = sum(int(size) for size in state.left)
    state.seat = seat
    state.stage = TURN
    state.turn = 1
    return state


def play(state: State, *actions: str) -> None:
    """Let the seats decide so, one after the other."""
    for action in actions:
        state.apply(state.notation.index(action))


def legal(state: State, word: str = "") -> list[str]:
    """Return the notation of what is legal now, or of those actions that begin with the word."""
    names = [state.notation[action] for action in state.legal_actions()]
    return [name for name in names if name.startswith(word)]


def hand(state: State, seat: int) -> str:
    """Return the cards of a hand as a position writes them."""
    return " ".join(state.reveal()["hands"][seat]["cards"])


def row(state: State, seat: int, letter: str) -> str:
    """Return a colour row as a position writes it."""
    return " ".join(state.reveal()["rows"][seat][letter])


def pile(state: State, letter: str) -> str:
    """Return a discard pile, the top card last."""
    return " ".join(state.reveal()["piles"][letter])


def figures(state: State, seat: int) -> str:
    """Return the figures of a seat that have left the start, as a position writes them."""
    view = state.reveal()["figures"][seat]
    fields = [f"big {view['big']}", *view["small"]]
    return ", ".join(field for field in fields if not field.endswith("start"))


Layer = Callable[[int, int, str], None]  # seat, action, card


def _lay_into_row(state: KeltisState | NeueWegeState) -> Layer:
    def lay(seat: int, action: int, card: str) -> None:
        state.table.lay(CARD_ROWS, seat, LETTERS.index(card[0]), CARDS[card])

    return lay


def _set_cards(
    state: CardState,
    numbers: Mapping[str, int],
    letters: Sequence[str],
    hands: Sequence[str],
    rows: Sequence[str],
    piles: str,
    pile: Sequence[str] | None,
    lay: Layer,
) -> None:
    players = int(state.players)
    table = state.table
    deck = _deck(state)
    table.hands = empty_hands(players)
    for owner, cards in enumerate(rows):
        state.seat = owner
        for place in cards.split():
            card, _, colour = place.partition("/")
            _take_out(deck, card)
            gain(table.hands, owner, numbers[card])
            action = f"lay {card} on {colour}" if colour else f"lay {card}"
            if action not in legal(state):
                raise ValueError(f"{place} does not fit into the rows {cards!r}")
            lay(owner, state.notation.index(action), card)
    for owner, cards in enumerate(hands):
        for card in cards.split():
            _take_out(deck, card)
            gain(table.hands, owner, numbers[card])
    for card in piles.split():
        _take_out(deck, card)
        push(table.stacks, letters.index(card[0]), numbers[card])
    table.pile, table.left = _streams(deck, numbers, pile, players)
    table.pile_size = sum(int(size) for size in table.left)
    table.removed = vec[u8]([numbers[card] for card in deck.elements()])


def _deck(state: State) -> Counter[str]:
    """Return all cards of a game that has just been dealt."""
    view = state.reveal()
    deck = Counter[str](view["removed"]["cards"])
    for cards in view["pile"]["cards"]:
        deck.update(cards)
    for seat in view["hands"]:
        deck.update(seat["cards"])
    return deck


def _take_out(deck: Counter[str], card: str) -> None:
    if not deck[card]:
        raise ValueError(f"the game has no such card, or not one more of it: {card}")
    deck[card] -= 1


def _streams(
    deck: Counter[str],
    numbers: Mapping[str, int],
    streams: Sequence[str] | None,
    players: int,
) -> tuple[vec[u8], vec[u8]]:
    """Return a draw pile and the sizes of its streams; its cards are taken out of the deck."""
    if streams is None:
        cards = sorted(deck.elements(), key=numbers.__getitem__)
        deck.clear()
        return vec[u8]([numbers[card] for card in cards]), stream_sizes(len(cards), players)
    texts = list(streams) + [""] * (players - len(streams))
    drawn = [text.split() for text in texts]
    longest = max(len(cards) for cards in drawn)
    pile = vec[u8]([0] * (players * longest))
    for stream, cards in enumerate(drawn):
        for k, card in enumerate(reversed(cards)):
            _take_out(deck, card)
            pile[stream + k * players] = numbers[card]
    return pile, vec[u8]([len(cards) for cards in drawn])


def _set_figures(state: BoardState, board: Board, figures: Sequence[str]) -> None:
    places = [START] * (int(state.players) * FIGURES)
    in_goal = 0
    for owner, fields in enumerate(figures):
        small = owner * FIGURES + 1
        for field in filter(None, fields.split(", ")):
            name = field.removeprefix("big ")
            in_goal += _is_goal(board, name)
            if name != field:
                places[owner * FIGURES] = board.names.index(name)
            elif small == owner * FIGURES + FIGURES:
                raise ValueError(f"seat {owner} has only four small figures: {fields}")
            else:
                places[small] = board.names.index(name)
                small += 1
    state.figures = vec[u8](places)
    state.in_goal = in_goal


def _is_goal(board: Board, field: str) -> bool:
    first = 7 if board is PATH_BOARD else 8
    return field != "start" and int("".join(filter(str.isdigit, field))) >= first


def _set_tiles(
    state: BoardState,
    board: Board,
    tiles: Mapping[str, str],
    spots: Iterable[str],
    names: Sequence[str],
    wish_tile: int,
) -> None:
    by_field = [0] * len(board.names)
    wish_tiles = 0
    for field, name in tiles.items():
        if field not in spots:
            raise ValueError(f"no tile can lie on {field}")
        tile = names.index(name)
        by_field[board.names.index(field)] = tile
        if tile >= wish_tile:
            wish_tiles |= 1 << board.names.index(field)
    state.tiles = vec[u8](by_field)
    state.wish_tiles = wish_tiles


def _for_all(given: Sequence[int], players: int) -> list[int]:
    return list(given) + [0] * (players - len(given))
