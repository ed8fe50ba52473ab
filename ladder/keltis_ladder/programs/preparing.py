"""Make a bot ready to play: copy its files to where nobody changes them, and build it once.

What is ready has a name in the cache: the digest of its archive, by which everybody with the digest
finds it again without a copy, or the digest of its files if it comes from a directory. It gets the
name when it is complete, by one rename; what has no name yet is nobody's but its maker's.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from keltis_bots.manifest import FILE_NAME, BadManifest, Manifest, read_manifest
from keltis_ladder.errors import UnknownBot
from keltis_ladder.files.room import reserved
from keltis_ladder.files.trees import discard, walk
from keltis_ladder.match.entrants import BUILT_IN, Entrant, built_in, entrant_of
from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.programs.builds import build
from keltis_ladder.programs.staging import BUILT, SUBMITTED, stage
from keltis_ladder.programs.unpacking.opening import open_kept
from keltis_ladder.sandbox.sandbox import Sandbox

KEPT: Final = 32  # bots in the cache
PLAIN: Final = "-plain"  # how the names of builds end that were made without a sandbox
_READY: Final = (
    ".ready"  # beside a bot's files: they are complete and built; its text is their size
)
_BLOCK: Final = 512  # bytes that st_blocks counts in
_FILES: Final = "bot"  # where they are


@dataclass(frozen=True)
class Prepared:
    """A bot that is ready to play."""

    manifest: Manifest  # as it was before the build, which may write what it likes
    directory: Path
    digest: str  # of its archive, or of its files
    fresh: bool  # it was made just now

    @property
    def entrant(self) -> Entrant:
        """The bot as an entrant of matches."""
        return entrant_of(self.manifest, self.directory, self.digest)


class Builds:
    """What builds in several threads share: they take turns, and can be broken off."""

    def __init__(self, at_once: int = 1) -> None:
        self.turn = threading.BoundedSemaphore(at_once)
        self._stopped = threading.Event()

    def are_wanted(self) -> bool:
        """Return whether anybody still waits for them."""
        return not self._stopped.is_set()

    def stop(self) -> None:
        """Break them off, those that run and those that come."""
        self._stopped.set()


def cache_directory() -> Path:
    """Return where prepared bots are kept between commands."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "keltis-ladder" / "bots"


def find_entrant(
    text: str,
    sandbox: Sandbox | None,
    on_output: Callable[[str], None],
    cache: Path | None = None,
) -> Entrant:
    """Return the bot that a user names: one of ours, or a directory with a ``bot.toml``."""
    check_name(text)
    if text in BUILT_IN:
        return built_in(text)
    return prepare(Path(text), sandbox, on_output, cache or cache_directory()).entrant


def check_name(text: str) -> None:
    """Raise unless the text names a bot: cheap, to be done before anything is built."""
    if text not in BUILT_IN and not Path(text).is_dir():
        raise UnknownBot(
            f"there is no bot {text!r}: name one of {', '.join(BUILT_IN)}, or a directory with a "
            "bot.toml (keltis-ladder init makes one)"
        )


def find_prepared(cache: Path, name: str, sandbox: Sandbox | None) -> Prepared | None:
    """Return a bot that is ready, by its name; none if it is not there, or not complete."""
    home = cache / _name(name, sandbox)
    if not _is_complete(home):
        return None
    try:
        os.utime(home)  # it is used, and not pruned now
        manifest = read_manifest(home)
    except (OSError, BadManifest):  # removed meanwhile
        return None
    return Prepared(manifest, home / _FILES, name, fresh=False)


def prepare(
    source: Path,
    sandbox: Sandbox | None,
    on_output: Callable[[str], None],
    cache: Path,
    name: str | None = None,
    keep: int | None = KEPT,
    builds: Builds | None = None,
) -> Prepared:
    """Return a bot whose files are in a directory, staged and built; what is ready is used again.

    ``name`` is the digest of the archive that the files come from, if they do. The cache keeps so
    many bots, or all. Raise MachineFailed if it is no fault of the bot.
    """
    manifest = read_manifest(source)
    try:
        if name is not None and (found := find_prepared(cache, name, sandbox)) is not None:
            return found
        made = _make(source, manifest, sandbox, on_output, cache, name, builds or Builds())
        if made.fresh and keep is not None:
            forget_oldest(cache, keep)
    except OSError as error:
        raise MachineFailed(f"cannot keep a bot in {cache}: {error}") from error
    return made


