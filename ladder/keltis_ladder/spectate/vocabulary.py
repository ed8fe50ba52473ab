"""The words of a ruleset, and what each of them gives away to whom."""

from __future__ import annotations

from typing import Final

from keltis_bots.framing import pack
from keltis_engine import Ruleset, State
from keltis_engine.views import EVERYTHING

_SHOWN_TO_ALL: Final = ("take", "reveal")
_ONLY_TO_THE_SEAT: Final = "draw"
_HAND_DECIDES: Final = ("add", "done")


class Vocabulary:
    """The words of one ruleset, which all its games share, and what each of them gives away."""

    def __init__(self, ruleset: Ruleset) -> None:
        texts = [ruleset.format(action) for action in range(ruleset.actions)]
        verbs = [text.split()[0] for text in texts]
        self.texts = texts
        self.ids = [pack(action) for action in range(len(texts))]
        self.names = [pack(text) for text in texts]
        self.shows_card = [verb in _SHOWN_TO_ALL or verb == _ONLY_TO_THE_SEAT for verb in verbs]
        self.hides_card = [verb == _ONLY_TO_THE_SEAT for verb in verbs]
        # Whether there is a choice at all depends on the hand: that the seat was not asked, and
        # so took no time, would tell others about its cards.
        self.hides_time = [verb in _HAND_DECIDES for verb in verbs]
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
        """Tell whether the card of a seat's decision is named to a seat or to all onlookers."""
        return viewer in (seat, EVERYTHING) or not self.hides_card[action]

    def names_time(self, action: int, seat: int, viewer: int) -> bool:
        """Tell whether a seat or all onlookers may know how long a seat took for its decision."""
        return viewer in (seat, EVERYTHING) or not self.hides_time[action]


_known: Final[dict[tuple[str, int], Vocabulary]] = {}


def vocabulary(ruleset: Ruleset) -> Vocabulary:
    """Return the words of a ruleset, made once; its options do not change them."""
    key = (ruleset.id, ruleset.version)
    if key not in _known:
        _known[key] = Vocabulary(ruleset)
    return _known[key]
