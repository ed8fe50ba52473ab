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
from keltis_ladder.store.schema.scopes import within
from keltis_ladder.store.schema.tables import (
    Archive,
    Author,
    Bot,
    Duel,
    FaultRecord,
    Match,
    Place,
    Rating,
    RatingStep,
    Version,
    table_of,
)
from keltis_ladder.store.schema.version_states import VersionState

_version, _bot, _author = table_of(Version), table_of(Bot), table_of(Author)
_rating, _step, _match = table_of(Rating), table_of(RatingStep), table_of(Match)
_place, _fault, _duel = table_of(Place), table_of(FaultRecord), table_of(Duel)


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
    """Return the names of bots that come next before and after a name, so many of each."""
    before = select(_bot.c.name).where(_bot.c.name < name).order_by(_bot.c.name.desc())
    after = select(_bot.c.name).where(_bot.c.name >= name).order_by(_bot.c.name)
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
    names = select(_bot.c.name).where(_bot.c.author_id == author.id).order_by(_bot.c.name)
    return author, list(session.execute(names).scalars())


def _shown() -> ColumnElement[int]:
    """Return the version that stands for its bot: the one that plays, or else the newest."""
    other = _version.alias("other")
    plays = other.c.state == VersionState.ACTIVE
    return (
        select(other.c.id)
        .where(other.c.bot_id == _bot.c.id)
        .order_by(plays.desc(), other.c.number.desc())
        .limit(1)
        .correlate(_bot)
        .scalar_subquery()
    )


_BOTS: Final = (
    select(Bot, Author, Version)
    .join(Author, col(Author.id) == Bot.author_id)
    .join(Version, col(Version.id) == _shown())
)


_AHEAD: Final = (
    select(_rating.c.version_id, _rating.c.mu, _rating.c.sigma)
    .where(
        _rating.c.variant == bindparam("variant"),
        _rating.c.players == bindparam("players"),
        _rating.c.mu >= bindparam("least"),
        _rating.c.matches >= FEW,
        _rating.c.sigma <= WIDE,
    )
    .order_by(_rating.c.mu.desc(), _rating.c.version_id)
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
    query = select(_version.c.id, _version.c.number).where(_version.c.bot_id == bot_id)
    if number is not None:
        query = query.where(_version.c.number == number)
    return {row.id: row.number for row in session.execute(query)}


def active_versions(session: Session, names: Sequence[str]) -> dict[str, Version]:
    """Return the versions that play of these bots, by name; who does not play is left out."""
    query = (
        select(_bot.c.name, Version)
        .join(_bot, _bot.c.id == Version.bot_id)
        .join(_author, _author.c.id == _bot.c.author_id)
        .where(
            _bot.c.name.in_(names),
            col(Version.state) == VersionState.ACTIVE,
            _author.c.disabled.is_(False),
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
        select(func.min(_step.c.match_number))
        .where(_step.c.version_id == _version.c.id, _step.c.match_number > after)
        .correlate(_version)
        .scalar_subquery()
    )
    query = select(first, _version.c.id).where(_version.c.id.in_(versions))
    return sorted((match, id) for match, id in session.execute(query) if match is not None)


def _steps(version: int, scope: Scope, after: int) -> Select[Any]:
    columns = {
        (False, False): (_step.c.overall_mu, _step.c.overall_sigma),
        (False, True): (_step.c.players_mu, _step.c.players_sigma),
        (True, False): (_step.c.variant_mu, _step.c.variant_sigma),
        (True, True): (_step.c.mu, _step.c.sigma),
    }[scope.variant != ALL, scope.players != ANY]
    return (
        select(_step.c.match_number, _match.c.finished, *columns)
        .join(_match, _match.c.number == _step.c.match_number)
        .where(_step.c.version_id == version, _step.c.match_number > after)
        .where(*within(scope, _match.c))
        .order_by(_step.c.match_number)
    )


def names_of(session: Session, versions: Collection[int]) -> dict[int, tuple[str, int]]:
    """Return the bots of versions, and their numbers."""
    query = (
        select(_version.c.id, _bot.c.name, _version.c.number)
        .join(_bot, _bot.c.id == _version.c.bot_id)
        .where(_version.c.id.in_(versions))
    )
    return {id: (name, number) for id, name, number in session.execute(query)}


def opponents_of(session: Session, version: int, scope: Scope) -> list[tuple[str, int, Encounter]]:
    """Return whom a version has met, and how it did: the most often met first."""
    met: dict[int, Encounter] = {}
    for mine, other, swapped in (
        (_duel.c.one_id, _duel.c.other_id, False),
        (_duel.c.other_id, _duel.c.one_id, True),
    ):
        sums = (func.sum(_duel.c.wins), func.sum(_duel.c.draws), func.sum(_duel.c.losses))
        theirs = (mine == version, *within(scope, _duel.c))
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
            _fault.c.id, _fault.c.match_number, _fault.c.rotation, _fault.c.seat,
            _fault.c.version_id, _fault.c.decision, _fault.c.kind, _fault.c.code,
            _match.c.finished, _fault.c.text,
        )
        .join(_match, _match.c.number == _fault.c.match_number)
        .where(_fault.c.version_id.in_(versions))
        .order_by(_fault.c.id.desc())
        .limit(limit)
    )  # fmt: skip
    if before is not None:
        query = query.where(_fault.c.id < before)
    found = (FaultLine(*row) for row in session.execute(query))
    return [line._replace(version=versions[line.version]) for line in found]


def card_of(session: Session, bot_id: int, fault_id: int) -> bytes | None:
    """Return the crash card of a fault as it is stored, if the fault is this bot's."""
    query = (
        select(_fault.c.card)
        .join(_version, _version.c.id == _fault.c.version_id)
        .where(_fault.c.id == fault_id, _version.c.bot_id == bot_id)
    )
    return session.execute(query).scalar()


def times_of(session: Session, versions: dict[int, int]) -> list[TimeRow]:
    """Return the time that a bot's versions have used, by the kind of matches."""
    kind = (_place.c.version_id, _match.c.variant, _match.c.players)
    query = (
        select(
            *kind,
            func.count(),
            func.sum(_place.c.asked),
            func.sum(_place.c.wall_ms),
            func.sum(_place.c.cpu_ms),
            func.max(_place.c.slowest_ms),
        )
        .join(_match, _match.c.number == _place.c.match_number)
        .where(_place.c.version_id.in_(versions))
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
        query = select(_rating.c.version_id, _rating.c.mu, _rating.c.sigma).where(
            _rating.c.version_id.in_(ids),
            _rating.c.variant == scope.variant,
            _rating.c.players == scope.players,
        )
        for id, mu, sigma in session.execute(query):
            found.setdefault(id, (mu, sigma))
    return found
