"""Ways to run while one is paused, if a signal does that: each wakes the program again."""

import ctypes
import os
import signal
import threading

SIGCONT = int(signal.SIGCONT)
SYS_CLONE = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None, use_errno=True)


def clone_with_a_wake_up_call():
    child = libc.syscall(SYS_CLONE, SIGCONT, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    if child < 0:
        raise OSError(ctypes.get_errno(), "clone")


def wake_up_when_the_parent_ends():
    if libc.prctl(PR_SET_PDEATHSIG, SIGCONT, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def work():
    while True:
        pass


def never_rest():
    """Compute from now on, and have a child wake us all the time."""
    threading.Thread(target=work, daemon=True).start()
    if os.fork() == 0:
        os.close(0)
        os.close(1)
        while True:
            os.kill(0, signal.SIGCONT)
