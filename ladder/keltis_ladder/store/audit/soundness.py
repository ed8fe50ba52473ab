"""Look at everything that is stored, whether it is complete and agrees with itself.

All checks see one moment of the database, so a ladder may be in use meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from keltis_ladder.errors import LadderError
from keltis_ladder.findings import Doing, Event, Finding, Mark
from keltis_ladder.store.archives import PARTIAL, Archives
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_ladder.store.matches.chain import broken_links
from keltis_ladder.store.matches.seed_parts import wrong_parts
from keltis_ladder.store.ratings.recomputing import Progress, compare
from keltis_ladder.store.ratings.rehearsing import rehearse
from keltis_ladder.store.schema.invariants import Invariant, of_jobs, of_leases, of_results
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.relations import ARCHIVE, GAME, JOB, MATCH
from keltis_ladder.store.schema.tables import (
    Game,
    JobState,
    Ledger,
    Place,
    table_of,
)
from keltis_ladder.store.schema.upkeep import broken_references, tables_differ

SHOWN: Final = 5  # of those that something is wrong with
OLD: Final = 3600.0  # seconds; a file that is still not complete then never will be

RESTORE: Final = "Restore a backup: docs/operators/store.md says how."
RECOMPUTE: Final = "Work the ratings out again: keltis-ladder ratings recompute --store"


@dataclass(frozen=True)
class Ground:
    """What is looked at."""

    home: Home
    database: Database
    session: Session
    progress: Progress | None
    from_checkpoint: bool = False  # work out ratings from there, not from the first match


Check = Callable[[Ground], Iterator[Finding]]


def check(
    home: Home,
    database: Database,
    deep: bool = False,
    progress: Progress | None = None,
    from_checkpoint: bool = False,
) -> Iterator[Event]:
    """Check everything, and with ``deep`` play every game again; yield what is found as it is.

    Those checks come first that later ones rely on. It ends early if there is no use in going on.
    """
    checks = [*CHECKS, DEEP] if deep else CHECKS
    with database.reading() as session:
        ground = Ground(home, database, session, progress, from_checkpoint)
        for name, doing, look in checks:
            yield Doing(doing)
            hopeless = False
            try:
                for finding in look(ground):
                    hopeless |= finding.mark is Mark.FAILED and name in FIRST
                    yield finding
            except DBAPIError as error:
                reason = " ".join(str(error.orig).split())
                yield Finding(name, Mark.FAILED, f"the database says: {reason}", RESTORE)
                hopeless = True
            if hopeless:
                text = f"the checks after {name} make no sense before this is put right"
                yield Finding("everything else", Mark.WARNING, text)
                return


def _tables(ground: Ground) -> Iterator[Finding]:
    differences = tables_differ(ground.database)
    if differences:
        text = f"they are not those of this program: {'; '.join(differences[:SHOWN])}"
        yield Finding("tables", Mark.FAILED, text, "Run: keltis-ladder db upgrade")
    else:
        yield Finding("tables", Mark.OK, "as this program knows them")


def _file(ground: Ground) -> Iterator[Finding]:
    if not ground.database.is_sqlite:
        yield Finding("database", Mark.OK, "PostgreSQL looks after its files and references itself")
        return
    connection = ground.session.connection()
    told = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
    if list(told) != ["ok"]:
        text = f"the file is damaged: {'; '.join(map(str, told[:SHOWN]))}"
        yield Finding("database", Mark.FAILED, text, RESTORE)
    elif broken := broken_references(connection):
        text = f"rows refer to others that are not there: {', '.join(broken)}"
        yield Finding("database", Mark.FAILED, text, RESTORE)
    else:
        yield Finding("database", Mark.OK, "the file and the references in it are whole")


def _ledger(ground: Ground) -> Iterator[Finding]:
    number = MATCH.c.number
    query = select(func.count(), func.min(number), func.max(number))
    count, first, last = ground.session.execute(query).one()
    ledger = ground.session.get(Ledger, 1)
    if ledger is None:
        yield Finding("ledger", Mark.FAILED, "there is none", "Run: keltis-ladder db upgrade")
    elif ledger.matches != count:
        text = f"it counts {ledger.matches} matches, and {count} are stored"
        yield Finding("ledger", Mark.FAILED, text, RESTORE)
    elif count and (first, last) != (1, count):
        text = f"{count} matches are numbered from {first} to {last}: there are gaps"
        yield Finding("ledger", Mark.FAILED, text, RESTORE)
    else:
        yield Finding("ledger", Mark.OK, f"{count:,} matches, numbered without gaps")


def _jobs(ground: Ground) -> Iterator[Finding]:
    state = JOB.c.state
    rows = ground.session.execute(select(state, func.count()).group_by(state).order_by(state))
    told = ", ".join(f"{count:,} {name}" for name, count in rows)
    yield from _hold("jobs", ground, of_jobs(), told or "none")


def _leases(ground: Ground) -> Iterator[Finding]:
    job = JOB.c
    leased = select(func.count()).where(job.state == JobState.LEASED)
    overdue = leased.where(job.lease_until < now())
    count, late = (ground.session.execute(query).scalar_one() for query in (leased, overdue))
    told = f"{count:,} held" + (f", {late:,} of them overdue" if late else "")
    advice = "Stop the server; jobs that are held for no reason are played after their lease ends."
    yield from _hold("leases", ground, of_leases(now()), told, advice)


def _results(ground: Ground) -> Iterator[Finding]:
    places, games = (
        ground.session.execute(select(func.count()).select_from(table_of(table))).scalar_one()
        for table in (Place, Game)
    )
    told = f"{places:,} places and {games:,} games are complete and add up"
    yield from _hold("results", ground, of_results(), told)


def _seeds(ground: Ground) -> Iterator[Finding]:
    whole = True
    parts = 0
    for wrong in wrong_parts(ground.session):
        parts += 1
        if wrong:
            whole = False
            yield Finding("seeds", Mark.FAILED, wrong, RESTORE)
    if broken := list(broken_links(ground.session)):
        whole = False
        text = f"the digest does not follow from the results: of match {_some(broken)}"
        yield Finding("seeds", Mark.FAILED, text, RESTORE)
    if whole:
        text = f"{parts:,} parts, from which the seeds follow; the results are a chain"
        yield Finding("seeds", Mark.OK, text)


def _hold(
    name: str,
    ground: Ground,
    invariants: Sequence[Invariant],
    fine: str,
    advice: str = RESTORE,
) -> Iterator[Finding]:
    """Look for what breaks an invariant; say what is there if nothing does."""
    whole = True
    for invariant in invariants:
        ids = sorted(set(ground.session.execute(invariant.query).scalars()))
        if ids:
            whole = False
            yield Finding(name, Mark.FAILED, f"{invariant.broken}: {_some(ids)}", advice)
    if whole:
        yield Finding(name, Mark.OK, fine)


def _some(ids: Sequence[Any]) -> str:
    text = ", ".join(str(id) for id in ids[:SHOWN])
    return text if len(ids) <= SHOWN else f"{text} and {len(ids) - SHOWN:,} more"


def _archives(ground: Ground) -> Iterator[Finding]:
    archives = ground.home.archives
    whole = True
    table = ARCHIVE
    rows = ground.session.execute(select(table.c.digest, table.c.size)).all()
    for digest, size in rows:
        try:
            if (found := archives.size_of(digest)) != size:
                raise LadderError(f"the archive {digest} has {found} bytes, {size} are noted")
        except (LadderError, OSError) as error:
            whole = False
            yield Finding("archives", Mark.FAILED, str(error), RESTORE)
    if leftover := _leftover(archives):
        text = f"{leftover} files that were never completed, under {archives.root}"
        advice = f"They do no harm. Delete those whose names begin with {PARTIAL}"
        yield Finding("archives", Mark.WARNING, text, advice)
    if whole:
        yield Finding("archives", Mark.OK, f"{len(rows):,} are there and undamaged")


def _leftover(archives: Archives) -> int:
    young = time.time() - OLD
    return sum(path.stat().st_mtime < young for path in archives.root.rglob(f"{PARTIAL}*"))


def _ratings(ground: Ground) -> Iterator[Finding]:
    try:
        found, _ = compare(ground.session, ground.progress, ground.from_checkpoint)
    except LadderError as error:
        yield Finding("ratings", Mark.FAILED, f"they cannot be worked out: {error}", RESTORE)
        return
    if found.equal:
        told = f"{found.ratings:,} ratings, {found.steps:,} steps and {found.duels:,} duels"
        begin = f" since the checkpoint after match {found.since:,}" if found.since else ""
        pruned = f"; {found.pruned:,} steps were pruned" if found.pruned else ""
        joint = f"; so do {found.joint:,} joint ratings" if found.joint else ""
        text = f"{told} follow exactly from the results{begin}{joint}{pruned}"
        yield Finding("ratings", Mark.OK, text)
    else:
        text = f"{found.differences:,} numbers do not follow from the results: {found.examples[0]}"
        yield Finding("ratings", Mark.FAILED, text, RECOMPUTE)


def _games(ground: Ground) -> Iterator[Finding]:
    count = failed = 0
    for damage in rehearse(ground.session, ground.progress):
        count += 1
        if damage:
            failed += 1
            if failed <= SHOWN:
                yield Finding("games", Mark.FAILED, damage, RESTORE)
    if failed > SHOWN:
        yield Finding("games", Mark.FAILED, f"{failed:,} matches are affected", RESTORE)
    elif not failed:
        moves = GAME.c
        query = select(func.count(moves.match_number.distinct())).where(moves.moves == b"")
        gone = ground.session.execute(query).scalar_one()
        pruned = f"; the replays of {gone:,} more were pruned" if gone else ""
        text = f"those of {count - gone:,} matches play out as they did{pruned}"
        yield Finding("games", Mark.OK, text)


CHECKS: Final[list[tuple[str, str, Check]]] = [
    ("database", "reading the database", _file),
    ("tables", "comparing the tables", _tables),
    ("ledger", "counting the matches", _ledger),
    ("jobs", "looking at the jobs", _jobs),
    ("leases", "looking at the leases", _leases),
    ("results", "adding up the results", _results),
    ("seeds", "working out the seeds again", _seeds),
    ("archives", "reading the archives", _archives),
    ("ratings", "working out the ratings again", _ratings),
]
DEEP: Final = ("games", "playing every game again", _games)
FIRST: Final = ("database", "tables")  # without these there is nothing to look at
