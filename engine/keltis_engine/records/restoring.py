"""Make a game from a view: what a player needs who has only his view and wants to search."""

from __future__ import annotations

from typing import Any

from librt.vecs import vec
from mypy_extensions import i64, u8

from keltis_engine.bits import BIT
from keltis_engine.cards.hands import empty_hands, gain, gain_openly
from keltis_engine.cards.kinds import (
    COLOURS,
    HAND_SIZE,
    KIND_NAMES,
    KINDS,
    LETTERS,
    REMOVED_FOR_TWO,
)
from keltis_engine.cards.rows import CARD_ROWS
from keltis_engine.cards.stacks import cards_of, empty_stacks, push
from keltis_engine.cards.unseen import no_cards, refill_pile
from keltis_engine.errors import BadView
from keltis_engine.games import kartenspiel, kartenspiel_cards, keltis, neue_wege, weg_der_steine
from keltis_engine.games.kartenspiel_cards import (
    PILE_LETTERS,
    POINTS,
    POINTS_ROW,
    WIDTH,
    accepts_after,
)
from keltis_engine.games.variants import find_variant
from keltis_engine.rng import Rng
from keltis_engine.state.state import ENDINGS, State
from keltis_engine.state.views import View
from keltis_engine.table.board import Board
from keltis_engine.table.boards import NETWORK, PATH_BOARD, STACK_NAMES
from keltis_engine.table.card_table import CardTable


def restore(view: View, rng: Rng) -> State:
    """Return a random complete state that agrees with a seat's view.

    It is the very state that ``determinize`` would give for that seat and these random numbers.
    """
    try:
        find_variant(view["variant"], view["options"])
        if not isinstance(view["viewer"], int):
            raise BadView(f"a game is restored from a seat's view, not {view['viewer']!r}'s")
        return _RESTORERS[view["variant"]](view).determinize(view["viewer"], rng)
    except BadView:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise BadView(f"this is not a seat's view: {type(error).__name__} {error}") from None


def _keltis(view: View) -> State:
    tiles, wish_tiles = _tiles(PATH_BOARD, view, keltis.TILE_NAMES, keltis.WISH_TILE)
    return keltis.KeltisState(
        players=view["players"],
        seat=view["seat"],
        stage=keltis.PHASES.index(view["phase"]),
        turn=view["turn"],
        turn_limit=view["options"]["turn_limit"],
        table=_number_card_table(view),
        figures=_figures(PATH_BOARD, view),
        points=vec[u8](view["points"]),
        wishes=vec[u8](view["wish_stones"]),
        tiles=tiles,
        wish_tiles=wish_tiles,
        in_goal=view["in_goal"],
        entering=_edge(PATH_BOARD, view),
    )


def _neue_wege(view: View) -> State:
    tiles, wish_tiles = _tiles(NETWORK, view, neue_wege.TILE_NAMES, neue_wege.WISH_TILE)
    return neue_wege.NeueWegeState(
        players=view["players"],
        seat=view["seat"],
        stage=neue_wege.PHASES.index(view["phase"]),
        turn=view["turn"],
        turn_limit=view["options"]["turn_limit"],
        table=_number_card_table(view),
        figures=_figures(NETWORK, view),
        points=vec[u8](view["points"]),
        stones=vec[u8]([stones[c] for stones in view["wish_stones"] for c in LETTERS]),
        stone_stacks=vec[u8]([view["stacks"][name] for name in STACK_NAMES]),
        tiles=tiles,
        wish_tiles=wish_tiles,
        in_goal=view["in_goal"],
        laid=0 if view["laid"] is None else LETTERS.index(view["laid"]),
        entering=_edge(NETWORK, view),
        draws=view["draws"],
    )


def _kartenspiel(view: View) -> State:
    opens = view["options"]["end_card_opens_row"] != 0
    table = _table(view, kartenspiel_cards.DECK, kartenspiel_cards.CARD_NAMES, PILE_LETTERS)
    for seat in range(view["players"]):
        accepted = i64(kartenspiel.accepts_at_first(opens))
        for colour in range(COLOURS):
            last = -1
            for card in cards_of(table.stacks, table.row(seat, colour)):
                if card < POINTS:
                    accepted = accepts_after(accepted, last, card)
                    last = card - colour * WIDTH
        table.accepts[seat] = accepted
    return kartenspiel.KartenspielState(
        players=view["players"],
        seat=view["seat"],
        stage=kartenspiel.PHASES.index(view["phase"]),
        turn=view["turn"],
        turn_limit=view["options"]["turn_limit"],
        end_card_opens_row=opens,
        points_on_end_card=view["options"].get("points_on_end_card", 0) != 0,
        table=table,
        wish_row=_members(view["wish_row"]),
        wishes=vec[i64]([_members(stones) for stones in view["wish_stones"]]),
        ended_rows=view["ended_rows"],
        ended_by=kartenspiel.NOBODY if view["ended_by"] is None else view["ended_by"],
        ended_how=0 if view["ending"] is None else ENDINGS.index(view["ending"]),
        draws=view["draws"],
        final_cards=view["final_cards"],
    )


