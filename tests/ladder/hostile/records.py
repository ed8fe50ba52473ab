"""Plays the first legal action and keeps every message that it gets in a file."""

import os
import sys

import msgpack
from common import exactly, hello, reply, write

hello()
with open(f"{sys.argv[1]}/{os.getpid()}", "ab") as file:
    while True:
        payload = exactly(int.from_bytes(exactly(4), "big"))
        file.write(payload)
        file.flush()
        message = msgpack.unpackb(payload)
        if message["type"] == "choose":
            write(reply(message))
