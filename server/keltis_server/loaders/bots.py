"""Bots, versions and ratings, from what is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from keltis_ladder.ratings.official import Official
from keltis_ladder.ratings.ranking import Z95, provisional
from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.store.bots.browsing import BotRow, VersionRow, ranks_of
from keltis_ladder.store.bots.version_words import reason_text
from keltis_ladder.store.matches.records import TWELFTHS
from keltis_ladder.store.ratings.boards import joint_rank, joint_ratings
from keltis_ladder.store.ratings.leaderboards import seat_shares
from keltis_ladder.store.ratings.lines import Joint
from keltis_ladder.store.schema.tables import Rating
from keltis_ladder.store.schema.version_states import Detail, VersionCause
from keltis_server.loaders.filling import filled
from keltis_server.loaders.leaderboards import joint_out
from keltis_server.models.bots import BotOut, RatingOut, VersionOut


def version_out(row: VersionRow, for_author: bool) -> VersionOut:
    """Return a version; the reason of its state only for its author."""
    version = row.version
    return filled(
        VersionOut,
        version,
        **version_reason(version.cause, version.details, for_author),
        size=row.size,
        digest=version.archive_digest,
    )


def version_reason(cause: str, details: Mapping[str, Detail], for_author: bool) -> dict[str, Any]:
    """Return why a version is in its state, by the names of the fields: only for its author."""
    if not for_author:
        return {"reason": None, "reason_code": None, "reason_details": None}
    return {
        "reason": reason_text(VersionCause(cause), details),
        "reason_code": str(cause),
        "reason_details": dict(details),
    }


@dataclass(frozen=True)
class Places:
    """Where ratings stand, by version and scope."""

    official: Official
    ranks: dict[tuple[int, Scope], int]  # by live TrueSkill
    joint: dict[tuple[int, Scope], Joint]


def load_places(
    session: Session, rows: Sequence[BotRow], official: Official, scope: Scope | None = None
) -> Places:
    """Return where the ratings of these bots stand, in all scopes or in one."""
    ratings = [rating for row in rows for rating in row.ratings]
    versions = {rating.version_id for rating in ratings}
    return Places(official, ranks_of(session, ratings), joint_ratings(session, versions, scope))


def bot_out(row: BotRow, places: Places) -> BotOut:
    """Return a bot with its ratings."""
    ratings = [_rating(rating, places) for rating in row.ratings]
    return filled(
        BotOut,
        row.version,
        name=row.bot.name,
        author=row.author.name,
        house=row.author.house,
        created=row.bot.created,
        version=row.version.number,
        ratings=ratings,
    )


def _rating(rating: Rating, places: Places) -> RatingOut:
    seats = (rating.seat0, rating.seat1, rating.seat2, rating.seat3)
    key = rating.version_id, Scope(rating.variant, rating.players)
    joint = places.joint.get(key)
    if joint is not None and places.official is Official.JOINT:
        rank, uncertain = joint_rank(joint), joint.provisional
    else:
        rank, uncertain = places.ranks.get(key), provisional(rating.sigma, rating.matches)
    return filled(
        RatingOut,
        rating,
        low=rating.mu - Z95 * rating.sigma,
        high=rating.mu + Z95 * rating.sigma,
        rank=rank,
        provisional=uncertain,
        wins=rating.twelfths / TWELFTHS,
        seats=seat_shares(rating.matches, seats, rating.seat2_games, rating.seat3_games),
        joint=joint_out(joint),
    )
