"""The little that hostile bots need to speak the protocol, and to break it where they like."""

import os
import struct
import sys

import msgpack


def exactly(size):
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            sys.exit(0)
        data += more
    return data


def read():
    return msgpack.unpackb(exactly(struct.unpack(">I", exactly(4))[0]))


def raw(data):
    while data:
        data = data[os.write(1, data) :]


def packed(message):
    payload = msgpack.packb(message)
    return struct.pack(">I", len(payload)) + payload


def write(message):
    raw(packed(message))


def hello():
    read()
    write({"type": "hello", "protocol": 1, "name": "hostile"})


def requests():
    """Shake hands, then yield the requests of all games, marked if they are a game's first."""
    hello()
    first = False
    while True:
        message = read()
        if message["type"] == "game":
            first = True
        elif message["type"] == "choose":
            yield {**message, "first": first}
            first = False


def reply(request, action=None):
    chosen = request["legal"][0] if action is None else action
    return {"type": "action", "id": request["id"], "action": chosen}


def play_on():
    """Answer every request like an honest bot."""
    for request in requests():
        write(reply(request))


def breach(what):
    """Tell the test, through the log, that an attack succeeded."""
    print("BREACH", what, file=sys.stderr, flush=True)


def denied(what):
    """Tell the test that an attack was tried and failed."""
    print("DENIED", what, file=sys.stderr, flush=True)


def attempt(what, attack):
    """Try an attack that must raise an error."""
    try:
        attack()
    except (OSError, RuntimeError, ValueError, MemoryError) as error:
        denied(f"{what}: {error!r}")
    else:
        breach(what)
