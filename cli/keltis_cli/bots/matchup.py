"""What a ``match`` command is to play, and what has come of it so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keltis_engine import Ruleset
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.results import MatchResult
from keltis_ladder.stats.sprt import Sprt
from keltis_ladder.stats.tally import Tally


@dataclass(frozen=True)
class Matchup:
    """The bots, the game and the conditions."""

    ruleset: Ruleset
    entrants: tuple[Entrant, ...]
    bots: Sequence[str]  # as the user named them
    matches: int  # at most
    seed: int
    control: TimeControl
    cores: list[int]
    sandboxed: bool


@dataclass
class Outcome:
    """What was played, and why it ended early if it did."""

    tally: Tally
    sprt: Sprt | None = None
    seconds: float = 0.0
    stopped: str | None = None  # interrupt, sprt or platform
    reason: str = ""

    def add(self, result: MatchResult) -> None:
        """Count a match."""
        self.tally.add(result)
        if self.sprt is not None:
            self.sprt.add(self.tally.balance(-1))
