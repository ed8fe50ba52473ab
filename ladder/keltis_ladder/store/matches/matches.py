"""Matches that are stored, wait or are being played: found, listed, and read as a whole."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, func, literal_column, or_, select
from sqlmodel import Session

from keltis_ladder.match.orders import Purpose
from keltis_ladder.ratings.scopes import OVERALL
from keltis_ladder.store.schema.relations import (
    AUTHOR,
    BOT,
    FAULT,
    GAME,
    JOB,
    JOB_ENTRANT,
    LEDGER,
    MATCH,
    PLACE,
    RATING,
    RATING_STEP,
    SEED_PART,
    TOURNAMENT,
    VERSION,
)
from keltis_ladder.store.schema.tables import (
    Job,
    JobState,
)

PLAYING: Final = (JobState.LEASED.value,)
WAITING: Final = (JobState.WAITING.value, JobState.HELD.value)
# Spelt out, so that the database sees that its index of them will do.
UNUSUAL: Final[ColumnElement[bool]] = literal_column(f"job.purpose <> '{Purpose.LADDER.value}'")


@dataclass(frozen=True)
class MatchFilter:
    """Which matches somebody asks for; what is not said does not matter."""

    versions: tuple[int, ...] | None = None  # one of them plays
    others: tuple[int, ...] | None = None  # and one of these
    variant: str | None = None
    players: int | None = None
    purpose: str | None = None
    tournament_id: int | None = None


class JobMark(NamedTuple):
    """Where a list of jobs goes on: after this one."""

    created: datetime
    id: str


@dataclass(frozen=True)
class EntrantRow:
    """Who plays in a match, and how they did if it is over."""

    position: int
    version_id: int
    bot: str
    number: int  # of the version
    author: str
    author_id: int
    rank: int | None
    twelfths: int | None
    points: int | None
    faults: int | None
    mu: float | None  # overall, before the match
    sigma: float | None


@dataclass(frozen=True)
class FaultRow:
    """A fault in a game, as far as everybody may know of it."""

    rotation: int
    seat: int
    decision: int
    kind: str
    code: str


@dataclass(frozen=True)
class GameRow:
    """A game without its moves."""

    rotation: int
    ending: str
    scores: list[int]
    ranks: list[int]
    digest: str
    has_moves: bool  # else they were pruned


@dataclass(frozen=True)
class MatchRow:
    """A match: its job, and its result if there is one."""

    job: Job
    number: int | None
    decisions: int | None
    finished: datetime | None
    result_digest: str | None
    secret: str | None  # the server's part of the seed: nobody's business before the match is over
    tournament: str | None  # its name
    entrants: list[EntrantRow] = field(default_factory=list)
    games: list[GameRow] = field(default_factory=list)
    faults: list[FaultRow] = field(default_factory=list)


def job_of_number(session: Session, number: int) -> str | None:
    """Return the id of the job whose result has this number."""
    query = select(MATCH.c.job_id).where(MATCH.c.number == number)
    return session.execute(query).scalar()


def match_row(session: Session, job_id: str) -> MatchRow | None:
    """Return one match."""
    return next(iter(match_rows(session, [job_id])), None)


def match_rows(session: Session, job_ids: Sequence[str]) -> list[MatchRow]:
    """Return matches in the order in which they are asked for; who is unknown is left out."""
    query = (
        select(
            Job, MATCH.c.number, MATCH.c.decisions, MATCH.c.finished, MATCH.c.result_digest,
            SEED_PART.c.secret, TOURNAMENT.c.name,
        )
        .outerjoin(MATCH, MATCH.c.job_id == JOB.c.id)
        # Without a result the secret is not even read.
        .outerjoin(SEED_PART, SEED_PART.c.job_id == MATCH.c.job_id)
        .outerjoin(TOURNAMENT, TOURNAMENT.c.id == JOB.c.tournament_id)
        .where(JOB.c.id.in_(job_ids))
    )  # fmt: skip
    found = {row[0].id: MatchRow(*row) for row in session.execute(query)}
    numbered = {row.number: row for row in found.values() if row.number is not None}
    _add_entrants(session, found)
    _add_games(session, numbered)
    return [found[id] for id in job_ids if id in found]


def _add_entrants(session: Session, found: dict[str, MatchRow]) -> None:
    last = RATING_STEP.alias("last")
    before = (  # the last step that the version took before this match
        select(func.max(last.c.match_number))
        .where(last.c.version_id == JOB_ENTRANT.c.version_id, last.c.match_number < MATCH.c.number)
        .correlate(JOB_ENTRANT, MATCH)
        .scalar_subquery()
    )
    query = (
        select(
            JOB_ENTRANT.c.job_id, JOB_ENTRANT.c.position, JOB_ENTRANT.c.version_id,
            BOT.c.name, VERSION.c.number, AUTHOR.c.name, AUTHOR.c.id,
            PLACE.c.rank, PLACE.c.twelfths, PLACE.c.points, PLACE.c.faults,
            RATING_STEP.c.overall_mu, RATING_STEP.c.overall_sigma, RATING.c.mu, RATING.c.sigma,
        )
        .join(VERSION, VERSION.c.id == JOB_ENTRANT.c.version_id)
        .join(BOT, BOT.c.id == VERSION.c.bot_id)
        .join(AUTHOR, AUTHOR.c.id == BOT.c.author_id)
        .outerjoin(MATCH, MATCH.c.job_id == JOB_ENTRANT.c.job_id)
        .outerjoin(
            PLACE,
            and_(
                PLACE.c.match_number == MATCH.c.number,
                PLACE.c.position == JOB_ENTRANT.c.position,
            ),
        )
        .outerjoin(
            RATING_STEP,
            and_(
                RATING_STEP.c.version_id == JOB_ENTRANT.c.version_id,
                RATING_STEP.c.match_number == before,
            ),
        )
        .outerjoin(
            RATING,
            and_(
                RATING.c.version_id == JOB_ENTRANT.c.version_id,
                RATING.c.variant == OVERALL.variant,
                RATING.c.players == OVERALL.players,
            ),
        )
        .where(JOB_ENTRANT.c.job_id.in_(found))
        .order_by(JOB_ENTRANT.c.job_id, JOB_ENTRANT.c.position)
    )  # fmt: skip
    pruned = session.execute(select(LEDGER.c.steps_pruned)).scalar() or 0
    for job_id, *who, step_mu, step_sigma, mu, sigma in session.execute(query):
        row = found[job_id]
        # What a match that is over was expected to bring does not change with later ones. Where
        # steps were pruned, the last one before it may be gone, and nobody knows.
        rated: tuple[float | None, float | None] = (step_mu, step_sigma)
        if row.number is None:
            rated = (mu, sigma)
        elif row.number <= pruned:
            rated = (None, None)
        row.entrants.append(EntrantRow(*(*who, *rated)))


def _add_games(session: Session, numbered: dict[int, MatchRow]) -> None:
    columns = GAME.c
    games = (
        select(
            columns.match_number, columns.rotation, columns.ending, columns.scores,
            columns.ranks, columns.digest, func.length(columns.moves) > 0,
        )
        .where(columns.match_number.in_(numbered))
        .order_by(columns.match_number, columns.rotation)
    )  # fmt: skip
    for number, *game in session.execute(games):
        numbered[number].games.append(GameRow(*game))
    fault = FAULT.c
    faults = (
        select(
            fault.match_number, fault.rotation, fault.seat, fault.decision, fault.kind, fault.code
        )
        .where(fault.match_number.in_(numbered))
        .order_by(fault.id)
    )
    for number, *what in session.execute(faults):
        numbered[number].faults.append(FaultRow(*what))


def finished_jobs(
    session: Session, wanted: MatchFilter, before: int | None, limit: int
) -> list[tuple[int, str]]:
    """Return the latest results before one of them: their numbers and jobs, the newest first."""
    if wanted.versions is None:
        rows = session.execute(_finished(wanted, before).limit(limit))
        return [(number, id) for number, id in rows]
    # Version by version: each is read from its index, and no further than it is needed.
    of_each = [
        session.execute(_finished_of(wanted, version, before).limit(limit)).all()
        for version in wanted.versions
    ]
    together = dict.fromkeys(merge(*of_each, key=lambda row: -row[0]))
    return [(number, id) for number, id in islice(together, limit)]


def _finished(wanted: MatchFilter, before: int | None) -> Select[Any]:
    rare = wanted.purpose not in (None, Purpose.LADDER) or wanted.tournament_id is not None
    query = select(MATCH.c.number, MATCH.c.job_id).where(*_result_conditions(wanted, before))
    if rare or wanted.purpose is not None:
        query = query.join(JOB, JOB.c.id == MATCH.c.job_id).where(*_job_conditions(wanted))
    # Rare ones are found by their jobs: an order that no index has makes the database see that.
    return query.order_by((MATCH.c.number + 0).desc() if rare else MATCH.c.number.desc())


def _finished_of(wanted: MatchFilter, version: int, before: int | None) -> Select[Any]:
    query = (
        select(PLACE.c.match_number, MATCH.c.job_id)
        .join(MATCH, MATCH.c.number == PLACE.c.match_number)
        .where(PLACE.c.version_id == version, *_result_conditions(wanted, None))
        .order_by(PLACE.c.match_number.desc())
    )
    if before is not None:
        query = query.where(PLACE.c.match_number < before)
    if wanted.others is not None:
        query = query.where(_placed(wanted.others))
    if wanted.purpose is not None or wanted.tournament_id is not None:
        query = query.join(JOB, JOB.c.id == MATCH.c.job_id).where(*_job_conditions(wanted))
    return query


def _placed(versions: Collection[int]) -> ColumnElement[bool]:
    """Return whether one of these versions has a place in the match, too."""
    too = PLACE.alias("too")
    here = too.c.match_number == PLACE.c.match_number
    return select(1).where(here, too.c.version_id.in_(versions)).correlate(PLACE).exists()


def _result_conditions(wanted: MatchFilter, before: int | None) -> Iterable[ColumnElement[bool]]:
    if before is not None:
        yield MATCH.c.number < before
    if wanted.variant is not None:
        yield MATCH.c.variant == wanted.variant
    if wanted.players is not None:
        yield MATCH.c.players == wanted.players


def _job_conditions(wanted: MatchFilter) -> Iterable[ColumnElement[bool]]:
    if wanted.purpose is not None:
        yield JOB.c.purpose == wanted.purpose
        if wanted.purpose != Purpose.LADDER:
            yield UNUSUAL
    if wanted.tournament_id is not None:
        yield JOB.c.tournament_id == wanted.tournament_id


def unfinished_jobs(
    session: Session,
    wanted: MatchFilter,
    states: Sequence[str],
    after: JobMark | None,
    limit: int,
    unbegun: Collection[str] = (),
) -> list[JobMark]:
    """Return jobs in some states, the newest first.

    Those that are ``unbegun`` wait, though somebody has leased them.
    """
    # State by state: among all jobs those that are not done are few, and an index has them.
    queries = [_in_state(wanted, state, after) for state in states]
    if JobState.LEASED in states:
        queries = [query.where(JOB.c.id.not_in(unbegun)) for query in queries]
    elif unbegun:
        leased = _in_state(wanted, JobState.LEASED, after)
        queries.append(leased.where(JOB.c.id.in_(unbegun)))
    of_each = [
        [JobMark(created, id) for created, id in session.execute(query.limit(limit))]
        for query in queries
    ]
    return list(islice(merge(*of_each, reverse=True), limit))


def _in_state(wanted: MatchFilter, state: str, after: JobMark | None) -> Select[Any]:
    query = (
        select(JOB.c.created, JOB.c.id)
        .where(JOB.c.state == state, *_job_conditions(wanted))
        .order_by(JOB.c.created.desc(), JOB.c.id.desc())
    )
    if wanted.variant is not None:
        query = query.where(JOB.c.variant == wanted.variant)
    if wanted.players is not None:
        query = query.where(JOB.c.players == wanted.players)
    for versions in (wanted.versions, wanted.others):
        if versions is not None:
            plays = JOB_ENTRANT.c.version_id.in_(versions)
            query = query.where(
                select(1).where(JOB_ENTRANT.c.job_id == JOB.c.id, plays).correlate(JOB).exists()
            )
    if after is not None:
        query = query.where(
            or_(
                JOB.c.created < after.created,
                and_(JOB.c.created == after.created, JOB.c.id < after.id),
            )
        )
    return query


def challenges_under_way(session: Session, author_id: int) -> int:
    """Return how many challenges of an author wait or are being played."""
    query = (
        select(func.count())
        .select_from(JOB)
        .where(
            JOB.c.purpose == Purpose.CHALLENGE,
            UNUSUAL,
            JOB.c.author_id == author_id,
            JOB.c.state.in_((*PLAYING, *WAITING)),
        )
    )
    return session.execute(query).scalar() or 0
