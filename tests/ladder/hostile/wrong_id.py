"""Answers a request that nobody sent."""

from common import reply, requests, write

for request in requests():
    write({**reply(request), "id": request["id"] + 7})
