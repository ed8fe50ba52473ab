"""Bots, versions and ratings, from what is stored."""

from __future__ import annotations

from keltis_ladder.ratings.ranking import Z95, provisional
from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.store.bots.browsing import BotRow, VersionRow
from keltis_ladder.store.bots.version_words import reason_of
from keltis_ladder.store.matches.records import TWELFTHS
from keltis_ladder.store.ratings.leaderboards import seat_shares
from keltis_ladder.store.schema.tables import Rating
from keltis_server.loaders.filling import filled
from keltis_server.models.bots import BotOut, RatingOut, VersionOut


def version_out(row: VersionRow, for_author: bool) -> VersionOut:
    """Return a version; the reason of its state only for its author."""
    version = row.version
    reason = reason_of(version) if for_author else None
    return filled(VersionOut, version, reason=reason, size=row.size, digest=version.archive_digest)


def bot_out(row: BotRow, ranks: dict[tuple[int, Scope], int]) -> BotOut:
    """Return a bot; ``ranks`` are by version and scope."""
    ratings = [
        _rating(rating, ranks.get((rating.version_id, Scope(rating.variant, rating.players))))
        for rating in row.ratings
    ]
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


def _rating(rating: Rating, rank: int | None) -> RatingOut:
    seats = (rating.seat0, rating.seat1, rating.seat2, rating.seat3)
    return filled(
        RatingOut,
        rating,
        low=rating.mu - Z95 * rating.sigma,
        high=rating.mu + Z95 * rating.sigma,
        rank=rank,
        provisional=provisional(rating.sigma, rating.matches),
        wins=rating.twelfths / TWELFTHS,
        seats=seat_shares(rating.matches, seats, rating.seat2_games, rating.seat3_games),
    )
