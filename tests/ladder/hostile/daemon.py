"""Leaves a process behind: forked twice, in a session of its own if it can, deaf to signals."""

import contextlib
import os
import signal
import time

from common import play_on

if os.fork() == 0:
    with contextlib.suppress(OSError):
        os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        os.close(0)
        os.close(1)
        while True:
            time.sleep(1)
    os._exit(0)
os.wait()
play_on()
