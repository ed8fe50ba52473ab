"""Goes for the referee, its opponent and the kernel."""

import ctypes
import os
import signal

from common import attempt, breach, denied, reply, requests, write

libc = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH = 16
CLONE_NEWUSER = 0x10000000


def called(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


for request in requests():
    if not request["first"]:
        write(reply(request))
        continue
    attempt("unshare", lambda: called(libc.unshare(CLONE_NEWUSER)))
    attempt("mount", lambda: called(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)))
    # Of an ordinary user's sandbox it is root already, in a namespace that has nobody else.
    attempt("setuid", lambda: called(libc.setuid(1 if os.getuid() == 0 else 0)))
    attempt("ptrace", lambda: called(libc.ptrace(PTRACE_ATTACH, 1, None, None)))
    attempt("affinity", lambda: os.sched_setaffinity(0, {0, 1}))
    attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, -5))
    attempt("session", os.setsid)
    attempt("chroot", lambda: os.chroot("/tmp"))
    own = {0, 1, os.getpid(), os.getppid()}
    for pid in range(2, 40_000):
        if pid not in own:
            try:
                os.kill(pid, signal.SIGKILL)
                breach(f"killed {pid}")
            except OSError:
                continue
    denied("kill")
    write(reply(request))
