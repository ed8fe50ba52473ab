"""Use the control groups that this process was given; run by another user as a script.

See ``tests/ladder/sandbox/test_delegation.py``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from keltis_ladder.sandbox.cgroups import find_groups
from keltis_ladder.sandbox.limits import PLAY

BUSY = "print('busy', flush=True)\nwhile True: pass"
PATIENCE = 300.0


def main() -> None:
    """Limit, count, freeze and end a process, and tell in JSON what became of it."""
    groups = find_groups()
    told: dict[str, object] = {"user": os.geteuid(), "counts": groups.can_count}
    group = groups.create(PLAY)
    assert group is not None
    assert group.meter is not None
    with subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE) as process:
        group.add(process.pid)
        assert process.stdout is not None
        process.stdout.readline()
        told["members"] = group.members() == [process.pid]
        group.freeze(True)
        (directory,) = (each for each in group.directories if (each / "cgroup.events").exists())
        wait_for(directory, "frozen 1")
        told["frozen"] = True
        told["used"] = "usage_usec" in (directory / "cpu.stat").read_text()
        group.freeze(False)
        wait_for(directory, "frozen 0")
        group.kill()
        told["ended"] = process.wait()
    directories = list(group.directories)
    group.remove()
    told["left"] = [str(each) for each in directories if each.exists()]
    print(json.dumps(told))


def wait_for(directory: Path, event: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while event not in (directory / "cgroup.events").read_text():
        assert time.monotonic() < deadline, event
        time.sleep(0.01)


if __name__ == "__main__":
    main()
