"""What another user of the machine needs to run the ladder's own code."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import msgpack
import pytest

import keltis_bots
import keltis_engine
import keltis_ladder
from tests.ladder.support import boxes
from tests.places import ROOT


def copy_for_everybody(place: Path) -> tuple[str, dict[str, str]]:
    """Copy our packages and probes to a place; return a Python that finds them, and how."""
    for package in (keltis_engine, keltis_bots, keltis_ladder):
        source = Path(package.__file__ or "").parent
        shutil.copytree(source, place / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("support", "probes"):
        shutil.copytree(ROOT / "tests/ladder" / part, place / "tests/ladder" / part)
    shutil.copy(ROOT / "tests/places.py", place / "tests")
    packages = Path(msgpack.__file__).parents[1]  # another Python has none of ours
    path = f"{place}:{packages}"
    return _python(), {"PATH": "/usr/bin:/bin", "PYTHONPATH": path, "TMPDIR": "/tmp"}


def _python() -> str:
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            # It must be able to start itself: setpriv may start it with rights that it loses.
            code = (
                "import subprocess, sys; assert sys.version_info >= (3, 11);"
                "subprocess.run([sys.executable, '-c', ''], check=True)"
            )
            boxes.as_another_user([python, "-c", code], {})
        except AssertionError:
            continue
        return python
    pytest.skip("there is no Python 3.11 that other users may run")
