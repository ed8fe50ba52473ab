"""An ordinary user who was given a group of version 2, as by Delegate=yes, has exact clocks."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from keltis_ladder.doctor.groups import own_directory
from tests.ladder.support.users import copy_for_everybody

USER = 64321  # nobody's, and not that of other tests
GIVEN = ("cgroup.procs", "cgroup.threads", "cgroup.subtree_control")  # what systemd gives, too
JOIN = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
PATIENCE = 300.0


@pytest.fixture
def delegated() -> Iterator[Path]:
    """A group below our own that belongs to another user."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a control group to another user")
    mounts, own = (Path("/proc/self", name).read_text() for name in ("mountinfo", "cgroup"))
    parent = own_directory(mounts, own)
    if parent is None:
        pytest.skip("there are no control groups of version 2 here")
    group = parent / f"keltis-delegated-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error.strerror}")
    try:
        for path in (group, *(group / name for name in GIVEN)):
            if path.exists():
                os.chown(path, USER, USER)
        yield group
    finally:
        for path in sorted((each for each in group.rglob("*") if each.is_dir()), reverse=True):
            path.rmdir()
        group.rmdir()


def test_a_user_with_a_group_of_version_2_limits_freezes_counts_and_ends(delegated: Path) -> None:
    with tempfile.TemporaryDirectory() as text:
        place = Path(text)
        place.chmod(0o755)
        python, environment = copy_for_everybody(place)
        drop = ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--"]
        command = [python, "-B", "-m", "tests.ladder.support.delegated"]
        ran = subprocess.run(
            ["sh", "-c", JOIN, str(delegated), *drop, *command],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {
        "user": USER,
        "counts": True,
        "members": True,
        "frozen": True,
        "used": True,
        "ended": -9,
        "left": [],
    }
