"""What people look up: bots, versions, authors, rating histories, opponents, faults and times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, func, select
from sqlmodel import Session, col

from keltis_ladder.ratings.ranking import FEW, WIDE, rank_groups
from keltis_ladder.ratings.scopes import ALL, ANY, OVERALL, Scope
from keltis_ladder.store.ratings.leaderboards import Encounter
from keltis_ladder.store.ratings.memory import active_ids
from keltis_ladder.store.schema.relations import (
    AUTHOR,
    BOT,
    DUEL,
    FAULT,
    MATCH,
    PLACE,
    RATING,
    RATING_STEP,
    VERSION,
)
from keltis_ladder.store.schema.scopes import within
from keltis_ladder.store.schema.tables import (
    Archive,
    Author,
    Bot,
    Rating,
    Version,
)
from keltis_ladder.store.schema.version_states import VersionState


@dataclass(frozen=True)
class BotRow:
    """A bot, and its version that plays, or its newest."""

    bot: Bot
    author: Author
    version: Version
    ratings: list[Rating] = field(default_factory=list)


class VersionRow(NamedTuple):
    """A version with what is known of its archive."""

    version: Version
    size: int | None


class StepRow(NamedTuple):
    """A rating after a match."""

    match: int
    version: int  # its number
    at: datetime
    mu: float
    sigma: float


class FaultLine(NamedTuple):
    """A fault with the version whose it was, and when the match ended."""

    id: int
    match: int
    rotation: int
    seat: int
    version: int  # its number
    decision: int
    kind: str
    code: str
    at: datetime
    text: str


class TimeRow(NamedTuple):
    """The time that a version used in the matches of one kind."""

    version: int  # its number
    variant: str
    players: int
    matches: int
    asked: int
    wall_ms: float
    cpu_ms: float
    slowest_ms: float


def find_bot(session: Session, name: str) -> Bot | None:
    """Return the bot of this name."""
    return session.execute(select(Bot).where(col(Bot.name) == name)).scalar()


def names_beside(session: Session, name: str, count: int) -> list[str]:
    """Return the names of bots that come next before and after a name, up to a number of each."""
    before = select(BOT.c.name).where(BOT.c.name < name).order_by(BOT.c.name.desc())
    after = select(BOT.c.name).where(BOT.c.name >= name).order_by(BOT.c.name)
    return [
        found
        for query in (before, after)
        for found in session.execute(query.limit(count)).scalars()
    ]


def versions_that_play(session: Session) -> list[Version]:
    """Return the versions that are on the ladder."""
    query = select(Version).where(col(Version.state) == VersionState.ACTIVE)
    return list(session.execute(query.order_by(col(Version.id))).scalars())


def find_author(session: Session, name: str) -> tuple[Author, list[str]] | None:
    """Return an author and the names of their bots."""
    author = session.execute(select(Author).where(col(Author.name) == name)).scalar()
    if author is None:
        return None
    names = select(BOT.c.name).where(BOT.c.author_id == author.id).order_by(BOT.c.name)
    return author, list(session.execute(names).scalars())


def _shown() -> ColumnElement[int]:
    """Return the version that stands for its bot: the one that plays, or else the newest."""
    other = VERSION.alias("other")
    plays = other.c.state == VersionState.ACTIVE
    return (
        select(other.c.id)
        .where(other.c.bot_id == BOT.c.id)
        .order_by(plays.desc(), other.c.number.desc())
        .limit(1)
        .correlate(BOT)
        .scalar_subquery()
    )


_BOTS: Final = (
    select(Bot, Author, Version)
    .join(Author, col(Author.id) == Bot.author_id)
    .join(Version, col(Version.id) == _shown())
)


_AHEAD: Final = (
    select(RATING.c.version_id, RATING.c.mu, RATING.c.sigma)
    .where(
        RATING.c.variant == bindparam("variant"),
        RATING.c.players == bindparam("players"),
        RATING.c.mu >= bindparam("least"),
        RATING.c.matches >= FEW,
        RATING.c.sigma <= WIDE,
    )
    .order_by(RATING.c.mu.desc(), RATING.c.version_id)
)


def bot_row(session: Session, name: str) -> BotRow | None:
    """Return a bot with all ratings of its version, the overall one first."""
    found = session.execute(_BOTS.where(col(Bot.name) == name)).first()
    if found is None:
        return None
    row = BotRow(*found)
    ratings = select(Rating).where(col(Rating.version_id) == row.version.id)
    row.ratings.extend(session.execute(ratings).scalars())
    row.ratings.sort(key=lambda each: (each.variant != ALL, each.variant, each.players))
    return row


def bot_rows(
    session: Session,
    after: str,
    limit: int,
    author: str | None = None,
    state: str | None = None,
    prefix: str | None = None,
) -> list[BotRow]:
    """Return bots by name, with their overall ratings."""
    query = _BOTS.where(col(Bot.name) > after).order_by(col(Bot.name)).limit(limit)
    if author is not None:
        query = query.where(col(Author.name) == author)
    if state is not None:
        query = query.where(col(Version.state) == state)
    if prefix is not None:
        query = query.where(col(Bot.name).startswith(prefix, autoescape=True))
    rows = {row[2].id: BotRow(*row) for row in session.execute(query)}
    overall = select(Rating).where(
        col(Rating.version_id).in_(rows),
        col(Rating.variant) == OVERALL.variant,
        col(Rating.players) == OVERALL.players,
    )
    for rating in session.execute(overall).scalars():
        rows[rating.version_id].ratings.append(rating)
    return list(rows.values())


def ranks_of(session: Session, ratings: Iterable[Rating]) -> dict[tuple[int, Scope], int]:
    """Return the ranks that leaderboards give these ratings, by version and scope.

    A rank depends only on those who are ahead, and only they are read.
    """
    by_scope: defaultdict[Scope, list[Rating]] = defaultdict(list)
    for rating in ratings:
        by_scope[Scope(rating.variant, rating.players)].append(rating)
    on_ladder = set(active_ids(session)) if by_scope else set()
    found: dict[tuple[int, Scope], int] = {}
    for scope, wanted in by_scope.items():
        least = min(rating.mu for rating in wanted)
        asked = {"variant": scope.variant, "players": scope.players, "least": least}
        ahead = session.connection().execute(_AHEAD, asked)
        rows = [row for row in ahead if row[0] in on_ladder]
        ranks = rank_groups([row[1] for row in rows], [row[2] for row in rows])
        rank_of = {row[0]: rank for row, rank in zip(rows, ranks, strict=True)}
        for rating in wanted:
            if rating.version_id in rank_of:
                found[rating.version_id, scope] = rank_of[rating.version_id]
    return found


def version_rows(session: Session, bot_id: int, before: int | None, limit: int) -> list[VersionRow]:
    """Return the versions of a bot, the newest first, or from below a number on."""
    query = _VERSIONS.where(col(Version.bot_id) == bot_id).limit(limit)
    if before is not None:
        query = query.where(col(Version.number) < before)
    return [VersionRow(version, size) for version, size in session.execute(query)]


def version_row(session: Session, bot_id: int, number: int) -> VersionRow | None:
    """Return the version of a bot with a number."""
    query = _VERSIONS.where(col(Version.bot_id) == bot_id, col(Version.number) == number)
    found = session.execute(query).first()
    return None if found is None else VersionRow(*found)


_VERSIONS: Final = (
    select(Version, col(Archive.size))
    .outerjoin(Archive, col(Archive.digest) == Version.archive_digest)
    .order_by(col(Version.number).desc())
)


def version_ids(session: Session, bot_id: int, number: int | None = None) -> dict[int, int]:
    """Return the numbers of a bot's versions by their ids."""
    query = select(VERSION.c.id, VERSION.c.number).where(VERSION.c.bot_id == bot_id)
    if number is not None:
        query = query.where(VERSION.c.number == number)
    return {row.id: row.number for row in session.execute(query)}


