"""A bot's directory is copied, sealed and built; what cannot be taken is named."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from keltis_ladder import staging
from keltis_ladder.faults import MachineFailed
from keltis_ladder.limits import MIB
from keltis_ladder.sandbox import Sandbox
from keltis_ladder.staging import BuildFailed, CannotStage, Staged, build, stage
from keltis_ladder.trees import Bounds, discard
from tests.ladder.disks import full_disk


@pytest.fixture
def source(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    directory = tmp_path / "source"
    (directory / "data").mkdir(parents=True)
    (directory / "bot.py").write_text("print('hello')\n")
    (directory / "run.sh").write_text("#!/bin/sh\n")
    (directory / "run.sh").chmod(0o700)
    (directory / "data" / "book").write_bytes(bytes(range(256)))
    (directory / "book").symlink_to("data/book")
    return directory


def modes(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): oct(stat.S_IMODE(path.lstat().st_mode))
        for path in directory.rglob("*")
        if not path.is_symlink()
    }


def test_a_copy_is_readable_by_anyone_and_writable_by_nobody(source: Path, tmp_path: Path) -> None:
    staged = stage(source, tmp_path / "staged")
    assert modes(staged.directory) == {
        "bot.py": "0o444",
        "run.sh": "0o555",
        "data": "0o555",
        "data/book": "0o444",
    }
    assert stat.S_IMODE(staged.directory.stat().st_mode) == 0o555
    assert (staged.directory / "data" / "book").read_bytes() == bytes(range(256))
    assert (staged.directory / "book").readlink() == Path("data/book")


def test_the_digest_is_of_names_programs_and_contents(source: Path, tmp_path: Path) -> None:
    def digest() -> str:
        staged = stage(source, tmp_path / "staged")
        discard(staged.directory)
        return staged.digest

    def rename() -> None:
        (source / "bot.py").rename(source / "bat.py")

    first = digest()
    assert len(first) == 64
    os.utime(source / "bot.py", (0, 0))
    (source / "bot.py").chmod(0o640)
    assert digest() == first
    changes: list[Callable[[], object]] = [
        lambda: (source / "bot.py").chmod(0o744),
        lambda: (source / "bot.py").write_text("print('hallo')\n"),
        rename,
        lambda: (source / "empty").mkdir(),
        lambda: (source / "other").symlink_to("data/book"),
    ]
    seen = {first}
    for change in changes:
        change()
        seen.add(digest())
    assert len(seen) == 1 + len(changes)


@pytest.mark.parametrize("target", ["/etc/passwd", "../secret", "data/../../secret", "loop"])
def test_a_link_that_leaves_the_directory_is_refused(
    source: Path, tmp_path: Path, target: str
) -> None:
    (tmp_path / "secret").write_text("secret")
    (source / "loop").symlink_to(target)
    with pytest.raises(CannotStage, match="loop is a link"):
        stage(source, tmp_path / "staged")
    assert not (tmp_path / "staged").exists()


def test_a_link_that_leaves_through_another_one_is_refused(source: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (source / "data" / "up").symlink_to("../..")
    with pytest.raises(CannotStage, match="outside of the bot's directory"):
        stage(source, tmp_path / "staged")


def test_pipes_sockets_and_devices_are_refused(source: Path, tmp_path: Path) -> None:
    os.mkfifo(source / "pipe")
    with pytest.raises(CannotStage, match="pipe is neither a file"):
        stage(source, tmp_path / "staged")
    (source / "pipe").unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(source / "socket"))
        with pytest.raises(CannotStage, match="socket is neither a file"):
            stage(source, tmp_path / "staged")


def test_too_much_is_refused(source: Path, tmp_path: Path) -> None:
    with pytest.raises(CannotStage, match="more than 4 files"):
        stage(source, tmp_path / "staged", Bounds(files=4, size=10**6))
    with (source / "huge").open("wb") as file:
        file.truncate(staging.SUBMITTED.size)
    with pytest.raises(CannotStage, match="more than 200 MiB"):
        stage(source, tmp_path / "staged")
    (source / "huge").unlink()
    (source / Path(*["deep"] * 70)).mkdir(parents=True)
    with pytest.raises(CannotStage, match="nested more than 64 deep"):
        stage(source, tmp_path / "staged")
    assert not (tmp_path / "staged").exists()


def test_a_file_is_not_a_directory(source: Path, tmp_path: Path) -> None:
    with pytest.raises(CannotStage, match="is not a directory"):
        stage(source / "bot.py", tmp_path / "staged")


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


def test_a_build_has_no_network(sandbox: Sandbox, staged: Staged) -> None:
    code = "import socket; socket.create_connection(('127.0.0.1', 80))"
    with pytest.raises(BuildFailed, match="Address family not supported"):
        build(staged, ["python3", "-c", code], sandbox, lambda _: None)


def test_a_build_cannot_fill_the_disk(
    sandbox: Sandbox, staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "BUILT", Bounds(files=1000, size=10**6))
    with pytest.raises(BuildFailed, match="wrote too much: the files have more than 1 MiB"):
        build(staged, shell("head -c 2000000 /dev/zero > big; sleep 60"), sandbox, print)
    assert not staged.directory.exists()


def test_directories_without_end_are_refused_and_removed(sandbox: Sandbox, staged: Staged) -> None:
    code = "import os\nfor _ in range(200): os.mkdir('d'); os.chdir('d')"
    with pytest.raises(BuildFailed, match="nested more than 64 deep"):
        build(staged, ["python3", "-c", code], sandbox, print)
    assert not staged.directory.exists()


def test_a_builds_output_is_bounded(sandbox: Sandbox, staged: Staged) -> None:
    said: list[str] = []
    build(staged, shell("head -c 3000000 /dev/zero | tr '\\0' x"), sandbox, said.append)
    text = "".join(said)
    assert text.endswith("[more output is not shown]\n")
    assert text.count("x") == staging.OUTPUT


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


def test_a_full_disk_is_no_fault_of_the_bot(source: Path, tmp_path: Path) -> None:
    (source / "large").write_bytes(bytes(MIB))
    with full_disk(tmp_path / "full"), pytest.raises(MachineFailed):
        stage(source, tmp_path / "full" / "copy")


def test_a_lack_of_descriptors_is_no_fault_of_the_bot(source: Path, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        free = os.dup(0)
        os.close(free)
        # Room for the directory that is looked through, but not for the files in it.
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + 1, hard))
        with pytest.raises(MachineFailed, match="Too many open files"):
            stage(source, tmp_path / "copy")


def test_names_that_are_too_long_are_the_bots_fault(source: Path, tmp_path: Path) -> None:
    deep = os.open(source, os.O_RDONLY)
    for _ in range(30):
        os.mkdir("n" * 200, dir_fd=deep)
        inner = os.open("n" * 200, os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = inner
    os.close(deep)
    with pytest.raises(CannotStage, match="File name too long"):
        stage(source, tmp_path / "copy")


def test_a_disk_without_room_for_a_build_is_no_fault_of_the_bot(
    sandbox: Sandbox, staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "BUILT", Bounds(files=50_000, size=2**60))
    with pytest.raises(MachineFailed, match=r"too full to build: [0-9]+ MiB are free"):
        build(staged, ["true"], sandbox, print)


def test_a_build_that_fails_on_a_full_disk_is_no_fault_of_the_bot(
    sandbox: Sandbox, staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "SPARE", Bounds(files=1, size=2**60))
    with pytest.raises(MachineFailed, match="too full"):
        build(staged, ["false"], sandbox, print)


def test_a_build_that_wrote_too_much_cannot_blame_the_disk(
    sandbox: Sandbox, staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "SPARE", Bounds(files=1, size=2**60))
    monkeypatch.setattr(staging, "BUILT", Bounds(files=50_000, size=MIB))
    with pytest.raises(BuildFailed):
        build(staged, ["sh", "-c", "head -c 3000000 /dev/zero > big; exit 1"], sandbox, print)


@pytest.mark.parametrize("code", [0, 1])
def test_a_build_that_leaves_what_nobody_can_look_at_cannot_blame_the_machine(
    sandbox: Sandbox, staged: Staged, code: int
) -> None:
    deep = "import os\nfor _ in range(30):\n os.mkdir('n' * 200)\n os.chdir('n' * 200)\n"
    with pytest.raises(BuildFailed):
        build(staged, ["python3", "-c", f"{deep}os._exit({code})"], sandbox, print)
    assert not staged.directory.exists()
