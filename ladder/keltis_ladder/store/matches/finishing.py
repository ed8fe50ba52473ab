"""Store a result and the ratings that it moves: once, in one transaction, in one order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, insert, select, update
from sqlmodel import Session

from keltis_ladder.errors import LadderError
from keltis_ladder.ratings.book import SEATS, Book, Record, Share, Standing
from keltis_ladder.ratings.scopes import Scope, scopes_of
from keltis_ladder.ratings.skill import Belief
from keltis_ladder.store.bots.catalogue import set_aside
from keltis_ladder.store.database import insert_or_update
from keltis_ladder.store.matches.chain import chained_digest
from keltis_ladder.store.matches.records import NO_CARD, MatchRows, without_names
from keltis_ladder.store.matches.scores import FaultRow, GameRow, scores_of
from keltis_ladder.store.matches.seed_parts import fill_stock
from keltis_ladder.store.ratings.models import is_ours
from keltis_ladder.store.schema.relations import (
    BOT,
    DUEL,
    FAULT,
    GAME,
    JOB,
    JOB_ENTRANT,
    LEDGER,
    MATCH,
    PLACE,
    RATING,
    RATING_STEP,
    VERSION,
)
from keltis_ladder.store.schema.tables import (
    JobState,
)
from keltis_ladder.store.schema.version_states import VersionCause, VersionChanged

RECENT: Final = 20  # of a version's matches are looked at
TOO_MANY: Final = 10  # of them with a fault: the version is broken

Beliefs = dict[tuple[int, Scope], Belief]

# Written once: to build a statement takes longer than to carry it out.
_LEDGER: Final = select(LEDGER).with_for_update()
_COUNT: Final = update(LEDGER).values(matches=bindparam("number"))
_JOB: Final = (
    select(JOB.c.rated, JOB.c.variant, JOB.c.players, JOB.c.seed, MATCH.c.number)
    .outerjoin(MATCH, MATCH.c.job_id == JOB.c.id)
    .where(JOB.c.id == bindparam("job"))
)
_DONE: Final = (
    update(JOB)
    .where(JOB.c.id == bindparam("job"))
    .values(state=JobState.DONE, holder=None, lease_until=None)
)
_ENTRANTS: Final = (
    select(JOB_ENTRANT.c.version_id)
    .where(JOB_ENTRANT.c.job_id == bindparam("job"))
    .order_by(JOB_ENTRANT.c.position)
)
_PREDECESSORS: Final = select(VERSION.c.id, VERSION.c.predecessor_id).where(
    VERSION.c.id.in_(bindparam("versions", expanding=True))
)
_FORGOTTEN: Final = (
    select(VERSION.c.id)
    .join(BOT, BOT.c.id == VERSION.c.bot_id)
    .where(VERSION.c.id.in_(bindparam("versions", expanding=True)), BOT.c.removed)
)
_RATINGS: Final = select(RATING).where(
    RATING.c.version_id.in_(bindparam("versions", expanding=True)),
    RATING.c.variant.in_(bindparam("variants", expanding=True)),
    RATING.c.players.in_(bindparam("players", expanding=True)),
)
_RECENT_FAULTS: Final = (
    select(PLACE.c.faults)
    .where(PLACE.c.version_id == bindparam("version"))
    .order_by(PLACE.c.match_number.desc())
    .limit(RECENT)
)
# Only rated ones: with challenges of one's own bot nobody hides what it does to others.
_RECENT_RATED_FAULTS: Final = (
    select(PLACE.c.faults)
    .join(MATCH, MATCH.c.number == PLACE.c.match_number)
    .where(PLACE.c.version_id == bindparam("version"), MATCH.c.rated)
    .order_by(PLACE.c.match_number.desc())
    .limit(RECENT)
)
_ADD_MATCH: Final = insert(MATCH)
_ADD_PLACES: Final = insert(PLACE)
_ADD_GAMES: Final = insert(GAME)
_ADD_FAULTS: Final = insert(FAULT)
_ADD_STEPS: Final = insert(RATING_STEP)


class StaleRatings(LadderError):
    """The stored ratings come from another model than ours."""


@dataclass(frozen=True)
class Stored:
    """A result in the store."""

    number: int
    fresh: bool  # whether it was stored just now
    beliefs: Beliefs  # the ratings that it moved, as they are now
    broken: tuple[VersionChanged, ...] = ()  # versions that this result took off the ladder


def finish(session: Session, job_id: str, rows: MatchRows, now: datetime) -> Stored:
    """Store the result of a job. If it has one already, nothing changes."""
    ledger = lock_ledger(session)
    connection = session.connection()
    job = connection.execute(_JOB, {"job": job_id}).first()
    if job is None:
        raise LadderError(f"there is no job {job_id}: its result cannot be stored")
    if job.number is not None:
        return Stored(job.number, False, {})
    if not job.seed:
        raise LadderError(f"the job {job_id} has never begun: it cannot have a result")
    _check_fit(job_id, job.variant, job.players, rows)
    versions = connection.execute(_ENTRANTS, {"job": job_id}).scalars().all()
    number = ledger.matches + 1
    digest = chained_digest(connection, number, job_id, job.rated, job.seed, rows)
    _add_match(connection, number, job_id, job.rated, versions, rows, now, digest)
    beliefs: Beliefs = {}
    if job.rated:
        if not is_ours(ledger):
            raise StaleRatings(
                "the stored ratings come from another release; "
                "first run: keltis-ladder ratings recompute --store"
            )
        beliefs = _rate(session, number, versions, rows)
    connection.execute(_COUNT, {"number": number})
    connection.execute(_DONE, {"job": job_id})
    fill_stock(session, number, now)
    faulty = [versions[place["position"]] for place in rows.places if place["faults"]]
    return Stored(number, True, beliefs, tuple(_set_broken_aside(session, faulty)))


def lock_ledger(session: Session) -> Row[Any]:
    """Hold the ledger: nobody else stores a result until the transaction ends."""
    ledger = session.connection().execute(_LEDGER).first()
    if ledger is None:
        raise LadderError("the database is not ready: run keltis-ladder db upgrade")
    return ledger


def _check_fit(job_id: str, variant: str, players: int, rows: MatchRows) -> None:
    """Raise unless the rows are those of such a match: a wrong one could never be taken back."""
    sizes = {rows.players, len(rows.places), len(rows.games)}
    if rows.variant != variant or sizes != {players}:
        raise LadderError(
            f"the result does not fit the job {job_id}, which is {variant} with {players} "
            f"players: it has {rows.variant}, {len(rows.places)} places and {len(rows.games)} games"
        )


def _add_match(
    connection: Connection,
    number: int,
    job_id: str,
    rated: bool,
    versions: Sequence[int],
    rows: MatchRows,
    now: datetime,
    digest: str,
) -> None:
    """Add what happened."""
    connection.execute(
        _ADD_MATCH,
        {
            "number": number,
            "job_id": job_id,
            "variant": rows.variant,
            "players": rows.players,
            "rated": rated,
            "decisions": rows.decisions,
            "finished": now,
            "result_digest": digest,
        },
    )
    of_match = {"match_number": number}
    connection.execute(
        _ADD_PLACES,
        [of_match | {"version_id": versions[row["position"]]} | row for row in rows.places],
    )
    connection.execute(_ADD_GAMES, [of_match | row for row in rows.games])
    if rows.faults:
        # Nothing more is written down about who was removed while the match was played.
        forgotten = connection.execute(_FORGOTTEN, {"versions": versions}).scalars().all()
        connection.execute(
            _ADD_FAULTS, [of_match | _fault_row(row, versions, forgotten) for row in rows.faults]
        )


def _fault_row(
    row: dict[str, Any], versions: Sequence[int], forgotten: Sequence[int]
) -> dict[str, Any]:
    row = row | {"version_id": versions[row["entrant"]]}
    del row["entrant"]
    if row["version_id"] in forgotten:
        row |= {"text": "", "card": NO_CARD}
    elif forgotten:
        row["card"] = without_names(row["card"])
    return row


def _rate(session: Session, number: int, versions: Sequence[int], rows: MatchRows) -> Beliefs:
    """Move the ratings."""
    scopes = scopes_of(rows.variant, rows.players)
    book = load_book(session, versions, scopes)
    record = Record(number, rows.variant, rows.players, _shares(versions, rows))
    after = book.enter(record)
    moved = [(version, scope) for version in versions for scope in scopes]
    insert_or_update(
        session,
        RATING,
        [rating_row(version, scope, book.standings[version, scope]) for version, scope in moved],
        ("version_id", "variant", "players"),
    )
    session.connection().execute(
        _ADD_STEPS,
        [
            step_row(number, position, version, after[position])
            for position, version in enumerate(versions)
        ],
    )
    add_duels(session, book)
    return {key: book.standings[key].belief for key in moved}


def _shares(versions: Sequence[int], rows: MatchRows) -> tuple[Share, ...]:
    scores = scores_of(
        rows.variant,
        [GameRow(game["rotation"], game["scores"], game["ranks"]) for game in rows.games],
        [FaultRow(fault["rotation"], fault["seat"]) for fault in rows.faults],
    )
    return tuple(
        Share(
            version=version,
            rank=place["rank"],
            twelfths=place["twelfths"],
            faults=place["faults"],
            seats=tuple(place[f"seat{seat}"] for seat in range(rows.players)),
            score=score,
        )
        for version, place, score in zip(versions, rows.places, scores, strict=True)
    )


def load_book(session: Session, versions: Iterable[int], scopes: Sequence[Scope]) -> Book:
    """Return a book that knows these versions, and where those that are new begin."""
    predecessors: dict[int, int | None] = {}
    book = Book(predecessors)
    wanted = set(versions)
    while wanted:
        connection = session.connection()
        asked = {
            "versions": list(wanted),
            "variants": [scope.variant for scope in scopes],
            "players": [scope.players for scope in scopes],
        }
        for rating in connection.execute(_RATINGS, asked):
            scope = Scope(rating.variant, rating.players)
            book.standings[rating.version_id, scope] = standing_of(rating)
        new = [
            version
            for version in wanted
            if any((version, scope) not in book.standings for scope in scopes)
        ]
        found = connection.execute(_PREDECESSORS, {"versions": new}).all() if new else []
        predecessors.update((version, before) for version, before in found)
        wanted = {before for _, before in found if before is not None}
    return book


def standing_of(rating: Row[Any]) -> Standing:
    """Return a stored standing."""
    return Standing(
        belief=Belief(rating.mu, rating.sigma),
        matches=rating.matches,
        firsts=rating.firsts,
        shared=rating.shared,
        games=rating.games,
        twelfths=rating.twelfths,
        faults=rating.faults,
        seats=[rating.seat0, rating.seat1, rating.seat2, rating.seat3],
        seat_games=[rating.matches, rating.matches, rating.seat2_games, rating.seat3_games],
        last_match=rating.last_match,
    )


def rating_row(version: int, scope: Scope, standing: Standing) -> dict[str, Any]:
    """Return a standing as a row."""
    return {
        "version_id": version,
        "variant": scope.variant,
        "players": scope.players,
        "mu": standing.belief.mu,
        "sigma": standing.belief.sigma,
        "matches": standing.matches,
        "firsts": standing.firsts,
        "shared": standing.shared,
        "games": standing.games,
        "twelfths": standing.twelfths,
        "faults": standing.faults,
        **{f"seat{seat}": standing.seats[seat] for seat in range(SEATS)},
        "seat2_games": standing.seat_games[2],
        "seat3_games": standing.seat_games[3],
        "last_match": standing.last_match,
    }


def step_row(number: int, position: int, version: int, after: Sequence[Belief]) -> dict[str, Any]:
    """Return an entrant's ratings after a match, which are in the order of the scopes, as a row."""
    exact, variant, players, overall = after
    return {
        "match_number": number,
        "position": position,
        "version_id": version,
        "mu": exact.mu,
        "sigma": exact.sigma,
        "variant_mu": variant.mu,
        "variant_sigma": variant.sigma,
        "players_mu": players.mu,
        "players_sigma": players.sigma,
        "overall_mu": overall.mu,
        "overall_sigma": overall.sigma,
    }


def add_duels(session: Session, book: Book) -> None:
    """Add the duels of a book to those in the store."""
    insert_or_update(
        session,
        DUEL,
        [
            {
                "one_id": pair.one,
                "other_id": pair.other,
                "variant": pair.variant,
                "players": pair.players,
                "wins": score.wins,
                "draws": score.draws,
                "losses": score.losses,
                "margin": score.margin,
            }
            for pair, score in sorted(book.duels.items())
        ],
        ("one_id", "other_id", "variant", "players"),
        added=("wins", "draws", "losses", "margin"),
    )


def _set_broken_aside(session: Session, faulty: Iterable[int]) -> list[VersionChanged]:
    """Take versions off the ladder that keep losing games by faults."""
    broken = []
    connection = session.connection()
    for id in sorted(set(faulty)):
        for query, rated in ((_RECENT_FAULTS, False), (_RECENT_RATED_FAULTS, True)):
            recent = connection.execute(query, {"version": id}).scalars().all()
            count = sum(faults > 0 for faults in recent)
            if count < TOO_MANY:
                continue
            counts = {"faults": count, "matches": len(recent), "rated": rated}
            if change := set_aside(session, id, VersionCause.FAULTS, **counts):
                broken.append(change)
    return broken
