"""``keltis-ladder doctor`` as a user runs it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from keltis_cli.ladder.doctor import FAIR, verdict
from keltis_ladder.doctor import Area, Check, CheckState
from tests.cli.support.helpers import ESCAPE, command

FIELDS = {"name", "area", "state", "required", "found", "meaning", "remedy"}


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return what was told as JSON; the exit code has to agree with it."""
    report: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if report["fair"] else 1), done.stderr
    return report


def test_programs_get_json_and_an_exit_code(tmp_path: Path) -> None:
    report = told(command("doctor", "--json", "--data", tmp_path / "ladder"))
    assert all(set(check) == FIELDS for check in report["checks"])
    names = [check["name"] for check in report["checks"]]
    assert len(set(names)) == len(names)
    assert {"Python", "engine", "sandbox", "version 2", "cpp", "disk"} <= set(names)
    required = [check["state"] for check in report["checks"] if check["required"]]
    assert report["fair"] == (set(required) == {"ok"})
    assert not (tmp_path / "ladder").exists()  # it only looks


def test_people_get_a_line_for_each_thing_and_a_verdict(tmp_path: Path) -> None:
    done = command("doctor", "--data", tmp_path)
    assert done.returncode in (0, 1), done.stderr
    assert ESCAPE not in done.stdout
    lines = done.stdout.splitlines()
    assert all(str(area) in lines for area in Area)
    found = [match[1] for line in lines if (match := re.match(r"  (ok|limited|missing) +\S", line))]
    assert len(found) >= 15
    assert lines[-1].startswith(FAIR) == (done.returncode == 0)


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_for_terminals_that_want_them(
    environment: dict[str, str], coloured: bool, tmp_path: Path
) -> None:
    variables = {"FORCE_COLOR": "1", "TERM": "xterm-256color"} | environment
    done = command("doctor", "--data", tmp_path, **variables)
    assert (ESCAPE in done.stdout) == coloured


def test_a_place_that_cannot_be_written_to_is_not_fair(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = command("doctor", "--data", tmp_path / "file" / "ladder")
    assert done.returncode == 1
    assert "  missing  data " in done.stdout
    assert "keltis-ladder serve --data DIRECTORY" in done.stdout


def test_without_groups_of_version_2_it_is_not_fair(tmp_path: Path) -> None:
    """In a namespace of mounts from which they are gone."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    places = [line.split()[4] for line in mounts if " - cgroup2 " in line]
    if os.geteuid() != 0 or not places:
        pytest.skip("only root can take them away, where there are some")
    away = " && ".join(f"umount -l {shlex.quote(place)}" for place in reversed(places))
    doctor = shlex.join([sys.executable, "-m", "keltis_cli", "doctor", "--data", str(tmp_path)])
    for form in ("", " --json"):
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", f"{away} && exec {doctor}{form}"],
            capture_output=True,
            text=True,
            env=os.environ | {"COLUMNS": "80", "PYTHONUTF8": "1"},
            timeout=120,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        if form:
            checks = {check["name"]: check for check in told(done)["checks"]}
            assert checks["version 2"]["state"] == "missing"
            assert "mount -t cgroup2" in checks["version 2"]["remedy"][-1]
        else:
            assert (
                "cannot be played fairly here yet. Missing: version 2, exact clock." in done.stdout
            )


def test_the_verdict_names_what_is_to_be_mended() -> None:
    good = Check("sandbox", Area.SANDBOX, CheckState.OK, "works", required=True)
    slow = Check("engine", Area.PYTHON, CheckState.LIMITED, "interpreted")
    bad = Check("pressure", Area.GROUPS, CheckState.MISSING, "none", required=True)
    assert verdict([good]) == FAIR
    assert verdict([good, slow]) == f"{FAIR} Not all is there: engine."
    assert verdict([good, slow, bad]).endswith("Missing: pressure.")
