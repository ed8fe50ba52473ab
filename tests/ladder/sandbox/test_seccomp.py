"""The filters, run on an interpreter of their instructions: for machines that we are not on too."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from keltis_ladder.sandbox.seccomp import (
    ALLOW,
    BUILD_RULES,
    DONE,
    ERRNO,
    KILL,
    PERMISSION,
    PLAY_RULES,
    UNKNOWN,
    Rule,
    filter_program,
)
from keltis_ladder.sandbox.syscalls import AARCH64, AUDIT, LAST_KNOWN, NUMBERS, X86_64, number_of

MACHINES = (X86_64, AARCH64)
HEADERS = {
    X86_64: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    AARCH64: Path("/usr/include/asm-generic/unistd.h"),
}
Rules = tuple[Rule, ...]
LONGEST = 4096  # instructions, by the kernel


def verdict(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """Run a filter on one system call."""
    data = struct.pack("=IIQ6Q", number, architecture, 0, *[*arguments, 0, 0, 0, 0, 0, 0][:6])
    code = list(struct.iter_unpack("=HBBI", program))
    at = value = 0
    while True:
        operation, if_true, if_false, operand = code[at]
        at += 1
        if operation == 0x20:
            (value,) = struct.unpack_from("=I", data, operand)
        elif operation == 0x54:
            value &= operand
        elif operation == 0x06:
            return int(operand)
        else:
            is_true = {
                0x15: value == operand,
                0x25: value > operand,
                0x35: value >= operand,
                0x45: bool(value & operand),
            }[operation]
            at += if_true if is_true else if_false


def number(name: str, machine: str) -> int:
    found = number_of(name, machine)
    assert found is not None
    return found


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("rules", [PLAY_RULES, BUILD_RULES], ids=["play", "build"])
class TestEveryFilter:
    def test_kills_calls_of_other_architectures(self, rules: Rules, machine: str) -> None:
        program = filter_program(rules, machine)
        others = [AUDIT[other] for other in MACHINES if other != machine]
        for other in (*others, 0x40000003, 0):  # AUDIT_ARCH_I386
            assert verdict(program, other, 0) == KILL

    def test_does_not_know_calls_of_later_kernels(self, rules: Rules, machine: str) -> None:
        program = filter_program(rules, machine)
        for later in (LAST_KNOWN + 1, 512, 1000, 0x3FFFFFFF):
            assert verdict(program, AUDIT[machine], later) == UNKNOWN

    def test_refuses_exactly_what_the_rules_name(self, rules: Rules, machine: str) -> None:
        program = filter_program(rules, machine)
        named = {number_of(rule.call, machine) for rule in rules}
        for call in range(LAST_KNOWN + 1):
            if call not in named:
                assert verdict(program, AUDIT[machine], call) == ALLOW, call

    def test_looks_at_arguments(self, rules: Rules, machine: str) -> None:
        program = filter_program(rules, machine)

        def result(name: str, *arguments: int) -> int:
            return verdict(program, AUDIT[machine], number(name, machine), *arguments)

        assert result("clone", 0x3D0F00) == ALLOW  # a thread, as libc starts it
        for namespace in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x40000000):
            assert result("clone", namespace | 17) == PERMISSION
        assert result("clone", 0x1200011) == ALLOW  # a child, as fork starts it
        assert result("clone", 0x4111) == ALLOW  # as vfork does
        for number_of_signal in (18, 9, 1, 64):  # SIGCONT first of all: it wakes a stopped parent
            assert result("clone", number_of_signal) == PERMISSION
            assert result("clone", 0x1200000 | number_of_signal) == PERMISSION
        assert result("prctl", 15) == ALLOW  # its own name
        assert result("prctl", 1, 18) == PERMISSION  # a signal when its parent ends
        assert result("prctl", 62) == PERMISSION
        assert result("prctl", 22, 2) == PERMISSION  # a filter: their memory is the machine's
        assert result("prctl", 67, 1) == PERMISSION
        assert result("membarrier", 0) == UNKNOWN
        for call in ("io_setup", "io_submit", "io_getevents", "io_pgetevents"):
            assert result(call) == UNKNOWN
        assert result("seccomp", 1) == PERMISSION
        assert result("setsockopt", 3, 1, 7) == ALLOW  # the size of a buffer
        for attached in (26, 50, 51, 52):
            assert result("setsockopt", 3, 1, attached) == PERMISSION
        assert result("mmap", 0, 4096, 3, 0x22) == ALLOW
        assert result("mmap", 0, 2 << 20, 3, 0x40022) == PERMISSION
        assert result("socket", 1) == ALLOW
        assert result("socket", 2) == ERRNO | errno.EAFNOSUPPORT
        # The kernel looks at the low half only, and so must the filter.
        assert result("socket", 2**32 + 1) == ALLOW
        assert result("socket", 2**32 + 2) == ERRNO | errno.EAFNOSUPPORT
        assert result("ioctl", 0, 0x5401) == ALLOW
        assert result("ioctl", 0, 0x5412) == PERMISSION
        assert result("ioctl", 0, 2**32 + 0x5412) == PERMISSION
        assert result("fcntl", 0, 3) == ALLOW
        assert result("fcntl", 0, 10) == PERMISSION

    def test_fits_into_the_kernel(self, rules: Rules, machine: str) -> None:
        assert len(filter_program(rules, machine)) // 8 <= LONGEST


@pytest.mark.parametrize("machine", MACHINES)
def test_locks_and_cache_tricks_are_refused_in_play_but_not_in_builds(machine: str) -> None:
    play, build = filter_program(PLAY_RULES, machine), filter_program(BUILD_RULES, machine)
    for name, arguments, expected in (
        ("flock", (), PERMISSION),
        ("fcntl", (0, 6), PERMISSION),
        ("fcntl", (0, 37), PERMISSION),
        ("fcntl", (0, 1024), PERMISSION),
        ("fcntl", (0, 1031), PERMISSION),
        *(("madvise", (0, 0, advice), PERMISSION) for advice in (3, 12, 20, 21, 22, 23, 25)),
        *(("getsockopt", (0, 1, option), PERMISSION) for option in (57, 71, 77)),
        ("setsockopt", (0, 1, 76), PERMISSION),
        ("clone", (0x1000 | 17,), PERMISSION),
        ("ioctl", (0, 0x80045200), PERMISSION),
        ("pidfd_open", (1, 0), UNKNOWN),
        ("statx", (), UNKNOWN),
        ("get_mempolicy", (), UNKNOWN),
        ("mincore", (), PERMISSION),
        ("sysinfo", (), PERMISSION),
        ("preadv2", (), UNKNOWN),
        ("fadvise64", (), DONE),
        ("fsync", (), DONE),
        ("utimensat", (), DONE),
    ):
        call = number(name, machine)
        assert verdict(play, AUDIT[machine], call, *arguments) == expected
        assert verdict(build, AUDIT[machine], call, *arguments) == ALLOW
    for advice in (4, 8, 14):  # DONTNEED, FREE, HUGEPAGE: how memory is given back
        assert verdict(play, AUDIT[machine], number("madvise", machine), 0, 0, advice) == ALLOW
    assert verdict(play, AUDIT[machine], number("getsockopt", machine), 0, 1, 17) == ALLOW


def test_x32_numbers_kill() -> None:
    program = filter_program(PLAY_RULES, X86_64)
    for call in (0, 39, 520):
        assert verdict(program, AUDIT[X86_64], 0x40000000 | call) == KILL


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_those_of_the_kernels_headers(machine: str) -> None:
    if not HEADERS[machine].exists():
        pytest.skip(f"{HEADERS[machine]} is not installed: apt-get install -y linux-libc-dev")
    text = HEADERS[machine].read_text()
    defined = {
        name: int(value) for name, value in re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)", text)
    }
    known = {name: defined[name] for name in NUMBERS if name in defined}
    assert len(known) > 90
    assert known == {name: number_of(name, machine) for name in known}


def test_an_unknown_machine_is_named() -> None:
    with pytest.raises(ValueError, match="no system call filter for 'vax' processors"):
        filter_program(PLAY_RULES, "vax")
