"""The caretaker plays on for a bot that has dropped out, so that the others can finish.

It does as little as the rules allow: it discards rather than lays, draws from the draw pile rather
than takes, moves no figure if it may stay, and among equals chooses the action with the lowest id.
Each game declares the order of its verbs. The caretaker looks at nothing but the legal actions, so
everybody can work out what it does.
"""

from __future__ import annotations

from keltis_engine import Ruleset


class Caretaker:
    """Chooses for seats that nobody plays any more."""

    def __init__(self, ruleset: Ruleset) -> None:
        self._ranks = ruleset.caretaker_ranks

    def choose(self, legal: list[int]) -> int:
        """Return the action that changes least."""
        return min(legal, key=lambda action: (self._ranks[action], action))
