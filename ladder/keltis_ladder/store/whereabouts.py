"""Where a ladder's directory is. To ask for this loads no database."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

DATA: Final = "KELTIS_DATA"


def default_directory() -> Path:
    """Return where a ladder lives unless told otherwise."""
    if told := os.environ.get(DATA):
        return Path(told)
    return usual_directory()


def usual_directory() -> Path:
    """Return where a ladder lives if nothing tells otherwise, as in another terminal."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "keltis-ladder"
