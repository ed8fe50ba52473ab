"""Fills memory, page by page, as long as it is let."""

from common import requests

for _ in requests():
    kept = []
    while True:
        block = bytearray(16 << 20)
        block[::4096] = b"x" * (len(block) // 4096)
        kept.append(block)
