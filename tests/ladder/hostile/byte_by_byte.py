"""Sends its answer so slowly that a deadline that starts anew with each byte never comes."""

import time

from common import packed, raw, reply, requests

for request in requests():
    for byte in packed(reply(request)):
        raw(bytes([byte]))
        time.sleep(0.05)
