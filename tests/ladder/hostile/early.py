"""Answers the next request before it has come."""

import time

from common import reply, requests, write

for request in requests():
    write(reply(request))
    time.sleep(0.0002)
    write({**reply(request), "id": request["id"] + 1})
