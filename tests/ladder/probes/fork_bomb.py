"""Fork as often as possible, say how often that was, and stay."""

import errno
import os
import signal

count = 0
while True:
    try:
        if os.fork() == 0:
            signal.pause()
    except OSError as error:
        print(errno.errorcode[error.errno], count, flush=True)
        break
    count += 1
signal.pause()
