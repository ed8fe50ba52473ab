"""Announces two gigabytes."""

from common import raw, requests

for _ in requests():
    raw(b"\x7f\xff\xff\xff" + bytes(100_000))
