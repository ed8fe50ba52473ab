"""What a benchmark ran on: the processor, Python, the compiler and the versions."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import keltis_engine

PACKAGES: Final = ["keltis-ladder", "librt", "mypy_extensions", "mypy", "open_spiel"]

_COMPILERS: Final = re.compile(rb"GCC: \([^)]*\) [0-9.]+|clang version [0-9.]+")


@dataclass(frozen=True)
class Machine:
    """What has to be known to compare results."""

    cpu: str
    cores: int
    system: str
    python: str
    compiler: str
    versions: dict[str, str]

    @property
    def slug(self) -> str:
        """A name for files."""
        words = re.sub(r"[^a-z0-9]+", "-", self.cpu.lower()).strip("-")
        return f"{words}-x{self.cores}"


def this_machine() -> Machine:
    """Describe the machine we run on."""
    return Machine(
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=f"{platform.python_implementation()} {platform.python_version()}",
        compiler=_compiler(),
        versions=dict(_versions()),
    )


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        found = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.MULTILINE)
        if found:
            return found[1].strip()
    return platform.processor() or platform.machine()


def _compiler() -> str:
    """Return the compiler that built the engine, as it signed the shared library."""
    if not keltis_engine.COMPILED:
        return "none: the engine is interpreted"
    package = Path(keltis_engine.__file__).parent
    signed = {
        name.decode()
        for library in package.glob("native__mypyc*")
        for name in _COMPILERS.findall(library.read_bytes())
    }
    return ", ".join(sorted(signed)) or "unknown"


def _versions() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        try:
            yield package, importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            yield package, "not installed"
