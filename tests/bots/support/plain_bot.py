"""A bot in Python without the SDK. ``docs/authors/protocol.md`` shows what follows."""

import os
import struct
import sys
from typing import Any

import msgpack

source, target = os.dup(0), os.dup(1)
os.dup2(2, 1)  # stdout belongs to the protocol: whatever prints, prints to the log


def read_exactly(size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = os.read(source, size - len(data))
        if not more:
            sys.exit(0)  # stdin was closed: there are no more games
        data += more
    return data


def read_frame() -> Any:
    (length,) = struct.unpack(">I", read_exactly(4))
    return msgpack.unpackb(read_exactly(length))


def write_frame(message: Any) -> None:
    payload = msgpack.packb(message)
    os.write(target, struct.pack(">I", len(payload)) + payload)


while True:
    message = read_frame()
    if message["type"] == "hello":
        write_frame({"type": "hello", "protocol": 1})
    elif message["type"] == "choose":
        write_frame({"type": "action", "id": message["id"], "action": message["legal"][0]})
