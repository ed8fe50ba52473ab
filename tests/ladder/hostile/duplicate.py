"""Answers everything twice, at once."""

from common import packed, raw, reply, requests

for request in requests():
    raw(packed(reply(request)) * 2)
