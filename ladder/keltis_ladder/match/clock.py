"""The time that a bot has: a bank for each game, and an increment for each decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class TimeControl:
    """How much time bots get, in milliseconds."""

    bank_ms: int = 1000
    increment_ms: int = 20
    start_ms: int = 5000


DEFAULT_CONTROL: Final = TimeControl()


class Clock:
    """One bot's clock in one game."""

    def __init__(self, control: TimeControl) -> None:
        self.bank = control.bank_ms / 1000  # seconds, without the increment of the decision to come
        self.increment = control.increment_ms / 1000

    @property
    def left(self) -> float:
        """Seconds for the next decision and all after it, the next one's increment included."""
        return self.bank + self.increment

    @property
    def left_ms(self) -> int:
        """The same in whole milliseconds, for bots and spectators; a debt shows as nothing."""
        return max(0, int(self.left * 1000))

    def spend(self, seconds: float) -> None:
        """Take what a decision has cost; what it took too much, the next one has less."""
        self.bank = self.left - seconds
