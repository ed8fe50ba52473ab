"""Tries every way to leave a message in the kernel for its process of the next rotation.

Each channel is a call that another sandbox on the machine could see the traces of, or that shows
such traces. It counts as open if the call does anything at all.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import resource
import socket
import struct

from common import attempt, breach, denied, reply, requests, write

libc = ctypes.CDLL(None, use_errno=True)
HERE = os.path.abspath(__file__)  # the same file for all its processes
NUMBERS = {
    "io_setup": (206, 0), "io_submit": (209, 2), "io_getevents": (208, 4), "io_destroy": (207, 1),
    "io_uring_setup": (425, 425), "preadv2": (327, 286), "pwritev2": (328, 287),
    "mincore": (27, 232), "cachestat": (451, 451), "madvise": (28, 233),
    "process_madvise": (440, 440), "move_pages": (279, 239), "get_mempolicy": (239, 236),
    "statx": (332, 291), "pidfd_open": (434, 434), "clone": (56, 220),
    "name_to_handle_at": (303, 264), "inotify_init1": (294, 26), "fanotify_init": (300, 262),
    "userfaultfd": (323, 282), "membarrier": (324, 283), "kcmp": (312, 272),
    "process_vm_readv": (310, 270), "perf_event_open": (298, 241),
    "sysinfo": (99, 179), "statfs": (137, 43), "shmget": (29, 194),
    "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180), "memfd_create": (319, 279),
    "seccomp": (317, 277), "keyctl": (250, 219), "timer_create": (222, 107),
    "listmount": (458, 458),
}  # fmt: skip
ADVICE = {"WILLNEED": 3, "MERGEABLE": 12, "COLD": 20, "PAGEOUT": 21, "POPULATE_READ": 22,
          "POPULATE_WRITE": 23, "COLLAPSE": 25}  # fmt: skip
SO_ATTACH_FILTER, SO_COOKIE, SO_NETNS_COOKIE, SO_PASSPIDFD, SO_PEERPIDFD = 26, 57, 71, 76, 77
CLONE_PIDFD = 0x1000
PR_SET_SECCOMP, PR_SET_MEMORY_MERGE = 22, 67
RNDGETENTCNT = 0x80045200
MAP_HUGETLB = 0x40000


def refused(result):
    """Raise what the filter said; an error of another kind would mean that the kernel was asked."""
    number = ctypes.get_errno()
    if result < 0 and number in (errno.EPERM, errno.ENOSYS):
        raise OSError(number, "refused")


def asked(action):
    """Let only those errors through that the filter says."""
    try:
        action()
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOSYS):
            raise


def call(name, *arguments):
    number = NUMBERS[name][0 if platform.machine() == "x86_64" else 1]
    ctypes.set_errno(0)
    result = libc.syscall(
        number, *(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    )
    if name == "clone" and result == 0:
        os._exit(0)
    refused(result)


def prctl(*arguments):
    ctypes.set_errno(0)
    refused(libc.prctl(*arguments))


def option(number):
    with socket.socket(socket.AF_UNIX) as own:
        own.getsockopt(socket.SOL_SOCKET, number, 8)


def set_option(number, value):
    with socket.socket(socket.AF_UNIX) as own:
        own.setsockopt(socket.SOL_SOCKET, number, value)


def lock(command):
    with open(HERE, "rb") as file:
        fcntl.fcntl(file, command, struct.pack("hhqqi", fcntl.F_RDLCK, 0, 0, 0, 0) + bytes(32))


def flock():
    with open(HERE, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)


def entropy():
    with open("/dev/urandom", "rb") as file:
        fcntl.ioctl(file, RNDGETENTCNT, bytes(4))


def set_times():
    before = os.stat("/dev/null").st_mtime_ns
    os.utime("/dev/null", ns=(1, before + 10**9))
    if os.stat("/dev/null").st_mtime_ns == before:
        raise PermissionError("the times stay as they are")


def shared_socket():
    """A name that is the same for all: what another process bound must not be there."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect("\0whispers")


def machine_files():
    for place in ("/proc/self/stat", "/proc/meminfo", "/proc/sys/fs/aio-nr", "/sys/kernel/mm"):
        if os.path.exists(place):
            return
    raise FileNotFoundError("no /proc and no /sys")


