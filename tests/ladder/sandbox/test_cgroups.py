"""Control groups: real ones where we may have them, and version 2 on files like the kernel's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from keltis_ladder.sandbox.cgroups import (
    ALL_BOTS,
    ALL_BOTS_SHARE,
    LEAF,
    Groups,
    available_memory,
    find_groups,
)
from keltis_ladder.sandbox.limits import PLAY


@pytest.fixture
def groups() -> Groups:
    found = find_groups()
    if not found.bases:
        pytest.skip("control groups cannot be had here")
    return found


@pytest.fixture
def unified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A group of version 2 that was delegated to us."""
    monkeypatch.setattr(
        "keltis_ladder.sandbox.cgroups.PATIENCE", 0.0
    )  # real groups vanish; files do not
    own = tmp_path / "app.service"
    own.mkdir()
    (own / "cgroup.controllers").write_text("cpu io memory pids\n")
    (own / "cgroup.subtree_control").write_text("\n")
    return own


def find_unified(own: Path, path: str = "/app.service") -> Groups:
    mounts = f"30 20 0:26 / {own.parent} rw,nosuid - cgroup2 cgroup2 rw"
    return find_groups(mounts, f"0::{path}\n")


def test_a_group_limits_holds_and_goes(groups: Groups) -> None:
    group = groups.create(PLAY)
    assert group is not None
    directories = list(group.directories)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        group.add(process.pid)
        assert group.members() == [process.pid]
        assert group.peak_memory() >= 0
        assert not group.out_of_memory()
        process.communicate(b"\n")
    group.remove()
    assert [directory for directory in directories if directory.exists()] == []


def test_groups_of_dead_referees_are_swept_and_others_kept(groups: Groups) -> None:
    with subprocess.Popen(["true"]) as dead:
        pass
    for base in groups.bases:
        where = [base.directory]
        if base.directory.name == ALL_BOTS:
            where.append(base.directory.parent)  # where they were before there was one around all
        for place in where:
            stale = place / f"keltis-{dead.pid}-0"
            ours = place / f"keltis-{os.getpid()}-999999"
            stale.mkdir()
            ours.mkdir()
            try:
                find_groups()
                assert not stale.exists()
                assert ours.exists()
            finally:
                ours.rmdir()


def test_version_2_moves_us_to_a_leaf_and_switches_controllers_on(unified: Path) -> None:
    groups = find_unified(unified)
    assert [base.directory for base in groups.bases] == [unified / ALL_BOTS]
    assert (unified / LEAF / "cgroup.procs").read_text() == str(os.getpid())
    assert (unified / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_version_2_has_one_group_around_all_sandboxes(unified: Path) -> None:
    (base,) = find_unified(unified).bases
    assert (base.directory / "cgroup.subtree_control").read_text() == "+memory +pids"
    limit = int((base.directory / "memory.max").read_text())
    assert limit == int(ALL_BOTS_SHARE * available_memory())


def test_version_2_is_found_from_the_leaf(unified: Path) -> None:
    (unified / LEAF).mkdir()
    (unified / "cgroup.subtree_control").write_text("memory pids\n")
    (base,) = find_unified(unified, f"/app.service/{LEAF}").bases
    assert base.directory == unified / ALL_BOTS
    assert not (unified / LEAF / "cgroup.procs").exists()


def test_version_2_sets_its_limits(unified: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = find_unified(unified)
    group = groups.create(PLAY)
    assert group is not None
    (directory,) = group.directories
    assert (directory / "memory.max").read_text() == str(PLAY.memory + PLAY.scratch)
    assert (directory / "pids.max").read_text() == str(PLAY.processes + 1)
    (directory / "memory.peak").write_text("12345\n")
    (directory / "memory.current").write_text("1234\n")
    assert group.peak_memory() == 12345
    assert group.held_memory() == 1234


@pytest.mark.parametrize(
    ("events", "own", "of_others"),
    [
        ("low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\noom_group_kill 1\n", True, False),
        ("low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\noom_group_kill 1\n", False, True),
        ("low 0\nhigh 0\nmax 3\noom 0\noom_kill 0\noom_group_kill 0\n", False, False),
    ],
)
def test_version_2_tells_its_own_limit_from_that_of_all(
    unified: Path, events: str, own: bool, of_others: bool
) -> None:
    group = find_unified(unified).create(PLAY)
    assert group is not None
    (directory,) = group.directories
    (directory / "memory.events").write_text(events)
    assert group.out_of_memory() is own
    assert group.lacked_memory() is of_others


def test_without_the_controllers_there_are_no_groups(unified: Path) -> None:
    (unified / "cgroup.controllers").write_text("cpu\n")
    groups = find_unified(unified)
    assert groups.bases == []
    assert groups.create(PLAY) is None


def test_a_group_that_cannot_be_made_any_more_is_an_error_and_not_a_bot_without_limits(
    tmp_path: Path, unified: Path
) -> None:
    groups = find_unified(unified)
    elsewhere = tmp_path / "elsewhere"
    unified.rename(elsewhere)
    with pytest.raises(FileNotFoundError):
        groups.create(PLAY)
    elsewhere.rename(unified)
    assert groups.create(PLAY) is not None, "it was only for a moment"


def test_a_base_in_which_no_limit_can_be_set_is_none(unified: Path) -> None:
    (unified / ALL_BOTS).mkdir()
    (unified / ALL_BOTS).chmod(0o755)
    blocked = unified / ALL_BOTS / "memory.max"
    blocked.mkdir()  # what cannot be written, for root as well
    (unified / "memory.max").mkdir()
    groups = find_unified(unified)
    assert [base.directory for base in groups.bases] == [unified], "without the one around all"
    assert groups.can_limit