def active_versions(session: Session, names: Sequence[str]) -> dict[str, Version]:
    """Return the versions that play of these bots, by name; who does not play is left out."""
    query = (
        select(BOT.c.name, Version)
        .join(BOT, BOT.c.id == Version.bot_id)
        .join(AUTHOR, AUTHOR.c.id == BOT.c.author_id)
        .where(
            BOT.c.name.in_(names),
            col(Version.state) == VersionState.ACTIVE,
            AUTHOR.c.disabled.is_(False),
        )
    )
    return {row[0]: row[1] for row in session.execute(query)}


def steps_of(
    session: Session, versions: dict[int, int], scope: Scope, after: int, limit: int
) -> list[StepRow]:
    """Return how ratings of a bot's versions went in a scope, from a match on, oldest first."""
    # Each version is read from its index, and no further than it is needed. One that began later
    # than all steps that are wanted is not read at all: mostly there is one version at a time.
    found: list[StepRow] = []
    for first, id in _beginnings(session, versions, after):
        if len(found) == limit and first > found[-1].match:
            break
        own = (
            StepRow(match, versions[id], at, mu, sigma)
            for match, at, mu, sigma in session.execute(_steps(id, scope, after).limit(limit))
        )
        found = list(islice(merge(found, own), limit))
    return found


def _beginnings(session: Session, versions: Collection[int], after: int) -> list[tuple[int, int]]:
    """Return the first matches after one of the versions that have any, the earliest first."""
    first = (
        select(func.min(RATING_STEP.c.match_number))
        .where(RATING_STEP.c.version_id == VERSION.c.id, RATING_STEP.c.match_number > after)
        .correlate(VERSION)
        .scalar_subquery()
    )
    query = select(first, VERSION.c.id).where(VERSION.c.id.in_(versions))
    return sorted((match, id) for match, id in session.execute(query) if match is not None)


