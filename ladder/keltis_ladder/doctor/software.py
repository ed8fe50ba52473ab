"""Python, the engine's form, and the sandbox with what it needs of the kernel."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Final

import keltis_engine
from keltis_ladder.doctor.check import Area, Check, CheckState, Machine
from keltis_ladder.sandbox.sandbox import SandboxMissing, find_sandbox
from keltis_ladder.sandbox.syscalls import AUDIT

OLDEST_PYTHON: Final = (3, 11)
PATIENCE_SECONDS: Final = 60.0  # for a program that tells its version, on a busy machine too
SECCOMP_ACTIONS: Final = "proc/sys/kernel/seccomp/actions_avail"

# What lets ordinary users make user namespaces: the file, the values that forbid it, and another.
USER_NAMESPACES: Final = (
    ("user/max_user_namespaces", {0}, 15_000),
    ("kernel/unprivileged_userns_clone", {0}, 1),
    ("kernel/apparmor_restrict_unprivileged_userns", {1, 2}, 0),
)


def python_checks(machine: Machine) -> Iterator[Check]:
    """Look at the Python that runs us, and at the engine in it."""
    version = platform.python_version()
    if sys.version_info >= OLDEST_PYTHON:
        yield Check("Python", Area.PYTHON, CheckState.OK, version, required=True)
    else:
        yield Check(
            "Python",
            Area.PYTHON,
            CheckState.MISSING,
            version,
            required=True,
            meaning="Python 3.11 or newer is needed.",
            remedy=("make PYTHON=python3.12 run",),
        )
    yield engine_check(machine, keltis_engine.COMPILED)


def engine_check(machine: Machine, compiled: bool) -> Check:
    """Tell in which form the engine is installed."""
    if compiled:
        return Check("engine", Area.PYTHON, CheckState.OK, "compiled")
    return Check(
        "engine",
        Area.PYTHON,
        CheckState.LIMITED,
        "interpreted",
        meaning="Everything works, with the same results, but search thinks 20 times less. Install"
        " a C compiler and Python's headers, and build the package again.",
        remedy=(machine.install("gcc libc6-dev python3-dev"), "make clean install"),
    )


def sandbox_checks(machine: Machine, find: Callable[[], object] = find_sandbox) -> Iterator[Check]:
    """Look for bubblewrap and what it needs; then try it out."""
    bubblewrap = machine.program("bwrap")
    if bubblewrap is None:
        yield Check(
            "bubblewrap",
            Area.SANDBOX,
            CheckState.MISSING,
            "not installed",
            required=True,
            meaning="Programs of others are never run without it: uploads are refused.",
            remedy=(machine.install("bubblewrap"),),
        )
    else:
        yield Check(
            "bubblewrap", Area.SANDBOX, CheckState.OK, version_of([bubblewrap, "--version"])
        )
    yield _seccomp_check(machine)
    if not machine.is_root:
        yield _user_namespace_check(machine)
    if bubblewrap is not None:
        yield _working_check(find)


def _seccomp_check(machine: Machine) -> Check:
    processor = platform.machine()
    actions = machine.read(SECCOMP_ACTIONS)
    if processor not in AUDIT:
        return Check(
            "seccomp",
            Area.SANDBOX,
            CheckState.MISSING,
            f"no filter for {processor} processors",
            required=True,
            meaning=f"The filters know the system calls of {' and '.join(AUDIT)}.",
        )
    if actions is None or "errno" not in actions.split():
        return Check(
            "seccomp",
            Area.SANDBOX,
            CheckState.MISSING,
            "the kernel has no system call filters",
            required=True,
            meaning="A kernel with CONFIG_SECCOMP_FILTER is needed; all distributions have one.",
        )
    return Check("seccomp", Area.SANDBOX, CheckState.OK, f"filters for {processor}")


def _user_namespace_check(machine: Machine) -> Check:
    remedies = []
    for setting, forbidding, allowing in USER_NAMESPACES:
        if machine.number(f"proc/sys/{setting}") in forbidding:
            remedies.append(f"sudo sysctl -w {setting.replace('/', '.')}={allowing}")
    if not remedies:
        return Check("user namespaces", Area.SANDBOX, CheckState.OK, "allowed")
    # A profile for bwrap lets it make them all the same: whether it works is tried below.
    return Check(
        "user namespaces",
        Area.SANDBOX,
        CheckState.LIMITED,
        "restricted",
        meaning="An ordinary user's sandbox needs them, unless a profile allows them to bwrap. To"
        " keep a setting, write it to a file in /etc/sysctl.d.",
        remedy=tuple(remedies),
    )


def _working_check(find: Callable[[], object]) -> Check:
    try:
        find()
    except SandboxMissing as missing:
        return Check(
            "sandbox",
            Area.SANDBOX,
            CheckState.MISSING,
            "does not work",
            required=True,
            meaning=str(missing),
        )
    return Check(
        "sandbox", Area.SANDBOX, CheckState.OK, "works: a program was run in it", required=True
    )


def version_of(command: list[str]) -> str:
    """Return the version that a program tells, or its first words."""
    try:
        told = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=PATIENCE_SECONDS,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not start: {error}"
    number = re.search(r"\d+(\.\d+)+|\d+", told)
    return number[0] if number else told.strip().partition("\n")[0][:60] or "of an unknown version"
