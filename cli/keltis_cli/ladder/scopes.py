"""Which matches of a ladder a command is about: those of a variant, of a number of players, all."""

from __future__ import annotations

from typing import Annotated

import typer

from keltis_cli import arguments
from keltis_cli.errors import BadRequest
from keltis_engine import find_variant
from keltis_engine.games.variants import FEWEST_PLAYERS, MOST_PLAYERS
from keltis_ladder.ratings.scopes import ALL, ANY, Scope

ScopeVariant = Annotated[str | None, arguments.of_variant("Only matches of this variant.")]
ScopePlayers = Annotated[
    int | None, typer.Option("--players", "-p", help="Only matches with this number of players.")
]


def scope_of(variant: str | None, players: int | None) -> Scope:
    """Return the scope that the options ask for."""
    if players is not None and not FEWEST_PLAYERS <= players <= MOST_PLAYERS:
        raise BadRequest(
            f"there are no matches with {players} players: take {FEWEST_PLAYERS} to {MOST_PLAYERS}"
        )
    return Scope(find_variant(variant).id if variant else ALL, players or ANY)
