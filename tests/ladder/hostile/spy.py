"""Reads what is not its own."""

import os
import sys

from common import attempt, breach, denied, reply, requests, write

secrets = sys.argv[2:]


def look(path):
    """Open what is there; of a directory only what does not lead to the Python that runs this."""
    if not os.path.isdir(path):
        open(path)
    elif all(leads_to_python(os.path.join(path, name)) for name in os.listdir(path)):
        raise PermissionError(f"nothing in {path} but the way to Python")


def leads_to_python(path):
    homes = (sys.prefix, sys.base_prefix)
    if path in homes:
        return True
    on_the_way = any(home.startswith(f"{path}/") for home in homes)
    return on_the_way and all(leads_to_python(os.path.join(path, n)) for n in os.listdir(path))


for request in requests():
    if not request["first"]:
        write(reply(request))
        continue
    for path in ("/etc/shadow", "/etc/ssh", "/home", "/proc/1/environ", *secrets):
        attempt(path, lambda path=path: look(path))
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
