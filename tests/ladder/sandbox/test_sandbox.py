"""What a program in the sandbox cannot do; each probe is a program that tries."""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keltis_ladder.files.sizes import MIB
from keltis_ladder.sandbox import sandbox as sandbox_module
from keltis_ladder.sandbox.cgroups import Groups, find_groups
from keltis_ladder.sandbox.child import CannotStart, descendants
from keltis_ladder.sandbox.limits import PLAY
from keltis_ladder.sandbox.prctl import adopt_orphans
from keltis_ladder.sandbox.sandbox import Sandbox, SandboxMissing, find_sandbox
from tests.ladder.support.boxes import (
    PATIENCE,
    PROBES,
    alive,
    drain,
    mounts_of,
    probe,
    read_until,
    run,
    silent_for,
    start_probe,
    state_of,
)
from tests.places import ROOT

SMALL = replace(
    PLAY,
    memory=128 * MIB,
    private=128 * MIB,
    scratch=4 * MIB,
    scratch_files=50,
    file_size=MIB,
)
# The last one does nothing, and says that it did.
ALLOWED = ("AF_UNIX", "F_GETFL", "clone of a thread", "sched_setscheduler")
UNKNOWN = ("clone3", "fsopen", "preadv2", "unheard_of")


@pytest.fixture(scope="module")
def calls(sandbox: Sandbox) -> dict[str, str]:
    outcome = probe(sandbox, "calls")
    assert outcome.exit.code == 0, outcome.err
    found: dict[str, str] = json.loads(outcome.out)
    return found


@pytest.fixture(scope="module")
def world(sandbox: Sandbox) -> dict[str, Any]:
    # Other bots, the user's home, the tests themselves and this process.
    hidden = [str(Path.home() / ".bashrc"), str(Path(__file__)), "/proc", "/sys", "/var"]
    if not Path(sys.prefix).is_relative_to("/home"):  # otherwise there is the way to Python
        hidden.append("/home")
    outcome = probe(sandbox, "world", *hidden, str(os.getpid()), str(os.getppid()))
    assert outcome.exit.code == 0, outcome.err
    found: dict[str, Any] = json.loads(outcome.out)
    return found


def test_calls_that_ordinary_programs_need_are_allowed(calls: dict[str, str]) -> None:
    assert {name: calls[name] for name in ALLOWED} == dict.fromkeys(ALLOWED, "done")


def test_dangerous_calls_and_marks_on_shared_files_are_refused(calls: dict[str, str]) -> None:
    families = ("AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK")
    expected = dict.fromkeys(calls, "EPERM")
    expected |= dict.fromkeys(ALLOWED, "done") | dict.fromkeys(UNKNOWN, "ENOSYS")
    expected |= dict.fromkeys(families, "EAFNOSUPPORT")
    assert calls == expected
    assert len(calls) > 45


@pytest.mark.skipif(platform.machine() != "x86_64", reason="x32 is a matter of x86_64")
def test_a_call_by_another_architectures_number_kills(sandbox: Sandbox) -> None:
    outcome = probe(sandbox, "foreign")
    assert (outcome.out, outcome.exit.signal) == ("", signal.SIGSYS)


def test_it_sees_only_a_minimal_system(world: dict[str, Any]) -> None:
    assert world["seen"] == []
    assert world["shadow"] == "ENOENT"
    assert world["dev"] == ["null", "random", "urandom", "zero"]
    assert {"group", "passwd"} <= set(world["etc"])
    known = {"group", "passwd", "ld.so.cache", "alternatives", "mono", "nim"}
    assert set(world["etc"]) - known <= {name for name in world["etc"] if name.startswith("java-")}
    assert world["host"] == "keltis"


def test_it_can_write_only_to_its_scratch_directory(world: dict[str, Any]) -> None:
    assert world["write"] == {
        **dict.fromkeys(("/", "/bot", "/usr", "/etc", "/dev"), "EROFS"),
        "/tmp": "done",
    }


def test_it_leaves_no_trace_on_the_machines_devices(world: dict[str, Any]) -> None:
    assert world["touched a device"] is False


def test_it_has_no_privileges(world: dict[str, Any]) -> None:
    assert world["capabilities"] == [0, 0, 0]
    assert world["no new privileges"] == 1
    assert world["filtered"] == 2
    if os.geteuid() == 0:
        assert world["user"] >= 2**30


