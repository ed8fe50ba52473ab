"""One line of the doctor's report, and the files of the kernel that it is made from."""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any


class CheckState(StrEnum):
    """Whether the machine has what is needed."""

    OK = "ok"
    LIMITED = "limited"  # there, but not all of it
    MISSING = "missing"


class Area(StrEnum):
    """What a check is about."""

    PYTHON = "Python"
    SANDBOX = "Sandbox"
    GROUPS = "Control groups"
    LANGUAGES = "Languages"
    MACHINE = "Machine"


@dataclass(frozen=True)
class Check:
    """Something that was looked for."""

    name: str
    area: Area
    state: CheckState
    found: str
    required: bool = False  # without it strangers' bots cannot be played fairly
    meaning: str = ""  # what it means that it is not there, or not all of it
    remedy: tuple[str, ...] = ()  # commands that give it, or lines of settings

    def as_plain(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "name": self.name,
            "area": str(self.area),
            "state": str(self.state),
            "required": self.required,
            "found": self.found,
            "meaning": self.meaning,
            "remedy": list(self.remedy),
        }


@dataclass(frozen=True)
class Machine:
    """The machine that is looked at; tests have others, made of files."""

    root: Path = Path("/")
    is_root: bool = field(default_factory=lambda: os.geteuid() == 0)
    path: str | None = None  # where programs are looked for, if not in PATH

    def read(self, name: str) -> str | None:
        """Return what a file says, or none if there is no such file or it cannot be read."""
        with contextlib.suppress(OSError):
            return (self.root / name).read_text(errors="replace")
        return None

    def number(self, name: str) -> int | None:
        """Return the number in a file, or none."""
        with contextlib.suppress(ValueError):
            return int(self.read(name) or "")
        return None

    def program(self, name: str) -> str | None:
        """Return where a program is, or none."""
        return shutil.which(name, path=self.path)

    @property
    def sudo(self) -> str:
        """What stands before a command that only root may run."""
        return "" if self.is_root else "sudo "

    def install(self, package: str) -> str:
        """Return the command that installs a package, by its Debian name."""
        if self.program("apt-get"):
            return f"{self.sudo}apt-get install -y {package}"
        return f"install {package}, or what your system calls that package"
