"""The plan of a tournament: everything that is fixed before the first match."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from keltis_engine import VARIANTS
from keltis_engine.games.variants import FEWEST_PLAYERS, MOST_PLAYERS
from keltis_ladder.errors import LadderError

ROUND_ROBIN: Final = "round-robin"
SWISS: Final = "swiss"
SINGLE: Final = "single-elimination"
DOUBLE: Final = "double-elimination"
GAUNTLET: Final = "gauntlet"
FORMATS: Final = (ROUND_ROBIN, SWISS, SINGLE, DOUBLE, GAUNTLET)
ELIMINATIONS: Final = (SINGLE, DOUBLE)

# What was tested, and what a page can still show.
MOST_ENTRANTS: Final = {ROUND_ROBIN: 256, SWISS: 512, SINGLE: 1024, DOUBLE: 512, GAUNTLET: 512}
MOST_AT_LARGE_TABLES: Final = 128  # entrants of a round robin with three or four at a table
MOST_MATCHES: Final = 200_000  # of a tournament
TWO: Final = 2


@dataclass(frozen=True)
class Plan:
    """A tournament before its first match. Entrants are numbers, in the order of their seeding.

    Entrant 0 is the best rated; in a gauntlet the challengers come first, whatever their rating.
    """

    format: str
    entrants: int
    players: int = 2  # at a table
    variants: tuple[str, ...] = ("keltis",)  # several: the matches go through them in turn
    matches: int = 1  # of every pairing; in eliminations best of N
    rounds: int | None = None  # Swiss: how many; round robin and gauntlet: how often all is played
    challengers: int = 1  # gauntlet: entrants 0 to challengers - 1 meet all the others
    seed: int = 1  # of everything that is drawn by lot

    @property
    def elimination(self) -> bool:
        """Whether who loses is out."""
        return self.format in ELIMINATIONS

    @property
    def length(self) -> int:
        """The rounds of a Swiss tournament, the cycles of a round robin or a gauntlet."""
        if self.rounds is not None:
            return self.rounds
        if self.format == SWISS:
            # Enough to leave one unbeaten, and one more to order those behind.
            return min((self.entrants - 1).bit_length() + 1, self.most_swiss_rounds)
        return 1

    @property
    def most_swiss_rounds(self) -> int:
        """Number of rounds in which everybody can meet everybody."""
        return self.entrants - 1 + self.entrants % 2

    @property
    def opponents(self) -> int:
        """How many the challengers of a gauntlet meet."""
        return self.entrants - self.challengers

    def check(self) -> None:
        """Raise if no tournament can be held by this plan."""
        if self.format not in FORMATS:
            raise LadderError(f"there is no format {self.format!r}: choose from {_list(FORMATS)}")
        self._check_variants()
        self._check_players()
        self._check_entrants()
        self._check_rounds()
        self._check_challengers()
        if self.matches < 1:
            raise LadderError(f"a pairing cannot have {self.matches} matches: take 1 or more")
        if self.size() > MOST_MATCHES:
            raise LadderError(
                f"this would be up to {self.size():,} matches, and {MOST_MATCHES:,} is the limit: "
                "take fewer entrants, rounds or matches of each pairing"
            )

    def size(self) -> int:
        """Return about how many matches it has at most, for an early refusal."""
        tables = {
            ROUND_ROBIN: self.length * self.entrants * max(self.entrants // self.players, 1),
            SWISS: self.length * (self.entrants // self.players),
            SINGLE: self.entrants,
            DOUBLE: 2 * self.entrants,
            GAUNTLET: self.length * self.challengers * self.opponents,
        }[self.format]
        return tables * self.matches

    def _check_variants(self) -> None:
        if not self.variants:
            raise LadderError(f"no variant to play: name one or more of {_list(VARIANTS)}")
        for variant in self.variants:
            if variant not in VARIANTS:
                raise LadderError(f"there is no variant {variant!r}: choose from {_list(VARIANTS)}")
        if len(set(self.variants)) < len(self.variants):
            raise LadderError(
                f"a variant is named twice in {_list(self.variants)}: name each once, "
                "they get equal shares of the matches"
            )

    def _check_players(self) -> None:
        if not FEWEST_PLAYERS <= self.players <= MOST_PLAYERS:
            raise LadderError(
                f"{self.players} cannot play at a table: "
                f"take {FEWEST_PLAYERS} to {MOST_PLAYERS} players"
            )
        if self.format == DOUBLE and self.players != TWO:
            raise LadderError(
                f"double-elimination is for tables of 2, not {self.players}: "
                "take players=2, or single-elimination"
            )

    def _check_entrants(self) -> None:
        most = MOST_ENTRANTS[self.format]
        if self.format == ROUND_ROBIN and self.players > TWO:
            most = MOST_AT_LARGE_TABLES
        if self.entrants < self.players:
            raise LadderError(
                f"{self.entrants} entrants cannot fill a table of {self.players}: "
                f"enter {self.players} or more"
            )
        if self.entrants > most:
            better = SWISS if self.entrants <= MOST_ENTRANTS[SWISS] else SINGLE
            hint = f", or take {better}" if self.entrants <= MOST_ENTRANTS[better] else ""
            raise LadderError(
                f"{self.entrants} entrants are too many for {self.format} "
                f"with {self.players} at a table: enter {most} at most{hint}"
            )

    def _check_rounds(self) -> None:
        if self.rounds is None:
            return
        if self.elimination:
            raise LadderError(
                f"{self.format} ends when one is left: leave out rounds (you gave {self.rounds})"
            )
        if self.rounds < 1:
            raise LadderError(f"a tournament cannot have {self.rounds} rounds: take 1 or more")
        if self.format == SWISS and self.rounds > self.most_swiss_rounds:
            raise LadderError(
                f"{self.rounds} rounds are too many for {self.entrants} entrants: after "
                f"{self.most_swiss_rounds} everybody can have met everybody; take at most "
                f"{self.most_swiss_rounds}, or a round-robin"
            )

    def _check_challengers(self) -> None:
        if self.format != GAUNTLET:
            if self.challengers != 1:
                raise LadderError(
                    f"only a gauntlet has challengers, not a {self.format}: leave them out"
                )
            return
        most = self.entrants - (self.players - 1)
        if not 1 <= self.challengers <= most:
            raise LadderError(
                f"{self.challengers} challengers do not fit: of {self.entrants} entrants, with "
                f"{self.players} at a table, 1 to {most} can be challengers"
            )


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
