"""Writes to stdout without end."""

from common import hello, raw

hello()
while True:
    raw(b"\x00\x00\x00\x10" + bytes(1 << 16))
