"""Directories of bots for the tests that copy and build them."""

from __future__ import annotations

import stat
from pathlib import Path


def write_source(directory: Path) -> Path:
    """Write a small bot with a program, a directory and a link."""
    directory.parent.chmod(0o755)
    (directory / "data").mkdir(parents=True)
    (directory / "bot.py").write_text("print('hello')\n")
    (directory / "run.sh").write_text("#!/bin/sh\n")
    (directory / "run.sh").chmod(0o700)
    (directory / "data" / "book").write_bytes(bytes(range(256)))
    (directory / "book").symlink_to("data/book")
    return directory


def modes(directory: Path) -> dict[str, str]:
    """Return the modes of all that is below a directory but links."""
    return {
        str(path.relative_to(directory)): oct(stat.S_IMODE(path.lstat().st_mode))
        for path in directory.rglob("*")
        if not path.is_symlink()
    }
