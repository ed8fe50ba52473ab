"""The sandbox of an ordinary user, who has no control groups and cannot change the user."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from keltis_ladder.sandbox.sandbox import Sandbox
from tests.ladder.support import boxes
from tests.ladder.support.users import copy_for_everybody


@pytest.fixture(scope="module")
def outcomes(sandbox: Sandbox) -> dict[str, Any]:
    """Run probes as the user nobody."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user; the other tests ran as one already")
    # Not below pytest's own directory: each pytest that starts closes that to other users again.
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        return _outcomes(Path(place))


def _outcomes(place: Path) -> dict[str, Any]:
    """Run the probes from a copy that everybody can read."""
    python, environment = copy_for_everybody(place)
    command = [python, "-B", "-m", "tests.ladder.support.boxes", "calls", "world"]
    found: dict[str, Any] = json.loads(boxes.as_another_user(command, environment))
    return found


def test_it_is_not_root_and_has_no_control_groups(outcomes: dict[str, Any]) -> None:
    assert outcomes["user"] == 65534
    assert outcomes["groups"] == 0


def test_a_bot_in_a_directory_that_is_closed_to_others_reads_its_files(
    outcomes: dict[str, Any],
) -> None:
    assert outcomes["closed"] == "ahoy"


def test_calls_are_refused(outcomes: dict[str, Any]) -> None:
    calls = json.loads(outcomes["calls"]["out"])
    assert {name for name, result in calls.items() if result == "done"} == {
        "AF_UNIX",
        "F_GETFL",
        "clone of a thread",
        "sched_setscheduler",
    }


def test_it_has_no_privileges_and_sees_little(outcomes: dict[str, Any]) -> None:
    world = json.loads(outcomes["world"]["out"])
    assert world["capabilities"] == [0, 0, 0]
    assert world["no new privileges"] == 1
    assert world["open files"] == [0, 1, 2]
    assert world["shadow"] == "ENOENT"
    assert world["touched a device"] is False
    assert world["write"] == {
        **dict.fromkeys(("/", "/bot", "/usr", "/etc", "/dev"), "EROFS"),
        "/tmp": "done",
    }
    assert (world["process"], world["group"]) == (3, 1)
    assert world["still here"] is True


def test_it_is_paused_and_killed_as_a_whole(outcomes: dict[str, Any]) -> None:
    assert outcomes["paused"] is True
    assert outcomes["family"] == 4
    assert outcomes["left"] == 0


def test_processes_and_files_are_bounded(outcomes: dict[str, Any]) -> None:
    assert outcomes["forks"] == ["EAGAIN", "EAGAIN"]
    assert outcomes["files"] == "ENOSPC"


def test_a_build_is_taken_out_of_the_sandbox_and_a_forged_one_is_refused(
    outcomes: dict[str, Any],
) -> None:
    built = outcomes["built"]
    assert built["good"] == "bot.py made"
    # Here the build is the owner of the pipe, and can write to it. It gains nothing.
    assert built["noise"].startswith("the build left what cannot be used: this tar is damaged")
    assert built["left running"] in ("bot.py", "a bot.py")
    assert built["left"] == "source"