def _weg_der_steine(view: View) -> State:
    number = {name: kind for kind, name in enumerate(KIND_NAMES)}
    players: int = view["players"]
    stacks = empty_stacks(players * COLOURS)
    accepts = vec[i64]([CARD_ROWS.all] * players)
    unseen = set(range(KINDS))
    for seat, rows in enumerate(view["rows"]):
        for colour, letter in enumerate(LETTERS):
            row = seat * COLOURS + colour
            for name in rows[letter]:
                push(stacks, row, number[name])
                unseen.remove(number[name])
            accepts[seat] = CARD_ROWS.again(accepts[seat], stacks, row, colour)
        for name in [name for row in rows.values() for name in row]:
            accepts[seat] &= ~BIT[number[name]]
    middle = [number[name] for name in view["middle"]]
    revealed = weg_der_steine.NO_TILE if view["revealed"] is None else number[view["revealed"]]
    unseen -= {*middle, revealed}
    left = vec[u8](view["pile"]["streams"])
    pile = no_cards(KINDS)
    if len(unseen) != sum(view["pile"]["streams"]):
        raise BadView(f"{len(unseen)} tiles are unseen, not {sum(view['pile']['streams'])}")
    refill_pile(vec[u8](sorted(unseen)), 0, pile, left)
    return weg_der_steine.WegDerSteineState(
        players=players,
        seat=view["seat"],
        stage=weg_der_steine.PHASES.index(view["phase"]),
        turn=view["turn"],
        turn_limit=view["options"]["turn_limit"],
        last_clover_turn=view["options"]["last_clover_turn"] != 0,
        accepts=accepts,
        stacks=stacks,
        bonus=vec[u8](view["bonus"]),
        wishes=vec[u8](view["wish_stones"]),
        pile=pile,
        left=left,
        pile_size=len(unseen),
        middle=_members(middle),
        revealed=revealed,
    )


_RESTORERS = {
    keltis.ID: _keltis,
    neue_wege.ID: _neue_wege,
    kartenspiel.ID: _kartenspiel,
    weg_der_steine.ID: _weg_der_steine,
}


def _number_card_table(view: View) -> CardTable:
    """Return the cards of ``keltis`` or ``neue-wege``."""
    kinds = list(range(KINDS))
    table = _table(view, kinds + kinds, keltis.CARD_NAMES, LETTERS)
    for seat in range(view["players"]):
        for colour in range(COLOURS):
            row = table.row(seat, colour)
            accepted = table.accepts[seat]
            table.accepts[seat] = CARD_ROWS.again(accepted, table.stacks, row, colour)
    return table


def _table(view: View, deck: list[int], names: dict[int, str], letters: list[str]) -> CardTable:
    """Return the cards of a view, those that are hidden from it in any order."""
    number = {name: card for card, name in names.items()}
    players: int = view["players"]
    piles = len(letters)
    unseen = sorted(deck)
    hands = empty_hands(players)
    stacks = empty_stacks(piles + players * piles)

    def see(name: str) -> int:
        unseen.remove(number[name])
        return number[name]

    for k, letter in enumerate(letters):
        for name in view["piles"][letter]:
            push(stacks, k, see(name))
    for seat in range(players):
        for k, row in enumerate(_rows(view, seat)):
            for name in row:
                push(stacks, piles + seat * piles + k, see(name))
        _hand(view["hands"][seat], hands, seat, see)
    for seat, hand in enumerate(view["hands"]):
        seen = hand["known"] if hand["cards"] is None else hand["cards"]
        for _ in range(hand["size"] - len(seen)):
            gain(hands, seat, unseen.pop())

    out = REMOVED_FOR_TWO if players == 2 else 0
    pile_size = sum(view["pile"]["streams"])
    if len(unseen) != pile_size + view["removed"]["size"] or view["removed"]["size"] != out:
        raise BadView("the cards of this view do not add up to a deck")
    left = vec[u8](view["pile"]["streams"])
    pile = no_cards(len(deck) - players * HAND_SIZE - out)
    refill_pile(vec[u8](unseen), 0, pile, left)
    return CardTable(
        hands=hands,
        accepts=vec[i64]([0] * players),
        stacks=stacks,
        piles=piles,
        pile=pile,
        left=left,
        pile_size=pile_size,
        removed=vec[u8](unseen[pile_size:]),
        closed=_members([letters.index(letter) for letter in view["closed"]]),
    )


def _rows(view: View, seat: int) -> list[list[str]]:
    """Return the rows of a seat in the order of the stacks."""
    rows = [view["rows"][seat][letter] for letter in LETTERS]
    if "points_rows" in view:
        rows.insert(POINTS_ROW, view["points_rows"][seat])
    return rows


def _hand(hand: dict[str, Any], hands: vec[i64], seat: int, see: Any) -> None:
    """Put the cards of a hand that the view shows into the seat's hand."""
    rest = list(hand["cards"] or [])
    for name in hand["known"]:
        gain_openly(hands, seat, see(name))
        if hand["cards"] is not None:
            rest.remove(name)
    for name in rest:
        gain(hands, seat, see(name))


def _figures(board: Board, view: View) -> vec[u8]:
    fields = [[figures["big"], *figures["small"]] for figures in view["figures"]]
    return vec[u8]([board.names.index(name) for seat in fields for name in seat])


def _tiles(board: Board, view: View, names: list[str], wish: int) -> tuple[vec[u8], int]:
    tiles = vec[u8]([0] * len(board.names))
    wish_tiles = 0
    for field, name in view["tiles"].items():
        at = board.names.index(field)
        tiles[at] = names.index(name)
        if names.index(name) >= wish:
            wish_tiles |= 1 << at
    return tiles, wish_tiles


def _edge(board: Board, view: View) -> int:
    return 0 if view["entering"] is None else board.edge_names.index(view["entering"])


def _members(numbers: list[int]) -> int:
    return sum(2**number for number in numbers)
