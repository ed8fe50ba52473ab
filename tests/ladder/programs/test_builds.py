"""A bot is built in a sandbox that touches no disk; what cannot be used is named."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from keltis_ladder.files.sizes import MIB
from keltis_ladder.files.trees import Bounds
from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.programs import builds
from keltis_ladder.programs.builds import BuildFailed, build
from keltis_ladder.programs.staging import BUILT, Staged, stage
from keltis_ladder.programs.unpacking import opening
from keltis_ladder.sandbox.limits import BUILD
from keltis_ladder.sandbox.sandbox import Sandbox, SandboxedChild
from tests.ladder.support.bot_sources import modes, write_source
from tests.ladder.support.busy import busy_processes, pinned_to_one_core

PATIENCE = 300.0  # seconds, for hangs
FEW = Bounds(files=1000, size=4 * MIB)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_source(tmp_path / "source")


@pytest.fixture
def staged(source: Path, tmp_path: Path) -> Staged:
    return stage(source, tmp_path / "staged")


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


def test_a_build_writes_to_the_directory_which_is_sealed_again(
    sandbox: Sandbox, staged: Staged
) -> None:
    said: list[str] = []
    script = "echo start; mkdir -m 0 shut; cp run.sh bot; chmod 6755 bot; mkfifo pipe; echo x >&2"
    built = build(staged, shell(script), sandbox, said.append)
    assert sorted("".join(said).split()) == ["start", "x"]
    assert built.directory == staged.directory
    assert built.digest != staged.digest
    found = modes(built.directory)
    assert (found["bot"], found["shut"], found["bot.py"]) == ("0o555", "0o555", "0o444")
    assert not (built.directory / "pipe").exists()
    assert {path.lstat().st_uid for path in built.directory.rglob("*")} == {os.geteuid()}


def test_a_build_that_changes_nothing_keeps_the_digest(sandbox: Sandbox, staged: Staged) -> None:
    assert build(staged, ["true"], sandbox, print).digest == staged.digest


def test_a_build_may_lock_files_and_has_proc(sandbox: Sandbox, staged: Staged) -> None:
    code = "import fcntl, os; fcntl.flock(open('lock', 'w'), 2); os.readlink('/proc/self/exe')"
    build(staged, ["python3", "-c", code], sandbox, print)


NICE_BUILD = """
import os, sys
from pathlib import Path
from keltis_ladder.programs.builds import build
from keltis_ladder.programs.staging import stage
from keltis_ladder.sandbox.sandbox import find_sandbox

os.nice(3)
source, into, script = sys.argv[1:]
build(stage(Path(source), Path(into)), ["sh", "-c", script], find_sandbox(), print, seconds=60)
"""


def test_a_build_gives_way_even_to_us_and_cannot_help_it(
    sandbox: Sandbox, source: Path, tmp_path: Path
) -> None:
    nice = os.nice(0) + 3 + builds.GIVES_WAY
    script = f"""
until [ ! -e /proc/self/autogroup ] || grep -q 'nice {nice}$' /proc/self/autogroup
do sleep 0.01; done
for file in autogroup sched timerslack_ns comm; do
    (echo 0 > /proc/self/$file) 2>/dev/null && echo changed $file
