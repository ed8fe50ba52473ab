"""Pairings and their matches: who sits at which table, and what came out of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from keltis_ladder.errors import LadderError
from keltis_ladder.match.table_labels import TableLabel

WIN: Final = 12  # a match won alone, in twelfths: divides evenly among two, three or four


@dataclass(frozen=True)
class Pairing:
    """One table of a round."""

    round: int  # from 1
    table: int  # from 1 within the round
    entrants: tuple[int, ...]
    label: TableLabel
    bracket: str = ""  # of eliminations: W for winners, L for losers, F for finals
    first: int = 0  # the place in the plan's variants of its first match

    @property
    def key(self) -> str:
        """Its name within the tournament, the beginning of its legs' keys."""
        return f"{self.round}/{self.table}"


@dataclass(frozen=True)
class Leg:
    """One match of a pairing."""

    pairing: Pairing
    number: int  # from 1 within the pairing
    variant: str

    @property
    def key(self) -> str:
        """Its name within the tournament, the same for ever: round/table/number."""
        return f"{self.pairing.key}/{self.number}"


@dataclass(frozen=True)
class LegResult:
    """What came out of a match, by entrant in the order of the pairing."""

    ranks: tuple[int, ...]  # 1 is best; equal is a draw
    twelfths: tuple[int, ...]  # the entrant's share of the won games, in twelfths of a win
    points: tuple[int, ...]  # over all games
    faults: tuple[int, ...]  # games lost by a fault

    def check(self, players: int) -> None:
        """Raise if this cannot be the result of a match with this many players."""
        for name in ("ranks", "twelfths", "points", "faults"):
            values = getattr(self, name)
            if len(values) != players:
                raise LadderError(
                    f"a result with {len(values)} {name} does not fit a table of {players}"
                )
        if any(rank != 1 + sum(r < rank for r in self.ranks) for rank in self.ranks):
            raise LadderError(
                f"{list(self.ranks)} are no ranks: each is one more than the number of those ahead"
            )
        if min(self.twelfths) < 0 or sum(self.twelfths) > WIN * players:
            raise LadderError(
                f"{list(self.twelfths)} are no shares of {players} wins in twelfths of a win"
            )
        if min(self.faults) < 0 or max(self.faults) > players:
            raise LadderError(f"{list(self.faults)} are no numbers of faults in {players} games")


def halves(mine: int, other: int) -> int:
    """Return what a rank is worth against another, in halves: ahead 2, level 1, behind 0."""
    return 1 + (mine < other) - (mine > other)


def leg_scores(ranks: tuple[int, ...]) -> list[int]:
    """Return what ranks score, in twelfths of a win: the part of the opponents left behind.

    Two players: a win 1, a draw 1/2. Three: 1, 1/2, 0 for three different ranks.
    """
    worth = WIN // (2 * (len(ranks) - 1))
    return [
        worth * (sum(halves(mine, other) for other in ranks) - 1)  # all but the draw with oneself
        for mine in ranks
    ]


def walkover(pairing: Pairing, absent: Collection[int]) -> LegResult:
    """Return the result of a match that some entrants do not play: the others share all wins."""
    players = len(pairing.entrants)
    there = [entrant not in absent for entrant in pairing.entrants]
    present = sum(there)
    if not 0 < present < players:
        raise LadderError("a walkover needs somebody who is absent and somebody who is there")
    return LegResult(
        ranks=tuple(1 if is_there else 1 + present for is_there in there),
        twelfths=tuple(WIN * players // present if is_there else 0 for is_there in there),
        points=(0,) * players,
        faults=(0,) * players,
    )
