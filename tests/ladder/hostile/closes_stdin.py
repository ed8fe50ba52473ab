"""Answers, closes stdin and stays."""

import os
import time

from common import reply, requests, write

for request in requests():
    os.close(0)
    write(reply(request))
    time.sleep(100)
