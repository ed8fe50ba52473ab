"""Reads what is not its own."""

import os
import sys

from common import attempt, breach, denied, reply, requests, write

secrets = sys.argv[2:]
for request in requests():
    if not request["first"]:
        write(reply(request))
        continue
    for path in ("/etc/shadow", "/etc/ssh", "/home", "/proc/1/environ", *secrets):
        attempt(path, lambda path=path: os.listdir(path) if os.path.isdir(path) else open(path))
    if "KELTIS_TEST_SECRET" in os.environ:
        breach("the referee's environment")
    extra = []
    for fd in range(3, 256):
        try:
            os.fstat(fd)
            extra.append(fd)
        except OSError:
            continue
    (breach if extra else denied)(f"descriptors {extra}")
    write(reply(request))
