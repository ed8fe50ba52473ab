"""Orders: matches that somebody wants played, before they have a deal."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from keltis_ladder.match.clock import DEFAULT_CONTROL, TimeControl
from keltis_ladder.match.reasons import Reason

TOURNAMENT_PRIORITY: Final = 10
AT_ONCE_PRIORITY: Final = 100  # somebody waits for it


class Purpose(StrEnum):
    """What a match is played for."""

    LADDER = "ladder"
    TOURNAMENT = "tournament"
    CHALLENGE = "challenge"


@dataclass(frozen=True)
class Order:
    """A match that somebody wants played: the matchmaker, a tournament or an author.

    It is the same record from whoever wants it through the queue, where it is a row, to the
    scheduler, which is told of the result. A referee gets a ``jobs.Job`` instead. That one has what
    an order cannot have: a seed, which nobody may know before the match begins, and programs on the
    disk of one machine. And it has nothing of what a referee must not know: for whom and for what a
    match is played.
    """

    variant: str
    versions: tuple[int, ...]
    purpose: Purpose = Purpose.LADDER
    rated: bool = True
    seed: int | None = None  # that follows from a tournament's; none: it is drawn when it begins
    control: TimeControl = DEFAULT_CONTROL
    priority: int = 0  # higher ones are played first
    reason: Reason | None = None
    tournament_id: int | None = None
    leg: str | None = None
    author_id: int | None = None  # who wants it
    id: str = field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def players(self) -> int:
        """How many play it."""
        return len(self.versions)

    @property
    def urgent(self) -> bool:
        """Whether it goes to the next referee that is free."""
        return self.priority >= AT_ONCE_PRIORITY
