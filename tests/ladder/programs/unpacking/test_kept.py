"""Archives that we have packed are unpacked by a child, too: as they were, or not at all."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from keltis_ladder.files.packing import pack_directory
from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.programs.unpacking.opening import UPLOAD, open_kept
from keltis_ladder.store.archives import Archives


@pytest.fixture
def archives(tmp_path: Path) -> Archives:
    return Archives(tmp_path / "archives")


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


def contents(directory: Path) -> dict[str, tuple[int, bytes | str | None]]:
    """Return modes, bytes and targets of links."""
    found: dict[str, tuple[int, bytes | str | None]] = {}
    for path in directory.rglob("*"):
        mode = stat.S_IMODE(path.lstat().st_mode)
        name = str(path.relative_to(directory))
        if path.is_symlink():
            found[name] = (0, str(path.readlink()))
        else:
            found[name] = (mode, path.read_bytes() if path.is_file() else None)
    return found


def unpack(archives: Archives, digest: str, into: Path) -> None:
    open_kept(archives.path(digest), digest, into)


def test_a_directory_comes_back_with_modes_and_links(archives: Archives, tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "bot")
    kept = archives.put_directory(bot)
    unpack(archives, kept.digest, tmp_path / "deep" / "copy")
    assert contents(tmp_path / "deep" / "copy") == contents(bot)


def test_what_is_unpacked_makes_the_same_archive(archives: Archives, tmp_path: Path) -> None:
    kept = archives.put_directory(write_bot(tmp_path / "bot"))
    unpack(archives, kept.digest, tmp_path / "again")
    assert archives.put_directory(tmp_path / "again") == kept


def test_a_bot_of_as_many_files_as_there_may_be_comes_back(
    archives: Archives, tmp_path: Path
) -> None:
    for number in range(100):
        (tmp_path / "bot" / f"{number:02}").mkdir(parents=True)
        for other in range(99):
            (tmp_path / "bot" / f"{number:02}" / f"{other:02}").touch()
    kept = archives.put_directory(tmp_path / "bot")
    unpack(archives, kept.digest, tmp_path / "copy")
    assert len(list((tmp_path / "copy").rglob("*"))) == 10_000


def entry(
    name: str, kind: bytes = tarfile.REGTYPE, target: str = "", mode: int = 0o644
) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.mode = kind, target, mode
    return member


def keep_members(archives: Archives, *members: tarfile.TarInfo) -> str:
    """Keep an archive that pack_directory would never make; return its digest."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for member in members:
            archive.addfile(member)
    return archives.put(gzip.compress(buffer.getvalue(), mtime=0)).digest


@pytest.mark.parametrize(
    "members",
    [
        pytest.param([entry("../out")], id="above"),
        pytest.param([entry("a/../../out")], id="above-by-detour"),
        pytest.param([entry("/out")], id="absolute"),
        pytest.param([entry(".")], id="the-directory-itself"),
        pytest.param([entry("pipe", tarfile.FIFOTYPE)], id="pipe"),
        pytest.param([entry("null", tarfile.CHRTYPE)], id="device"),
        pytest.param([entry("f"), entry("g", tarfile.LNKTYPE, "f")], id="hard-link"),
        pytest.param([entry("f"), entry("f")], id="twice"),
        pytest.param([entry("l", tarfile.SYMTYPE, "/etc/passwd")], id="link-absolute"),
        pytest.param([entry("l", tarfile.SYMTYPE, "../out")], id="link-above"),
        pytest.param([entry("l", tarfile.SYMTYPE, "l")], id="link-to-itself"),
        pytest.param(
            [entry("d", tarfile.SYMTYPE, "."), entry("l", tarfile.SYMTYPE, "d/../out")],
            id="link-above-through-a-link",
        ),
        pytest.param([entry("d", tarfile.SYMTYPE, "."), entry("d/f")], id="file-through-a-link"),
    ],
)
def test_an_archive_that_we_would_not_pack_is_refused_whole(
    archives: Archives, tmp_path: Path, members: list[tarfile.TarInfo]
) -> None:
    digest = keep_members(archives, *members)
    (tmp_path / "deep").mkdir()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(MachineFailed, match=f"{digest} .* cannot be unpacked: "):
        unpack(archives, digest, tmp_path / "deep" / "copy")
    assert sorted(tmp_path.rglob("*")) == before


def test_an_archive_gives_no_more_rights_than_a_bot_needs(
    archives: Archives, tmp_path: Path
) -> None:
    modes = {"a": 0o6777, "b": 0o666, "c": 0o044, "d": 0o1070}
    digest = keep_members(archives, *(entry(name, mode=mode) for name, mode in modes.items()))
    unpack(archives, digest, tmp_path / "copy")
    found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("copy/*")}
    assert found == {"a": 0o755, "b": 0o644, "c": 0o644, "d": 0o755}


def test_damaged_and_missing_archives_are_the_machine_s_fault(
    archives: Archives, tmp_path: Path
) -> None:
    kept = archives.put(pack_directory(write_bot(tmp_path / "bot")))
    path = archives.path(kept.digest)
    data = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(data[:-1])
    with pytest.raises(MachineFailed, match=f"{kept.digest} is damaged"):
        unpack(archives, kept.digest, tmp_path / "copy")
    path.unlink()
    with pytest.raises(MachineFailed, match=f"{kept.digest} is missing"):
        unpack(archives, kept.digest, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_what_takes_too_much_ends_the_child_and_not_us(archives: Archives, tmp_path: Path) -> None:
    kept = archives.put_directory(write_bot(tmp_path / "bot"))
    with pytest.raises(MachineFailed, match=r"cannot be unpacked: a file in it is too large"):
        open_kept(
            archives.path(kept.digest),
            kept.digest,
            tmp_path / "copy",
            replace(UPLOAD, file_size=16),
        )
