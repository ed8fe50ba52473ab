"""Spends sixty milliseconds of CPU time on every decision."""

import time

from common import reply, requests, write

for request in requests():
    end = time.process_time() + 0.06
    while time.process_time() < end:
        pass
    write(reply(request))
