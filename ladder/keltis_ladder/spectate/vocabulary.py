"""The words of a ruleset, and what each of them gives away to whom.

What an action hides is declared in the module of its game (``keltis_engine.state.verbs``); here it
becomes what is sent.
"""

from __future__ import annotations

from typing import Final

from keltis_bots.framing import pack
from keltis_engine import Ruleset, State
from keltis_engine.state.verbs import NO_CARD, OWN_CARD, OWN_TIME
from keltis_engine.state.views import EVERYTHING


class Vocabulary:
    """The words of one ruleset, which all its games share, and what each of them gives away."""

    def __init__(self, ruleset: Ruleset) -> None:
        texts = [ruleset.format(action) for action in range(ruleset.actions)]
        self.texts = texts
        self.ids = [pack(action) for action in range(len(texts))]
        self.names = [pack(text) for text in texts]
        self.shows_card = [sight != NO_CARD for sight in ruleset.card_sight]
        self.hides_card = [sight == OWN_CARD for sight in ruleset.card_sight]
        self.hides_time = [sight == OWN_TIME for sight in ruleset.time_sight]
        # All of an event but the card, by seat and action.
        self.events = [
            [
                b"\x84" + pack("seat") + pack(seat) + pack("action") + pack(action)
                + pack("notation") + pack(text) + pack("card")
                for action, text in enumerate(texts)
            ]
            for seat in range(max(ruleset.players))
        ]  # fmt: skip

    def card(self, state: State, action: int) -> str | None:
        """Return the card that a decision, which is about to be carried out, brings the seat."""
        return state.outcome(action) if self.shows_card[action] else None

    def names_card(self, action: int, seat: int, viewer: int) -> bool:
        """Return whether the card of a seat's decision is named to a seat or to all onlookers."""
        return viewer in (seat, EVERYTHING) or not self.hides_card[action]

    def names_time(self, action: int, seat: int, viewer: int) -> bool:
        """Return whether a seat or all onlookers may know how long a seat took for its decision."""
        return viewer in (seat, EVERYTHING) or not self.hides_time[action]


_known: Final[dict[tuple[str, int], Vocabulary]] = {}


def vocabulary(ruleset: Ruleset) -> Vocabulary:
    """Return the words of a ruleset, made once; its options do not change them."""
    key = (ruleset.id, ruleset.version)
    if key not in _known:
        _known[key] = Vocabulary(ruleset)
    return _known[key]
