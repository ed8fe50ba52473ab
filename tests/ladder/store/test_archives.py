"""A bot's files are kept once, under the digest of their bytes, and come back as they were."""

import hashlib
import os
import resource
import stat
from functools import partial
from pathlib import Path

import pytest

from keltis_ladder.errors import LadderError
from keltis_ladder.files.packing import pack_directory
from keltis_ladder.store.archives import Archives, note_archive
from keltis_ladder.store.database import Database
from keltis_ladder.store.schema.tables import Archive
from tests.ladder.store.support.crowd import together


def write_bot(directory: Path) -> Path:
    (directory / "data" / "empty").mkdir(parents=True)
    (directory / "bot.toml").write_text('name = "näive"\n')
    (directory / "run.sh").write_text("#!/bin/sh\n")
    (directory / "run.sh").chmod(0o755)
    (directory / "data" / "weights.bin").write_bytes(bytes(range(256)) * 64)
    (directory / "data" / "größe ü.txt").write_text("x")
    (directory / "start").symlink_to("run.sh")
    (directory / "data" / "up").symlink_to("../bot.toml")
    return directory


@pytest.fixture
def archives(tmp_path: Path) -> Archives:
    return Archives(tmp_path / "archives")


def test_what_is_kept_is_named_by_its_bytes(archives: Archives) -> None:
    kept = archives.put(b"some bytes")
    assert kept.digest == hashlib.sha256(b"some bytes").hexdigest()
    assert kept.size == 10
    assert archives.size_of(kept.digest) == 10
    assert archives.put(b"some bytes") == kept
    path = archives.path(kept.digest)
    assert [file for file in archives.root.rglob("*") if file.is_file()] == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    assert stat.S_IMODE(archives.root.stat().st_mode) == 0o700


def test_the_same_files_make_the_same_archive(archives: Archives, tmp_path: Path) -> None:
    one = write_bot(tmp_path / "one")
    other = write_bot(tmp_path / "other")
    for path in [other, *other.rglob("*")]:
        if not path.is_symlink():
            os.utime(path, (1, 10**9))
            if os.geteuid() == 0:
                os.chown(path, 12, 34)
    (other / "bot.toml").chmod(0o600)  # only whether it can be run counts
    kept = archives.put_directory(one)
    assert archives.put_directory(other) == kept
    (other / "run.sh").chmod(0o644)
    assert archives.put_directory(other) != kept


def test_a_file_is_adopted_as_if_its_bytes_were_put(archives: Archives, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"some bytes")
    kept = archives.adopt(tmp_path / "one")
    assert not (tmp_path / "one").exists()
    assert archives.size_of(kept.digest) == 10
    assert stat.S_IMODE(archives.path(kept.digest).stat().st_mode) == 0o400
    assert archives.put(b"some bytes") == kept


def test_a_file_that_is_kept_already_is_adopted_once(archives: Archives, tmp_path: Path) -> None:
    kept = archives.put(b"some bytes")
    path = archives.path(kept.digest)
    for damage in (None, b"other bytes"):
        if damage is not None:
            path.chmod(0o644)
            path.write_bytes(damage)
        (tmp_path / "again").write_bytes(b"some bytes")
        assert archives.adopt(tmp_path / "again") == kept
        assert archives.size_of(kept.digest) == 10
        assert not (tmp_path / "again").exists()


def test_files_that_are_the_same_on_disk_are_two_in_the_archive(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for directory in (one, other):
        directory.mkdir()
        (directory / "a").write_text("the same")
    (one / "b").write_text("the same")
    os.link(other / "a", other / "b")
    assert pack_directory(one) == pack_directory(other)


def test_damaged_and_missing_archives_are_told(archives: Archives) -> None:
    kept = archives.put(b"some bytes")
    path = archives.path(kept.digest)
    path.chmod(0o644)
    path.write_bytes(b"some bytez")
    with pytest.raises(LadderError, match=f"{kept.digest} is damaged"):
        archives.size_of(kept.digest)
    assert archives.put(b"some bytes") == kept  # whoever brings it again puts it right
    assert archives.size_of(kept.digest) == 10
    path.unlink()
    with pytest.raises(LadderError, match=f"{kept.digest} is missing"):
        archives.size_of(kept.digest)


def test_what_a_killed_process_left_behind_does_no_harm(archives: Archives) -> None:
    digest = hashlib.sha256(b"some bytes").hexdigest()
    shelf = archives.path(digest).parent
    shelf.mkdir(parents=True)
    (shelf / ".new-x7").write_bytes(b"some by")
    with pytest.raises(LadderError, match="missing"):
        archives.size_of(digest)
    assert archives.put(b"some bytes").digest == digest
    assert archives.size_of(digest) == 10


def test_a_disk_without_room_leaves_nothing_behind(archives: Archives) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            archives.put(b"some bytes")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path for path in archives.root.rglob("*") if path.is_file()] == []


def test_an_archive_is_written_down_once(url: str, database: Database, archives: Archives) -> None:
    kept = archives.put(b"some bytes")
    together(url, 3, lambda mine, _: mine.write(partial(note_archive, kept=kept)))
    with database.reading() as session:
        assert session.get_one(Archive, kept.digest).size == 10
