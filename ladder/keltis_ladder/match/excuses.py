"""Excuses: faults of bots that a busy machine may have caused, which nobody can tell for sure.

A bot is believed at most twice in a row, on all cores of a machine together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from keltis_ladder.match.faults import Kind
from keltis_ladder.match.results import GameResult, MatchResult

MOST_EXCUSED: Final = 2  # faults of a bot in a row


class Excuses:
    """How many faults in a row were taken upon us, by the keys of bots."""

    def __init__(self, granted: Mapping[str, int] | None = None) -> None:
        self._granted = Counter(granted or {})

    def of(self, bots: Sequence[str]) -> dict[str, int]:
        """Return those of some bots."""
        return {bot: self._granted[bot] for bot in bots if bot in self._granted}

    def grant(self, bot: str) -> bool:
        """Take a fault of a bot upon us, if it was not excused too often; return whether it is."""
        if self._granted[bot] >= MOST_EXCUSED:
            return False
        self._granted[bot] += 1
        return True

    def settle(self, bots: Sequence[str], result: MatchResult) -> None:
        """Believe those again who have played a match without such a fault."""
        for number, bot in enumerate(bots):
            if not any(_failed_doubtfully(game, number) for game in result.games):
                self._granted.pop(bot, None)


def _failed_doubtfully(game: GameResult, entrant: int) -> bool:
    return any(
        (loss.fault.kind is Kind.TIMEOUT or loss.fault.code == "signal")
        and game.entrants[loss.seat] == entrant
        for loss in game.losses
    )