done
cut -d ' ' -f 19 /proc/self/stat
"""
    said = subprocess.run(
        [sys.executable, "-c", NICE_BUILD, source, tmp_path / "into", script],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.split() == [str(nice)]


@pytest.mark.parametrize(
    ("program", "file", "text", "command"),
    [
        ("g++", "a.cpp", "int main() {}", ["g++", "-o", "a", "a.cpp"]),
        ("rustc", "a.rs", "fn main() {}", ["rustc", "a.rs"]),
        ("go", "a.go", "package main\nfunc main() {}", ["go", "build", "a.go"]),
        ("javac", "A.java", "class A {}", ["javac", "-d", "a", "A.java"]),
    ],
)
def test_compilers_work(
    sandbox: Sandbox,
    source: Path,
    tmp_path: Path,
    program: str,
    file: str,
    text: str,
    command: list[str],
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    (source / file).write_text(text)
    built = build(stage(source, tmp_path / "staged"), command, sandbox, print)
    assert (built.directory / "a").exists()


def test_a_failed_build_says_how_it_ended_and_leaves_nothing(
    sandbox: Sandbox, staged: Staged
) -> None:
    with pytest.raises(BuildFailed, match=r"ended with exit code 3:\n.*no such header") as caught:
        build(staged, shell("echo no such header >&2; exit 3"), sandbox, lambda _: None)
    assert (caught.value.code, caught.value.tail) == (3, "no such header")
    assert not staged.directory.exists()


def test_a_build_that_does_not_end_is_ended(sandbox: Sandbox, staged: Staged) -> None:
    with pytest.raises(BuildFailed, match="took too long"):
        build(staged, shell("sleep 60 & sleep 60"), sandbox, print, seconds=0.3)


@pytest.fixture
def metered(sandbox: Sandbox) -> Sandbox:
    """Give a sandbox whose group says what a build waits for."""
    if not sandbox.groups.can_count:
        pytest.skip("no control groups of version 2 here")
    return sandbox


def test_a_build_on_a_busy_machine_has_the_time_that_it_uses(
    metered: Sandbox, staged: Staged
) -> None:
    code = "import time\nwhile time.process_time() < 0.4: pass"
    with pinned_to_one_core(), busy_processes(5):
        begin = time.monotonic()
        build(staged, ["python3", "-c", code], metered, print, seconds=2.0)
        assert time.monotonic() - begin > 2.0  # else it was not kept from running


def test_a_build_that_sleeps_is_ended_on_a_busy_machine_too(
    metered: Sandbox, staged: Staged
) -> None:
    with (
        pinned_to_one_core(),
        busy_processes(2),
        pytest.raises(BuildFailed, match="took too long"),
    ):
        build(staged, shell("sleep 600"), metered, print, seconds=0.5)


@pytest.mark.parametrize("is_sandboxed", [True, False])
def test_nobody_is_blamed_for_a_build_that_the_machine_does_not_let_end(
    is_sandboxed: bool, sandbox: Sandbox, staged: Staged
) -> None:
    box = sandbox if is_sandboxed else None
    with pytest.raises(MachineFailed, match=r"not over after 0 s, .*: the machine is too busy"):
        build(staged, shell("sleep 600"), box, print, longest=0.3)
    assert not staged.directory.exists()


def test_a_build_does_not_pay_for_the_time_in_which_we_unpack_what_it_has_made(
    sandbox: Sandbox, staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    slowly = ["sh", "-c", 'sleep 4; exec "$@"', "sh"]
    monkeypatch.setattr(opening, "_giving_way", lambda _: slowly)
    build(staged, ["true"], sandbox, print, seconds=2.0)


def test_a_build_has_no_network(sandbox: Sandbox, staged: Staged) -> None:
    code = "import socket; socket.create_connection(('127.0.0.1', 80))"
    with pytest.raises(BuildFailed, match="Address family not supported"):
        build(staged, ["python3", "-c", code], sandbox, lambda _: None)


FILLS = """
import ctypes, errno, os, sys
MIB = 1 << 20
kept = []
def ends_without_room(step):
    try:
        for _ in range(64):
            step()
    except OSError as error:
        assert error.errno in (errno.ENOSPC, errno.EOPNOTSUPP), error
    else:
        sys.exit("it could go on for ever")
def written():
    with open("written", "ab") as file:
        file.write(bytes(MIB))
def unlinked():
    kept.append(open("gone", "wb", 0))
    os.unlink("gone")
    kept[-1].write(bytes(MIB))
def reserved():
    kept.append(open(f"reserved{len(kept)}", "wb"))
    libc = ctypes.CDLL(None, use_errno=True)
    keep_size = 1
    length = ctypes.c_long(MIB)
    if libc.fallocate(kept[-1].fileno(), keep_size, ctypes.c_long(0), length):
        raise OSError(ctypes.get_errno(), "fallocate")
def deep():
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
    written()
