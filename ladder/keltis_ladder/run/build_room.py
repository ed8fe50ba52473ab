"""Room for builds: programs that are ready to play may take so much of the disk, and no more.

A build may have a gigabyte, and anybody may open an account and upload. So each author has so much
for all bots together; what does not play goes first when there is little left; and when builds that
play take more than their part of the disk, each author has an equal share of it.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlmodel import Session, col, or_, select

from keltis_ladder.files.sizes import MIB
from keltis_ladder.programs.preparing import PLAIN, room_taken
from keltis_ladder.run.pruning import needed_archives, remove_builds
from keltis_ladder.store.bots.needed import in_tournaments
from keltis_ladder.store.bots.submissions import Subject
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_ladder.store.schema.tables import Bot, Version
from keltis_ladder.store.schema.version_states import VersionState

OF_AUTHOR: Final = 2048 * MIB  # for the builds of all bots of an author that play
PART: Final = 2  # builds may take one of this many parts of what the disk would have without them


@dataclass(frozen=True)
class Build:
    """A program that is ready to play."""

    path: Path
    archive: str
    size: int  # bytes of disk
    used: float  # when, last


def builds_in(home: Home) -> list[Build]:
    """Return all that is ready, what was not used for longest first."""
    found = []
    for path in (home.directory / "bots").glob("[!.]*"):
        try:
            used = path.stat().st_mtime
        except FileNotFoundError:  # removed meanwhile
            continue
        found.append(Build(path, path.name.removesuffix(PLAIN), room_taken(path), used))
    return sorted(found, key=lambda build: build.used)


def room_for(home: Home, builds: list[Build]) -> int:
    """Return the bytes that all builds may take together."""
    free = shutil.disk_usage(home.directory).free
    return (free + sum(build.size for build in builds)) // PART


def make_room(home: Home, database: Database, room: int | None = None) -> int:
    """Remove builds that nobody needs until all take no more than there is room for.

    Return how many went. Those that play stay: processes that wait for their next game use them.
    """
    builds = builds_in(home)
    over = sum(build.size for build in builds) - (room_for(home, builds) if room is None else room)
    if over <= 0:
        return 0
    with database.reading() as session:
        needed = needed_archives(session)
    going = []
    for build in builds:
        if over > 0 and build.archive not in needed:
            going.append(build.path)
            over -= build.size
    remove_builds(database, going, needed)
    return len(going)


def why_no_room(
    home: Home, database: Database, found: Subject, room: int | None = None
) -> str | None:
    """Return why the build of a version that has passed its check cannot stay; none if it can."""
    builds = builds_in(home)
    sizes = {build.archive: build.size for build in builds}
    with database.reading() as session:
        playing = _playing(session)
    own = sizes.get(found.digest, 0)
    others = {
        digest
        for author, bot, digest, is_entered in playing
        if author == found.author_id and (bot != found.bot or is_entered) and digest != found.digest
    }
    held = own + sum(sizes.get(digest, 0) for digest in others)
    most = OF_AUTHOR
    room = room_for(home, builds) if room is None else room
    if sum(sizes.get(digest, 0) for digest in {each[2] for each in playing}) + own > room:
        authors = {author for author, *_ in playing} | {found.author_id}
        most = min(most, room // len(authors))
    if held <= most:
        return None
    return (
        f"what your bots have built takes {held // MIB:,} MiB of disk, and may take"
        f" {most // MIB:,} MiB: let the build remove what only the compiler needs, retire a bot, or"
        " wait for the end of the tournaments that an older version is entered for"
    )


def _playing(session: Session) -> list[tuple[int, str, str, bool]]:
    """Return author, bot and archive of all versions that play, and whether a tournament needs it.

    A newer version takes the place of one that plays, but not in a tournament that it is entered
    for, however long that is still to come.
    """
    query = (
        select(Bot.author_id, Bot.name, Version.archive_digest, in_tournaments())
        .join(Bot, col(Bot.id) == Version.bot_id)
        .where(
            or_(col(Version.state) == VersionState.ACTIVE, in_tournaments()),
            col(Version.archive_digest).is_not(None),
        )
    )
    return [
        (author, bot, digest, bool(is_entered))
        for author, bot, digest, is_entered in session.exec(query)
        if digest
    ]
