"""Scopes: the kinds of matches that a rating is about.

Every rated match moves four ratings of each of its entrants: that of its variant and number of
players, of its variant, of its number of players, and of everything.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Self

ALL: Final = "all"  # variants
ANY: Final = 0  # number of players
_BETWEEN: Final = "/"
_ANY_TEXT: Final = "any"


class Scope(NamedTuple):
    """A variant or all, and a number of players or any; as text ``keltis/4`` or ``all/any``."""

    variant: str
    players: int

    def __str__(self) -> str:
        return f"{self.variant}{_BETWEEN}{self.players or _ANY_TEXT}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the scope that was written like this."""
        variant, _, players = text.partition(_BETWEEN)
        if variant and players == _ANY_TEXT:
            return cls(variant, ANY)
        if variant and players.isdecimal() and int(players) > ANY:
            return cls(variant, int(players))
        raise ValueError(f"a scope is written like keltis/4, keltis/any or all/2; got {text!r}")


OVERALL: Final = Scope(ALL, ANY)


def scopes_of(variant: str, players: int) -> tuple[Scope, ...]:
    """Return the scopes that a match counts in, always in this order."""
    return Scope(variant, players), Scope(variant, ANY), Scope(ALL, players), OVERALL
