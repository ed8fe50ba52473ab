"""Which match ``watch --tv`` shows next.

The rule: a match is as interesting as its weakest bot is strong, for then all are strong, and near
each other. Matches of a tournament come before all others. A match counts as running only when it
has lasted a while; those that are over in no time are found among the results, of which the most
interesting one that was not shown yet is replayed when nothing runs.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from keltis_cli.watch.lobby import LobbyModel
from keltis_cli.watch.model import Facts

TOURNAMENT: Final = "tournament"
SETTLED: Final = 1.5  # seconds after which a match is not over in no time
RESULT: Final = 6.0  # seconds for which a result is shown
UNRATED: Final = float("-inf")


@dataclass(frozen=True)
class Choice:
    """A match to show."""

    facts: Facts
    replay: bool

    def text(self) -> str:
        """Return it in a few words."""
        names = " v ".join(self.facts.names)
        return f"{names}, {self.facts.variant}" + (" (replay)" if self.replay else "")


def interest(facts: Facts) -> tuple[bool, float, float]:
    """Return how much there is to see in a match; the greatest is the best."""
    ratings = [entrant.mu for entrant in facts.entrants if entrant.mu is not None]
    whole = len(ratings) == len(facts.entrants) > 0
    weakest = min(ratings) if whole else UNRATED
    mean = sum(ratings) / len(ratings) if ratings else UNRATED
    return facts.purpose == TOURNAMENT or bool(facts.tournament), weakest, mean


def choose(lobby: LobbyModel, now: datetime, shown: Collection[str]) -> Choice | None:
    """Return what to show next, without what was shown before; none if there is nothing."""
    settled = [
        running.facts
        for running in lobby.running.values()
        if running.facts.id not in shown and (now - running.since).total_seconds() >= SETTLED
    ]
    if settled:
        return Choice(max(settled, key=interest), replay=False)
    past = [one.facts for one in lobby.recent if one.facts.id not in shown]
    return Choice(max(past, key=interest), replay=True) if past else None
