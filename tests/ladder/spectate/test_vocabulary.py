"""What the games declare becomes what is sent: as it always was."""

import pytest

from keltis_engine import VARIANTS, find_variant
from keltis_engine.state.views import EVERYTHING, PUBLIC
from keltis_ladder.spectate.vocabulary import vocabulary
from tests.engine.support.declared import declared


@pytest.mark.parametrize("variant", VARIANTS)
def test_cards_and_times_are_named_to_whom_they_always_were(variant: str) -> None:
    words = vocabulary(find_variant(variant))
    assert words.texts == [row.notation for row in declared(variant)]
    for row in declared(variant):
        for seat in range(4):
            for viewer in (*range(4), PUBLIC, EVERYTHING):
                knows_all = viewer in (seat, EVERYTHING)
                named = words.names_card(row.action, seat, viewer)
                assert named == (knows_all or row.card != "seat"), row.notation
                timed = words.names_time(row.action, seat, viewer)
                assert timed == (knows_all or row.time != "seat"), row.notation


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_card_is_looked_for_wherever_there_was_one(variant: str) -> None:
    words = vocabulary(find_variant(variant))
    for row in declared(variant):
        # A tile of this game is named by the notation, so there never was a card to be found.
        without = row.card == "none" or (variant == "weg-der-steine" and row.verb == "take")
        assert words.shows_card[row.action] == (not without), row.notation
