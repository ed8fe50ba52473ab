"""Chooses yes."""

from common import reply, requests, write

for request in requests():
    write(reply(request, True))
