"""What happens on a running ladder, told to listeners, from the event loop.

What the ladder itself tells is among it: matches, versions that are in another state, ratings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from keltis_ladder.dispatch.dispatcher import Event
from keltis_ladder.run.fitting import JointPublished
from keltis_ladder.run.scheduler import News


@dataclass(frozen=True)
class Checking:
    """The check of a version goes on; only its author may see this."""

    version_id: int
    author_id: int
    kind: str  # "doing", "output" or "finding"
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TournamentChanged:
    """A tournament has come further, or is in another state."""

    tournament_id: int


@dataclass(frozen=True)
class AccessEnded:
    """A token of an author lets nobody in any more, or none of theirs does."""

    author_id: int
    token_id: int | None = None  # none: all of them


Happening = Event | News | JointPublished | Checking | TournamentChanged | AccessEnded
Listener = Callable[[Happening], None]
