"""Kinds of match: variants with a number of players, in the order of the model's vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

from keltis_ladder.ratings.model import UnknownMatch
from keltis_ladder.ratings.scopes import ALL, ANY, Scope

VARIANTS: Final = ("keltis", "neue-wege", "kartenspiel", "weg-der-steine")
PLAYERS: Final = (2, 3, 4)
USUAL_SHARES: Final[Mapping[int, float]] = {2: 2.0, 3: 1.0, 4: 1.0}  # of a variant's matches


class MatchKind(NamedTuple):
    """A variant and a number of players."""

    variant: str
    players: int


KINDS: Final = tuple(MatchKind(variant, players) for variant in VARIANTS for players in PLAYERS)
_NUMBERS: Final = {kind: number for number, kind in enumerate(KINDS)}


def kind_number(variant: str, players: int) -> int:
    """Return the number of a kind: its place in all vectors of the model."""
    found = _NUMBERS.get(MatchKind(variant, players))
    if found is None:
        raise UnknownMatch(
            f"the joint rating does not know {variant!r} with {players} players; "
            f"it knows {', '.join(VARIANTS)} with {', '.join(map(str, PLAYERS))}"
        )
    return found


def variant_number(kind: int) -> int:
    """Return the number of a kind's variant."""
    return kind // len(PLAYERS)


def scope_weights(scope: Scope, shares: Mapping[int, float] = USUAL_SHARES) -> Mapping[int, float]:
    """Return the weight of each kind in a scope: by how often it is played, adding up to 1."""
    weights = {
        number: shares[kind.players]
        for number, kind in enumerate(KINDS)
        if scope.variant in (ALL, kind.variant) and scope.players in (ANY, kind.players)
    }
    total = math.fsum(weights.values())
    if not total:
        raise UnknownMatch(f"the joint rating has no kind of match in the scope {scope}")
    return {number: weight / total for number, weight in weights.items()}
