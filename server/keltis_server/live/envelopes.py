"""Envelopes: messages as they go over the wire, encoded once for however many want them."""

from __future__ import annotations

import struct
from typing import Any, Final

from keltis_server.site.encoding import dump_json, dump_msgpack

JSON_PROTOCOL: Final = "keltis.v1.json"
MSGPACK_PROTOCOL: Final = "keltis.v1.msgpack"
PROTOCOLS: Final = (JSON_PROTOCOL, MSGPACK_PROTOCOL)

_TEXT: Final = 0x81  # a whole message in one frame
_BINARY: Final = 0x82
_SHORT: Final = struct.Struct("!BB").pack
_MEDIUM: Final = struct.Struct("!BBH").pack
_LONG: Final = struct.Struct("!BBQ").pack

Message = dict[str, Any]


class Envelope:
    """A message, and the bytes of its websocket frame in the forms that somebody wanted."""

    __slots__ = ("_json", "_msgpack", "message")

    def __init__(self, message: Message) -> None:
        self.message = message
        self._json: bytes | None = None
        self._msgpack: bytes | None = None

    def in_form(self, protocol: str) -> bytes:
        """Return the frame, ready to be written."""
        if protocol == MSGPACK_PROTOCOL:
            if self._msgpack is None:
                self._msgpack = websocket_frame(_BINARY, dump_msgpack(self.message))
            return self._msgpack
        if self._json is None:
            self._json = websocket_frame(_TEXT, dump_json(self.message))
        return self._json


def websocket_frame(opcode: int, payload: bytes) -> bytes:
    """Return a message of a server as one frame: it is not masked (RFC 6455, 5.2)."""
    size = len(payload)
    if size < 126:
        return _SHORT(opcode, size) + payload
    if size < 1 << 16:
        return _MEDIUM(opcode, 126, size) + payload
    return _LONG(opcode, 127, size) + payload


def error(code: str, detail: str, topic: str | None = None) -> Envelope:
    """Return the message that something cannot be done."""
    return Envelope({"op": "error", "topic": topic, "code": code, "detail": detail})
