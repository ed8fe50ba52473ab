"""Begins an answer and never ends it."""

import time

from common import packed, raw, reply, requests

for request in requests():
    answer = packed(reply(request))
    raw(answer[: len(answer) // 2])
    time.sleep(100)