def channels():
    file = os.open(HERE, os.O_RDONLY)
    area = mmap.mmap(file, 0, prot=mmap.PROT_READ)
    page = ctypes.create_string_buffer(3 * mmap.PAGESIZE)
    here = (ctypes.addressof(page) + mmap.PAGESIZE - 1) & -mmap.PAGESIZE
    buffer = ctypes.create_string_buffer(1024)
    calls = {
        "io_setup": (16, buffer),
        "io_submit": (0, 0, 0),
        "io_getevents": (0, 0, 0, 0, 0),
        "io_destroy": (0,),
        "io_uring_setup": (1, buffer),
        "preadv2": (file, buffer, 0, 0, 0, 8),
        "pwritev2": (file, buffer, 0, 0, 0, 8),
        "mincore": (here, mmap.PAGESIZE, buffer),
        "cachestat": (file, buffer, buffer, 0),
        "process_madvise": (0, 0, 0, 0, 0),
        "move_pages": (0, 0, 0, 0, 0, 0),
        "get_mempolicy": (buffer, 0, 0, 0, 0),
        "statx": (file, b"", 0x1000, 0x1000, buffer),
        "pidfd_open": (os.getpid(), 0),
        "clone": (CLONE_PIDFD | 17, 0, buffer, 0, 0),
        "name_to_handle_at": (-100, HERE.encode(), buffer, buffer, 0),
        "inotify_init1": (0,),
        "fanotify_init": (0, 0),
        "userfaultfd": (1,),
        "membarrier": (0, 0),
        "kcmp": (os.getpid(), os.getpid(), 0, 0, 0),
        "process_vm_readv": (1, 0, 0, 0, 0, 0),
        "perf_event_open": (buffer, 0, -1, -1, 0),
        "sysinfo": (buffer,),
        "statfs": (b"/usr", buffer),
        "shmget": (77, 4096, 0o1600),
        "semget": (77, 1, 0o1600),
        "msgget": (77, 0o1600),
        "mq_open": (b"whispers", os.O_CREAT, 0o600, 0),
        "memfd_create": (b"whispers", 0),
        "seccomp": (1, 0, 0),
        "keyctl": (0, -3, 1),
        "timer_create": (0, 0, buffer),
        "listmount": (buffer, buffer, 1, 0),
    }
    for name, arguments in calls.items():
        yield name, lambda name=name, arguments=arguments: call(name, *arguments)
    for name, number in ADVICE.items():
        yield f"madvise {name}", lambda number=number: call("madvise", here, mmap.PAGESIZE, number)
    yield "SO_COOKIE", lambda: asked(lambda: option(SO_COOKIE))
    yield "SO_NETNS_COOKIE", lambda: asked(lambda: option(SO_NETNS_COOKIE))
    yield "SO_PEERPIDFD", lambda: asked(lambda: option(SO_PEERPIDFD))
    yield "SO_PASSPIDFD", lambda: asked(lambda: set_option(SO_PASSPIDFD, 1))
    yield "SO_ATTACH_FILTER", lambda: asked(lambda: set_option(SO_ATTACH_FILTER, bytes(16)))
    yield "PR_SET_SECCOMP", lambda: prctl(PR_SET_SECCOMP, 2, 0, 0, 0)
    yield "PR_SET_MEMORY_MERGE", lambda: prctl(PR_SET_MEMORY_MERGE, 1, 0, 0, 0)
    yield "MAP_HUGETLB", lambda: asked(lambda: mmap.mmap(-1, 2 << 20, flags=0x22 | MAP_HUGETLB))
    yield "RNDGETENTCNT", lambda: asked(entropy)
    yield "flock", lambda: asked(flock)
    for name in ("F_GETLK", "F_SETLK", "F_OFD_GETLK", "F_OFD_SETLK"):
        yield name, lambda name=name: asked(lambda: lock(getattr(fcntl, name)))
    for name in ("F_SETLEASE", "F_GETLEASE", "F_NOTIFY"):
        yield name, lambda name=name: asked(lambda: fcntl.fcntl(file, getattr(fcntl, name), 0))
    yield "utime", set_times
    if not listener.getsockname():  # else it would hear itself
        yield "abstract socket", shared_socket
    yield "machine files", machine_files
    area.close()
    os.close(file)


listener = socket.socket(socket.AF_UNIX)
for request in requests():
    if request["first"]:
        for name, channel in channels():
            attempt(name, channel)
        if not listener.getsockname():
            listener.bind("\0whispers")
            listener.listen(1)
            listener.setblocking(False)
        # Counted for each process alone; our own SDK tells by it whether the bot slept.
        counts = resource.getrusage(resource.RUSAGE_SELF)
        (denied if counts.ru_nvcsw < 10**6 else breach)("getrusage of others")
    write(reply(request))
