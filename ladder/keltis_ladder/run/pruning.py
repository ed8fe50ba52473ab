"""Pruning: remove programs that no version can need any more.

A build is needed while its version plays or is about to; from its archive it can be made again. An
archive is needed as long as its version may play or be checked again. What was played with lately
stays, unless told otherwise: it is the only way to play a match again. To verify results, seeds and
ratings no archive is needed: digests are stored with the seed, and decisions with the result.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import ColumnElement, func
from sqlalchemy.orm import aliased
from sqlmodel import Session, and_, col, or_, select

from keltis_ladder.files.trees import discard
from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.programs.preparing import PLAIN
from keltis_ladder.store.archives import Archives
from keltis_ladder.store.bots.forgetting import forget_files, forget_programs, let_go
from keltis_ladder.store.bots.needed import never_played, over, wanted
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import (
    Archive,
    Bot,
    Version,
)
from keltis_ladder.store.schema.version_states import VersionState

UNUSED: Final = 86_400.0  # seconds without a match after which a build may go
REGRETS: Final = timedelta(days=7)  # for authors who look into what was wrong with an upload
OUTDATED: Final = timedelta(days=90)  # after which old versions of a bot that played may go
RECENT: Final = 5  # versions of a bot that stay all the same
REGRETTED: Final = 10  # uploads of one author that are kept for that
LEAVING: Final = ".new-old-"  # how the names of those begin that are being removed

_PLAYING: Final = (VersionState.ACTIVE, VersionState.CHECKING, VersionState.UNCHECKED)


@dataclass(frozen=True)
class Pruned:
    """What was removed, or would be."""

    builds: int
    archives: int
    size: int  # bytes that are free again


def prune(
    home: Home,
    database: Database,
    at_once: Collection[str] = (),
    played: bool = False,
    dry_run: bool = False,
) -> Pruned:
    """Remove what nobody needs: builds, uploads that were never to play, files without an owner.

    The builds of ``at_once`` go though they were used a moment ago, unless a match still needs
    them. With ``played`` also archives go that matches were played with, and never will be again.
    """
    with database.reading() as session:
        needed = needed_archives(session)
        strays = _strays(session, home.archives)
    builds = _idle_builds(home, needed, at_once)
    gone = database.write(lambda session: _let_go(session, now(), played, dry_run))
    files = [path for path in map(home.archives.path, gone) if path.exists()]
    size = sum(map(_size, [*builds, *files, *strays]))
    if not dry_run:
        remove_builds(database, builds, needed)
        with database.reading() as session:
            forget_files(session, home.archives, gone)
            for path in set(strays).intersection(_strays(session, home.archives)):
                path.unlink(missing_ok=True)
    return Pruned(len(builds), len(files) + len(strays), size)


def _idle_builds(home: Home, needed: set[str], at_once: Collection[str]) -> list[Path]:
    """Return the builds that nobody plays with.

    An archive that is missing stops us: its build may be the last copy of it.
    """
    for digest in needed:
        if not home.archives.path(digest).exists():
            raise MachineFailed(f"the archive {digest} is missing: restore a backup")
    young = time.time() - UNUSED
    idle = []
    for path in sorted((home.directory / "bots").glob("[!.]*")):
        name = path.name.removesuffix(PLAIN)
        if name not in needed and (name in at_once or path.stat().st_mtime < young):
            idle.append(path)
    return idle


def remove_builds(database: Database, builds: Collection[Path], needed: set[str]) -> None:
    """Remove builds, but not those that somebody needs since a moment ago."""
    leaving = {path: path.with_name(LEAVING + path.name) for path in builds}
    for path, other in leaving.items():
        path.rename(other)  # from now on a match that needs it makes another
    with database.reading() as session:
        kept = needed_archives(session) - needed
    for path, other in leaving.items():
        if path.name.removesuffix(PLAIN) in kept and not path.exists():
            other.rename(path)
        else:
            discard(other)


def needed_archives(session: Session) -> set[str]:
    """Return the archives of versions that play or are about to."""
    query = select(Version.archive_digest).where(
        col(Version.archive_digest).is_not(None),
        or_(col(Version.state).in_(_PLAYING), wanted()),
    )
    return {digest for digest in session.exec(query) if digest is not None}


def _let_go(session: Session, moment: datetime, played: bool, dry_run: bool) -> list[str]:
    """Let go of the archives that nobody needs, and of those of removed bots; return which."""
    spent = col(Version.created) < moment - REGRETS
    if not played:
        outdated = and_(col(Version.created) < moment - OUTDATED, _newer_ones() >= RECENT)
        spent = and_(spent, or_(never_played(), outdated))
    versions = session.exec(
        select(Version).where(over(), spent).with_for_update(key_share=True)
    ).all()
    gone = [*let_go(session, versions), *forget_programs(session)]
    if dry_run:
        session.rollback()
    return gone


def _newer_ones() -> ColumnElement[int]:
    """Return how many newer versions of its bot a version has."""
    newer = aliased(Version)
    return (
        select(func.count())
        .select_from(newer)
        .where(newer.bot_id == Version.bot_id, newer.number > Version.number)
        .correlate(Version)
        .scalar_subquery()
    )


def thin_out(home: Home, database: Database) -> int:
    """Remove uploads that never played and never will, of each author all but the newest ones."""
    gone = database.write(_let_crowded_go)
    with database.reading() as session:
        forget_files(session, home.archives, gone)
    return len(gone)


def _let_crowded_go(session: Session) -> list[str]:
    query = (
        select(Version, Bot.author_id)
        .join(Bot, col(Bot.id) == Version.bot_id)
        .where(over(), never_played())
        .order_by(col(Version.id).desc())
        .with_for_update(key_share=True, of=Version)
    )
    seen: Counter[int] = Counter()
    crowded = []
    for version, author in session.exec(query):
        seen[author] += 1
        if seen[author] > REGRETTED:
            crowded.append(version)
    return let_go(session, crowded) if crowded else []


def _strays(session: Session, archives: Archives) -> list[Path]:
    """Return files that no upload was completed with."""
    known = set(session.exec(select(Archive.digest)))
    young = time.time() - UNUSED
    return [
        path
        for path in archives.root.glob("*/*")
        if path.name not in known and path.stat().st_mtime < young
    ]


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(each.lstat().st_size for each in files)
