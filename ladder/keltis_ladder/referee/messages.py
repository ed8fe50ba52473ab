"""The scribe writes the messages of one game to its seats, and remembers what each was told.

A request is put together from parts that were packed before: the names of actions and most
events are the same in every game, and only the view has to be packed anew.
"""

from __future__ import annotations

from typing import Any, Final

import msgpack

from keltis_bots.framing import LENGTH, frame, pack
from keltis_engine import Ruleset, State
from keltis_engine.views import EVERYTHING

FAULT: Final = "fault"  # how a game ends in which a fault left one bot

_NOTHING: Final = pack(None)
_HEAD: Final = b"\x88" + pack("type") + pack("choose") + pack("id")
_LEGAL: Final = pack("legal")
_NOTATION: Final = pack("notation")
_LEFT_MS: Final = pack("left_ms")
_INCREMENT: Final = pack("increment_ms")
_EVENTS: Final = pack("events")
_VIEW: Final = pack("view")
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


class Scribe:
    """Writes the messages of one game."""

    def __init__(
        self, ruleset: Ruleset, players: int, bank_ms: int, increment_ms: int, words: Vocabulary
    ) -> None:
        self.ruleset = ruleset
        self.players = players
        self.bank_ms = bank_ms
        self.increment_ms = increment_ms
        self.words = words
        self._increment = _INCREMENT + pack(increment_ms)
        self._news: list[list[bytes]] = [[] for _ in range(players)]  # events not yet told, by seat

    def game(self, seat: int) -> bytes:
        """Return the message that a game begins."""
        return game_message(self.ruleset, self.players, seat, self.bank_ms, self.increment_ms)

    def request(self, state: State, seat: int, legal: list[int], id: int, left_ms: int) -> bytes:
        """Return the request for a decision; the events in it count as told."""
        ids, names = self.words.ids, self.words.names
        news = self._news[seat]
        count = array_header(len(legal))
        # What every bot looks at stands in front: a decoder may stop there.
        payload = b"".join(
            [
                _HEAD,
                pack(id),
                _LEGAL,
                count,
                *[ids[action] for action in legal],
                _LEFT_MS,
                pack(left_ms),
                self._increment,
                _NOTATION,
                count,
                *[names[action] for action in legal],
                _EVENTS,
                array_header(len(news)),
                *news,
                _VIEW,
                state.packed_view(seat),
            ]
        )
        news.clear()
        return LENGTH.pack(len(payload)) + payload

    def note(self, state: State, action: int) -> None:
        """Remember a decision that is about to be carried out, for all who sit at the table.

        The card that it brings is named only to those who may see it.
        """
        words = self.words
        actor = int(state.seat)
        event = words.events[actor][action]
        if not words.shows_card[action]:
            event += _NOTHING
            for news in self._news:
                news.append(event)
            return
        shown = event + pack(words.card(state, action))
        hidden = event + _NOTHING
        for seat, news in enumerate(self._news):
            news.append(shown if words.names_card(action, actor, seat) else hidden)

    def end(self, seat: int, ending: str, scores: list[int], ranks: list[int]) -> bytes:
        """Return the message that the game has ended; it shows no hidden card."""
        message: dict[str, Any] = {
            "type": "end",
            "ending": ending,
            "scores": scores,
            "ranks": ranks,
            "events": [msgpack.unpackb(event) for event in self._news[seat]],
        }
        self._news[seat].clear()
        return frame(message)


def game_message(
    ruleset: Ruleset, players: int, seat: int, bank_ms: int, increment_ms: int
) -> bytes:
    """Return the message to a seat that a game begins."""
    return frame(
        {
            "type": "game",
            "variant": ruleset.id,
            "version": ruleset.version,
            "options": dict(ruleset.options),
            "players": players,
            "seat": seat,
            "bank_ms": bank_ms,
            "increment_ms": increment_ms,
        }
    )


def array_header(size: int) -> bytes:
    """Return the header of a msgpack array."""
    if size < 16:
        return bytes((0x90 | size,))
    return b"\xdc" + size.to_bytes(2, "big")
