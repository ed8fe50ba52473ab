"""Frames: a length of four bytes, big endian, then that many bytes of msgpack.

Both ends use this module. What a bot did wrong is told to it in words.
"""

from __future__ import annotations

import struct
from typing import Any, Final

import msgpack

PROTOCOL: Final = 1
PREFIX: Final = 4  # bytes that hold the length
MOST_FROM_BOT: Final = 4096  # bytes of a message from a bot
MOST_TO_BOT: Final = 1 << 20  # bytes of a message to a bot; usually about a thousand

LENGTH: Final = struct.Struct(">I")
_LITTLE: Final = struct.Struct("<I")
_packer: Final = msgpack.Packer()  # packb would make a new one each time, which takes longer


class ProtocolError(ValueError):
    """A message that breaks the protocol: ``code`` for programs, the text for people."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


def frame(message: dict[str, Any]) -> bytes:
    """Return a message as it goes over the wire."""
    return framed(pack(message))


def framed(payload: bytes) -> bytes:
    """Return a packed message with its length in front."""
    return LENGTH.pack(len(payload)) + payload


def pack(value: object) -> bytes:
    """Return a value as msgpack."""
    packed: bytes = _packer.pack(value)
    return packed


def unpack(payload: bytes) -> Any:
    """Return the value that a message from a stranger holds."""
    try:
        return msgpack.unpackb(
            payload,
            max_str_len=MOST_FROM_BOT,
            max_bin_len=MOST_FROM_BOT,
            max_array_len=64,
            max_map_len=64,
            max_ext_len=0,
        )
    except msgpack.ExtraData:
        raise ProtocolError(
            "trailing-bytes",
            "the frame holds more than one msgpack value; write each message in a frame of its own",
        ) from None
    except msgpack.StackError:
        raise ProtocolError("not-msgpack", "the message is nested too deeply") from None
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ProtocolError(
            "not-msgpack", f"the frame of {len(payload)} bytes is not valid msgpack: {reason}"
        ) from None


def payload_length(start: bytes, most: int) -> int:
    """Return the length that a frame's first bytes announce, or say what they really are."""
    length: int = LENGTH.unpack_from(start)[0]
    if 0 < length <= most:
        return length
    raise _bad_length(start, length, most)


def _bad_length(start: bytes, length: int, most: int) -> ProtocolError:
    if length == 0:
        return ProtocolError("empty-frame", "a frame of length 0: every frame holds one message")
    first = start[:PREFIX]
    if first[:1] in (b"{", b"["):
        return ProtocolError(
            "json",
            f"stdout begins with {first!r}, which looks like JSON: messages are msgpack, each "
            "behind its length in 4 bytes, big endian",
        )
    if all(32 <= byte < 127 or byte in b"\t\r\n" for byte in first):
        return ProtocolError(
            "text-on-stdout",
            f"stdout begins with the text {first!r}: stdout belongs to the protocol, "
            "print to stderr instead",
        )
    if first[0] & 0xF0 == 0x80 or first[0] in (0xDE, 0xDF):
        return ProtocolError(
            "no-length-prefix",
            f"stdout begins with {first.hex(' ')}, which looks like a msgpack map without its "
            "length: write the length of the packed message first, as 4 bytes, big endian",
        )
    little: int = _LITTLE.unpack_from(start)[0]
    if 0 < little <= most:
        return ProtocolError(
            "little-endian",
            f"the length prefix {first.hex(' ')} means {length}; read as little endian it would be "
            f"{little}: write it big endian, the highest byte first",
        )
    return ProtocolError(
        "oversize", f"a frame of {length} bytes was announced; the limit is {most} bytes"
    )
