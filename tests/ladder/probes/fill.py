"""Fill the scratch directory with one thing, and print how much of it fitted."""

import errno
import itertools
import os
import signal
import sys
from pathlib import Path


def bytes_of_files():
    for number in itertools.count():
        with Path(f"/tmp/{number}").open("wb", buffering=0) as file:
            for _ in range(8):
                yield file.write(b"x" * 65536)


def files():
    for number in itertools.count():
        os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY))
        yield 1


def one_file():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Path("/tmp/one").open("wb", buffering=0) as file:
        while True:
            yield file.write(b"x" * 65536)


total = 0
try:
    for amount in {"bytes": bytes_of_files, "files": files, "one": one_file}[sys.argv[1]]():
        total += amount
except OSError as error:
    print(errno.errorcode[error.errno], total)