ends_without_room(globals()[sys.argv[1]])
print("no room left", file=sys.stderr)
sys.exit(1)
"""


@pytest.mark.parametrize("way", ["written", "unlinked", "reserved", "deep"])
def test_a_build_has_only_so_much_room_however_it_is_filled(
    sandbox: Sandbox, staged: Staged, way: str
) -> None:
    with pytest.raises(BuildFailed, match="no room left"):
        build(staged, ["python3", "-c", FILLS, way], sandbox, print, room=FEW)
    assert list(staged.directory.parent.glob("staged*")) == []


def test_a_build_is_told_that_its_directory_is_full(sandbox: Sandbox, source: Path) -> None:
    for number, script in enumerate(
        ("head -c 9000000 /dev/zero > big", "for n in $(seq 2000); do : > $n || exit 1; done")
    ):
        staged = stage(source, source.with_name(f"copy-{number}"))
        with pytest.raises(BuildFailed, match="directory is full: 4 MiB and 1,000 files at most"):
            build(staged, shell(script), sandbox, print, room=FEW)


def test_a_build_can_write_to_no_disk(sandbox: Sandbox, staged: Staged) -> None:
    code = """
for line in open('/proc/self/mountinfo'):
    fields, _, kind = line.partition(' - ')
    where, options = fields.split()[4:6]
    if 'rw' in options.split(','):
        print('writable:', where, kind.split()[0])
