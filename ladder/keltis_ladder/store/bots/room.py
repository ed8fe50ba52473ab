"""What the programs of one author take of the disk, and which of them go when it is too much.

An author who uploads a hundred versions keeps the newest of them. Results, ratings and seeds are
verified without programs; only to play a match again they are needed.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement
from sqlmodel import Session, and_, col, or_, select

from keltis_ladder.files.sizes import MIB
from keltis_ladder.store.bots.catalogue import Refused
from keltis_ladder.store.bots.forgetting import let_go
from keltis_ladder.store.bots.needed import over, wanted
from keltis_ladder.store.schema.tables import Archive, Bot, Version
from keltis_ladder.store.schema.version_states import VersionState


class TooMuchKept(Refused):
    """An author whose bots take more of the disk than one may have."""


def make_room(session: Session, author_id: int, most: int) -> list[str]:
    """Let go of an author's oldest programs that do not play, until all take so much at most.

    What is over for good goes first, then what was retired. Return the archives that nobody else
    has. Raise TooMuchKept if that is not enough.
    """
    query = (
        select(Version, col(Archive.size), _is_spare())
        .join(Bot, col(Bot.id) == Version.bot_id)
        .join(Archive, col(Archive.digest) == Version.archive_digest)
        .where(Bot.author_id == author_id)
        .order_by(col(Version.id))
        .with_for_update(key_share=True, of=Version)
    )
    owners: dict[str | None, list[Version]] = {}
    sizes: dict[str | None, int] = {}
    playing = set()
    for version, size, is_spare in session.exec(query):
        owners.setdefault(version.archive_digest, []).append(version)
        sizes[version.archive_digest] = size
        if not is_spare:
            playing.add(version.archive_digest)
    spare = sorted(owners.keys() - playing, key=lambda digest: _turn(owners[digest]))
    taken = sum(sizes.values())
    going: list[Version] = []
    for digest in spare:
        if taken > most:
            taken -= sizes[digest]
            going += owners[digest]
    if taken > most:
        raise TooMuchKept(
            f"your bots that play, wait for their check or are entered for a tournament take"
            f" {taken / MIB:,.1f} MiB of disk with this one, and may take {most / MIB:,.1f} MiB:"
            " upload less, or retire a bot (keltis-ladder retire BOT) and upload again"
        )
    return let_go(session, going) if going else []


def _turn(owners: list[Version]) -> tuple[bool, int]:
    """Return when it is the turn of an archive to go, by the versions that came in it."""
    retired = any(version.state == VersionState.RETIRED for version in owners)
    return retired, max(version.id or 0 for version in owners)


def _is_spare() -> ColumnElement[bool]:
    """Return the condition that a version does not play, and need not come back."""
    retired = and_(
        col(Version.state) == VersionState.RETIRED, col(Bot.disabled).is_(None), ~wanted()
    )
    return or_(over(), retired)