def _steps(version: int, scope: Scope, after: int) -> Select[Any]:
    columns = {
        (False, False): (RATING_STEP.c.overall_mu, RATING_STEP.c.overall_sigma),
        (False, True): (RATING_STEP.c.players_mu, RATING_STEP.c.players_sigma),
        (True, False): (RATING_STEP.c.variant_mu, RATING_STEP.c.variant_sigma),
        (True, True): (RATING_STEP.c.mu, RATING_STEP.c.sigma),
    }[scope.variant != ALL, scope.players != ANY]
    return (
        select(RATING_STEP.c.match_number, MATCH.c.finished, *columns)
        .join(MATCH, MATCH.c.number == RATING_STEP.c.match_number)
        .where(RATING_STEP.c.version_id == version, RATING_STEP.c.match_number > after)
        .where(*within(scope, MATCH.c))
        .order_by(RATING_STEP.c.match_number)
    )


def names_of(session: Session, versions: Collection[int]) -> dict[int, tuple[str, int]]:
    """Return the bots of versions, and their numbers."""
    query = (
        select(VERSION.c.id, BOT.c.name, VERSION.c.number)
        .join(BOT, BOT.c.id == VERSION.c.bot_id)
        .where(VERSION.c.id.in_(versions))
    )
    return {id: (name, number) for id, name, number in session.execute(query)}


def opponents_of(session: Session, version: int, scope: Scope) -> list[tuple[str, int, Encounter]]:
    """Return whom a version has met, and how it did: the most often met first."""
    met: dict[int, Encounter] = {}
    for mine, other, swapped in (
        (DUEL.c.one_id, DUEL.c.other_id, False),
        (DUEL.c.other_id, DUEL.c.one_id, True),
    ):
        sums = (func.sum(DUEL.c.wins), func.sum(DUEL.c.draws), func.sum(DUEL.c.losses))
        theirs = (mine == version, *within(scope, DUEL.c))
        query = select(other, *sums).where(*theirs).group_by(other)
        for id, wins, draws, losses in session.execute(query):
            # PostgreSQL's sums are decimal numbers.
            found = Encounter(int(wins), int(draws), int(losses))
            if swapped:
                found = Encounter(found.losses, found.draws, found.wins)
            met[id] = found
    lines = [(*named, met[id]) for id, named in names_of(session, met).items()]
    return sorted(lines, key=lambda line: (-line[2].matches, line[0], line[1]))


def faults_of(
    session: Session, versions: dict[int, int], before: int | None, limit: int
) -> list[FaultLine]:
    """Return the faults of a bot's versions, the newest first."""
    query = (
        select(
            FAULT.c.id, FAULT.c.match_number, FAULT.c.rotation, FAULT.c.seat,
            FAULT.c.version_id, FAULT.c.decision, FAULT.c.kind, FAULT.c.code,
            MATCH.c.finished, FAULT.c.text,
        )
        .join(MATCH, MATCH.c.number == FAULT.c.match_number)
        .where(FAULT.c.version_id.in_(versions))
        .order_by(FAULT.c.id.desc())
        .limit(limit)
    )  # fmt: skip
    if before is not None:
        query = query.where(FAULT.c.id < before)
    found = (FaultLine(*row) for row in session.execute(query))
    return [line._replace(version=versions[line.version]) for line in found]


def card_of(session: Session, bot_id: int, fault_id: int) -> bytes | None:
    """Return the crash card of a fault as it is stored, if the fault is this bot's."""
    query = (
        select(FAULT.c.card)
        .join(VERSION, VERSION.c.id == FAULT.c.version_id)
        .where(FAULT.c.id == fault_id, VERSION.c.bot_id == bot_id)
    )
    return session.execute(query).scalar()


def times_of(session: Session, versions: dict[int, int]) -> list[TimeRow]:
    """Return the time that a bot's versions have used, by the kind of matches."""
    kind = (PLACE.c.version_id, MATCH.c.variant, MATCH.c.players)
    query = (
        select(
            *kind,
            func.count(),
            func.sum(PLACE.c.asked),
            func.sum(PLACE.c.wall_ms),
            func.sum(PLACE.c.cpu_ms),
            func.max(PLACE.c.slowest_ms),
        )
        .join(MATCH, MATCH.c.number == PLACE.c.match_number)
        .where(PLACE.c.version_id.in_(versions))
        .group_by(*kind)
    )
    rows = [
        TimeRow(versions[id], variant, players, matches, int(asked), wall, cpu, slowest)
        for id, variant, players, matches, asked, wall, cpu, slowest in session.execute(query)
    ]
    return sorted(rows, key=lambda row: (-row.version, row.variant, row.players))


def best_rated(
    session: Session, scopes: Sequence[Scope], versions: Iterable[int]
) -> dict[int, tuple[float, float]]:
    """Return the ratings of versions in the first of these scopes that they have played in."""
    ids = list(versions)
    found: dict[int, tuple[float, float]] = {}
    for scope in scopes:
        query = select(RATING.c.version_id, RATING.c.mu, RATING.c.sigma).where(
            RATING.c.version_id.in_(ids),
            RATING.c.variant == scope.variant,
            RATING.c.players == scope.players,
        )
        for id, mu, sigma in session.execute(query):
            found.setdefault(id, (mu, sigma))
    return found
