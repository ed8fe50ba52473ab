"""Make a bot ready to play: copy its files to where nobody changes them, and build it once."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from keltis_bots.manifest import read_manifest
from keltis_ladder.errors import UnknownBot
from keltis_ladder.files.trees import discard
from keltis_ladder.match.entrants import BUILT_IN, Entrant, built_in, entrant_of
from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.programs.builds import build
from keltis_ladder.programs.staging import Staged, stage
from keltis_ladder.sandbox.sandbox import Sandbox

KEPT: Final = 32  # bots in the cache
_READY: Final = ".ready"  # beside a bot's files: they are complete and built


class Builds:
    """What builds in several threads share: they take turns, and can be broken off."""

    def __init__(self, at_once: int = 1) -> None:
        self.turn = threading.BoundedSemaphore(at_once)
        self._stopped = threading.Event()

    def are_wanted(self) -> bool:
        """Tell whether anybody still waits for them."""
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
    directory = Path(text)
    manifest = read_manifest(directory)
    prepared = prepare(directory, manifest.build, sandbox, on_output, cache or cache_directory())
    return entrant_of(manifest, prepared.directory, prepared.digest)


def check_name(text: str) -> None:
    """Raise unless the text names a bot: cheap, to be done before anything is built."""
    if text not in BUILT_IN and not Path(text).is_dir():
        raise UnknownBot(
            f"there is no bot {text!r}: name one of {', '.join(BUILT_IN)}, or a directory with a "
            "bot.toml (keltis-ladder init makes one)"
        )


def prepare(
    source: Path,
    command: tuple[str, ...],
    sandbox: Sandbox | None,
    on_output: Callable[[str], None],
    cache: Path,
    keep: int | None = KEPT,
    builds: Builds | None = None,
) -> Staged:
    """Return the bot's files, staged and built; what was built before is used again.

    The cache keeps so many bots, or all. Raise MachineFailed if it is no fault of the bot.
    """
    try:
        staged, is_new = _prepare(source, command, sandbox, on_output, cache, builds or Builds())
        if is_new and keep is not None:
            forget_oldest(cache, keep)
    except OSError as error:
        raise MachineFailed(f"cannot keep a bot in {cache}: {error}") from error
    return staged


def discard_unfinished(cache: Path, pid: int) -> None:
    """Remove what a process that has ended was preparing: it may have been killed."""
    for path in cache.glob(f"{_unfinished(pid)}*"):
        discard(path)


def _unfinished(pid: int) -> str:
    return f".new-{pid}-"


def _prepare(
    source: Path,
    command: tuple[str, ...],
    sandbox: Sandbox | None,
    on_output: Callable[[str], None],
    cache: Path,
    builds: Builds,
) -> tuple[Staged, bool]:
    """Return the bot's files, and whether they are new in the cache."""
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=_unfinished(os.getpid())) as scratch:
        staged = stage(source, Path(scratch) / "bot")
        # What was built outside the sandbox is not taken for what was built inside.
        home = cache / (staged.digest if sandbox else f"{staged.digest}-plain")
        if (home / _READY).exists():
            os.utime(home)
            return Staged(home / "bot", staged.digest), False
        if command:
            with builds.turn:
                built = build(
                    staged, list(command), sandbox, on_output, is_wanted=builds.are_wanted
                )
            staged = Staged(built.directory, staged.digest)
        (Path(scratch) / _READY).touch()
        try:
            Path(scratch).rename(home)
        except OSError:
            if not (home / _READY).exists():
                raise
            # Another command has prepared the same bot meanwhile; its files are as good.
        else:
            Path(scratch).mkdir()  # for the context manager to remove
    return Staged(home / "bot", staged.digest), True


def forget_oldest(cache: Path, keep: int) -> None:
    """Remove the bots that have not been used for longest."""
    homes = [path for path in cache.iterdir() if path.is_dir() and not path.name.startswith(".")]
    homes.sort(key=lambda path: path.stat().st_mtime)
    for home in homes[: max(0, len(homes) - keep)]:
        remove(home)


def remove(directory: Path) -> None:
    """Remove a directory whose files are read-only."""
    for path in directory.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(directory, ignore_errors=True)
