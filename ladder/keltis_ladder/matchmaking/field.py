"""The field: who is on the ladder, what they can play among each other, and what is fair."""

from __future__ import annotations

import math

from keltis_ladder.errors import LadderError
from keltis_ladder.matchmaking.candidates import Candidate
from keltis_ladder.matchmaking.contenders import Category, Contender, seatable
from keltis_ladder.matchmaking.kind_shares import CategoryShares
from keltis_ladder.matchmaking.policy import Policy


class Field:
    """All candidates, in the order in which they entered."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.candidates: dict[int, Candidate] = {}
        self.eligible: dict[Category, list[Candidate]] = {}  # of what can be played
        self.shares = CategoryShares()
        self._changed = False

    def add(self, candidate: Candidate) -> None:
        """Let somebody in."""
        contender = candidate.contender
        if contender.version in self.candidates:
            raise LadderError(f"version {contender.version} is on the ladder already")
        for other in self.candidates.values():
            known = other.contender
            if known.bot == contender.bot and not _same_owner(known, contender):
                raise LadderError(
                    f"a bot has one author and is a house bot or none: bot {contender.bot} is "
                    f"described differently by its versions {known.version} and {contender.version}"
                )
        self.candidates[contender.version] = candidate
        self._changed = True

    def remove(self, version: int) -> None:
        """Let somebody go; the others forget that they ever met."""
        if self.candidates.pop(version, None) is None:
            raise LadderError(f"version {version} is not on the ladder")
        for candidate in self.candidates.values():
            candidate.met.pop(version, None)
        self._changed = True

    def survey(self) -> bool:
        """Work out again what can be played, if somebody came or went; return whether it was so."""
        if not self._changed:
            return False
        self._changed = False
        self.eligible = {}
        for category in self.policy.categories():
            pool = [each.contender for each in self.candidates.values()]
            pool = [contender for contender in pool if contender.plays(category)]
            able = seatable(pool, category.players, self.policy.same_author)
            if able:
                self.eligible[category] = [self.candidates[each.version] for each in able]
        self.shares.change(self.policy.shares(list(self.eligible)))
        self._work_out_fair_shares()
        return True

    def _work_out_fair_shares(self) -> None:
        paces = dict.fromkeys(self.candidates, 0.0)  # seats per match, if all took turns
        for candidate in self.candidates.values():
            candidate.categories = []
        for category, eligible in self.eligible.items():
            pace = self.shares.of(category) * category.players / len(eligible)
            for candidate in eligible:
                candidate.categories.append(category)
                paces[candidate.version] += pace
        for candidate in self.candidates.values():
            variants = {category.variant for category in candidate.categories}
            candidate.owed = variants - candidate.tried
            pace = paces[candidate.version]
            candidate.fair = 1.0 / pace if pace else math.inf


def _same_owner(one: Contender, other: Contender) -> bool:
    return one.author == other.author and one.house == other.house
