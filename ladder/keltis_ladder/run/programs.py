"""The programs of versions: put into the store, and made ready to play."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from sqlmodel import Session

from keltis_bots.manifest import BadManifest, Manifest, read_manifest
from keltis_ladder.errors import LadderError
from keltis_ladder.files.trees import blame, discard
from keltis_ladder.match.entrants import Entrant, built_in
from keltis_ladder.match.faults import MachineFailed, PlatformFault
from keltis_ladder.programs.preparing import (
    Builds,
    find_prepared,
    prepare,
    scratch_in,
    unpack_kept,
)
from keltis_ladder.programs.staging import stage
from keltis_ladder.sandbox.sandbox import Sandbox
from keltis_ladder.store.archives import Kept, note_archive
from keltis_ladder.store.bots.catalogue import add_version, ensure_bot, newest_version
from keltis_ladder.store.home import Home
from keltis_ladder.store.schema.tables import Author, Bot, Version
from keltis_ladder.store.schema.version_states import VersionCause

BUILDS_AT_ONCE: Final = 2  # each of them may use gigabytes
Output = Callable[[str], None]


class Unready(LadderError):
    """A version whose program cannot be made ready to play, by its own fault."""

    def __init__(self, version_id: int, text: str) -> None:
        super().__init__(text)
        self.version_id = version_id


class Lacking(Exception):
    """A version whose program has not been made ready yet, or not again."""

    def __init__(self, version: Version, bot: Bot) -> None:
        super().__init__(f"the program of {bot.name} is not ready")
        self.version = version
        self.bot = bot


def keep_program(home: Home, directory: Path) -> tuple[Manifest, Kept]:
    """Copy a bot's directory into the store's archives."""
    manifest = read_manifest(directory)
    with scratch_in(home.directory / "bots") as scratch:
        staged = stage(directory, scratch / "bot")
        try:
            return manifest, home.archives.put_directory(staged.directory)
        finally:
            discard(staged.directory)


def enter_program(
    session: Session, author: Author, manifest: Manifest, kept: Kept, cause: VersionCause
) -> Version:
    """Add a version for a program; the same program again is the same version."""
    bot = ensure_bot(session, author, manifest.name)
    newest = newest_version(session, bot)
    if newest is not None and newest.archive_digest == kept.digest:
        return newest
    note_archive(session, kept)
    version, _ = add_version(
        session,
        bot,
        variants=manifest.variants,
        players=manifest.players,
        archive=kept.digest,
        cause=cause,
        description=manifest.description,
    )
    return version


class Programs:
    """Makes versions ready to play, each once."""

    def __init__(
        self, home: Home, sandbox: Sandbox | None, on_output: Output, house_only: str = ""
    ) -> None:
        self.home = home
        self.sandbox = sandbox
        self.on_output = on_output
        self.house_only = house_only  # why programs of others must not run, if they must not
        self.builds = Builds(BUILDS_AT_ONCE)
        self._ready: dict[int, Entrant] = {}

    def find(self, version: Version, bot: Bot) -> Entrant:
        """Return a version as an entrant of a match, at once; raise Lacking if it is not ready."""
        assert version.id is not None
        if version.built_in is not None:
            return built_in(version.built_in.split()[0])
        found = self._ready.get(version.id)
        if found is None or not _in_use_again(found):
            raise Lacking(version, bot)
        return found

    def entrant(self, version: Version, bot: Bot) -> Entrant:
        """Return a version as an entrant of a match; build it if that was not done before.

        Raise Unready if that is not possible and the bot's own fault, PlatformFault if it is ours.
        """
        try:
            return self.find(version, bot)
        except Lacking:
            pass
        assert version.id is not None
        try:
            found = self._ready[version.id] = self._prepare(version, bot)
        except PlatformFault:
            raise
        except (LadderError, BadManifest) as error:
            raise Unready(version.id, f"{bot.name} cannot be made ready: {error}") from error
        except OSError as error:
            fault = blame(error, f"{bot.name} cannot be made ready")
            if isinstance(fault, PlatformFault):
                raise fault from error
            raise Unready(version.id, str(fault)) from error
        return found

    def _prepare(self, version: Version, bot: Bot) -> Entrant:
        if self.house_only:
            raise MachineFailed(self.house_only)
        if version.archive_digest is None:
            raise LadderError(f"version {version.number} of {bot.name} has no program")
        return make_ready(
            self.home, version.archive_digest, self.sandbox, self.on_output, self.builds
        )


def make_ready(
    home: Home,
    digest: str,
    sandbox: Sandbox | None,
    on_output: Output,
    builds: Builds | None = None,
) -> Entrant:
    """Return the program of an archive: the one that is ready, most often since its check."""
    cache = home.directory / "bots"
    prepared = find_prepared(cache, digest, sandbox)
    if prepared is None:
        builds = builds or Builds()
        with scratch_in(cache) as scratch:
            source = scratch / "bot"
            unpack_kept(home.archives.path(digest), digest, source, cache, builds.are_wanted)
            prepared = prepare(source, sandbox, on_output, cache, digest, keep=None, builds=builds)
    return prepared.entrant


def _in_use_again(entrant: Entrant) -> bool:
    """Note that a program is used; return whether it is still there: it may have been pruned."""
    if entrant.home is None:
        return True
    try:
        os.utime(entrant.home.parent)
    except OSError:  # on a disk that has become read-only it can still be used
        return entrant.home.exists()
    return True
