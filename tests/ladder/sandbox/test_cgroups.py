"""Control groups: real ones where we may have them, and version 2 on files like the kernel's."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from keltis_ladder.files.sizes import MIB
from keltis_ladder.sandbox import cgroups
from keltis_ladder.sandbox.cgroups import (
    ALL_BOTS,
    ALL_BUILDS,
    LEAF,
    ONE_OF_ALL,
    Group,
    Groups,
    available_memory,
    find_groups,
)
from keltis_ladder.sandbox.limits import (
    BUILD,
    PLAY,
    memory_of_bots,
    memory_of_builds,
)


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
        "keltis_ladder.sandbox.cgroups.RELEASE_SECONDS", 0.0
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
        if base.builds is not None:
            # The last is where they were before there was one around all.
            where += [base.builds, base.directory.parent]
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


def test_version_2_has_one_group_around_all_bots_and_one_around_all_builds(unified: Path) -> None:
    (base,) = find_unified(unified).bases
    memory = available_memory()
    for directory, name, most in (
        (base.directory, ALL_BOTS, memory_of_bots(memory)),
        (base.builds, ALL_BUILDS, memory_of_builds(memory)),
    ):
        assert directory == unified / name
        assert (directory / "cgroup.subtree_control").read_text() == "+memory +pids"
        assert int((directory / "memory.max").read_text()) == most


def test_version_2_keeps_builds_apart_from_bots(unified: Path) -> None:
    groups = find_unified(unified)
    bot, build = groups.create(PLAY), groups.create(BUILD)
    assert bot is not None
    assert build is not None
    assert [each.parent for each in bot.directories] == [unified / ALL_BOTS]
    assert [each.parent for each in build.directories] == [unified / ALL_BUILDS]


def test_one_build_alone_reaches_its_own_limit_before_that_of_all(unified: Path) -> None:
    """Or it could fail by what counts as a fault of the machine, whenever it likes."""
    groups = find_unified(unified)
    small = 1024 * MIB
    (unified / ALL_BUILDS / "memory.max").write_text(str(small))
    build = groups.create(BUILD)
    assert build is not None
    (directory,) = build.directories
    assert int((directory / "memory.max").read_text()) == ONE_OF_ALL * small


@pytest.mark.parametrize("gib", [1, 2, 4, 8, 16, 64, 1024])
def test_bots_and_builds_divide_three_quarters_of_the_memory(gib: int) -> None:
    memory = gib << 30
    bots, builds = memory_of_bots(memory), memory_of_builds(memory)
    assert bots + builds == memory * 3 // 4
    assert builds <= bots
    if gib >= 16:
        assert builds >= BUILD.memory + BUILD.scratch


def test_here_builds_and_bots_have_limits_of_their_own(groups: Groups) -> None:
    """The kernel's own groups, of whichever version there is."""
    limited = [base for base in groups.bases if "memory" in base.controllers]
    assert limited
    bot, build = groups.create(PLAY), groups.create(BUILD)
    assert bot is not None
    assert build is not None
    try:
        for base in limited:
            assert base.builds is not None
            assert base.builds.parent == base.directory.parent
            assert any(each.parent == base.directory for each in bot.directories)
            assert any(each.parent == base.builds for each in build.directories)
    finally:
        bot.remove()
        build.remove()


PATIENCE_SECONDS = 120
HOLD = "import sys; held = bytearray(int(sys.argv[1])); print('held', flush=True); input()"


@pytest.fixture
def apart(groups: Groups) -> Iterator[Groups]:
    """Real groups around bots and builds that nobody else uses, so that they may be small."""
    found = [base for base in groups.bases if "memory" in base.controllers]
    if not found or found[0].builds is None:
        pytest.skip("memory cannot be limited here")
    (base,) = found
    directory = base.directory.parent / f"keltis-apart-{os.getpid()}"
    directory.mkdir()
    try:
        if base.version == 2:
            (directory / "cgroup.subtree_control").write_text("+memory +pids")
        made = cgroups._around_all(replace(base, directory=directory, builds=None))
        yield Groups([made])
    finally:
        for name in (ALL_BOTS, ALL_BUILDS, ""):
            (directory / name).rmdir()


def test_builds_that_take_all_their_memory_take_none_from_bots(apart: Groups) -> None:
    (base,) = apart.bases
    assert base.builds is not None
    file = "memory.max" if base.version == 2 else "memory.limit_in_bytes"
    (base.builds / file).write_text(str(64 * MIB))
    (base.directory / file).write_text(str(64 * MIB))
    small = replace(BUILD, memory=60 * MIB, scratch=0)
    bot, first, second = apart.create(PLAY), apart.create(small), apart.create(small)
    assert bot is not None
    assert first is not None
    assert second is not None
    try:
        with (
            holding(bot, 30 * MIB) as playing,
            holding(first, 40 * MIB) as building,
            holding(second, 40 * MIB) as also,
        ):
            said = [process.stdout.readline() for process in (building, also) if process.stdout]
            # One of them, or both, had to end: perhaps after it said that it holds its memory.
            assert b"" in said or ends(building, also)
            assert playing.stdout is not None
            assert playing.stdout.readline() == b"held\n"
            assert playing.poll() is None
        assert not bot.lacked_memory()
        assert not bot.out_of_memory()
    finally:
        for group in (bot, first, second):
            group.remove()


def ends(*processes: subprocess.Popen[bytes]) -> bool:
    """Wait for the end of one of them; return whether it came."""
    watch = select.poll()
    descriptors = [os.pidfd_open(process.pid) for process in processes]
    try:
        for descriptor in descriptors:
            watch.register(descriptor, select.POLLIN)
        return bool(watch.poll(PATIENCE_SECONDS * 1000))
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


@contextmanager
def holding(group: Group, size: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process in a group that holds so much memory once it is there."""
    pipe = subprocess.PIPE
    code = f"input()\n{HOLD}"
    command = [sys.executable, "-c", code, str(size)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        group.add(process.pid)
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        try:
            yield process
        finally:
            process.kill()


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
