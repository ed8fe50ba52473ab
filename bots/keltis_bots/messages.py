"""The messages of the protocol, and the checks of those that a bot sends.

``docs/authors/protocol.md`` is the specification. Messages to a bot: hello, game, choose, end,
error. Messages from a bot: hello, action.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from keltis_bots.framing import (
    MOST_FROM_BOT,
    PREFIX,
    PROTOCOL,
    ProtocolError,
    pack,
    payload_length,
    unpack,
)

LONGEST_NAME: Final = 64
# Clocks, as ``hello`` names them: of the time that a bot used itself, or of all that passed.
CPU_CLOCK: Final = "cpu"
WALL_CLOCK: Final = "wall"
FIXMAP: Final = 0x80  # headers of msgpack maps
MAP16: Final = 0xDE
UINT8: Final = 0xCC  # and of numbers
UINT16: Final = 0xCD

_HELLO_FIELDS: Final = {"type", "protocol", "name", "version"}
_ACTION_FIELDS: Final = {"type", "id", "action"}
# An answer as nearly every bot packs it, up to its two numbers.
_USUAL_START: Final = b"\x83\xa4type\xa6action\xa2id"
_USUAL_ACTION: Final = b"\xa6action"


@dataclass(frozen=True)
class Hello:
    """How a bot introduces itself; the name and version are for logs and may be empty."""

    name: str
    version: str


def hello(server: str, start_ms: int, clock: str | None = None) -> dict[str, Any]:
    """Return the first message to a bot; ``clock`` is left out where it is not known."""
    message = {"type": "hello", "protocol": PROTOCOL, "server": server, "start_ms": start_ms}
    return message if clock is None else {**message, "clock": clock}


def error(code: str, text: str) -> dict[str, Any]:
    """Return the last message to a bot that broke the protocol or was refused."""
    return {"type": "error", "code": code, "text": text}


def read_hello(payload: bytes) -> Hello:
    """Check a bot's answer to hello."""
    message = _read_map(payload, "hello", _HELLO_FIELDS)
    if "protocol" not in message:
        raise _missing("protocol", "hello")
    spoken = message["protocol"]
    if type(spoken) is not int:
        raise _wrong_kind("protocol", spoken, "a whole number")
    if spoken != PROTOCOL:
        raise ProtocolError(
            "wrong-protocol", f"the bot speaks protocol {spoken}, this server speaks {PROTOCOL}"
        )
    texts = []
    for field in ("name", "version"):
        text = message.get(field, "")
        if type(text) is not str or len(text) > LONGEST_NAME or not (text.isprintable()):
            raise _wrong_kind(field, text, f"a text of at most {LONGEST_NAME} printable characters")
        texts.append(text)
    return Hello(*texts)


def read_action(payload: bytes, id: int) -> int:
    """Check a bot's answer to the request with this id and return the action, legal or not."""
    usual = _read_usual_action(payload, id)
    if usual >= 0:
        return usual
    message = _read_map(payload, "action", _ACTION_FIELDS)
    try:
        answered, action = message["id"], message["action"]
    except KeyError as missing:
        raise _missing(missing.args[0], "action") from None
    if type(answered) is not int:
        raise _wrong_kind("id", answered, "a whole number")
    if 0 < answered < id:
        raise ProtocolError(
            "extra-reply",
            f"request {answered} had been answered: write one answer to each request, and no more",
        )
    if answered != id:
        raise ProtocolError(
            "wrong-id", f"the answer is to request {answered}; the open request is {id}"
        )
    if type(action) is not int:
        raise _wrong_kind("action", action, "a whole number, one of the request's legal actions")
    return action


def _read_usual_action(payload: bytes, id: int) -> int:
    """Return the action of a correct answer with its fields in the order that everybody uses.

    It is -1 for all others, which are decoded and looked at: that takes some ten times as long.
    """
    head = _USUAL_START + pack(id) + _USUAL_ACTION
    at = len(head)
    if not payload.startswith(head):
        return -1
    size = len(payload) - at
    if size == 1 and payload[at] < 0x80:
        return payload[at]
    if size == 2 and payload[at] == UINT8:
        return payload[at + 1]
    if size == 3 and payload[at] == UINT16:
        return payload[at + 1] << 8 | payload[at + 2]
    return -1


def unasked(data: bytes, answered: int) -> ProtocolError:
    """Return what is wrong with bytes that came when no request was open.

    It is what would be wrong with them as the next answer, since it is chance on which side of the
    next request they arrive. ``answered`` is the last request that has its answer.
    """
    try:
        if len(data) >= PREFIX:
            end = PREFIX + payload_length(data, MOST_FROM_BOT)
            if len(data) >= end:
                read_action(data[PREFIX:end], answered + 1)
    except ProtocolError as error:
        return error
    return ProtocolError(
        "extra-reply",
        f"{len(data)} bytes came when no request was open: write one answer to each request, "
        "and no more",
    )


def _read_map(payload: bytes, expected: str, fields: set[str]) -> dict[str, Any]:
    """Return the message if it is a map of that type without fields we do not know."""
    message = unpack(payload)
    if type(message) is not dict:
        raise ProtocolError(
            "not-a-map", f"the message is a {type(message).__name__}; every message is a map"
        )
    if message.get("type") != expected:
        if "type" not in message:
            raise _missing("type", expected)
        raise ProtocolError(
            "wrong-type",
            f"a message of type {_short(message['type'])} came; expected {expected!r}",
        )
    if not message.keys() <= fields:
        unknown = ", ".join(sorted(_short(name) for name in message.keys() - fields))
        raise ProtocolError(
            "unknown-field",
            f"{expected!r} has no field {unknown}; it has {', '.join(sorted(fields))}",
        )
    if _announced_fields(payload) != len(message):
        raise ProtocolError("duplicate-field", f"a field of {expected!r} is there twice")
    return message


def _announced_fields(payload: bytes) -> int:
    """Return how many fields the header of a map announces: the decoder drops doubles silently."""
    if payload[0] & 0xF0 == FIXMAP:
        return payload[0] & 0x0F
    size = 2 if payload[0] == MAP16 else 4
    return int.from_bytes(payload[1 : 1 + size], "big")


def _missing(field: str, message: str) -> ProtocolError:
    return ProtocolError("missing-field", f"the message lacks the field {field!r} of {message!r}")


def _wrong_kind(field: str, value: object, expected: str) -> ProtocolError:
    return ProtocolError(
        "bad-field", f"the field {field!r} is {_short(value)}; expected {expected}"
    )


def _short(value: object) -> str:
    """Return a value as text, cut where a hostile bot made it long or deep."""
    if isinstance(value, dict | list):
        return f"a {type(value).__name__} of {len(value)}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
