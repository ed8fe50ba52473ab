"""Answers when its time is over."""

import time

from common import reply, requests, write

for request in requests():
    time.sleep(request["left_ms"] / 1000 + 0.2)
    write(reply(request))
