"""Chooses NaN."""

from common import reply, requests, write

for request in requests():
    write(reply(request, float("nan")))
