"""Fills memory that limits on private memory do not count."""

import mmap

from common import requests

for _ in requests():
    kept = []
    while True:
        block = mmap.mmap(-1, 16 << 20)
        for offset in range(0, len(block), 4096):
            block[offset] = 1
        kept.append(block)
