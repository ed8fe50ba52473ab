"""Publish the joint rating: one scope at a time, all of its figures or none.

Each scope has a mark of its own, so that a transaction is short even where a thousand versions are
active, results are never held up for long, and to be killed loses at most the work on one scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import delete, func, insert, select, update
from sqlmodel import Session

from keltis_ladder.ratings.joint.numbers import MODEL_VERSION
from keltis_ladder.ratings.scopes import ALL, ANY, Scope
from keltis_ladder.store.database import Database, insert_if_new
from keltis_ladder.store.ratings.joint.fitting import SCOPES, Ground, figures, read_ground
from keltis_ladder.store.ratings.joint.reading import DRAWN
from keltis_ladder.store.ratings.memory import active_ids
from keltis_ladder.store.ratings.models import is_ours
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.relations import JOINT_HISTORY, JOINT_MARK, JOINT_RATING, RATING
from keltis_ladder.store.schema.tables import (
    Ledger,
)

NEVER: Final = -1  # as_of of a mark that is being made
NO_MODEL: Final = 0  # of figures that are to be worked out again


Progress = Callable[[int, int], None]  # scopes done, in all


class Published(NamedTuple):
    """A publication that took place."""

    scope: Scope
    as_of: int
    serial: int


@dataclass(frozen=True)
class Age:
    """A scope that is not up to date."""

    scope: Scope
    as_of: int  # its last publication; NEVER: none


def outdated(session: Session) -> list[Age]:
    """Return the scopes that say something else than they should, the oldest first.

    Results may have come, versions may have come or gone, or another model made the figures. A
    ladder whose margins are of another release has none that could be fitted.
    """
    ledger = session.get(Ledger, 1)
    if ledger is None or not is_ours(ledger):
        return []
    newest = session.execute(
        select(func.max(RATING.c.last_match)).where(
            RATING.c.variant == ALL, RATING.c.players == ANY
        )
    ).scalar()
    if newest is None:
        return []  # nobody has played: there is nothing to say
    field = active_ids(session)
    marks = {Scope(row.variant, row.players): row for row in session.execute(select(JOINT_MARK))}
    found = []
    for scope in SCOPES:
        mark = marks.get(scope)
        if mark is None:
            found.append(Age(scope, NEVER))
        elif (mark.joint_model, mark.field) != (MODEL_VERSION, field) or mark.as_of < newest:
            found.append(Age(scope, mark.as_of))
    return sorted(found, key=lambda age: (age.as_of, SCOPES.index(age.scope)))


def publish(
    session: Session, scope: Scope, ground: Ground, rows: list[dict[str, Any]], moment: datetime
) -> Published | None:
    """Replace the figures of a scope; none: somebody else has published newer ones meanwhile."""
    key = {"variant": scope.variant, "players": scope.players}
    as_of = ground.as_of
    none = {"as_of": NEVER, "joint_model": NO_MODEL, "serial": 0, "field": [], "published": moment}
    insert_if_new(session, JOINT_MARK, key | none, ["variant", "players"])
    of_scope = (JOINT_MARK.c.variant == scope.variant, JOINT_MARK.c.players == scope.players)
    held = session.execute(select(JOINT_MARK).where(*of_scope).with_for_update()).one()
    if held.as_of > as_of and held.joint_model == MODEL_VERSION:
        return None
    session.execute(
        delete(JOINT_RATING).where(
            JOINT_RATING.c.variant == scope.variant, JOINT_RATING.c.players == scope.players
        )
    )
    if rows:
        session.execute(insert(JOINT_RATING), rows)
    if scope in DRAWN:
        _add_history(session, scope, as_of, rows)
    session.execute(
        update(JOINT_MARK)
        .where(*of_scope)
        .values(
            as_of=as_of,
            joint_model=MODEL_VERSION,
            serial=held.serial + 1,
            field=sorted(ground.field),
            published=moment,
        )
    )
    return Published(scope, as_of, held.serial + 1)


def _add_history(
    session: Session, scope: Scope, as_of: int, rows: Iterable[dict[str, Any]]
) -> None:
    """Note the ratings of those who have played since theirs were noted."""
    of_scope = (JOINT_HISTORY.c.variant == scope.variant, JOINT_HISTORY.c.players == scope.players)
    noted: Mapping[int, int] = dict(
        session.execute(
            select(JOINT_HISTORY.c.version_id, func.max(JOINT_HISTORY.c.match_number))
            .where(*of_scope)
            .group_by(JOINT_HISTORY.c.version_id)
        ).all()
    )
    played: Mapping[int, int] = dict(
        session.execute(
            select(RATING.c.version_id, RATING.c.last_match).where(
                RATING.c.variant == scope.variant,
                RATING.c.players == scope.players,
                RATING.c.last_match <= as_of,
            )
        ).all()
    )
    new = [
        {
            "version_id": row["version_id"],
            "variant": scope.variant,
            "players": scope.players,
            "match_number": as_of,
            "rating": row["rating"],
            "sigma": row["sigma"],
        }
        for row in rows
        if played.get(row["version_id"], 0) > noted.get(row["version_id"], 0)
    ]
    if new:
        session.execute(insert(JOINT_HISTORY), new)


def renounce(session: Session) -> None:
    """Have everything published again; until then the figures stay as they are."""
    session.execute(update(JOINT_MARK).values(joint_model=NO_MODEL))


def is_published(session: Session) -> bool:
    """Return whether there are figures of every scope by the model of this release."""
    model = JOINT_MARK.c.joint_model
    query = select(func.count()).select_from(JOINT_MARK).where(model == MODEL_VERSION)
    return session.execute(query).scalar() == len(SCOPES)


def publish_all(database: Database, progress: Progress | None = None) -> int:
    """Publish all scopes that are not up to date, now; return how many figures that were."""
    with database.reading() as session:
        wanted = [age.scope for age in outdated(session)]
        ground = read_ground(session) if wanted else None
    if ground is None:
        return 0
    fit = ground.fit()
    count = 0
    for done, scope in enumerate(wanted, start=1):
        rows = figures(fit, scope)
        write_out(database, scope, ground, rows)
        count += len(rows)
        if progress is not None:
            progress(done, len(wanted))
    return count


def write_out(
    database: Database, scope: Scope, ground: Ground, rows: list[dict[str, Any]]
) -> Published | None:
    """Publish a scope in a transaction of its own."""
    moment = now()
    return database.write(lambda session: publish(session, scope, ground, rows, moment))