def test_it_gets_no_files_and_no_environment_of_ours(world: dict[str, Any]) -> None:
    assert world["open files"] == [0, 1, 2]
    environment = world["environment"]
    assert environment.pop("PATH").startswith(f"{sys.prefix}/bin:")
    for name in ("LD_LIBRARY_PATH", "PYTHONPATH", "PWD", "OLDPWD", "SHLVL", "_"):
        environment.pop(name, None)
    assert environment.pop("JDK_JAVA_OPTIONS").startswith("-XX:MaxRAM=")
    assert environment == {
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    assert world["directory"] == "/bot"


def test_it_sees_and_signals_no_process_of_ours(world: dict[str, Any]) -> None:
    assert world["process"] == 3  # 1 is the init, 2 was what prepared /tmp
    assert set(world["signal to others"]) <= {"ESRCH"}
    assert world["signal to init"] in ("EPERM", "done")  # done: sent, and ignored by an init
    assert world["still here"] is True


def test_it_shares_no_namespace_with_us(sandbox: Sandbox) -> None:
    child = start_probe(sandbox, "family")
    try:
        names = ("cgroup", "ipc", "mnt", "net", "pid", "uts")
        ours = {name: os.readlink(f"/proc/self/ns/{name}") for name in names}  # noqa: PTH115
        theirs = {name: os.readlink(f"/proc/{child.root}/ns/{name}") for name in names}  # noqa: PTH115
        assert [name for name in names if ours[name] == theirs[name]] == []
    finally:
        child.kill()


def test_it_reaches_no_abstract_socket_of_ours(sandbox: Sandbox) -> None:
    name = f"keltis-test-{os.getpid()}"
    code = f"import socket; socket.socket(socket.AF_UNIX).connect('\\0{name}')"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        outcome = run(sandbox, ["python3", "-c", code])
    assert "ConnectionRefusedError" in outcome.err


def test_all_of_it_is_one_process_group_named_by_its_init(world: dict[str, Any]) -> None:
    assert (world["group"], world["session"]) == (1, 1)


def test_python_in_it_is_ours_with_the_packages_for_bots(sandbox: Sandbox) -> None:
    code = "import sys, keltis_bots, keltis_engine; print(sys.prefix)"
    outcome = run(sandbox, ["python3", "-c", code])
    assert outcome.out.strip() == sys.prefix, outcome.err


def test_a_fork_bomb_is_bounded_and_another_sandbox_can_still_fork(sandbox: Sandbox) -> None:
    limits = replace(PLAY, processes=20)
    bombs = [start_probe(sandbox, "fork_bomb", limits=limits) for _ in range(2)]
    try:
        for bomb in bombs:
            error, _, count = read_until(bomb.stdout, "\n").strip().partition(" ")
            assert error == "EAGAIN"
            assert 15 <= int(count) <= 20
            assert len(bomb.members()) <= 22
    finally:
        for bomb in bombs:
            bomb.kill()


@pytest.mark.parametrize(
    ("what", "error", "least", "most"),
    [
        ("bytes", "ENOSPC", SMALL.scratch // 2, SMALL.scratch),
        ("files", "ENOSPC", SMALL.scratch_files // 2, SMALL.scratch_files),
        ("one", "EFBIG", SMALL.file_size, SMALL.file_size),
    ],
)
def test_what_it_can_store_is_bounded(
    sandbox: Sandbox, what: str, error: str, least: int, most: int
) -> None:
    outcome = probe(sandbox, "fill", what, limits=SMALL)
    found, _, amount = outcome.out.strip().partition(" ")
    assert found == error, outcome.err
    assert least <= int(amount) <= most


def test_private_memory_is_refused_beyond_the_limit(sandbox: Sandbox) -> None:
    child = start_probe(sandbox, "hoard", "private", limits=SMALL)
    try:
        said = read_until(child.stdout, "\n")
        assert said.startswith("refused after")
        assert int(said.split()[2]) < 128
    finally:
        child.kill()


def test_shared_memory_is_seen_where_there_is_no_control_group(sandbox: Sandbox) -> None:
    without = Sandbox(Groups(), sandbox.bubblewrap, sandbox.mount, sandbox.setpriv)
    child = start_probe(without, "hoard", "shared", limits=SMALL)
    try:
        assert read_until(child.stdout, "\n") == "got all\n"
        assert child.usage().memory > 512 * MIB
        assert not child.out_of_memory
    finally:
        assert child.kill().peak_memory > 512 * MIB


def test_shared_memory_ends_it_where_there_is_a_control_group(sandbox: Sandbox) -> None:
    if not sandbox.groups.bases:
        pytest.skip("control groups cannot be had here")
    child = start_probe(sandbox, "hoard", "shared", limits=SMALL)
    try:
        assert child.wait(PATIENCE)
        assert child.out_of_memory
    finally:
        ended = child.kill()
    assert ended.signal == signal.SIGKILL
    assert child.out_of_memory
    assert 100 * MIB < ended.peak_memory <= SMALL.memory + SMALL.scratch


def test_pausing_stops_all_of_it_until_it_is_resumed(sandbox: Sandbox) -> None:
    child = start_probe(sandbox, "family")
    try:
        read_until(child.stdout, "ready")
        assert child.usage().processes == 3
        child.pause()
        deadline = time.monotonic() + PATIENCE
        while not silent_for(child.stdout, 0.1):  # what it had written, and what it still does
            drain(child.stdout)
            assert time.monotonic() < deadline
        group = child.control_group  # type: ignore[attr-defined]
        if group is not None and group.can_freeze:
            for pid in child.members():
                os.kill(pid, signal.SIGCONT)  # as something inside might arrange
            assert silent_for(child.stdout, 0.1)
        else:
            assert {state_of(pid) for pid in child.members()} == {"T"}
        child.resume()
        assert not silent_for(child.stdout, PATIENCE)
    finally:
        child.kill()


@pytest.mark.parametrize("is_paused", [False, True])
def test_killing_leaves_nothing_behind(sandbox: Sandbox, is_paused: bool) -> None:
    mounts = mounts_of("self")
    files = len(list(Path("/dev/fd").iterdir()))
    child = start_probe(sandbox, "family")
    read_until(child.stdout, "ready")
    family = child.members()
    group = child.control_group  # type: ignore[attr-defined]
    directories = list(group.directories) if group else []
    assert len(family) == 4
    if is_paused:
        child.pause()
    child.kill()
    assert alive([*family, child.process.pid]) == []
    assert [directory for directory in directories if directory.exists()] == []
    assert mounts_of("self") == mounts
    assert len(list(Path("/dev/fd").iterdir())) == files


def test_it_dies_with_the_referee_and_the_next_one_sweeps(sandbox: Sandbox) -> None:
    script = (
        "import sys; from tests.ladder.support.boxes import *;"
        "child = start_probe(find_sandbox(), 'family'); read_until(child.stdout, 'ready');"
        "child.pause(); group = child.control_group;"
        "print(*child.members(), *(group.directories if group else ()), flush=True);"
        "sys.stdin.read()"
    )
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    referee = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        cwd=ROOT,
        text=True,
    )
    with referee:
        assert referee.stdout
        words = referee.stdout.readline().split()
        referee.kill()
    family = [int(word) for word in words if word.isdigit()]
    assert len(family) == 4
    deadline = time.monotonic() + PATIENCE
    while alive(family) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert alive(family) == []
    find_groups()
    assert [word for word in words if word.startswith("/") and Path(word).exists()] == []


def test_it_runs_on_the_core_it_is_given(sandbox: Sandbox) -> None:
    core = max(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    outcome = run(sandbox, ["python3", "-c", "import os; print(os.sched_getaffinity(0))"], cpu=core)
    assert outcome.out.strip() == str({core})
    assert os.sched_getaffinity(0) == before


def test_variables_reach_the_program_but_not_what_prepares_it(sandbox: Sandbox) -> None:
    # What is preloaded into every program would run with the privileges of the launch.
    environment = {"LD_PRELOAD": "/bot/evil.so", "EXTRA": "a b"}
    outcome = run(sandbox, ["sh", "-c", 'echo "$EXTRA"'], environment=environment)
    assert outcome.out == "a b\n"
    assert outcome.err.count("cannot be preloaded") == 1


def test_a_sandbox_that_cannot_be_set_up_is_the_platforms_fault(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    files = len(list(Path("/dev/fd").iterdir()))
    with pytest.raises(CannotStart, match="Can't find source path") as caught:
        sandbox.launch(["true"], tmp_path / "missing", {})
    assert caught.value.of_platform
    assert len(list(Path("/dev/fd").iterdir())) == files


def test_a_program_that_does_not_exist_is_the_bots_fault(sandbox: Sandbox) -> None:
    failure = run(sandbox, ["./missing"]).exit.failure
    assert failure is not None
    assert not failure.of_platform
    assert str(failure) == "cannot start './missing': there is no such program"


JAVA = 'public class A { public static void main(String[] a) { System.out.print("ok"); } }'


@pytest.mark.parametrize(
    ("program", "file", "source"),
    [
        ("node", "a.js", 'process.stdout.write("ok")'),
        ("java", "A.java", JAVA),
        ("perl", "a.pl", 'print "ok"'),
    ],
)
def test_runtimes_work_without_proc(
    sandbox: Sandbox, tmp_path: Path, program: str, file: str, source: str
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    tmp_path.chmod(0o755)
    (tmp_path / file).write_text(source)
    outcome = run(sandbox, [program, file], home=tmp_path)
    assert outcome.out == "ok", outcome.err


def test_without_bubblewrap_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sandbox_module, "TOOLS_PATH", str(tmp_path))
    with pytest.raises(SandboxMissing, match=r"bubblewrap is not installed: .*apt-get install -y"):
        find_sandbox()


def test_where_it_does_not_work_it_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("bwrap", "mount", "setpriv"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'bwrap: No permissions' >&2; exit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(sandbox_module, "TOOLS_PATH", str(tmp_path))
    with pytest.raises(SandboxMissing, match=r"does not work here: No permissions\. .*namespaces"):
        find_sandbox()


@pytest.mark.parametrize("command", [["true"], ["sleep", "100"]])
def test_not_even_a_zombie_is_left_for_others_to_wait_for(
    sandbox: Sandbox, command: list[str]
) -> None:
    adopt_orphans()
    child = sandbox.launch(command, PROBES, {})
    family = descendants(child.process.pid)
    assert child.root in family
    child.kill()
    assert not [pid for pid in family if Path(f"/proc/{pid}").exists()]
