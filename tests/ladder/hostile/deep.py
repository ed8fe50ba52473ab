"""Sends a thousand arrays, each in the one before, where a text should be."""

import struct

from common import raw, requests

for _ in requests():
    payload = b"\x81\xa4type" + b"\x91" * 1000 + b"\xc0"
    raw(struct.pack(">I", len(payload)) + payload)
