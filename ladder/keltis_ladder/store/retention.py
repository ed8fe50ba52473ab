"""Retention: what a ladder keeps for how long, and the removal of what is older.

Results are kept for ever: who played, places, points, seeds, faults. Ratings follow from them, so
that old rating steps can go; of each day, version and kind of match the last one stays, for charts,
as do joint ratings that were published.
Everything happens in small transactions, each of which notes in the ledger how far it came: to be
killed at any moment loses nothing that should be kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import takewhile
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, bindparam, delete, func, or_, select, update
from sqlmodel import Session

from keltis_ladder.errors import LadderError
from keltis_ladder.store.database import Database
from keltis_ladder.store.ratings import checkpoints
from keltis_ladder.store.schema.relations import (
    CHECK_REPORT,
    FAULT,
    GAME,
    INVITATION,
    JOB,
    JOINT_HISTORY,
    LEDGER,
    MATCH,
    RATING_STEP,
    TOKEN,
    VERSION,
)
from keltis_ladder.store.schema.version_states import VersionState

FOREVER: Final = "forever"
MATCHES_AT_ONCE: Final = 500  # whose replays or cards one transaction removes
STEPS_AT_ONCE: Final = 20_000  # that one transaction looks at
PRUNED: Final = b""  # what is left of moves and crash cards
PRUNED_OUTPUT: Final = "(The output was removed: it was older than this ladder keeps logs.)"

_UNITS: Final = {"h": "hours", "d": "days", "w": "weeks"}
_OVER: Final = (VersionState.BROKEN, VersionState.SUPERSEDED, VersionState.RETIRED)

_FORGET_HISTORY: Final = delete(JOINT_HISTORY).where(
    JOINT_HISTORY.c.version_id == bindparam("old_version"),
    JOINT_HISTORY.c.variant == bindparam("old_variant"),
    JOINT_HISTORY.c.players == bindparam("old_players"),
    JOINT_HISTORY.c.match_number == bindparam("old_number"),
)

Lifetime = timedelta | None  # none: for ever


class BadRetention(LadderError):
    """Lifetimes that cannot be."""


def parse_lifetime(text: str) -> Lifetime:
    """Return a lifetime: hours, days or weeks, or for ever."""
    if text == FOREVER:
        return None
    found = re.fullmatch(r"([0-9]{1,6})([hdw])", text)
    if found is None:
        raise BadRetention(
            f"{text!r} is no lifetime: write a number with h, d or w, as in 90d, or {FOREVER}"
        )
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def show_lifetime(lifetime: Lifetime) -> str:
    """Return a lifetime as people write it."""
    if lifetime is None:
        return FOREVER
    days, rest = divmod(lifetime, timedelta(days=1))
    return f"{days}d" if not rest else f"{lifetime // timedelta(hours=1)}h"


@dataclass(frozen=True)
class Retention:
    """How long what is kept."""

    steps: Lifetime = timedelta(days=90)  # every rating after every match; then one a day
    replays: Lifetime = timedelta(days=365)  # the moves of games
    tournament_replays: Lifetime = None  # those of tournaments
    logs: Lifetime = timedelta(days=90)  # crash cards; what the builds of old versions said
    credentials: Lifetime = timedelta(days=30)  # tokens and invitations that let nobody in

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        longest = timedelta.max
        if (self.tournament_replays or longest) < (self.replays or longest):
            raise BadRetention(
                "replays of tournaments are kept at least as long as others; got "
                f"{show_lifetime(self.tournament_replays)} and {show_lifetime(self.replays)}"
            )


KEEP_EVERYTHING: Final = Retention(None, None, None, None, None)


@dataclass
class Swept:
    """What was removed, or would be."""

    steps: int = 0
    replays: int = 0  # games
    cards: int = 0
    outputs: int = 0
    credentials: int = 0
    size: int = 0  # bytes of replays, cards and outputs
    checkpoint: int | None = None  # the match after which one was made

    @property
    def anything(self) -> bool:
        """Whether there was anything."""
        return any(getattr(self, each.name) for each in fields(self))


def sweep(
    database: Database,
    retention: Retention,
    now: datetime,
    dry_run: bool = False,
    checkpoint_every: int = checkpoints.EVERY,
) -> Swept:
    """Remove what is older than it is kept, or only count it; make a checkpoint if one is due."""
    sweeper = _Sweeper(database, now, dry_run)
    sweeper.thin_steps(retention.steps)
    sweeper.remove_replays(retention.replays, retention.tournament_replays)
    sweeper.remove_cards(retention.logs)
    sweeper.remove_outputs(retention.logs)
    sweeper.remove_credentials(retention.credentials)
    if not dry_run:
        sweeper.swept.checkpoint = database.write(
            lambda session: checkpoints.add_if_due(session, now, checkpoint_every)
        )
    return sweeper.swept


class _Sweeper:
    """Goes through everything once."""

    def __init__(self, database: Database, now: datetime, dry_run: bool) -> None:
        self.swept = Swept()
        self._database = database
        self._now = now
        self._dry_run = dry_run

    def thin_steps(self, lifetime: Lifetime) -> None:
        """Of old rating steps, leave the last of each day, version and kind of match."""
        if lifetime is None:
            return
        # Whole days, so that what is the last of one stays it.
        cutoff = (self._now - lifetime).astimezone(UTC)
        midnight = cutoff.replace(hour=0, minute=0, second=0, microsecond=0)
        after, until = self._span(LEDGER.c.steps_pruned, midnight)
        while after < until:
            after, count = self._write(partial(_thin, after=after, until=until))
            self.swept.steps += count

    def remove_replays(self, lifetime: Lifetime, of_tournaments: Lifetime) -> None:
        """Remove the moves of old games."""
        if lifetime is None:
            return
        after, until = self._span(LEDGER.c.replays_pruned, self._now - lifetime)
        for begin, end in _batches(after, until):
            self._remove_moves(begin, end, JOB.c.tournament_id.is_(None))
        if of_tournaments is not None:
            _, until = self._span(LEDGER.c.replays_pruned, self._now - of_tournaments)
            for begin, end in _batches(0, until):
                self._remove_moves(begin, end, JOB.c.tournament_id.is_not(None))

    def remove_cards(self, lifetime: Lifetime) -> None:
        """Remove old crash cards; the kind and the text of each fault stay."""
        if lifetime is None:
            return
        after, until = self._span(LEDGER.c.cards_pruned, self._now - lifetime)
        for begin, end in _batches(after, until):
            wanted = and_(
                FAULT.c.match_number > begin,
                FAULT.c.match_number <= end,
                FAULT.c.card != PRUNED,
            )
            noted = {"cards_pruned": end}
            count, size = self._write(
                partial(_empty, column=FAULT.c.card, wanted=wanted, empty=PRUNED, noted=noted)
            )
            self.swept.cards += count
            self.swept.size += size

    def remove_outputs(self, lifetime: Lifetime) -> None:
        """Remove what the builds of versions said that do not play any more."""
        if lifetime is None:
            return
        over = select(VERSION.c.id).where(VERSION.c.state.in_(_OVER))
        wanted = and_(
            CHECK_REPORT.c.finished < self._now - lifetime,
            CHECK_REPORT.c.version_id.in_(over),
            CHECK_REPORT.c.output.not_in(("", PRUNED_OUTPUT)),
        )
        count, size = self._write(
            lambda session: _empty(session, CHECK_REPORT.c.output, wanted, PRUNED_OUTPUT, {})
        )
        self.swept.outputs += count
        self.swept.size += size

    def remove_credentials(self, lifetime: Lifetime) -> None:
        """Remove tokens and invitations that have let nobody in for long."""
        if lifetime is None:
            return
        cutoff = self._now - lifetime
        dead = [
            delete(TOKEN).where(or_(TOKEN.c.revoked < cutoff, TOKEN.c.expires < cutoff)),
            delete(INVITATION).where(
                or_(INVITATION.c.used < cutoff, INVITATION.c.expires < cutoff)
            ),
        ]
        self.swept.credentials += self._write(
            lambda session: sum(_count(session.execute(each)) for each in dead)
        )

    def _remove_moves(self, begin: int, end: int, kind: ColumnElement[bool]) -> None:
        matches = (
            select(MATCH.c.number)
            .join(JOB, JOB.c.id == MATCH.c.job_id)
            .where(MATCH.c.number > begin, MATCH.c.number <= end, kind)
        )
        wanted = and_(GAME.c.match_number.in_(matches), GAME.c.moves != PRUNED)
        count, size = self._write(
            lambda session: _empty(session, GAME.c.moves, wanted, PRUNED, {"replays_pruned": end})
        )
        self.swept.replays += count
        self.swept.size += size

    def _span(self, noted: ColumnElement[int], before: datetime) -> tuple[int, int]:
        """Return up to which match it was done, and up to which it is to be done."""
        with self._database.reading() as session:
            done, matches = session.execute(select(noted, LEDGER.c.matches)).one()
            young = select(func.min(MATCH.c.number)).where(MATCH.c.finished >= before)
            first = session.execute(young).scalar()
        return done, matches if first is None else first - 1

    def _write(self, work: Callable[[Session], Any]) -> Any:
        def run(session: Session) -> Any:
            found = work(session)
            if self._dry_run:
                session.rollback()
            return found

        return self._database.write(run)


def _batches(after: int, until: int) -> Iterator[tuple[int, int]]:
    for begin in range(after, until, MATCHES_AT_ONCE):
        yield begin, min(begin + MATCHES_AT_ONCE, until)


def _note(session: Session, noted: dict[str, int]) -> None:
    """Note in the ledger how far something was removed; first, as storing a result does."""
    for name, number in noted.items():
        column = LEDGER.c[name]
        session.execute(update(LEDGER).where(column < number).values({name: number}))


def _thin(session: Session, after: int, until: int) -> tuple[int, int]:
    """Thin the steps of the first day after a match; return the last match, and how many went."""
    query = (
        select(
            RATING_STEP.c.match_number, RATING_STEP.c.version_id,
            MATCH.c.variant, MATCH.c.players, MATCH.c.finished,
        )
        .join(MATCH, MATCH.c.number == RATING_STEP.c.match_number)
        .where(RATING_STEP.c.match_number > after, RATING_STEP.c.match_number <= until)
        .order_by(RATING_STEP.c.match_number)
        .limit(STEPS_AT_ONCE)
    )  # fmt: skip
    rows = session.execute(query).all()
    if not rows:
        _note(session, {"steps_pruned": until})
        return until, _thin_history(session, after, until)
    day = rows[0].finished.astimezone(UTC).date()
    run = list(takewhile(lambda row: row.finished.astimezone(UTC).date() == day, rows))
    end = run[-1].match_number
    if len(run) == STEPS_AT_ONCE:  # the last match may not be whole
        end -= 1
        run = [row for row in run if row.match_number <= end]
    elif len(run) == len(rows):
        end = until
    last = {(row.version_id, row.variant, row.players): row.match_number for row in run}
    _note(session, {"steps_pruned": end})
    gone = session.execute(
        delete(RATING_STEP).where(
            RATING_STEP.c.match_number > after,
            RATING_STEP.c.match_number <= end,
            RATING_STEP.c.match_number.not_in(set(last.values())),
        )
    )
    return end, _count(gone) + _thin_history(session, after, end)


def _thin_history(session: Session, after: int, until: int) -> int:
    """Leave the last joint rating of each day, version and scope; return how many went."""
    of_version = (JOINT_HISTORY.c.version_id, JOINT_HISTORY.c.variant, JOINT_HISTORY.c.players)
    query = (
        select(*of_version, JOINT_HISTORY.c.match_number, MATCH.c.finished)
        .join(MATCH, MATCH.c.number == JOINT_HISTORY.c.match_number)
        .where(JOINT_HISTORY.c.match_number > after, JOINT_HISTORY.c.match_number <= until)
        .order_by(JOINT_HISTORY.c.match_number)
    )
    last: dict[tuple[Any, ...], int] = {}
    gone: list[dict[str, Any]] = []
    for version, variant, players, number, finished in session.execute(query):
        key = version, variant, players, finished.astimezone(UTC).date()
        if key in last:
            names = ("old_version", "old_variant", "old_players", "old_number")
            gone.append(dict(zip(names, (*key[:3], last[key]), strict=True)))
        last[key] = number
    if gone:
        session.connection().execute(_FORGET_HISTORY, gone)
    return len(gone)


def _empty(
    session: Session,
    column: Any,
    wanted: ColumnElement[bool],
    empty: bytes | str,
    noted: dict[str, int],
) -> tuple[int, int]:
    """Empty a column where that is wanted; return how many rows and bytes that were."""
    _note(session, noted)
    query = select(func.count(), func.coalesce(func.sum(func.length(column)), 0)).where(wanted)
    count, size = session.execute(query).one()
    if count:
        session.execute(update(column.table).where(wanted).values({column.name: empty}))
    return count, int(size)


def _count(done: Any) -> int:
    return int(done.rowcount)
