"""Takes twenty milliseconds for every decision and says how much work it got done in them."""

import sys
import time

from common import reply, requests, write

for request in requests():
    begin = time.thread_time()
    end = time.monotonic() + 0.02
    while time.monotonic() < end:
        pass
    print("WORK", round((time.thread_time() - begin) * 1e6), file=sys.stderr, flush=True)
    write(reply(request))
