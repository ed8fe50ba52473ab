"""What points are made of: a version's and those of everybody it met, component by component."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from sqlalchemy import case, func, select
from sqlmodel import Session

from keltis_engine import VARIANTS, find_variant
from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.store.schema.relations import MATCH, PLACE
from keltis_ladder.store.schema.scopes import within

LATEST_MATCHES: Final = 1000  # matches of a version are looked at: the newest say how it plays now


@dataclass(frozen=True)
class Component:
    """A part of the points, in the mean of a game."""

    name: str  # as the engine calls it
    own: float
    field: float  # of all others in the same matches, which had the same cards


@dataclass(frozen=True)
class Composition:
    """What the points of a version are made of in one variant."""

    variant: str
    matches: int
    games: int
    components: list[Component]

    @property
    def own(self) -> float:
        """All points of a game, in the mean."""
        return sum(each.own for each in self.components)

    @property
    def field(self) -> float:
        """Those of the others."""
        return sum(each.field for each in self.components)


@cache
def component_names(variant: str) -> tuple[str, ...]:
    """Return what the points of a variant are made of, in the engine's order."""
    return tuple(find_variant(variant).deal(2, 0).breakdown()[0])


def compositions_of(
    session: Session, version: int, scope: Scope, latest: int = LATEST_MATCHES
) -> list[Composition]:
    """Return what a version's points are made of, in its latest matches of a scope.

    Only matches of which it is known count: those in which nobody dropped out.
    """
    chosen = _latest(version, scope, latest)
    mine = case((PLACE.c.version_id == chosen.c.version_id, 1), else_=0)
    parts = (PLACE.c.part0, PLACE.c.part1, PLACE.c.part2)
    # Everybody plays as many games in a match as it has players.
    query = (
        select(
            chosen.c.variant,
            mine,
            func.count(PLACE.c.match_number.distinct()),
            func.sum(chosen.c.players),
            *(func.sum(part) for part in parts),
        )
        .join(PLACE, PLACE.c.match_number == chosen.c.number)
        .group_by(chosen.c.variant, mine)
    )
    found: dict[str, dict[bool, Any]] = {}
    for row in session.execute(query):
        found.setdefault(row[0], {})[bool(row[1])] = row
    return [_composition(variant, found[variant]) for variant in VARIANTS if variant in found]


def _latest(version: int, scope: Scope, latest: int) -> Any:
    return (
        select(MATCH.c.number, MATCH.c.variant, MATCH.c.players, PLACE.c.version_id)
        .join(PLACE, PLACE.c.match_number == MATCH.c.number)
        .where(PLACE.c.version_id == version, PLACE.c.part0.is_not(None))
        .where(*within(scope, MATCH.c))
        .order_by(PLACE.c.match_number.desc())
        .limit(latest)
        .subquery("chosen")
    )


def _composition(variant: str, rows: dict[bool, Any]) -> Composition:
    own, field = rows[True], rows[False]
    return Composition(
        variant=variant,
        matches=own[2],
        games=int(own[3]),  # PostgreSQL's sums are decimal numbers
        components=[
            Component(name, int(own[4 + k]) / int(own[3]), int(field[4 + k]) / int(field[3]))
            for k, name in enumerate(component_names(variant))
        ],
    )
