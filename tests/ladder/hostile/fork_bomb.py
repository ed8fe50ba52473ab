"""Forks until nothing more is to be had, then plays on."""

import os
import signal

from common import breach, denied, reply, requests, write

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
children = 0
for request in requests():
    try:
        while children < 2000:
            if os.fork() == 0:
                while True:
                    signal.pause()
            children += 1
        breach("2000 processes")
    except OSError as error:
        denied(f"after {children} processes: {error}")
    write(reply(request))
