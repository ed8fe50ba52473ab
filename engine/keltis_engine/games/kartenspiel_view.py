"""What an onlooker may see of a game of ``kartenspiel``: as plain data, and as msgpack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from librt.strings import BytesWriter
from mypy_extensions import i64

from keltis_engine.cards.stacks import cards_of, write_stack
from keltis_engine.games.kartenspiel_cards import (
    CARD_NAMES,
    PACKED_CARDS,
    PACKED_PILE_LETTERS,
    PILE_LETTERS,
    POINTS_ROW,
    WIDTH,
)
from keltis_engine.packing import NIL, write_array, write_field, write_int
from keltis_engine.state import fields
from keltis_engine.state.views import View, names_of, write_names_of

if TYPE_CHECKING:
    from keltis_engine.games.kartenspiel import KartenspielState

STONES: Final = [str(value) for value in range(WIDTH)]
PACKED_STONES: Final = [bytes([value]) for value in range(WIDTH)]


def view_of(state: KartenspielState, viewer: int) -> View:
    """Build the view of a seat, ``PUBLIC`` or ``EVERYTHING``."""
    players = int(state.players)
    options = {"end_card_opens_row": int(state.end_card_opens_row)}
    if state.points_on_end_card:
        options["points_on_end_card"] = 1
    return {
        **state.common_view(viewer, options),
        **state.table.seen_by(viewer, PILE_LETTERS, CARD_NAMES),
        "points_rows": [
            [
                CARD_NAMES[card]
                for card in cards_of(state.table.stacks, state.table.row(seat, POINTS_ROW))
            ]
            for seat in range(players)
        ],
        "wish_row": [int(stone) for stone in names_of(state.wish_row, STONES)],
        "wish_stones": [
            [int(stone) for stone in names_of(wishes, STONES)] for wishes in state.wishes
        ],
        "ended_rows": int(state.ended_rows),
        "ended_by": None if state.ending is None else int(state.ended_by),
        "draws": int(state.draws),
        "final_cards": int(state.final_cards),
    }


def write_view_of(state: KartenspielState, out: BytesWriter, viewer: i64) -> None:
    """Write what ``view_of`` builds."""
    table = state.table
    state.write_ruleset(out, size=23, options=3 if state.points_on_end_card else 2)
    write_field(out, fields.END_CARD_OPENS_ROW, i64(state.end_card_opens_row))
    if state.points_on_end_card:
        write_field(out, fields.POINTS_ON_END_CARD, 1)
    state.write_standing(out, viewer)
    table.write_view(out, viewer, PACKED_PILE_LETTERS, PACKED_CARDS)
    out.write(fields.POINTS_ROWS)
    write_array(out, state.players)
    for seat in range(state.players):
        write_stack(out, table.stacks, table.row(seat, POINTS_ROW), PACKED_CARDS)
    out.write(fields.WISH_ROW)
    write_names_of(out, state.wish_row, PACKED_STONES)
    out.write(fields.WISH_STONES)
    write_array(out, state.players)
    for wishes in state.wishes:
        write_names_of(out, wishes, PACKED_STONES)
    write_field(out, fields.ENDED_ROWS, state.ended_rows)
    out.write(fields.ENDED_BY)
    if state.ending is None:
        out.write(NIL)
    else:
        write_int(out, state.ended_by)
    write_field(out, fields.DRAWS, state.draws)
    write_field(out, fields.FINAL_CARDS, state.final_cards)
