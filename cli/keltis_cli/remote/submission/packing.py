"""A bot as an upload: a directory packed, or an archive as it is.

What git ignores is sent, too: weights and compiled programs are often ignored there, and
are what a bot cannot do without. So are the modules of a JavaScript bot: a build on the server has
no network to fetch them.
"""

from __future__ import annotations

import shutil
import stat
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from keltis_bots.manifest import (
    FILE_NAME,
    LARGEST,
    BadManifest,
    Manifest,
    parse_manifest,
    read_manifest,
)
from keltis_cli.draw.printable import printable
from keltis_cli.errors import BadRequest
from keltis_ladder.files.packing import pack_directory
from keltis_ladder.files.trees import CannotStage, discard
from keltis_ladder.programs.staging import SUBMITTED, stage

# What no bot needs to play, and no server to build it.
LEFT_OUT: Final = (
    ".git", ".hg", ".svn", "__pycache__", ".venv", "venv", ".mypy_cache", ".pytest_cache",
    ".ruff_cache", ".hypothesis", ".idea", ".vscode", ".DS_Store", "crashes",
)  # fmt: skip
RUST: Final = "cargo"
RUST_OUTPUT: Final = "target"  # that its build makes again
ZIP, GZIP, TAR = "application/zip", "application/gzip", "application/x-tar"


@dataclass(frozen=True)
class Parcel:
    """A bot that can be sent."""

    path: Path
    size: int
    media: str
    manifest: Manifest
    left_out: tuple[str, ...] = ()


def manifest_of(source: Path) -> Manifest:
    """Return the checked ``bot.toml`` of a directory or an archive."""
    if source.is_dir():
        return read_manifest(source)
    if not source.exists():
        raise BadRequest(
            f"there is no {source}; a new bot is made by: keltis-ladder init DIRECTORY"
        )
    return _manifest_inside(source)


@contextmanager
def packed(source: Path, manifest: Manifest) -> Iterator[Parcel]:
    """Make a bot ready to be sent for as long as the block lasts."""
    if not source.is_dir():
        yield Parcel(source, source.stat().st_size, media_of(source), manifest)
        return
    with tempfile.TemporaryDirectory(prefix="keltis-submit-") as place:
        chosen, staged = Path(place) / "chosen", Path(place) / "staged"
        left_out = _choose(source, chosen, manifest)
        try:
            stage(chosen, staged)
            data = pack_directory(staged)
        finally:
            if staged.exists():
                discard(staged)
        path = Path(place) / "bot.tar.gz"
        path.write_bytes(data)
        yield Parcel(path, len(data), GZIP, manifest, left_out)


def _choose(source: Path, into: Path, manifest: Manifest) -> tuple[str, ...]:
    """Copy what is to be sent; return what is not."""
    unwanted = {*LEFT_OUT}
    if manifest.build[:1] == (RUST,):
        unwanted.add(RUST_OUTPUT)
    left_out: list[str] = []
    files = size = 0

    def ignored(directory: str, names: list[str]) -> list[str]:
        nonlocal files, size
        skipped = [name for name in names if name in unwanted or name.endswith(".pyc")]
        for name in names:
            path = Path(directory, name)
            if name in skipped:
                left_out.append(str(path.relative_to(source)))
                continue
            status = path.lstat()
            if stat.S_IFMT(status.st_mode) not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
                raise CannotStage(
                    f"{path} is neither a file nor a directory nor a link: a bot may not have it"
                )
            files += 1
            size += status.st_size if stat.S_ISREG(status.st_mode) else 0
        if files > SUBMITTED.files or size > SUBMITTED.size:
            raise CannotStage(
                f"{source} has more than {SUBMITTED.files:,} files or"
                f" {SUBMITTED.size // 1024 // 1024} MiB: remove what is not needed"
            )
        return skipped

    try:
        shutil.copytree(source, into, symlinks=True, ignore=ignored)
    except shutil.Error as error:
        first = error.args[0][0]
        raise BadRequest(f"cannot read {first[0]}: {first[2]}") from None
    return tuple(sorted(left_out))


def media_of(path: Path) -> str:
    """Return what kind of archive a file is, by its first bytes."""
    with path.open("rb") as file:
        start = file.read(2)
    return {b"PK": ZIP, b"\x1f\x8b": GZIP}.get(start, TAR)


def _manifest_inside(path: Path) -> Manifest:
    """Return the ``bot.toml`` of an archive: at its top, or in its only directory."""
    try:
        text = _zipped(path) if media_of(path) == ZIP else _tarred(path)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, RuntimeError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise BadRequest(
            f"{path} is neither a directory nor a zip or tar archive ({error})"
        ) from None
    if text is None:
        raise BadManifest(f"{path} has no {FILE_NAME} at its top")
    try:
        return parse_manifest(tomllib.loads(text.decode("utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadManifest(
            f"{FILE_NAME} in {path} is not valid TOML: {printable(str(error))}"
        ) from None
    except BadManifest as error:
        raise BadManifest(f"{FILE_NAME} in {path}: {error}") from None


def _is_manifest(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return parts[-1:] == (FILE_NAME,) and len(parts) <= 2


def _zipped(path: Path) -> bytes | None:
    with zipfile.ZipFile(path) as archive:
        for name in sorted(filter(_is_manifest, archive.namelist()), key=len):
            with archive.open(name) as file:
                return file.read(LARGEST + 1)
    return None


def _tarred(path: Path) -> bytes | None:
    with tarfile.open(path) as archive:
        found = [m for m in archive.getmembers() if m.isfile() and _is_manifest(m.name)]
        for member in sorted(found, key=lambda each: len(each.name)):
            file = archive.extractfile(member)
            if file is not None:
                return file.read(LARGEST + 1)
    return None
