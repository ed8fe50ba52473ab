"""Bots that are added to a store: named by the user, built, and stored as versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from sqlmodel import Session

from keltis_bots.manifest import Manifest, read_manifest
from keltis_cli.draw.printable import show_build
from keltis_cli.errors import BadRequest
from keltis_ladder.match.entrants import BUILT_IN, built_in
from keltis_ladder.programs.builds import BuildFailed
from keltis_ladder.programs.preparing import check_name
from keltis_ladder.run.programs import enter_program, keep_program, make_ready
from keltis_ladder.sandbox.sandbox import Sandbox
from keltis_ladder.store.archives import Kept
from keltis_ladder.store.bots.catalogue import ensure_house_bots, local_author
from keltis_ladder.store.home import Home
from keltis_ladder.store.schema.tables import Version
from keltis_ladder.store.schema.version_states import VersionCause


@dataclass(frozen=True)
class Named:
    """A bot as the user names it: one of ours, or a directory with its ``bot.toml``."""

    text: str
    name: str
    variants: tuple[str, ...]
    players: tuple[int, ...]
    manifest: Manifest | None = None


@dataclass(frozen=True)
class Candidate:
    """A bot that is ready to be entered."""

    name: str
    program: str  # same text, same program: the archive's digest, or ours and its release
    kept: tuple[Manifest, Kept] | None = None  # none: one of ours


def named(bots: Sequence[str]) -> list[Named]:
    """Return the bots that the user names; nothing is built yet."""
    for bot in bots:
        check_name(bot)
    found = []
    for bot in bots:
        if bot in BUILT_IN:
            ours = built_in(bot)
            found.append(Named(bot, bot, ours.variants, ours.players))
        else:
            manifest = read_manifest(Path(bot))
            found.append(Named(bot, manifest.name, manifest.variants, manifest.players, manifest))
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise BadRequest(
                f"two of the bots are called {name!r}, and each can enter only once: "
                "leave one out, or give it another name in its bot.toml"
            )
    return found


def candidates(home: Home, bots: Sequence[Named], sandbox: Sandbox | None) -> list[Candidate]:
    """Build the bots that come in a directory, and copy them into the store."""
    return [_candidate(home, bot, sandbox) for bot in bots]


def _candidate(home: Home, bot: Named, sandbox: Sandbox | None) -> Candidate:
    if bot.manifest is None:
        return Candidate(bot.name, f"{bot.name} {metadata.version('keltis-ladder')}")
    directory = Path(bot.text)
    # An archive that belongs to no version, since it cannot be built, is pruned.
    manifest, kept = keep_program(home, directory)
    try:
        make_ready(home, kept.digest, sandbox, show_build)
    except BuildFailed as error:  # what the build printed has been shown
        raise BadRequest(
            f"{directory} cannot be built: {error.reason}; its output is above"
        ) from None
    return Candidate(manifest.name, kept.digest, (manifest, kept))


def enter(session: Session, candidate: Candidate) -> Version:
    """Return the version of a bot, new if its program is; it plays unless it was taken off."""
    if candidate.kept is None:
        [version] = ensure_house_bots(session, [candidate.name])
        return version
    manifest, kept = candidate.kept
    author = local_author(session)
    return enter_program(session, author, manifest, kept, VersionCause.ENTERED)


def program_of(version: Version) -> str:
    """Return what tells a version's program from others, as candidates have it."""
    return version.archive_digest or version.built_in or ""