def room_taken(home: Path) -> int:
    """Return the bytes of disk that a bot takes which is ready; 0 if it is not there any more.

    Counted once, by blocks: a file of one byte takes one, too.
    """
    try:
        text = (home / _READY).read_text()
        if not text.isdecimal():  # an older release did not count
            text = str(_blocks(home))
            (home / _READY).write_text(text)
    except OSError:  # removed meanwhile
        return 0
    return int(text)


def _blocks(directory: Path) -> int:
    taken = sum(path.lstat().st_blocks for path in directory.rglob("*"))
    return _BLOCK * (taken + directory.lstat().st_blocks)


def discard_unfinished(cache: Path, pid: int) -> None:
    """Remove what a process that has ended was preparing: it may have been killed."""
    for path in cache.glob(f"{unfinished(pid)}*"):
        discard(path)


def unfinished(pid: int) -> str:
    """Return how the names begin of what a process is preparing in the cache."""
    return f".new-{pid}-"


def _name(digest: str, sandbox: Sandbox | None) -> str:
    """What was built outside the sandbox is not taken for what was built inside."""
    return digest if sandbox else digest + PLAIN


def _make(
    source: Path,
    manifest: Manifest,
    sandbox: Sandbox | None,
    on_output: Callable[[str], None],
    cache: Path,
    name: str | None,
    builds: Builds,
) -> Prepared:
    """Stage and build a bot under a name of our own, and give it its name when it is complete."""
    with scratch_in(cache) as scratch:
        with reserved(cache, _bytes_in(source), builds.are_wanted):
            staged = stage(source, scratch / _FILES)
        digest = name or staged.digest
        if name is None and (found := find_prepared(cache, digest, sandbox)) is not None:
            return found
        shutil.copyfile(staged.directory / FILE_NAME, scratch / FILE_NAME)
        if manifest.build:
            with builds.turn, reserved(cache, BUILT.size, builds.are_wanted):
                command = list(manifest.build)
                build(staged, command, sandbox, on_output, is_wanted=builds.are_wanted)
        (scratch / _READY).write_text(str(_blocks(scratch)))
        home = cache / _name(digest, sandbox)
        _discard_incomplete(home)
        try:
            scratch.rename(home)
        except OSError:
            found = find_prepared(cache, digest, sandbox)
            if found is None:
                raise
            return found  # another process has prepared the same bot meanwhile; it is as good
        scratch.mkdir()  # for the context manager to remove
    return Prepared(manifest, home / _FILES, digest, fresh=True)


@contextlib.contextmanager
def scratch_in(cache: Path) -> Iterator[Path]:
    """Have a directory on the disk of the cache, which is removed afterwards."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.TemporaryDirectory(dir=cache, prefix=unfinished(os.getpid()))
    except OSError as error:
        raise MachineFailed(f"cannot keep a bot in {cache}: {error}") from error
    with scratch as text:
        yield Path(text)


def unpack_kept(
    archive: Path,
    digest: str,
    into: Path,
    cache: Path,
    is_wanted: Callable[[], bool] = lambda: True,
) -> None:
    """Unpack an archive that we packed, on the disk of the cache, when there is room."""
    with scratch_in(cache), reserved(cache, SUBMITTED.size, is_wanted):
        open_kept(archive, digest, into)


def _bytes_in(source: Path) -> int:
    """Return the bytes of a bot's files, as far as they can be looked at: staging tells more."""
    with contextlib.suppress(OSError):
        return sum(entry.size for entry in walk(source, SUBMITTED) if stat.S_ISREG(entry.mode))
    return 0


def _discard_incomplete(home: Path) -> None:
    """Remove what has a bot's name and is not one: a copy that was broken off, an older release."""
    if not home.exists() or _is_complete(home):
        return
    aside = home.with_name(f"{unfinished(os.getpid())}{home.name}")
    home.rename(aside)
    if _is_complete(aside) and not home.exists():  # somebody has just put it in place
        aside.rename(home)
    else:
        discard(aside)


def _is_complete(home: Path) -> bool:
    return (home / _READY).exists() and (home / FILE_NAME).exists()


def forget_oldest(cache: Path, keep: int) -> None:
    """Remove the bots that have not been used for longest."""
    homes = [path for path in cache.iterdir() if path.is_dir() and not path.name.startswith(".")]
    homes.sort(key=lambda path: path.stat().st_mtime)
    for home in homes[: max(0, len(homes) - keep)]:
        discard(home)
