"""Forgets the length in front of its messages."""

import msgpack
from common import raw, reply, requests

for request in requests():
    raw(msgpack.packb(reply(request)))
