"""The doctor: what it finds on machines of all kinds, and what it tells to do."""

from __future__ import annotations

import errno
import os
import platform
import resource
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from keltis_ladder.doctor import Area, Check, CheckState, is_fair
from keltis_ladder.doctor.capacity import (
    GIB,
    bots_check,
    clock_status,
    files_check,
    synchrony_check,
    tasks_check,
    watches_check,
)
from keltis_ladder.doctor.check import Machine
from keltis_ladder.doctor.groups import (
    Tried,
    clock_check,
    freeze_check,
    group_checks,
    kernel_release,
    kill_check,
    limits_check,
    own_directory,
    pressure_check,
    try_group,
    version_check,
)
from keltis_ladder.doctor.languages import LANGUAGES, is_new_enough, language_checks
from keltis_ladder.doctor.resources import (
    DISK_NEEDED,
    DISK_WANTED,
    cores_check,
    data_check,
    disk_check,
    existing,
    file_system,
    memory_check,
    resolution_check,
    source_check,
    time_check,
)
from keltis_ladder.doctor.software import engine_check, sandbox_checks, version_of
from keltis_ladder.sandbox.cgroups import find_groups
from keltis_ladder.sandbox.sandbox import SandboxMissing

AVERAGES = "avg10=0.00 avg60=0.00 avg300=0.00 total=1"
FULL = f"some {AVERAGES}\nfull {AVERAGES}\n"
GOOD = Tried(Path("/sys/fs/cgroup"), counts=True, pressure=FULL, freezes=True, kills=True)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine of files, of an ordinary user, without any programs."""
    (tmp_path / "bin").mkdir()
    return Machine(tmp_path, is_root=False, path=str(tmp_path / "bin"))


def has(machine: Machine, name: str, text: str) -> None:
    path = machine.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def has_program(machine: Machine, name: str, says: str = "") -> None:
    assert machine.path
    path = Path(machine.path, name)
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def by_name(checks: list[Check], name: str) -> Check:
    return next(check for check in checks if check.name == name)


def no_sandbox() -> None:
    raise SandboxMissing("bubblewrap does not work here: no permission. Do this and that.")


def a_sandbox() -> None:
    pass


def test_only_what_is_required_decides_about_fairness() -> None:
    good = Check("sandbox", Area.SANDBOX, CheckState.OK, "works", required=True)
    slow = Check("engine", Area.PYTHON, CheckState.MISSING, "interpreted")
    assert is_fair([good, slow])
    assert not is_fair([good, replace(good, state=CheckState.MISSING)])
    assert not is_fair([good, replace(good, state=CheckState.LIMITED)])


def test_an_interpreted_engine_is_slow_but_fair(machine: Machine) -> None:
    assert engine_check(machine, True).state is CheckState.OK
    check = engine_check(machine, False)
    assert (check.state, check.required) == (CheckState.LIMITED, False)
    has_program(machine, "apt-get")
    assert engine_check(machine, False).remedy[0].startswith("sudo apt-get install -y gcc ")


def test_without_bubblewrap_nothing_is_tried(machine: Machine) -> None:
    checks = list(sandbox_checks(machine, no_sandbox))
    bubblewrap = by_name(checks, "bubblewrap")
    assert (bubblewrap.state, bubblewrap.required) == (CheckState.MISSING, True)
    assert "bubblewrap" in bubblewrap.remedy[0]
    assert "sandbox" not in [check.name for check in checks]


def test_a_sandbox_that_does_not_work_says_why(machine: Machine) -> None:
    has_program(machine, "bwrap", "bubblewrap 0.8.0")
    checks = list(sandbox_checks(machine, no_sandbox))
    assert by_name(checks, "bubblewrap").found == "0.8.0"
    broken = by_name(checks, "sandbox")
    assert (broken.state, broken.required) == (CheckState.MISSING, True)
    assert "Do this and that." in broken.meaning
    assert by_name(list(sandbox_checks(machine, a_sandbox)), "sandbox").state is CheckState.OK


def test_without_system_call_filters_there_is_no_sandbox(machine: Machine) -> None:
    assert by_name(list(sandbox_checks(machine, a_sandbox)), "seccomp").state is CheckState.MISSING
    has(machine, "proc/sys/kernel/seccomp/actions_avail", "kill_process trap errno allow\n")
    assert by_name(list(sandbox_checks(machine, a_sandbox)), "seccomp").state is CheckState.OK


@pytest.mark.parametrize(
    ("setting", "value", "command"),
    [
        ("user/max_user_namespaces", 0, "sysctl -w user.max_user_namespaces=15000"),
        ("kernel/unprivileged_userns_clone", 0, "sysctl -w kernel.unprivileged_userns_clone=1"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            1,
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    ],
)
def test_restricted_user_namespaces_concern_ordinary_users(
    machine: Machine, setting: str, value: int, command: str
) -> None:
    assert (
        by_name(list(sandbox_checks(machine, a_sandbox)), "user namespaces").state is CheckState.OK
    )
    has(machine, f"proc/sys/{setting}", f"{value}\n")
    check = by_name(list(sandbox_checks(machine, a_sandbox)), "user namespaces")
    assert (check.state, check.remedy) == (CheckState.LIMITED, (f"sudo {command}",))
    root = list(sandbox_checks(replace(machine, is_root=True), a_sandbox))
    assert "user namespaces" not in [check.name for check in root]


MOUNTS = (
    "30 20 0:26 / {0} rw,nosuid - cgroup2 cgroup2 rw\n31 20 0:27 / /old rw - cgroup cgroup rw,pids"
)


def test_our_own_group_is_found_in_pure_and_in_mixed_hierarchies() -> None:
    mounts = MOUNTS.format("/sys/fs/cgroup/unified")
    own = "3:pids:/elsewhere\n0::/user.slice/app.scope\n"
    found = Path("/sys/fs/cgroup/unified/user.slice/app.scope")
    assert own_directory(mounts, own) == found
    assert own_directory(mounts, "0::/user.slice/app.scope/keltis-self\n") == found
    assert own_directory(mounts, "3:pids:/elsewhere\n") is None
    assert own_directory("31 20 0:27 / /old rw - cgroup cgroup rw,pids", own) is None


def test_a_part_of_the_hierarchy_is_that_of_a_container(machine: Machine) -> None:
    mounts = "30 20 0:26 /docker/f00 /sys/fs/cgroup ro - cgroup2 cgroup rw"
    assert own_directory(mounts, "0::/docker/f00\n") is None
    has(machine, "proc/self/mountinfo", mounts)
    has(machine, "proc/self/cgroup", "0::/docker/f00\n")
    check = version_check(machine, try_group(machine))
    assert (check.state, check.required) == (CheckState.MISSING, True)
    assert "--cgroupns=private" in check.remedy[0]


def delegated(machine: Machine, directory: Path) -> None:
    """Give the machine a group of version 2, made of files."""
    directory.mkdir()
    (directory / "cgroup.procs").touch()
    has(machine, "proc/self/mountinfo", MOUNTS.format(directory))
    has(machine, "proc/self/cgroup", "0::/\n")


def test_a_group_that_was_tried_is_gone(machine: Machine, tmp_path: Path) -> None:
    delegated(machine, tmp_path / "group")
    tried = try_group(machine)
    assert tried == Tried(tmp_path / "group")  # it could be made, but these files are no kernel's
    assert [path.name for path in (tmp_path / "group").iterdir()] == ["cgroup.procs"]


def test_a_group_that_nothing_can_be_moved_into_is_none(machine: Machine, tmp_path: Path) -> None:
    delegated(machine, tmp_path / "group")
    (tmp_path / "group" / "cgroup.procs").unlink()
    assert try_group(machine).trouble == errno.EACCES


def test_the_groups_of_this_machine_are_as_the_kernel_says() -> None:
    tried = try_group(Machine())
    if tried.directory is None or tried.trouble is not None:
        pytest.skip("no control group of version 2 can be made here")
    assert tried.counts
    assert tried.freezes
    assert tried.kills == (kernel_release() >= (5, 14))
    names = [check.name for check in group_checks(Machine())]
    assert names == ["limits", "version 2", "pressure", "freezing", "killing", "exact clock"]
    assert not list(tried.directory.glob(f"keltis-{os.getpid()}-doctor"))


def test_without_version_2_it_is_to_be_mounted(machine: Machine) -> None:
    check = version_check(machine, Tried())
    assert (check.state, check.required) == (CheckState.MISSING, True)
    assert check.remedy[-1] == "sudo mount -t cgroup2 none /sys/fs/cgroup/unified"
    names = [check.name for check in group_checks(machine)]
    assert names == ["limits", "version 2", "exact clock"]


def test_an_ordinary_user_is_told_how_to_get_a_group(machine: Machine) -> None:
    forbidden = Tried(Path("/sys/fs/cgroup"), errno.EACCES)
    (machine.root / "run/systemd/system").mkdir(parents=True)
    check = version_check(machine, forbidden)
    assert (check.state, check.required) == (CheckState.MISSING, True)
    scope = "systemd-run --user --scope -p Delegate=yes keltis-ladder serve"
    assert check.remedy[0] == scope
    assert limits_check(machine, {"pids"}).remedy[0] == scope
    root = replace(machine, is_root=True)
    assert "--user" not in version_check(root, forbidden).remedy[0]


def test_without_systemd_the_groups_are_made_by_hand(machine: Machine) -> None:
    has(machine, "proc/self/mountinfo", MOUNTS.format("/unified"))
    making, joining = version_check(machine, Tried(Path("/unified"), errno.EACCES)).remedy
    own = "/unified/keltis/keltis-self"
    assert making == f'sudo mkdir -p {own} && sudo chown -R "$USER" /unified/keltis'
    assert joining.startswith(f"echo $$ | sudo tee {own}/cgroup.procs ")
    # pids is a controller of version 1 there, memory can only be one of version 2.
    enabling, *rest = limits_check(machine, set()).remedy
    assert enabling == 'echo "+memory +pids" | sudo tee /unified/cgroup.subtree_control'
    assert rest[:2] == [making, joining]
    assert rest[2] == 'sudo mkdir -p /old/keltis && sudo chown -R "$USER" /old/keltis'


def test_a_container_is_told_what_to_be_started_with(machine: Machine) -> None:
    check = version_check(machine, Tried(Path("/sys/fs/cgroup"), errno.EROFS))
    assert "read-only" in check.found
    assert "--privileged" in check.remedy[0]


def test_limits_need_both_controllers(machine: Machine) -> None:
    assert limits_check(machine, {"memory", "pids"}).state is CheckState.OK
    check = limits_check(machine, {"pids"})
    assert (check.state, check.required) == (CheckState.MISSING, True)
    assert "serve --no-limits" in check.meaning
    assert "no memory controller" in check.found


def test_the_clock_needs_the_line_full(machine: Machine) -> None:
    assert pressure_check(machine, GOOD).state is CheckState.OK
    some = replace(GOOD, pressure=FULL.splitlines()[0])
    check = pressure_check(machine, some)
    assert (check.state, check.required) == (CheckState.MISSING, True)


def test_pressure_figures_that_are_off_are_switched_on_where_they_are_off(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = replace(GOOD, pressure=None)
    monkeypatch.setattr(platform, "release", lambda: "6.1.0-40-amd64")
    assert "psi=1" in pressure_check(machine, off).remedy[0]
    has(machine, "proc/pressure/cpu", FULL)
    (command,) = pressure_check(machine, off).remedy
    assert command == "echo 1 | sudo tee /sys/fs/cgroup/cgroup.pressure"
    monkeypatch.setattr(platform, "release", lambda: "5.10.0-30-amd64")
    assert pressure_check(machine, off).remedy == ("use Linux 5.13 or newer",)


def test_the_clock_is_exact_if_the_sandbox_says_so(machine: Machine) -> None:
    assert clock_check(True).state is CheckState.OK
    check = clock_check(False)
    assert (check.state, check.required) == (CheckState.MISSING, True)
    found = by_name(list(group_checks(machine)), "exact clock").state
    assert (found is CheckState.OK) == find_groups().can_count


def test_freezing_is_required_and_killing_is_not() -> None:
    assert freeze_check(GOOD).state is CheckState.OK
    assert kill_check(GOOD).state is CheckState.OK
    frozen = freeze_check(replace(GOOD, freezes=False))
    assert (frozen.state, frozen.required) == (CheckState.MISSING, True)
    killed = kill_check(replace(GOOD, kills=False))
    assert (killed.state, killed.required) == (CheckState.LIMITED, False)


def test_languages_are_there_missing_or_old(machine: Machine) -> None:
    has_program(machine, "apt-get")
    has_program(machine, "node", "v20.20.2")
    has_program(machine, "go", "go version go1.13.8 linux/amd64")
    checks = {check.name: check for check in language_checks(machine)}
    assert set(checks) == {"python"} | {language.name for language in LANGUAGES}
    assert (checks["javascript"].state, checks["javascript"].found) == (
        CheckState.OK,
        "node 20.20.2",
    )
    assert (checks["go"].state, checks["go"].found) == (CheckState.LIMITED, "go 1.13.8")
    assert "go 1.19 or newer" in checks["go"].meaning
    assert checks["rust"].state is CheckState.MISSING
    assert checks["rust"].remedy == ("sudo apt-get install -y cargo",)
    assert not any(check.required for check in checks.values())


@pytest.mark.parametrize(
    ("version", "since", "new_enough"),
    [
        ("17.0.15", (17,), True),
        ("17", (17,), True),
        ("11.0.2", (17,), False),
        ("1.56", (1, 56), True),
        ("1.9.8", (1, 19), False),
        ("2.0", (1, 19), True),
        ("does not start: no", (1,), False),
    ],
)
def test_versions_are_compared_as_numbers(
    version: str, since: tuple[int, ...], new_enough: bool
) -> None:
    assert is_new_enough(version, since) == new_enough


def test_a_program_that_does_not_run_has_no_version(machine: Machine, tmp_path: Path) -> None:
    assert version_of([str(tmp_path / "nothing")]).startswith("does not start: ")
    has_program(machine, "odd", "no number here")
    assert version_of([str(tmp_path / "bin/odd")]) == "no number here"
    has_program(machine, "mute")
    assert version_of([str(tmp_path / "bin/mute")]) == "of an unknown version"


def test_time_that_a_hypervisor_takes_is_told(machine: Machine) -> None:
    assert cores_check(machine, 4).state is CheckState.OK
    assert cores_check(machine, 1).state is CheckState.LIMITED
    has(machine, "proc/stat", "cpu  800 0 100 50 0 0 0 50 0 0\ncpu0 1 2 3\n")
    check = cores_check(machine, 4)
    assert (check.state, check.found[:12]) == (CheckState.LIMITED, "4 cores, 5% ")


@pytest.mark.parametrize(
    ("kib", "state", "required"),
    [
        (8 << 20, CheckState.OK, False),
        (1 << 20, CheckState.LIMITED, False),
        (100 << 10, CheckState.MISSING, True),
    ],
)
def test_memory_is_told(machine: Machine, kib: int, state: CheckState, required: bool) -> None:
    has(machine, "proc/meminfo", f"MemTotal: 99 kB\nMemAvailable:  {kib} kB\n")
    check = memory_check(machine)
    assert (check.state, check.required) == (state, required)


def test_memory_for_all_bots_that_play_is_told_with_the_setting() -> None:
    assert bots_check(64 * GIB, 4, 3).state is CheckState.OK
    check = bots_check(64 * GIB, 16, 5)
    assert (check.state, check.required) == (CheckState.LIMITED, False)
    assert check.found == (
        "32.0 GiB for all; 16 matches and 5 checks at the same time, 288 MiB for each bot"
    )
    assert check.remedy == ("keltis-ladder serve --cores 3",)
    check = bots_check(8 * GIB, 8, 3)
    assert check.found.startswith("3.0 GiB for all; 7 matches and 3 checks at the same time, ")
    assert "On 8 cores a bot would have less than 64 MiB" in check.meaning
    check = bots_check(GIB, 1, 3)
    assert check.found.startswith("0.4 GiB for all; 1 match and 3 checks")
    assert check.remedy == ()


def test_too_few_processes_and_threads_are_told() -> None:
    assert tasks_check(1 << 22, 64).state is CheckState.OK
    check = tasks_check(4915, 8)
    assert (check.state, check.required) == (CheckState.LIMITED, False)
    assert check.found == "up to 4,915; bots at 8 tables, and everything else, need 12,352"
    assert "TasksMax=infinity" in check.remedy[0]


def test_watches_that_bots_could_use_up_are_told() -> None:
    assert watches_check(None, 8 * GIB).state is CheckState.OK
    assert watches_check(1 << 30, 8 * GIB).state is CheckState.OK
    check = watches_check(1 << 20, 8 * GIB)
    assert (check.state, check.required) == (CheckState.LIMITED, False)
    assert check.remedy == ("sysctl fs.epoll.max_user_watches=50331648",)


def test_too_few_open_files_for_the_connections_are_told() -> None:
    assert files_check(resource.RLIM_INFINITY).state is CheckState.OK
    assert files_check(4352).state is CheckState.OK
    check = files_check(4351)
    assert (check.state, check.required) == (CheckState.LIMITED, False)
    assert check.found == "up to 4,351; 4,096 connections need 4,352"
    assert "LimitNOFILE=4352" in check.remedy[1]


def test_a_clock_that_nothing_keeps_right_is_told() -> None:
    assert clock_status() in (True, False, None)
    assert synchrony_check(True).state is CheckState.OK
    assert synchrony_check(False).state is CheckState.LIMITED
    assert "does not say" in synchrony_check(None).found


def test_a_slow_clock_and_a_wrong_time_are_told(machine: Machine) -> None:
    source = "sys/devices/system/clocksource/clocksource0/current_clocksource"
    has(machine, source, "tsc\n")
    assert source_check(machine).state is CheckState.OK
    has(machine, source, "hpet\n")
    assert source_check(machine).state is CheckState.LIMITED
    assert time_check(2e9, 1.9e9).state is CheckState.OK
    assert time_check(0.0, 1.9e9).state is CheckState.LIMITED


def test_data_is_not_where_bots_or_other_users_can_read_it(
    machine: Machine, tmp_path: Path
) -> None:
    check = data_check(machine, Path(sys.prefix) / "data", None)
    if os.access(sys.prefix, os.W_OK):
        assert (check.state, check.required) == (CheckState.MISSING, True)
        assert f"is inside {sys.prefix}" in check.found
    (tmp_path / "ladder.db").touch()
    tmp_path.chmod(0o755)
    check = data_check(machine, tmp_path, None)
    assert (check.state, check.remedy) == (CheckState.LIMITED, (f"chmod 700 {tmp_path}",))
    tmp_path.chmod(0o700)
    assert data_check(machine, tmp_path, None).state is CheckState.OK


def test_a_clock_of_coarse_steps_is_told() -> None:
    assert resolution_check(1e-9).state is CheckState.OK
    check = resolution_check(0.004)
    assert check.state is CheckState.LIMITED
    assert check.found == "monotonic, in steps of 4.0 ms"


def test_data_needs_a_place_to_write(machine: Machine, tmp_path: Path) -> None:
    assert data_check(machine, tmp_path, None).found == str(tmp_path)
    below = tmp_path / "not" / "yet"
    assert data_check(machine, below, None).found == f"{below} can be made"
    assert existing(below) == tmp_path
    (tmp_path / "file").touch()
    check = data_check(machine, tmp_path / "file" / "ladder", None)
    assert (check.state, check.required) == (CheckState.MISSING, True)


def test_a_database_on_a_network_file_system_is_told(machine: Machine, tmp_path: Path) -> None:
    has(machine, "proc/self/mounts", f"none / ext4 rw 0 0\nserver:/x {tmp_path} nfs4 rw 0 0\n")
    assert data_check(machine, tmp_path, None).state is CheckState.LIMITED
    assert data_check(machine, tmp_path, "postgresql://db/keltis").state is CheckState.OK
    mounts = "none / ext4 rw 0 0\nnone /srv btrfs rw 0 0\nserver:/x /srv/net nfs rw 0 0\n"
    assert file_system(mounts, Path("/srv/data")) == "btrfs"
    assert file_system(mounts, Path("/srv/net/data")) == "nfs"
    assert file_system(mounts, Path("/srv/network")) == "btrfs"
    assert file_system(mounts, Path("/home")) == "ext4"


@pytest.mark.parametrize(
    ("free", "state", "required"),
    [
        (DISK_WANTED, CheckState.OK, False),
        (DISK_NEEDED, CheckState.LIMITED, False),
        (DISK_NEEDED - 1, CheckState.MISSING, True),
    ],
)
def test_disk_is_told(tmp_path: Path, free: int, state: CheckState, required: bool) -> None:
    check = disk_check(tmp_path, free)
    assert (check.state, check.required) == (state, required)
