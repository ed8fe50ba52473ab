"""The messages of one game to its seats, and what each of them has been told.

A request is put together from parts that were packed before: the names of actions and most
events are the same in every game, and only the view has to be packed again.
"""

from __future__ import annotations

from typing import Any, Final

import msgpack

from keltis_bots.framing import LENGTH, frame, pack
from keltis_engine import Ruleset, State
from keltis_ladder.spectate.vocabulary import Vocabulary

FAULT: Final = "fault"  # how a game ends in which a fault left one bot

_NOTHING: Final = pack(None)
_HEAD: Final = b"\x88" + pack("type") + pack("choose") + pack("id")
_LEGAL: Final = pack("legal")
_NOTATION: Final = pack("notation")
_LEFT_MS: Final = pack("left_ms")
_INCREMENT: Final = pack("increment_ms")
_EVENTS: Final = pack("events")
_VIEW: Final = pack("view")


class GameMessages:
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
