"""Leaderboards and head-to-head tables, as they are stored at this moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Select, bindparam, func, select
from sqlmodel import Session

from keltis_ladder.ratings.ranking import provisional, rank_groups
from keltis_ladder.ratings.scopes import OVERALL, Scope
from keltis_ladder.store.matches.records import TWELFTHS
from keltis_ladder.store.ratings.joint.reading import publications
from keltis_ladder.store.ratings.lines import ON_LADDER, Line
from keltis_ladder.store.schema.relations import AUTHOR, BOT, DUEL, LEDGER, MATCH, RATING, VERSION
from keltis_ladder.store.schema.scopes import within


def _query() -> Select[Any]:
    rating, version, bot = RATING.c, VERSION.c, BOT.c
    author, match = AUTHOR.c, MATCH.c
    return (
        select(
            rating.version_id, bot.name, version.number, author.name, version.state,
            rating.mu, rating.sigma, rating.matches, rating.firsts, rating.shared, rating.games,
            rating.twelfths, rating.faults,
            rating.seat0, rating.seat1, rating.seat2, rating.seat3,
            rating.seat2_games, rating.seat3_games,
            rating.last_match, match.finished, author.disabled,
        )
        .join(VERSION, version.id == rating.version_id)
        .join(BOT, bot.id == version.bot_id)
        .join(AUTHOR, author.id == bot.author_id)
        .join(MATCH, match.number == rating.last_match)
        .where(rating.variant == bindparam("variant"), rating.players == bindparam("players"))
        .order_by(rating.mu.desc(), rating.version_id)
    )  # fmt: skip


_EVERYBODY: Final = _query()
# No index helps with a state that is written like this: SQLite begins with the ratings, in order.
_ACTIVE: Final = _query().where(VERSION.c.state.concat("") == ON_LADDER)


@dataclass(frozen=True)
class Encounter:
    """How often one version was ahead of another."""

    wins: int
    draws: int
    losses: int

    @property
    def matches(self) -> int:
        """How often they met."""
        return self.wins + self.draws + self.losses


def leaderboard(session: Session, scope: Scope = OVERALL, everybody: bool = False) -> list[Line]:
    """Return the versions on the ladder, the best first; with ``everybody`` those of the past too.

    Ranks are given to those that are rated well enough. The others stand where their rating is,
    without a rank; those of the past follow at the end. Bots of an author who is shut out are on
    no leaderboard.
    """
    query = _EVERYBODY if everybody else _ACTIVE
    asked = {"variant": scope.variant, "players": scope.players}
    found = session.connection().execute(query, asked)
    rows = [row for row in found if not row[-1]]  # not in SQL: SQLite would begin with the authors
    active = [row for row in rows if row[4] == ON_LADDER]
    sure = [row for row in active if not provisional(row[6], row[7])]
    ranks = rank_groups([row[5] for row in sure], [row[6] for row in sure])
    rank_of = {row[0]: rank for row, rank in zip(sure, ranks, strict=True)}
    sizes = Counter(ranks)
    if len(active) < len(rows):
        active += [row for row in rows if row[4] != ON_LADDER]
    lines = []
    for row in active:
        rank = rank_of.get(row[0])
        lines.append(_line(row, rank, sizes[rank] if rank else 1))
    return lines


def signature(session: Session) -> tuple[int, ...]:
    """Return numbers that differ if leaderboards do: quick to read, and good enough to notice.

    They are how much is stored, the models of the ratings, who is on the ladder, and how often
    joint ratings were published.
    """
    ledger, version = LEDGER.c, VERSION.c
    bot, author = BOT.c, AUTHOR.c
    stored = session.execute(
        select(ledger.matches, ledger.rating_model, ledger.joint_model)
    ).first()
    on_ladder = session.execute(
        select(func.count(), func.sum(version.id))
        .join(BOT, bot.id == version.bot_id)
        .join(AUTHOR, author.id == bot.author_id)
        .where(version.state == ON_LADDER, author.disabled.is_(False))
    ).one()
    numbers = (*(stored or ()), *on_ladder, publications(session))
    return tuple(int(number or 0) for number in numbers)


def _line(row: Sequence[Any], rank: int | None, tied: int) -> Line:
    (
        version, bot, number, author, state, mu, sigma,
        matches, firsts, shared, games, twelfths, faults,
        seat0, seat1, seat2, seat3, seat2_games, seat3_games, last_match, finished, _,
    ) = row  # fmt: skip
    return Line(
        version,
        bot,
        number,
        author,
        state,
        mu,
        sigma,
        matches,
        firsts,
        shared,
        games,
        twelfths / TWELFTHS,
        faults,
        seat_shares(matches, (seat0, seat1, seat2, seat3), seat2_games, seat3_games),
        last_match,
        finished,
        provisional(sigma, matches),
        rank,
        tied,
    )


def seat_shares(
    matches: int, twelfths: tuple[int, int, int, int], seat2_games: int, seat3_games: int
) -> tuple[float | None, ...]:
    """Return the share of the games won from each seat; of the first two all matches have games."""
    seat0, seat1, seat2, seat3 = twelfths
    games = TWELFTHS * matches
    return (
        seat0 / games,
        seat1 / games,
        seat2 / (TWELFTHS * seat2_games) if seat2_games else None,
        seat3 / (TWELFTHS * seat3_games) if seat3_games else None,
    )


def head_to_head(
    session: Session, versions: Sequence[int], scope: Scope = OVERALL
) -> dict[tuple[int, int], Encounter]:
    """Return how these versions did against each other; who never met is not in it."""
    duel = DUEL.c
    query = (
        select(
            duel.one_id,
            duel.other_id,
            func.sum(duel.wins),
            func.sum(duel.draws),
            func.sum(duel.losses),
        )
        .where(duel.one_id.in_(versions), duel.other_id.in_(versions), *within(scope, duel))
        .group_by(duel.one_id, duel.other_id)
    )
    found = {}
    for one, other, wins, draws, losses in session.execute(query):
        # PostgreSQL's sums are decimal numbers.
        found[one, other] = Encounter(int(wins), int(draws), int(losses))
        found[other, one] = Encounter(int(losses), int(draws), int(wins))
    return found
