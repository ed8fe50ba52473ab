"""The matchmaker: decides which match a never-ending ladder plays next.

It is pure: it keeps its own picture of the ladder, is told what happens, and knows neither a
database nor a clock. Its time is the number of matches it has proposed.
``docs/readers/matchmaking.md`` says what it guarantees and why that holds.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from keltis_ladder.errors import LadderError
from keltis_ladder.matchmaking.candidates import Candidate, History
from keltis_ladder.matchmaking.contenders import Category, Contender
from keltis_ladder.matchmaking.field import Field
from keltis_ladder.matchmaking.opponents import Opponents
from keltis_ladder.matchmaking.policy import Policy
from keltis_ladder.matchmaking.tables import repeats
from keltis_ladder.ratings.model import noise_of
from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.ratings.skill import Belief, Noise


@dataclass(frozen=True)
class Proposal:
    """A match to be played. The first version is the one that it is made for."""

    number: int
    variant: str
    players: int
    versions: tuple[int, ...]
    reason: str  # for people
    first: bool = False  # a new version's first match

    @property
    def category(self) -> Category:
        """What kind of match it is."""
        return Category(self.variant, self.players)


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
        self._running: dict[int, Proposal] = {}
        self._rotation_in = defaultdict[Category, int](lambda: self.policy.rotation)

    @property
    def active(self) -> list[Contender]:
        """The contenders, in the order in which they entered."""
        return [candidate.contender for candidate in self._field.candidates.values()]

    @property
    def running(self) -> list[Proposal]:
        """The matches under way, in the order in which they were proposed."""
        return list(self._running.values())

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
        worked out anew when somebody comes or goes, and after some results.
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
        # Whoever counts matches elsewhere may be ahead of us; nobody waits for that.
        candidate.seated = min(candidate.seated, self.number)
        self._field.add(candidate)
        for proposal in self._running.values():
            if contender.version in proposal.versions:
                candidate.sit_down(proposal.number, proposal.category, proposal.versions)

    def withdraw(self, version: int) -> None:
        """Let a version go. Matches of it that are under way may still be finished."""
        self._field.remove(version)

    def propose(self) -> Proposal | None:
        """Return the next match, which is under way from now on; none if nobody may meet."""
        self._survey()
        if not self._field.eligible:
            return None
        self.number += 1
        proposal = (
            self._first_match() or self._rotation() or self._turn() or self._most_instructive()
        )
        self._begin(proposal)
        return proposal

    def resume(self, variant: str, versions: tuple[int, ...]) -> Proposal:
        """Return a match that was under way before a restart, and still is."""
        self.number += 1
        reason = "under way since before the restart"
        proposal = Proposal(self.number, variant, len(versions), versions, reason)
        self._begin(proposal)
        return proposal

    def finished(self, proposal: Proposal, beliefs: Mapping[int, Mapping[Scope, Belief]]) -> None:
        """Take over the ratings after a match, by version."""
        self._end(proposal)
        for version, learnt in beliefs.items():
            candidate = self._field.candidates.get(version)
            if candidate is not None:
                candidate.learn(learnt)
        self._opponents.results += 1

    def abandoned(self, proposal: Proposal) -> None:
        """Forget a match that will have no result.

        Its versions have had their turn all the same: whoever makes referees fail must not get the
        next match again and again.
        """
        self._end(proposal)

    def _survey(self) -> None:
        if self._field.survey():
            self._opponents.survey(list(self._field.candidates.values()))

    def _begin(self, proposal: Proposal) -> None:
        self._running[proposal.number] = proposal
        for version in proposal.versions:
            candidate = self._field.candidates.get(version)
            if candidate is not None:
                candidate.sit_down(proposal.number, proposal.category, proposal.versions)

    def _end(self, proposal: Proposal) -> None:
        if self._running.pop(proposal.number, None) is None:
            raise LadderError(f"match {proposal.number} is not under way: was it ended before?")
        for version in proposal.versions:
            candidate = self._field.candidates.get(version)
            if candidate is not None:
                candidate.get_up(proposal.players)

    def _first_match(self) -> Proposal | None:
        """Make a match for the new version that came first, and a short one: somebody waits."""
        for candidate in self._field.candidates.values():
            if candidate.new and candidate.categories:
                lagging = self._lagging(candidate)
                if lagging:
                    shortest = min(lagging, key=lambda each: each.players)
                    placed = self._place(candidate, shortest, "new version")
                    return replace(placed, first=True)
                # Not at the cost of the others that play this: it stays outside the shares.
                lags = self._field.shares.lags
                category = min(candidate.categories, key=lambda each: (each.players, -lags[each]))
                eligible = self._field.eligible[category]
                table = self._opponents.placement(candidate, category, eligible, self.number)
                return replace(self._proposal(category, table, "new version"), first=True)
        return None

    def _rotation(self) -> Proposal | None:
        """Now and then, let somebody meet whom it has not met for longest."""
        for category in self._field.shares.lagging():
            if self._rotation_in[category] <= 1:
                eligible = self._field.eligible[category]
                focus = min(eligible, key=lambda each: each.rotated.get(category, -1))
                focus.rotated[category] = self.number
                self._rotation_in[category] = self.policy.rotation + 1  # after this one
                table = self._opponents.longest_unmet(focus, category, eligible)
                return self._count(category, table, "have not met for long")
        return None

    def _turn(self) -> Proposal | None:
        """Make a match for whoever's turn it has been for longest."""
        turns = [(self._due(each), each) for each in self._field.candidates.values()]
        waiting = [(due, each) for due, each in turns if due <= self.number]
        for _, candidate in sorted(waiting, key=lambda turn: turn[0]):
            lagging = self._lagging(candidate)
            for category in lagging:
                if category.variant in candidate.owed:
                    return self._place(candidate, category, f"first match of {category.variant}")
            if lagging and self._patience_ends(candidate) <= self.number:
                return self._best_of([(candidate, each) for each in lagging], "has waited longest")
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

    def _most_instructive(self) -> Proposal:
        """Make the match that teaches most, of the kind that is furthest behind its share."""
        category = self._field.shares.lagging()[0]
        eligible = self._field.eligible[category]
        choice = len(eligible) > category.players
        reason = "close and uncertain" if choice else f"the share of {category}"
        return self._best_of(
            [(each, category) for each in self._opponents.foci(eligible, self.number)], reason
        )

    def _best_of(self, tries: list[tuple[Candidate, Category]], reason: str) -> Proposal:
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

    def _place(self, candidate: Candidate, category: Category, reason: str) -> Proposal:
        eligible = self._field.eligible[category]
        table = self._opponents.placement(candidate, category, eligible, self.number)
        return self._count(category, table, reason)

    def _count(self, category: Category, table: list[Candidate], reason: str) -> Proposal:
        self._field.shares.take(category)
        self._rotation_in[category] -= 1
        return self._proposal(category, table, reason)

    def _proposal(self, category: Category, table: list[Candidate], reason: str) -> Proposal:
        versions = tuple(candidate.version for candidate in table)
        return Proposal(self.number, category.variant, category.players, versions, reason)
