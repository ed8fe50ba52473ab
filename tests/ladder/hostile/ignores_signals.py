"""Ignores every signal it can, and the end of its input."""

import contextlib
import signal
import time

from common import requests

for number in range(1, signal.NSIG):
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
for _ in requests():
    while True:
        time.sleep(100)
