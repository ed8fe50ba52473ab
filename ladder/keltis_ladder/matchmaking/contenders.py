"""Contenders: the active versions, what they claim to play, and who may meet whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from keltis_ladder.match.orders import Order


class Category(NamedTuple):
    """A kind of match: a variant and a number of players."""

    variant: str
    players: int

    def __str__(self) -> str:
        return f"{self.variant} with {self.players} players"


def category_of(order: Order) -> Category:
    """Return what kind of match is wanted."""
    return Category(order.variant, order.players)


@dataclass(frozen=True)
class Contender:
    """An active version."""

    version: int
    bot: int
    author: int
    house: bool  # one of our own bots: those may meet each other
    variants: tuple[str, ...]  # what it claims to play
    players: tuple[int, ...]

    def plays(self, category: Category) -> bool:
        """Say whether it claims to play this."""
        return category.variant in self.variants and category.players in self.players


def may_meet(one: Contender, other: Contender, same_author: bool) -> bool:
    """Say whether two may sit at a table: an author's bots might help each other."""
    if one.bot == other.bot:
        return False
    return same_author or one.author != other.author or (one.house and other.house)


def seatable(pool: Sequence[Contender], players: int, same_author: bool) -> list[Contender]:
    """Return who of a pool could sit at a table of this size among the pool.

    Of each author a table holds one bot, or any number of house bots. A caller that counts how many
    that makes at most knows, without looking for a table, who has one.
    """
    if same_author:
        enough = len({contender.bot for contender in pool}) >= players
        return list(pool) if enough else []
    house: defaultdict[int, set[int]] = defaultdict(set)
    most: defaultdict[int, int] = defaultdict(lambda: 1)
    for contender in pool:
        author = contender.author
        if contender.house:
            house[author].add(contender.bot)
        most[author] = max(most[author], len(house[author]))
    total = sum(most.values())
    return [
        contender
        for contender in pool
        if total - most[contender.author] + (len(house[contender.author]) if contender.house else 1)
        >= players
    ]
