"""Which system calls a sandboxed program may make, as a classic BPF program for the kernel.

A filter sees numbers, never what a pointer points at. It lists what is refused: an allow-list would
have to follow every language runtime, and privileges, namespaces and mounts already bound the rest.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from keltis_ladder.sandbox.syscalls import AUDIT, LAST_KNOWN, X32_BIT, X86_64, number_of

# Return values of a filter (SECCOMP_RET_*).
ALLOW: Final = 0x7FFF0000
KILL: Final = 0x80000000
ERRNO: Final = 0x00050000  # plus the error number; 0 means "done" without doing anything

# Instructions: load a word of seccomp_data, keep some of its bits, jump, return.
LOAD: Final = 0x20
KEEP_BITS: Final = 0x54
JUMP_EQUAL: Final = 0x15
JUMP_GREATER: Final = 0x25
JUMP_AT_LEAST: Final = 0x35
JUMP_ANY_BIT: Final = 0x45
RETURN: Final = 0x06

# Where seccomp_data keeps the number, the architecture, and the low halves of the arguments. All
# arguments that are looked at are 32-bit for the kernel too: it drops their upper halves.
NUMBER_AT: Final = 0
ARCHITECTURE_AT: Final = 4
ARGUMENTS_AT: Final = 16

PERMISSION: Final = ERRNO | errno.EPERM
UNKNOWN: Final = ERRNO | errno.ENOSYS  # libraries fall back to an older call
FAMILY: Final = ERRNO | errno.EAFNOSUPPORT
DONE: Final = ERRNO | 0


ALL_BITS: Final = 0xFFFFFFFF


class Test(Enum):
    """When a rule applies, by the argument it looks at."""

    ALWAYS = 0
    ONE_OF = 1
    NONE_OF = 2
    ANY_BIT = 3


@dataclass(frozen=True)
class Rule:
    """What happens to a system call, perhaps only for some values of one argument."""

    call: str
    result: int = PERMISSION
    test: Test = Test.ALWAYS
    argument: int = 0
    values: tuple[int, ...] = ()
    mask: int = ALL_BITS  # what of the argument is looked at


AF_UNIX: Final = 1
TIOCSTI: Final = 0x5412  # fake input of the user at the terminal
TIOCLINUX: Final = 0x541C
# NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
NEW_NAMESPACES: Final = 0x7E020000

EXIT_SIGNAL: Final = 0xFF  # the bits of clone's flags with the signal that a child's end sends
SIGCHLD: Final = 17
CLONE_PIDFD: Final = 0x1000
PR_SET_PDEATHSIG: Final = 1
PR_SET_SECCOMP: Final = 22
PR_SCHED_CORE: Final = 62
PR_SET_MEMORY_MERGE: Final = 67
MAP_HUGETLB: Final = 0x40000
RNDGETENTCNT: Final = 0x80045200
# ATTACH_FILTER, ATTACH_BPF, ATTACH_REUSEPORT_CBPF, ATTACH_REUSEPORT_EBPF
SOCKET_FILTERS: Final = (26, 50, 51, 52)
SO_PASSPIDFD: Final = 76
# COOKIE, NETNS_COOKIE, PEERPIDFD
SOCKET_COUNTERS: Final = (57, 71, 77)

# WILLNEED, MERGEABLE, COLD, PAGEOUT, POPULATE_READ, POPULATE_WRITE, COLLAPSE
CACHE_ADVICE: Final = (3, 12, 20, 21, 22, 23, 25)

F_SETSIG: Final = 10
# GETLK, SETLK, SETLKW, their OFD forms, SETLEASE, GETLEASE, NOTIFY, the four write hints and
# delegations: all of them leave or read a mark on a file, and the files of the system are shared by
# all sandboxes.
FILE_MARKS: Final = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026, 1035, 1036, 1037, 1038, 1039, 1040)
F_SETPIPE_SZ: Final = 1031  # a megabyte of the kernel's memory for each pipe


def _refuse(calls: str, result: int = PERMISSION) -> tuple[Rule, ...]:
    return tuple(Rule(call, result) for call in calls.split())


# Refused to every program.
COMMON: Final[tuple[Rule, ...]] = (
    # Other processes, and what the kernel has had holes in.
    *_refuse("ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd process_madvise"),
    *_refuse("process_mrelease bpf perf_event_open keyctl add_key request_key userfaultfd"),
    *_refuse("io_uring_setup io_uring_enter io_uring_register personality modify_ldt"),
    # New namespaces would give back capabilities. The flags of clone3 lie behind a pointer.
    *_refuse("unshare setns"),
    Rule("clone", test=Test.ANY_BIT, argument=0, values=(NEW_NAMESPACES,)),
    *_refuse("clone3", UNKNOWN),
    # Mounts. The old mount() fails for want of a capability; the launcher needs it before that.
    *_refuse("fsopen fspick fsconfig fsmount move_mount open_tree mount_setattr", UNKNOWN),
    *_refuse("statmount listmount lsm_get_self_attr lsm_set_self_attr lsm_list_modules", UNKNOWN),
    *_refuse("umount2 pivot_root chroot open_by_handle_at name_to_handle_at"),
    # The machine's administration.
    *_refuse("kexec_load kexec_file_load init_module finit_module delete_module reboot swapon"),
    *_refuse("swapoff quotactl quotactl_fd acct syslog settimeofday clock_settime adjtimex"),
    *_refuse("clock_adjtime sethostname setdomainname vhangup iopl ioperm lookup_dcookie uselib"),
    *_refuse("_sysctl sysfs nfsservctl ustat"),
    # Memory that no limit of a process counts.
    *_refuse("memfd_create memfd_secret shmget shmat shmctl shmdt semget semop semctl semtimedop"),
    *_refuse("msgget msgsnd msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive"),
    *_refuse("mq_notify mq_getsetattr"),
    # The referee stops a program by its process group: nothing may leave the group, ...
    *_refuse("setsid setpgid"),
    # ... and nothing may arrange a SIGCONT for the time when all of it is stopped.
    *_refuse("timer_create"),
    Rule("fcntl", test=Test.ONE_OF, argument=1, values=(F_SETSIG,)),
    Rule("clone", test=Test.NONE_OF, argument=0, values=(0, SIGCHLD), mask=EXIT_SIGNAL),
    # PR_SCHED_CORE could keep the other thread of our core idle, for more speed per second; merged
    # memory is shared with other programs.
    Rule(
        "prctl",
        test=Test.ONE_OF,
        argument=0,
        values=(PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SCHED_CORE, PR_SET_MEMORY_MERGE),
    ),
    # What the whole machine has one limited amount of: asynchronous input and output, huge pages,
    # and memory for compiled filters, without which no sandbox could be started any more.
    *_refuse("io_setup io_submit io_destroy io_cancel io_getevents io_pgetevents", UNKNOWN),
    *_refuse("seccomp"),
    Rule("setsockopt", test=Test.ONE_OF, argument=2, values=SOCKET_FILTERS),
    Rule("mmap", test=Test.ANY_BIT, argument=3, values=(MAP_HUGETLB,)),
    # It makes the kernel work on all cores, and for other programs.
    *_refuse("membarrier", UNKNOWN),
    # The core and the priority are the referee's to give.
    *_refuse("sched_setaffinity sched_setattr sched_setparam setpriority ioprio_set"),
    # Mono wants what it has already, and would complain on standard output.
    *_refuse("sched_setscheduler", DONE),
    # The network namespace is empty, but some families do not care about namespaces.
    Rule("socket", FAMILY, Test.NONE_OF, 0, (AF_UNIX,)),
    Rule("socketpair", FAMILY, Test.NONE_OF, 0, (AF_UNIX,)),
    Rule("ioctl", test=Test.ONE_OF, argument=1, values=(TIOCSTI, TIOCLINUX)),
    # Writing out the disks of the whole machine is slow for everybody.
    *_refuse("sync syncfs", DONE),
)

# Refused in play only: ways to leave a message for another process of the same bot, which plays the
# same deal from another seat. Compilers need some of them, and know no deals.
MESSAGES: Final[tuple[Rule, ...]] = (
    Rule("fcntl", test=Test.ONE_OF, argument=1, values=(*FILE_MARKS, F_SETPIPE_SZ)),
    *_refuse("flock inotify_init inotify_init1 inotify_add_watch inotify_rm_watch"),
    *_refuse("fanotify_init fanotify_mark"),
    # The devices are the machine's own, and a process that may write to one may set its times.
    *_refuse("utime utimes futimesat utimensat", DONE),
    # What is in the page cache, and throwing it out. preadv2 could ask by its flag RWF_NOWAIT.
    *_refuse("mincore move_pages migrate_pages"),
    *_refuse("cachestat preadv2 pwritev2", UNKNOWN),
    *_refuse("fadvise64 readahead", DONE),
    # Flushing a file of the system takes the disk from everybody.
    *_refuse("fsync fdatasync sync_file_range msync", DONE),
    Rule("madvise", test=Test.ONE_OF, argument=2, values=CACHE_ADVICE),
    *_refuse("get_mempolicy", UNKNOWN),
    # Numbers that the kernel counts up for the whole machine: of sockets, of processes (as inodes
    # of their descriptors), of mounts. Libraries that want statx can do without.
    Rule("getsockopt", test=Test.ONE_OF, argument=2, values=SOCKET_COUNTERS),
    Rule("setsockopt", test=Test.ONE_OF, argument=2, values=(SO_PASSPIDFD,)),
    Rule("clone", test=Test.ANY_BIT, argument=0, values=(CLONE_PIDFD,)),
    *_refuse("pidfd_open statx", UNKNOWN),
    # How much randomness the machine has collected.
    Rule("ioctl", test=Test.ONE_OF, argument=1, values=(RNDGETENTCNT,)),
    # The machine's free memory, number of processes and free disk space.
    *_refuse("sysinfo statfs fstatfs"),
)

PLAY_RULES: Final = COMMON + MESSAGES
BUILD_RULES: Final = COMMON


def filter_program(rules: Sequence[Rule], machine: str | None = None) -> bytes:
    """Return the BPF program of some rules, in the byte order of this machine."""
    machine = machine or platform.machine()
    if machine not in AUDIT:
        raise ValueError(
            f"no system call filter for {machine!r} processors; there is one for {', '.join(AUDIT)}"
        )
    code = [
        _instruction(LOAD, ARCHITECTURE_AT),
        _instruction(JUMP_EQUAL, AUDIT[machine], if_true=1),
        _instruction(RETURN, KILL),
        _instruction(LOAD, NUMBER_AT),
    ]
    if machine == X86_64:
        code += [_instruction(JUMP_AT_LEAST, X32_BIT, if_false=1), _instruction(RETURN, KILL)]
    code += [_instruction(JUMP_GREATER, LAST_KNOWN, if_false=1), _instruction(RETURN, UNKNOWN)]
    for call in dict.fromkeys(rule.call for rule in rules):
        number = number_of(call, machine)
        if number is not None:
            body = _body([rule for rule in rules if rule.call == call])
            code += [_instruction(JUMP_EQUAL, number, if_false=len(body)), *body]
    code.append(_instruction(RETURN, ALLOW))
    return b"".join(code)


def _body(rules: Iterable[Rule]) -> list[bytes]:
    """Return what runs for one call: the first rule that applies decides, else it is allowed."""
    code: list[bytes] = []
    for rule in rules:
        if rule.test is Test.ALWAYS:
            return [*code, _instruction(RETURN, rule.result)]
        code.append(_instruction(LOAD, ARGUMENTS_AT + 8 * rule.argument))
        if rule.mask != ALL_BITS:
            code.append(_instruction(KEEP_BITS, rule.mask))
        code += _jumps(rule)
        code.append(_instruction(RETURN, rule.result))
    return [*code, _instruction(RETURN, ALLOW)]


def _jumps(rule: Rule) -> list[bytes]:
    """Return jumps to the next instruction if the rule applies, and over it if not."""
    if rule.test is Test.ANY_BIT:
        return [_instruction(JUMP_ANY_BIT, rule.values[0], if_false=1)]
    count = len(rule.values)
    if rule.test is Test.NONE_OF:
        return [
            _instruction(JUMP_EQUAL, value, if_true=count - index)
            for index, value in enumerate(rule.values)
        ]
    return [
        _instruction(
            JUMP_EQUAL,
            value,
            if_true=count - 1 - index,
            if_false=1 if index == count - 1 else 0,
        )
        for index, value in enumerate(rule.values)
    ]


def _instruction(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)
