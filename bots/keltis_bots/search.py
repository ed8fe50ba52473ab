"""The searching bot: imagine the hidden cards, play to the end, and see which action does best.

Each round deals the unseen cards anew, all ways that agree with what the player knows being
equally likely, and tries every candidate with the same cards; so luck with them does not decide
between the candidates. From there everybody plays as the judge advises. After each part of the
budget the worse half of the candidates drops out, so that the most time goes into close decisions.

There is no tree below the candidates. One over information sets, with the same judge, was tried: at
10 ms a decision it was no stronger in keltis and kartenspiel, and weaker in weg-der-steine.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from keltis_bots.budget import Budget
from keltis_bots.judges import judge_for
from keltis_bots.judges.judge import NO_APPEALS, POINT, Judge
from keltis_engine.rng import Rng
from keltis_engine.state.state import NO_ACTIONS, OVER, State

CANDIDATES: Final = 8  # so many actions are tried, the most appealing ones
WIN: Final = 10.0  # points that a win is worth beside the lead: the match counts wins first
# The judge's word counts as much as so many playouts. They vary by dozens of points, and
# good actions differ by one or two: without it a short search would do worse than the judge.
TRUST: Final = 60.0
MOST_TRUSTED: Final = 10 * POINT  # a judge who is sure can still be proved wrong
LOOK_AT_CLOCK: Final = 15  # every 16 decisions: interpreted, a playout can take 100 ms
NO_SCORE: Final = -10_000


@final
class Search:
    """Chooses by playouts. The same seed, decisions and numbers of playouts give the same play."""

    def __init__(self, seed: int) -> None:
        self.playouts = 0  # in all searches so far
        self._rng = Rng(seed)
        self._actions = NO_ACTIONS[:]
        self._appeals = NO_APPEALS[:]
        self._candidates = NO_ACTIONS[:]  # best first
        self._totals = [0.0] * CANDIDATES  # what all playouts of a candidate were worth
        self._results = [0.0] * CANDIDATES  # the same for those of one deal

    def choose(self, root: State, budget: Budget) -> int:
        """Return an action for the player to act, who knows of the state what he may know."""
        judge = judge_for(root)
        count = self._find_candidates(root, judge)
        rounds = 0
        while (count - 1) >> rounds:
            rounds += 1
        made = 0
        for number in range(1, rounds + 1):
            made = self._try_all(root, judge, count, budget, made, number / rounds)
            count = self._drop_worse_half(count)
        self.playouts += made
        return int(self._candidates[0])

    def _find_candidates(self, root: State, judge: Judge) -> i64:
        """List the most appealing actions and begin their totals with what the judge says."""
        actions = self._actions
        appeals = self._appeals
        count = root.list_actions(actions)
        judge.weigh(root, actions, count, appeals)
        found: i64 = 0
        while found < count and found < CANDIDATES:
            best: i64 = found
            for k in range(found + 1, count):
                if appeals[k] > appeals[best]:
                    best = k
            action = actions[best]
            appeal = appeals[best]
            actions[best] = actions[found]
            appeals[best] = appeals[found]
            self._candidates[found] = action
            if appeal > MOST_TRUSTED:
                appeal = MOST_TRUSTED
            elif appeal < -MOST_TRUSTED:
                appeal = -MOST_TRUSTED
            self._totals[found] = TRUST * float(appeal) / POINT
            found += 1
        return found

    def _try_all(
        self, root: State, judge: Judge, count: i64, budget: Budget, made: int, until: float
    ) -> int:
        """Play with all candidates until that part of the budget is spent.

        Return how many playouts have been made. A deal that there was no time to play with all
        of them does not count.
        """
        while budget.used(made) < until:
            deal = root.determinize(int(root.seat), self._rng)
            for k in range(count):
                trial = deal.copy()
                trial.play(i64(self._candidates[k]))
                self._play_out(trial, judge, budget, made)
                if trial.stage != OVER:
                    return made
                self._results[k] = utility(trial, root.seat)
                made += 1
            for k in range(count):
                self._totals[k] += self._results[k]
        return made

    def _drop_worse_half(self, count: i64) -> i64:
        """Sort the candidates, best first; return how many stay."""
        candidates = self._candidates
        totals = self._totals
        for k in range(i64(1), count):
            action = candidates[k]
            total = totals[k]
            at = k
            while at > 0 and totals[at - 1] < total:
                candidates[at] = candidates[at - 1]
                totals[at] = totals[at - 1]
                at -= 1
            candidates[at] = action
            totals[at] = total
        return (count + 1) // 2

    def _play_out(self, state: State, judge: Judge, budget: Budget, made: int) -> None:
        """Play to the end as the judge advises, or until the budget is spent."""
        actions = self._actions
        appeals = self._appeals
        decisions: i64 = 0
        while state.stage != OVER:
            if decisions & LOOK_AT_CLOCK == 0 and budget.used(made) >= 1.0:
                return
            decisions += 1
            state.play(judge.advise(state, actions, appeals))


def utility(state: State, seat: i64) -> float:
    """Return what the end of a game is worth to a seat: its lead, and a bonus for winning."""
    mine = state.score(seat)
    best: i64 = NO_SCORE
    for other in range(state.players):
        if other != seat:
            score = state.score(other)
            if score > best:
                best = score
    lead = float(mine - best)
    if lead > 0.0:
        return lead + WIN
    return lead - WIN if lead < 0.0 else 0.0
