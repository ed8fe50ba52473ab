"""What a bot is given: the game it plays, a request for a decision, and how the game ended."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import msgpack

if TYPE_CHECKING:
    from keltis_bots.stopwatch import Stopwatch
    from keltis_engine import Rng, State

# The first field behind those that every bot needs, and the header of a map that ends before it.
_REST: Final = b"\xa8notation"
_HEAD: Final = b"\x85"


@dataclass(frozen=True)
class Game:
    """A game that begins."""

    variant: str
    version: int
    options: dict[str, int]
    players: int
    seat: int
    bank_ms: int
    increment_ms: int


@dataclass(frozen=True)
class Result:
    """A game that has ended. Rank 1 is best; seats that share a rank share a win."""

    ending: str
    scores: list[int]
    ranks: list[int]
    events: list[Event]


class Event(NamedTuple):
    """A decision that was taken at the table, and the card it brought if the bot may see it."""

    seat: int
    action: int
    notation: str
    card: str | None


class Request:
    """A request for a decision. What is expensive to decode is decoded when it is asked for."""

    def __init__(
        self, game: Game, payload: bytes, arrived: float | None = None, cpu_clock: bool = False
    ) -> None:
        """Decode the head of a packed ``choose`` message.

        ``arrived`` is when it came, by ``time.perf_counter``; now unless given. ``cpu_clock`` tells
        whether the referee gives back the time in which the machine kept the bot from running.
        """
        self.game = game
        self._arrived = time.perf_counter() if arrived is None else arrived
        self._cpu_clock = cpu_clock
        self._stopwatch: Stopwatch | None = None
        self._payload = payload
        self._all: dict[str, Any] | None = None
        self._events: list[Event] | None = None
        fields = _head(payload)
        self.id: int = fields["id"]
        self.seat = game.seat
        self.legal: list[int] = fields["legal"]
        self.left_ms: int = fields["left_ms"]  # for this and all later decisions
        self.increment_ms: int = fields["increment_ms"]

    @property
    def view(self) -> dict[str, Any]:
        """All that the seat may know."""
        return cast(dict[str, Any], self._fields()["view"])

    @property
    def notation(self) -> list[str]:
        """The legal actions as readable text, in the same order as ``legal``."""
        return cast(list[str], self._fields()["notation"])

    @property
    def events(self) -> list[Event]:
        """The decisions at the table since the last request, the own one included."""
        if self._events is None:
            self._events = read_events(self._fields()["events"])
        return self._events

    @property
    def stopwatch(self) -> Stopwatch:
        """Counts what this decision costs on the referee's clock."""
        if self._stopwatch is None:
            from keltis_bots.stopwatch import Stopwatch

            self._stopwatch = Stopwatch(self._arrived, self._cpu_clock)
        return self._stopwatch

    @property
    def used_ms(self) -> float:
        """What this decision has cost so far of ``left_ms``, as far as the bot can know.

        Look at it early, best as the first thing: until then it counts all time as used, later only
        that in which the machine let the bot run, if the referee's clock does that.
        """
        return 1000 * self.stopwatch.seconds()

    def _fields(self) -> dict[str, Any]:
        if self._all is None:
            self._all = cast(dict[str, Any], msgpack.unpackb(self._payload))
        return self._all

    def restore(self, rng: Rng | None = None) -> State:
        """Return a random complete game that agrees with the view, to search in.

        Its ``determinize(request.seat, rng)`` gives others, all equally likely.
        """
        from keltis_engine import Rng, restore

        if rng is None:
            import secrets

            rng = Rng(secrets.randbits(64))
        return restore(self.view, rng)


def _head(payload: bytes) -> dict[str, Any]:
    """Decode the fields in front of the notation; all of them if the order is another one."""
    end = payload.find(_REST)
    try:
        fields: dict[str, Any] = msgpack.unpackb(_HEAD + payload[1:end])
        if "increment_ms" in fields:
            return fields
    except ValueError:
        pass
    return cast(dict[str, Any], msgpack.unpackb(payload))


def read_game(message: dict[str, Any]) -> Game:
    """Return the game that a message announces."""
    return Game(**{name: message[name] for name in Game.__dataclass_fields__})


def read_result(message: dict[str, Any]) -> Result:
    """Return the result that a message tells."""
    return Result(
        message["ending"], message["scores"], message["ranks"], read_events(message["events"])
    )


def read_events(events: list[dict[str, Any]]) -> list[Event]:
    """Return the events of a message."""
    return [Event(e["seat"], e["action"], e["notation"], e["card"]) for e in events]
