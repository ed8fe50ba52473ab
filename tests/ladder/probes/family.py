"""A child, a double-forked daemon and their parent, who all write to standard output for ever."""

import os
import signal
import time


def chatter():
    while True:
        os.write(1, b".")
        time.sleep(0.001)


for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGTSTP):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    chatter()
between = os.fork()
if between == 0:
    if os.fork() == 0:
        chatter()
    os._exit(0)
os.waitpid(between, 0)
os.write(1, b"ready")
chatter()
