"""Play games to their end as the judge advises, from a position whose cards all lie open."""

from __future__ import annotations

from mypy_extensions import i64

from keltis_bots.judges import judge_for
from keltis_bots.judges.judge import NO_APPEALS
from keltis_bots.search import utility
from keltis_engine.state.state import NO_ACTIONS, OVER, State


def worth_of(state: State, candidates: list[int]) -> list[float]:
    """Return what each action is worth to the player to act if everybody goes on as advised.

    The hidden cards of the state come as they lie. The same state gives the same numbers.
    """
    seat = state.seat
    judge = judge_for(state)
    actions = NO_ACTIONS[:]
    appeals = NO_APPEALS[:]
    result = []
    for candidate in candidates:
        trial = state.copy()
        trial.play(i64(candidate))
        while trial.stage != OVER:
            trial.play(judge.advise(trial, actions, appeals))
        result.append(utility(trial, seat))
    return result


def advised(state: State, limit: int) -> list[int]:
    """Return the most appealing actions of the player to act, at most so many, best first."""
    actions = NO_ACTIONS[:]
    appeals = NO_APPEALS[:]
    count = state.list_actions(actions)
    judge_for(state).weigh(state, actions, count, appeals)
    order = sorted(range(int(count)), key=lambda k: (-int(appeals[k]), k))
    return [int(actions[k]) for k in order[:limit]]
