"""How a bot that can use any amount of time divides what it has."""

from __future__ import annotations

from typing import Final

from keltis_engine import View

# Never planned for. By a wall clock the machine may be busy when the answer is ready; by any clock
# the bot may have to wait for memory or a disk, and a hypervisor may take the core away.
RESERVE_MS: Final = 400
OVERHEAD_MS: Final = 4  # of each decision: a last playout that takes longer, sending the answer
LARGEST_PART: Final = 0.25  # of all time left, for one decision
DECISIONS_PER_TURN: Final = 2.5  # that leave a choice, about
FEWEST_TURNS: Final = 3  # expected at any time: who plans for the very last one runs out of time


def thinking_ms(left_ms: float, increment_ms: float, decisions: float) -> float:
    """Return how long to think now, with so much time left and about so many decisions to come.

    ``left_ms`` includes this decision's increment, as in a request. The bank above the reserve is
    divided evenly among the decisions, and each may use up its increment. The less is left of the
    reserve, the less of the increment is used, so that the bank recovers.
    """
    every_time = max(0.0, increment_ms - OVERHEAD_MS)
    bank = max(0.0, left_ms - increment_ms)
    if bank > RESERVE_MS:
        wanted = every_time + (bank - RESERVE_MS) / decisions
    else:
        wanted = every_time * bank / RESERVE_MS
    return max(0.0, min(wanted, LARGEST_PART * (left_ms - OVERHEAD_MS)))


def decisions_left(view: View) -> float:
    """Return about how many decisions the viewer will have to take in this game."""
    turns: int = view["pile"]["size"] // view["players"]
    return DECISIONS_PER_TURN * max(turns, FEWEST_TURNS)
