"""What a bot can do wrong on its stdout: one example for each code of the protocol."""

from __future__ import annotations

from collections.abc import Iterator

from keltis_bots.framing import (
    MOST_FROM_BOT,
    PREFIX,
    ProtocolError,
    frame,
    framed,
    pack,
    payload_length,
)
from keltis_bots.messages import read_action, read_hello

OPEN_REQUEST = 17
ACTION = {"type": "action", "id": OPEN_REQUEST, "action": 60}

# Answers to a request for a decision, whole frames; and answers to hello.
TO_CHOOSE: dict[str, bytes] = {
    "empty-frame": b"\0\0\0\0",
    "json": b'{"type": "action", "id": 17, "action": 60}\n',
    "text-on-stdout": b"thinking...\n",
    "no-length-prefix": pack(ACTION),
    "little-endian": frame(ACTION)[PREFIX - 1 :: -1] + frame(ACTION)[PREFIX:],
    "oversize": frame({**ACTION, "comment": "x" * MOST_FROM_BOT}),
    "trailing-bytes": framed(pack(ACTION) * 2),
    "not-msgpack": framed(b"\xc1\xc1\xc1\xc1"),
    "not-a-map": framed(pack([60])),
    "wrong-type": frame({"type": "move", "id": OPEN_REQUEST, "action": 60}),
    "missing-field": frame({"type": "action", "action": 60}),
    "unknown-field": frame({**ACTION, "comment": "good"}),
    "duplicate-field": framed(b"\x84" + pack(ACTION)[1:] + pack("action") + pack(61)),
    "bad-field": frame({**ACTION, "action": "lay Y5"}),
    "wrong-id": frame({**ACTION, "id": 18}),
    "extra-reply": frame({**ACTION, "id": 16}),
}
TO_HELLO: dict[str, bytes] = {"wrong-protocol": frame({"type": "hello", "protocol": 2})}


def refused() -> Iterator[tuple[str, ProtocolError]]:
    """Yield each code with the error that its example raises."""
    for code, data in {**TO_CHOOSE, **TO_HELLO}.items():
        try:
            payload = data[PREFIX : PREFIX + payload_length(data, MOST_FROM_BOT)]
            read_hello(payload) if code in TO_HELLO else read_action(payload, OPEN_REQUEST)
        except ProtocolError as error:
            yield code, error
        else:
            raise AssertionError(f"the example of {code} was taken")
