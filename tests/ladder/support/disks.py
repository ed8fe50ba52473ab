"""Disks that are full."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def full_disk(directory: Path) -> Iterator[None]:
    """Let a directory have no room, really where we may mount."""
    directory.mkdir(parents=True, exist_ok=True)
    options = ["-t", "tmpfs", "-o", "size=4k,nr_inodes=8", "tmpfs", str(directory)]
    if os.geteuid() == 0 and subprocess.run(["mount", *options], check=False).returncode == 0:
        try:
            yield
        finally:
            subprocess.run(["umount", str(directory)], check=True)
        return
    moved = directory.rename(directory.with_name("away"))
    directory.touch()
    yield
    directory.unlink()
    moved.rename(directory)
