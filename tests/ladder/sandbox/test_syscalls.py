"""Our table of system calls is libseccomp's, for the machines that bots run on."""

import ctypes
from functools import cache

import pytest

from keltis_ladder.sandbox.syscalls import AARCH64, AUDIT, NUMBERS, X86_64, number_of

LIBRARY = "libseccomp.so.2"
NEWEST_OF_OLD_LIBRARIES = 440  # Linux 5.10; Debian 12 has a library that knows this and more
UNKNOWN = -1  # a name that libseccomp has never heard of; other negatives: not on this machine


@cache
def libseccomp() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        pytest.skip(f"{LIBRARY} is not installed: apt-get install -y libseccomp2")
    library.seccomp_syscall_resolve_name_arch.argtypes = [ctypes.c_uint32, ctypes.c_char_p]
    library.seccomp_syscall_resolve_name_arch.restype = ctypes.c_int
    return library


def resolve(machine: str, name: str) -> int:
    found: int = libseccomp().seccomp_syscall_resolve_name_arch(AUDIT[machine], name.encode())
    return found


@pytest.mark.parametrize("machine", [X86_64, AARCH64])
def test_the_numbers_are_those_of_libseccomp(machine: str) -> None:
    found = {name: resolve(machine, name) for name in NUMBERS}
    known = {name: number for name, number in found.items() if number != UNKNOWN}
    ours = {name: number_of(name, machine) for name in NUMBERS}
    assert {name: ours[name] for name in known} == {
        name: number if number >= 0 else None for name, number in known.items()
    }
    assert len(known) > 120
    # Only calls that came to Linux after the library was released may be unknown to it.
    assert all(
        (ours[name] or 0) > NEWEST_OF_OLD_LIBRARIES for name in NUMBERS.keys() - known.keys()
    )


@pytest.mark.parametrize("machine", [X86_64, AARCH64])
def test_libseccomp_tells_names_apart(machine: str) -> None:
    assert resolve(machine, "no_such_call") == UNKNOWN
    assert resolve(machine, "read") == {X86_64: 0, AARCH64: 63}[machine]
