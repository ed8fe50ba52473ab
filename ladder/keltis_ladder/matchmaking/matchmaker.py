"""The matchmaker: decides which match a never-ending ladder plays next.

It is pure: it keeps its own picture of the ladder, is told what happens, and knows neither a
database nor a clock. Its time is the number of matches it has proposed.
``docs/readers/matchmaking.md`` says what it guarantees and why that holds.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace

from keltis_ladder.errors import LadderError
from keltis_ladder.match.orders import AT_ONCE_PRIORITY, Order
from keltis_ladder.match.reasons import MatchReason, Reason
from keltis_ladder.matchmaking.candidates import Candidate, History
from keltis_ladder.matchmaking.contenders import Category, Contender, category_of
from keltis_ladder.matchmaking.field import Field
from keltis_ladder.matchmaking.opponents import Opponents
from keltis_ladder.matchmaking.policy import Policy
from keltis_ladder.matchmaking.tables import repeats
from keltis_ladder.ratings.model import noise_of
from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.ratings.skill import Belief, Noise


class Matchmaker:
    """Proposes matches, one after the other, for as long as anybody may meet."""

    def __init__(
        self,
        policy: Policy | None = None,
        seed: int = 0,
        number: int = 0,
        noise: Callable[[str, int], Noise] = noise_of,
    ) -> None:
        """Start with an empty ladder; ``number`` is that of the last match before a restart."""
        self.policy = policy or Policy()
        self.number = number
        self._field = Field(self.policy)
        self._opponents = Opponents(self.policy, random.Random(seed), noise)
        self._running: dict[str, tuple[int, Order]] = {}  # with their numbers, by id
        self._rotation_in = defaultdict[Category, int](lambda: self.policy.rotation)

    @property
    def active(self) -> list[Contender]:
        """The contenders, in the order in which they entered."""
        return [candidate.contender for candidate in self._field.candidates.values()]

    @property
    def running(self) -> list[Order]:
        """The matches under way, in the order in which they were proposed."""
        return [order for _, order in self._running.values()]

    @property
    def newcomers(self) -> bool:
        """Whether a version waits for its first match."""
        self._survey()
        candidates = self._field.candidates.values()
        return any(candidate.new and candidate.categories for candidate in candidates)

    @property
    def lags(self) -> Mapping[Category, float]:
        """How many matches each kind that can be played is behind its share."""
        self._survey()
        return dict(self._field.shares.lags)

    def best_gain(self) -> float | None:
        """Return what the most instructive match would teach now, per rival; none: nobody may meet.

        In pairs of versions that it puts into the right order. As the picture of the field, it is
        worked out again when somebody comes or goes, and after some results.
        """
        self._survey()
        if not self._field.eligible:
            return None
        return self._opponents.best_gain(self._field.eligible)

    def fair_share(self, version: int) -> float:
        """Return after how many matches a version would play if all took turns; maybe infinity."""
        self._survey()
        return self._field.candidates[version].fair

    def enter(
        self,
        contender: Contender,
        beliefs: Mapping[Scope, Belief],
        history: History | None = None,
    ) -> None:
        """Let a version in. One that has neither a history nor a match under way plays next."""
        candidate = Candidate(contender, beliefs, history or History(), self.policy)
        # Those who count matches elsewhere may be ahead of us; nobody waits for that.
        candidate.seated = min(candidate.seated, self.number)
        self._field.add(candidate)
        for number, order in self._running.values():
            if contender.version in order.versions:
                candidate.sit_down(number, category_of(order), order.versions)

    def withdraw(self, version: int) -> None:
        """Let a version go. Matches of it that are under way may still be finished."""
        self._field.remove(version)

    def propose(self) -> Order | None:
        """Return the next match, which is under way from now on; none if nobody may meet.

        The first version is the one that it is made for.
        """
        self._survey()
        if not self._field.eligible:
            return None
        self.number += 1
        order = self._first_match() or self._rotation() or self._turn() or self._most_instructive()
        self._begin(order)
        return order

    def resume(self, order: Order) -> None:
        """Take note of a match that was under way before a restart, and still is."""
        self.number += 1
        self._begin(order)

    def finished(self, order: Order, beliefs: Mapping[int, Mapping[Scope, Belief]]) -> None:
        """Take over the ratings after a match, by version."""
        self._end(order.id)
        for version, learnt in beliefs.items():
            candidate = self._field.candidates.get(version)
            if candidate is not None:
                candidate.learn(learnt)
        self._opponents.results += 1

    def abandoned(self, order: Order) -> None:
        """Forget a match that will have no result.

        Its versions have had their turn all the same: who makes referees fail must not get the
        next match again and again.
        """
        self._end(order.id)

    def _survey(self) -> None:
        if self._field.survey():
            self._opponents.survey(list(self._field.candidates.values()))

    def _begin(self, order: Order) -> None:
        self._running[order.id] = self.number, order
        for version in order.versions:
            candidate = self._field.candidates.get(version)
            if candidate is not None:
                candidate.sit_down(self.number, category_of(order), order.versions)

    def _end(self, id: str) -> None:
        if id not in self._running:
            raise LadderError(f"match {id} is not under way: was it ended before?")
        _, order = self._running.pop(id)
        for version in order.versions:
            candidate = self._field.candidates.get(version)
            if candidate is not None:
                candidate.get_up(order.players)

    def _first_match(self) -> Order | None:
        """Make a match for the new version that came first, and a short one: somebody waits."""
        for candidate in self._field.candidates.values():
            if candidate.new and candidate.categories:
                lagging = self._lagging(candidate)
                if lagging:
                    shortest = min(lagging, key=lambda each: each.players)
                    placed = self._place(candidate, shortest, Reason(MatchReason.NEW_VERSION))
                    return replace(placed, priority=AT_ONCE_PRIORITY)
                # Not at the cost of the others that play this: it stays outside the shares.
                lags = self._field.shares.lags
                category = min(candidate.categories, key=lambda each: (each.players, -lags[each]))
                eligible = self._field.eligible[category]
                table = self._opponents.placement(candidate, category, eligible, self.number)
                placed = _order(category, table, Reason(MatchReason.NEW_VERSION))
                return replace(placed, priority=AT_ONCE_PRIORITY)
        return None

    def _rotation(self) -> Order | None:
        """Now and then, let somebody meet whom it has not met for longest."""
        for category in self._field.shares.lagging():
            if self._rotation_in[category] <= 1:
                eligible = self._field.eligible[category]
                focus = min(eligible, key=lambda each: each.rotated.get(category, -1))
                focus.rotated[category] = self.number
                self._rotation_in[category] = self.policy.rotation + 1  # after this one
                table = self._opponents.longest_unmet(focus, category, eligible)
                return self._count(category, table, Reason(MatchReason.NOT_MET))
        return None

    def _turn(self) -> Order | None:
        """Make a match for the version whose turn it has been for longest."""
        turns = [(self._due(each), each) for each in self._field.candidates.values()]
        waiting = [(due, each) for due, each in turns if due <= self.number]
        for _, candidate in sorted(waiting, key=lambda turn: turn[0]):
            lagging = self._lagging(candidate)
            for category in lagging:
                if category.variant in candidate.owed:
                    first = Reason(MatchReason.FIRST_OF_VARIANT, {"variant": category.variant})
                    return self._place(candidate, category, first)
            if lagging and self._patience_ends(candidate) <= self.number:
                waited = Reason(MatchReason.WAITED)
                return self._best_of([(candidate, each) for each in lagging], waited)
        return None

    def _due(self, candidate: Candidate) -> float:
        """Return when a version's turn comes.

        One that is being placed plays on as soon as its last result is in, or after a fair share.
        """
        if candidate.owed:
            return candidate.seated + (candidate.fair if candidate.playing else 0.0)
        return self._patience_ends(candidate)

    def _patience_ends(self, candidate: Candidate) -> float:
        return candidate.seated + self.policy.patience * candidate.fair

    def _most_instructive(self) -> Order:
        """Make the match that teaches most, of the kind that is furthest behind its share."""
        category = self._field.shares.lagging()[0]
        eligible = self._field.eligible[category]
        choice = len(eligible) > category.players
        share = Reason(MatchReason.SHARE, category._asdict())
        reason = Reason(MatchReason.CLOSE) if choice else share
        return self._best_of(
            [(each, category) for each in self._opponents.foci(eligible, self.number)], reason
        )

    def _best_of(self, tries: list[tuple[Candidate, Category]], reason: Reason) -> Order:
        """Make the first of these matches, or the next if it would be the same table again."""
        tables = []
        for focus, category in tries:
            eligible = self._field.eligible[category]
            table = self._opponents.best(focus, category, eligible, self.number)
            tables.append((category, table))
            if not repeats(table):
                break
        category, table = tables[0] if repeats(tables[-1][1]) else tables[-1]
        return self._count(category, table, reason)

    def _lagging(self, candidate: Candidate) -> list[Category]:
        """Return what may be played next that a version plays."""
        return [each for each in self._field.shares.lagging() if each in candidate.categories]

    def _place(self, candidate: Candidate, category: Category, reason: Reason) -> Order:
        eligible = self._field.eligible[category]
        table = self._opponents.placement(candidate, category, eligible, self.number)
        return self._count(category, table, reason)

    def _count(self, category: Category, table: list[Candidate], reason: Reason) -> Order:
        self._field.shares.take(category)
        self._rotation_in[category] -= 1
        return _order(category, table, reason)


def _order(category: Category, table: list[Candidate], reason: Reason) -> Order:
    versions = tuple(candidate.version for candidate in table)
    return Order(category.variant, versions, reason=reason)
