"""The caretaker plays on for a bot that has dropped out, so that the others can finish.

It does as little as the rules allow: it discards rather than lays, draws from the draw pile rather
than takes, moves no figure if it may stay, and among equals chooses the action with the lowest id.
It looks at nothing but the legal actions, so everybody can work out what it does.
"""

from __future__ import annotations

from typing import Final

from keltis_engine import Ruleset

# By the first word of an action's notation, the most welcome first.
_ORDER: Final = (
    "done", "stay", "leave", "pass", "keep", "discard", "draw", "reveal", "drop",
    "lay", "take", "small", "big", "move", "clover", "pair", "add", "last",
)  # fmt: skip


class Caretaker:
    """Chooses for seats that nobody plays any more."""

    def __init__(self, ruleset: Ruleset) -> None:
        verbs = [ruleset.format(action).split()[0] for action in range(ruleset.actions)]
        self._rank = [_ORDER.index(verb) for verb in verbs]

    def choose(self, legal: list[int]) -> int:
        """Return the action that changes least."""
        return min(legal, key=lambda action: (self._rank[action], action))
