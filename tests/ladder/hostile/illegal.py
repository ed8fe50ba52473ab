"""Chooses an action that is not on the list."""

from common import reply, requests, write

for request in requests():
    write(reply(request, max(request["legal"]) + 1))
