"""Writes to every place it finds until the disk is full."""

import os

from common import breach, denied, reply, requests, write


def fill(path):
    written = 0
    with open(path, "wb") as file:
        while written < 1 << 30:
            written += file.write(bytes(1 << 20))


for request in requests():
    for directory in ("/tmp", "/", "/bot", "/dev", "/dev/shm", "/usr", "/var/tmp", "/run"):
        for number in range(4 if request["first"] else 0):
            try:
                fill(os.path.join(directory, f"big{number}"))
                breach(f"a gigabyte in {directory}")
            except OSError as error:
                denied(f"{directory}: {error}")
    write(reply(request))