"""
    said: list[str] = []
    build(staged, ["python3", "-c", code], sandbox, said.append)
    writable = dict(line.split()[1:] for line in "".join(said).splitlines())
    assert (writable.pop("/bot"), writable.pop("/tmp")) == ("tmpfs", "tmpfs")
    writable.pop("/proc", None)
    assert all(Path(device).is_char_device() for device in writable), writable


def test_the_files_of_a_build_are_its_own_memory(sandbox: Sandbox, staged: Staged) -> None:
    code = "open('big', 'wb').write(bytes(1 << 26)); input()"
    child = sandbox.launch(["python3", "-c", code], staged.directory, {}, BUILD, room=BUILT)
    assert isinstance(child, SandboxedChild)
    if child.control_group is None:
        child.kill()
        pytest.skip("there are no control groups here")
    assert child.finish(PATIENCE).peak_memory > 1 << 26


def test_what_comes_out_of_a_build_is_counted_by_its_bytes(
    sandbox: Sandbox, staged: Staged
) -> None:
    with pytest.raises(BuildFailed, match="files have more than 4 MiB"):
        build(staged, shell("truncate -s 100M holes"), sandbox, print, room=FEW)
    assert list(staged.directory.parent.glob("staged*")) == []


def test_what_a_build_leaves_running_is_over_before_its_files_are_taken(
    sandbox: Sandbox, staged: Staged
) -> None:
    script = "(while :; do echo more >> growing; done) & while [ ! -s growing ]; do :; done"
    built = build(staged, shell(script), sandbox, print)
    assert (built.directory / "growing").read_text().startswith("more")


def test_a_build_that_kills_what_packs_its_files_only_fails(
    sandbox: Sandbox, staged: Staged
) -> None:
    with pytest.raises(BuildFailed, match="ended with killed by SIGKILL"):
        build(staged, ["python3", "-c", "import os; os.kill(os.getppid(), 9)"], sandbox, print)
    assert list(staged.directory.parent.glob("staged*")) == []


def test_a_build_finds_its_sources_as_they_were_sent(sandbox: Sandbox, staged: Staged) -> None:
    script = "test -x run.sh && test ! -x bot.py && test -L book && pwd && echo x >> bot.py"
    said: list[str] = []
    built = build(staged, shell(script), sandbox, said.append)
    assert "".join(said) == "/bot\n"
    assert (built.directory / "bot.py").read_text() == "print('hello')\nx\n"


def test_a_build_may_leave_any_name_and_compiled_python(sandbox: Sandbox, staged: Staged) -> None:
    code = (
        "import os; os.mkdir('__pycache__'); open('__pycache__/a.pyc', 'w').close();"
        r"open(b'not \xff UTF-8', 'w').close(); open('a\\b\nc', 'w').close();"
        "os.link('bot.py', 'again.py'); os.mkdir('.git')"
    )
    built = build(staged, ["python3", "-c", code], sandbox, print)
    names = {os.fsencode(path.name) for path in built.directory.rglob("*")}
    assert {b"a.pyc", b"not \xff UTF-8", b"a\\b\nc", b"again.py", b".git"} <= names


def test_directories_without_end_are_refused_and_removed(sandbox: Sandbox, staged: Staged) -> None:
    code = "import os\nfor _ in range(200): os.mkdir('d'); os.chdir('d')"
    with pytest.raises(BuildFailed, match="nested too deep: at most 64"):
        build(staged, ["python3", "-c", code], sandbox, print)
    assert not staged.directory.exists()


def test_a_builds_output_is_bounded(sandbox: Sandbox, staged: Staged) -> None:
    said: list[str] = []
    build(staged, shell("head -c 3000000 /dev/zero | tr '\\0' x"), sandbox, said.append)
    text = "".join(said)
    assert text.endswith("[more output is not shown]\n")
    assert text.count("x") == builds.OUTPUT


def test_what_a_build_prints_cannot_move_a_cursor_or_turn_a_text_around(
    sandbox: Sandbox, staged: Staged
) -> None:
    said: list[str] = []
    script = r"printf '\033[2J\342\200\256txt\r\n\ttab\000\n'; exit 3"
    with pytest.raises(BuildFailed) as failed:
        build(staged, shell(script), sandbox, said.append)
    shown = r"\x1b[2J\u202etxt" + "\n\ttab" + r"\x00"
    assert "".join(said) == shown + "\n"
    assert failed.value.tail == shown


def test_a_link_that_a_build_makes_is_not_followed(sandbox: Sandbox, staged: Staged) -> None:
    before = Path("/etc/passwd").stat()
    build(staged, shell("ln -s /etc/passwd stolen; ln -s /etc elsewhere"), sandbox, print)
    after = Path("/etc/passwd").stat()
    assert (before.st_mode, before.st_uid) == (after.st_mode, after.st_uid)


def test_ones_own_bot_is_built_without_a_sandbox(staged: Staged) -> None:
    said: list[str] = []
    code = "print('built'); open('new', 'w').close()"
    built = build(staged, [sys.executable, "-c", code], None, said.append)
    assert "".join(said) == "built\n"
    assert modes(built.directory)["new"] == "0o444"


def test_a_build_program_that_is_not_there_is_named(sandbox: Sandbox, staged: Staged) -> None:
    for confined in (sandbox, None):
        copy = stage(staged.directory, staged.directory.with_name(f"copy-{confined is None}"))
        with pytest.raises(BuildFailed, match="no-such-compiler"):
            build(copy, ["no-such-compiler"], confined, print)


def test_a_disk_without_room_for_a_build_is_no_fault_of_the_bot(
    sandbox: Sandbox, staged: Staged
) -> None:
    with pytest.raises(MachineFailed, match=r"too full to build: [0-9]+ MiB are free"):
        build(staged, ["true"], sandbox, print, room=Bounds(files=50_000, size=2**60))


def test_a_build_that_fails_on_a_full_disk_is_no_fault_of_the_bot(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builds, "SPARE", Bounds(files=1, size=2**60))
    with pytest.raises(MachineFailed, match="too full"):
        build(staged, ["false"], None, print)


def test_a_build_that_is_ended_for_memory_of_others_is_no_fault_of_the_bot(
    sandbox: Sandbox, staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SandboxedChild, "lacked_memory", property(lambda _: True))
    with pytest.raises(MachineFailed, match="memory that others held"):
        build(staged, shell("kill -9 $$"), sandbox, print)
    assert not staged.directory.exists()


def test_a_build_that_wrote_too_much_cannot_blame_the_disk(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builds, "SPARE", Bounds(files=1, size=2**60))
    with pytest.raises(BuildFailed):
        build(staged, shell("head -c 9000000 /dev/zero > big; exit 1"), None, print, room=FEW)


@pytest.mark.parametrize("code", [0, 1])
def test_a_build_that_leaves_what_nobody_can_look_at_cannot_blame_the_machine(
    sandbox: Sandbox, staged: Staged, code: int
) -> None:
    deep = "import os\nfor _ in range(30):\n os.mkdir('n' * 200)\n os.chdir('n' * 200)\n"
    with pytest.raises(BuildFailed):
        build(staged, ["python3", "-c", f"{deep}os._exit({code})"], sandbox, print)
    assert not staged.directory.exists()
