"""The joint fit of what is stored: from duels to the figures of a scope, always from scratch.

What comes out depends on three things alone: the duels, who is in the field, and the model. So a
publication can be worked out again to the last bit, wherever and in whatever order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import select
from sqlmodel import Session

from keltis_ladder.ratings.book import Pair as DuelPair
from keltis_ladder.ratings.book import Score
from keltis_ladder.ratings.joint.fit import Fit, Member
from keltis_ladder.ratings.joint.kinds import KINDS, VARIANTS, MatchKind, kind_number, scope_weights
from keltis_ladder.ratings.joint.kinds import PLAYERS as NUMBERS_OF_PLAYERS
from keltis_ladder.ratings.joint.standings import Standing, standing
from keltis_ladder.ratings.joint.statistics import Meetings, Pair, Statistics
from keltis_ladder.ratings.scopes import ALL, ANY, OVERALL, Scope
from keltis_ladder.store.ratings.memory import active_ids, matches_stored
from keltis_ladder.store.schema.relations import DUEL, VERSION

# All that are published: what most people look at comes first.
SCOPES: Final = (
    OVERALL,
    *(Scope(variant, ANY) for variant in VARIANTS),
    *(Scope(ALL, players) for players in NUMBERS_OF_PLAYERS),
    *(Scope(*kind) for kind in KINDS),
)


class Known(NamedTuple):
    """A version, as far as the fit is concerned. It never changes."""

    predecessor: int | None
    kinds: frozenset[int]


@dataclass(frozen=True)
class Ground:
    """All that a fit rests on, of one moment."""

    as_of: int  # the last match that is in the statistics
    statistics: Statistics
    versions: Mapping[int, Known]  # all
    field: frozenset[int]  # those that others are measured by

    def fit(self) -> Fit:
        """Fit it from scratch."""
        played = {version for pair in self.statistics.pairs for version in (pair.low, pair.high)}
        members = _members(self.versions, played, self.field)
        return Fit.from_scratch(members, self.statistics)


def read_ground(session: Session) -> Ground:
    """Return what is stored at this moment."""
    return Ground(
        matches_stored(session),
        read_statistics(session),
        known_versions(session),
        frozenset(active_ids(session)),
    )


def known_versions(session: Session) -> dict[int, Known]:
    """Return all versions that there have ever been."""
    query = select(VERSION.c.id, VERSION.c.predecessor_id, VERSION.c.variants, VERSION.c.players)
    return {
        id: Known(before, _kinds(variants, players))
        for id, before, variants, players in session.execute(query)
    }


def _kinds(variants: Iterable[str], players: Iterable[int]) -> frozenset[int]:
    claimed = {MatchKind(variant, number) for variant in variants for number in players}
    return frozenset(number for number, kind in enumerate(KINDS) if kind in claimed)


def read_statistics(session: Session) -> Statistics:
    """Return the statistics that the stored duels make."""
    rows = session.execute(select(DUEL))
    return statistics_of(
        (
            DuelPair(row.one_id, row.other_id, row.variant, row.players),
            Score(row.wins, row.draws, row.losses, row.margin),
        )
        for row in rows
    )


def statistics_of(duels: Iterable[tuple[DuelPair, Score]]) -> Statistics:
    """Return the statistics that duels make."""
    return Statistics(
        {
            Pair(kind_number(pair.variant, pair.players), pair.one, pair.other): Meetings(
                score.wins + score.draws + score.losses, score.margin
            )
            for pair, score in duels
        }
    )


def _members(
    versions: Mapping[int, Known], played: Collection[int], field: Collection[int]
) -> list[Member]:
    """Return who takes part: all that played or are in the field, and all that they descend from.

    Nobody else: a version that is uploaded and never plays must not move a bit of what others have.
    """
    wanted: set[int] = set()
    for version in (*played, *field):
        step: int | None = version
        while step is not None and step not in wanted:
            wanted.add(step)
            step = versions[step].predecessor
    return [
        Member(version, versions[version].predecessor, versions[version].kinds, version in field)
        for version in sorted(wanted)
    ]


def figures(fit: Fit, scope: Scope) -> list[dict[str, Any]]:
    """Return the rows of a scope: of all in the field that play something of it, in order."""
    weights = scope_weights(scope)
    field = sorted(version for version, member in fit.members.items() if member.active)
    found = [standing(fit, version, weights) for version in field]
    return [_row(scope, each) for each in found if each is not None]


def _row(scope: Scope, each: Standing) -> dict[str, Any]:
    return {
        "version_id": each.version,
        "variant": scope.variant,
        "players": scope.players,
        "rating": each.rating,
        "sigma": each.sigma,
        "share": each.score.value,
        "low": each.score.low,
        "high": each.score.high,
        **each.sources._asdict(),
    }
