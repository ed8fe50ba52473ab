"""Thinks about its first decision for far too long, in one of several ways; then plays on."""

import contextlib
import hashlib
import os
import signal
import sys
import threading
import time

from common import reply, requests, write

SECONDS = 120.0  # of wall time: a core that is shared by many gives it little in less
STEP = 0.005  # seconds


def burn(until):
    while time.monotonic() < until:
        pass


def alone(end):
    burn(end)


def helpers(end):
    """Has children think that are buried unseen, so that nobody counts what they used."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while time.monotonic() < end:
        inside, outside = os.pipe()
        if os.fork() == 0:
            burn(time.monotonic() + STEP)
            os._exit(0)
        os.close(outside)
        os.read(inside, 1)  # until the child has ended
        os.close(inside)


def threads(end):
    """Waits for threads of which each waits for the others."""
    data = bytes(1 << 20)

    def work():
        while time.monotonic() < end:
            hashlib.sha256(data).digest()  # without the interpreter's lock

    workers = [threading.Thread(target=work) for _ in range(12)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def kernel(end):
    """Lets the kernel work."""
    with open("/dev/zero", "rb", buffering=0) as zero:
        buffer = bytearray(1 << 20)
        while time.monotonic() < end:
            zero.readinto(buffer)


def chatter(end):
    """Lets the referee work, which reads what it logs."""
    line = b"." * 4096
    while time.monotonic() < end:
        os.write(2, line)


def affinity(end):
    """Goes to another core, if it may."""
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    burn(end)


def naps(end):
    """Sleeps and works by turns, so that it is always only just ready."""
    while time.monotonic() < end:
        time.sleep(0.00005)
        burn(time.monotonic() + 0.0002)


def sleeps(end):
    time.sleep(max(0.0, end - time.monotonic()))


def paused(end):
    """Has begun long before it was asked, and did not stop when it was to."""
    burn(end)


WAYS = (alone, helpers, threads, kernel, chatter, affinity, naps, sleeps, paused)
way = {each.__name__: each for each in WAYS}[sys.argv[2]]
if way is paused:
    import escapes

    with contextlib.suppress(OSError):
        escapes.clone_with_a_wake_up_call()
    escapes.never_rest()
thought = False
for request in requests():
    if not thought:
        thought = True
        way(time.monotonic() + SECONDS)
    write(reply(request))
