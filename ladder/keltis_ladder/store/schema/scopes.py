"""Scopes in queries: the rows that are about a variant and a number of players."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement

from keltis_ladder.ratings.scopes import ALL, ANY, Scope


def within(scope: Scope, columns: Any) -> list[ColumnElement[bool]]:
    """Return what holds for the rows of a scope; ``columns`` are those of a table."""
    found: list[ColumnElement[bool]] = []
    if scope.variant != ALL:
        found.append(columns.variant == scope.variant)
    if scope.players != ANY:
        found.append(columns.players == scope.players)
    return found
