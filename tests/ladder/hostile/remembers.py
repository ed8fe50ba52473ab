"""Recognises a deal by its tiles, and tells its other processes by every way it can think of."""

import contextlib
import fcntl
import hashlib
import os
import socket
import sys

from common import breach, reply, requests, write

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = sorted(name for name in os.listdir(HERE) if name.endswith(".py"))
known = set()
keep = []


def ask_memory(mark):
    return mark in known


def tell_memory(mark):
    known.add(mark)


def ask_files(mark):
    return any(
        os.path.exists(f"{place}/{mark}") for place in ("/tmp", HERE, "/dev/shm", "/var/tmp")
    )


def tell_files(mark):
    for place in ("/tmp", HERE, "/dev/shm", "/var/tmp"):
        with contextlib.suppress(OSError):
            open(f"{place}/{mark}", "wb").close()


def ask_socket(mark):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.connect("\0" + mark)
    return True


def tell_socket(mark):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind("\0" + mark)
    listener.listen(100)
    keep.append(listener)


def file_of(mark):
    return open(os.path.join(HERE, FILES[int(mark, 16) % len(FILES)]), "rb")


def ask_flock(mark):
    with file_of(mark) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(file, fcntl.LOCK_UN)
    return False


def tell_flock(mark):
    file = file_of(mark)
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    keep.append(file)


WAYS = {
    "memory": (ask_memory, tell_memory),
    "files": (ask_files, tell_files),
    "socket": (ask_socket, tell_socket),
    "flock": (ask_flock, tell_flock),
}
for request in requests():
    if request["first"]:
        mark = hashlib.sha256(repr(request["view"]["tiles"]).encode()).hexdigest()[:16]
        for way, (ask, tell) in WAYS.items():
            with contextlib.suppress(OSError):
                if ask(mark):
                    breach(f"remembered by {way}")
            with contextlib.suppress(OSError):
                tell(mark)
        print("MARK", mark, file=sys.stderr, flush=True)
    write(reply(request))
