"""What the matchmaker has to know: who is on the ladder, and who played what, when, with whom."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import func, select
from sqlmodel import Session

from keltis_engine import VARIANTS
from keltis_ladder.ratings.scopes import ALL, ANY, OVERALL, Scope
from keltis_ladder.ratings.skill import Belief
from keltis_ladder.store.matches.finishing import load_book
from keltis_ladder.store.schema.relations import AUTHOR, BOT, LEDGER, MATCH, PLACE, RATING, VERSION
from keltis_ladder.store.schema.version_states import VersionState

RECENT: Final = 2_000  # matches whose tables are remembered

# What is believed of a version that has not played follows from its predecessors.
_STARTING: Final = (OVERALL, *(Scope(variant, ANY) for variant in VARIANTS))


@dataclass
class Remembered:
    """An active version as the store knows it."""

    version: int
    bot: int
    author: int
    house: bool
    name: str
    variants: tuple[str, ...]
    players: tuple[int, ...]
    beliefs: dict[Scope, Belief] = field(default_factory=dict)
    played: dict[tuple[str, int], int] = field(default_factory=dict)  # by variant and players
    last: int = 0  # the number of its last match
    table: tuple[int, ...] = ()  # who played it
    met: dict[int, int] = field(default_factory=dict)  # opponents: the number of their last match


def active_ids(session: Session) -> list[int]:
    """Return the versions that play, in the order of their arrival."""
    version, bot, author = VERSION.c, BOT.c, AUTHOR.c
    query = (
        select(version.id)
        .join(BOT, bot.id == version.bot_id)
        .join(AUTHOR, author.id == bot.author_id)
        .where(version.state == VersionState.ACTIVE, author.disabled.is_(False))
        .order_by(version.id)
    )
    return list(session.execute(query).scalars())


def remember(session: Session, ids: Collection[int]) -> list[Remembered]:
    """Return what is known of these versions, in the order of their arrival."""
    version, bot, author = VERSION.c, BOT.c, AUTHOR.c
    query = (
        select(
            version.id, bot.id, author.id, author.house, bot.name, version.variants, version.players
        )
        .join(BOT, bot.id == version.bot_id)
        .join(AUTHOR, author.id == bot.author_id)
        .where(version.id.in_(ids))
        .order_by(version.id)
    )
    found = {
        id: Remembered(id, bot_id, author_id, house, name, tuple(variants), tuple(players))
        for id, bot_id, author_id, house, name, variants, players in session.execute(query)
    }
    _add_ratings(session, found)
    _add_tables(session, found)
    for remembered in found.values():
        if not remembered.played:
            book = load_book(session, [remembered.version], _STARTING)
            remembered.beliefs = {
                scope: book.standing(remembered.version, scope).belief for scope in _STARTING
            }
    return list(found.values())


def _add_ratings(session: Session, found: dict[int, Remembered]) -> None:
    rating = RATING.c
    query = select(
        rating.version_id, rating.variant, rating.players,
        rating.mu, rating.sigma, rating.matches, rating.last_match,
    ).where(rating.version_id.in_(found))  # fmt: skip
    for id, variant, players, mu, sigma, matches, last_match in session.execute(query):
        remembered = found[id]
        remembered.beliefs[Scope(variant, players)] = Belief(mu, sigma)
        remembered.last = max(remembered.last, last_match)
        if variant != ALL and players != ANY:
            remembered.played[variant, players] = matches


def _add_tables(session: Session, found: dict[int, Remembered]) -> None:
    """Add with whom they sat in the latest matches."""
    match, place = MATCH.c, PLACE.c
    query = (
        select(match.number, place.version_id)
        .join(PLACE, place.match_number == match.number)
        .where(match.rated, match.number > matches_stored(session) - RECENT)
        .order_by(match.number)
    )
    tables: dict[int, list[int]] = {}
    for number, version in session.execute(query):
        tables.setdefault(number, []).append(version)
    for number, versions in tables.items():
        for version in versions:
            remembered = found.get(version)
            if remembered is not None:
                remembered.table = tuple(versions)
                remembered.met.update((other, number) for other in versions if other != version)


def matches_stored(session: Session) -> int:
    """Return how many matches are stored."""
    return session.execute(select(func.max(LEDGER.c.matches))).scalar() or 0
