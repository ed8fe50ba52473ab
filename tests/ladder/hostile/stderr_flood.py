"""Writes ten megabytes to its log before the first answer of a game, and plays well otherwise."""

import os

from common import reply, requests, write

for request in requests():
    for _ in range(160 if request["first"] else 0):
        os.write(2, b"x" * 65536)
    write(reply(request))
