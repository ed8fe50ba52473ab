"""A bot's directory is copied, sealed and built; what cannot be taken is named."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from keltis_ladder.files.sizes import MIB
from keltis_ladder.files.trees import Bounds, discard
from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.programs import staging
from keltis_ladder.programs.staging import CannotStage, stage
from tests.ladder.support.bot_sources import modes, write_source
from tests.ladder.support.disks import full_disk


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_source(tmp_path / "source")


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
