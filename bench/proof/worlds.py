"""Worlds: bots whose true strength is known, and who can play matches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Protocol

from bench.proof.bank import Bank, Outcome, is_held_out
from bench.proof.ladders import run
from bench.proof.players import EVERYBODY
from bench.proof.truth import Truth


class World(Protocol):
    """A field, by numbers from 0, what is true of it, and its matches."""

    name: str
    truth: Truth

    @property
    def size(self) -> int:
        """How many bots there are."""

    def clones(self) -> list[tuple[int, int]]:
        """Return pairs that are equally strong."""

    def ladder(self, tables: str, matches: int, seed: int) -> list[Outcome]:
        """Return the matches of a ladder."""


class RealWorld:
    """Some of the players; their places in the field are their numbers on the ladder."""

    def __init__(self, field: Sequence[int], truth: Truth) -> None:
        self.field = field
        self.name = f"{len(field)} {'held-out' if is_held_out(field) else 'real'} bots"
        self.truth = truth

    @property
    def size(self) -> int:
        """How many bots there are."""
        return len(self.field)

    def clones(self) -> list[tuple[int, int]]:
        """Return pairs of the same style."""
        return same([repr(EVERYBODY[bot]) for bot in self.field])

    def ladder(self, tables: str, matches: int, seed: int) -> list[Outcome]:
        """Play the matches of a ladder, or read those that were played before."""
        bank = Bank.open(f"ladder-{tables}-{seed}-of", self.field)

        def play(variant: str, places: Sequence[int], number: int) -> Outcome:
            bots = [self.field[place] for place in places]
            return bank.outcome(variant, bots, number)._replace(bots=tuple(places))

        outcomes = run(tables, self.size, matches, seed, play)
        bank.keep()
        return outcomes


def same(values: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of places with equal values."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for place, value in enumerate(values):
        found[value].append(place)
    return [pair for places in found.values() for pair in combinations(places, 2)]
