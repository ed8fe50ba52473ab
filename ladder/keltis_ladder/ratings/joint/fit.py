"""The joint fit: skills of all versions in all kinds of match, from statistics of all matches.

From scratch (a *cold* start) the skills depend on the statistics alone, to the last bit: this is
what gets published. After a match they are moved from where they were until no step is larger than
a few thousandths of a rating point, or for a few rounds: milliseconds, and good enough to go on
with.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from librt.vecs import vec
from mypy_extensions import i64

from keltis_ladder.errors import LadderError
from keltis_ladder.ratings.joint.descent import Descent
from keltis_ladder.ratings.joint.graph import BLOCK, KIND_COUNT, NO_EDGE, NOBODY, Graph
from keltis_ladder.ratings.joint.kinds import KINDS
from keltis_ladder.ratings.joint.leads import Leads
from keltis_ladder.ratings.joint.numbers import NUMBERS, Numbers
from keltis_ladder.ratings.joint.scores import TWELFTHS
from keltis_ladder.ratings.joint.statistics import Match, Statistics, margins_of
from keltis_ladder.ratings.refit import ancestors_first

COLD: Final = 1e-9  # no unknown still has to go further than this, in luck
WARM: Final = 1e-3
MOST_ROUNDS: Final = 2000
# After a match. What a great surprise leaves to do is not lost: the next match goes on with it.
MOST_WARM_ROUNDS: Final = 4

assert len(KINDS) == KIND_COUNT
assert KIND_COUNT * KIND_COUNT == BLOCK


class Member(NamedTuple):
    """A version that has been on the ladder."""

    version: int
    predecessor: int | None
    kinds: frozenset[int]  # of match that it plays
    active: bool = True  # part of the field that others are measured by


class NotSettled(LadderError):
    """The fit did not converge."""


class Fit:
    """Skills, and who is measured by whom.

    It belongs to one thread. What takes long is done round by round in compiled code, so that
    other threads get their turn in between.
    """

    def __init__(self, members: Iterable[Member], numbers: Numbers = NUMBERS) -> None:
        self.numbers = numbers
        self.graph = _empty_graph(numbers)
        self.members: dict[int, Member] = {}
        self.places: dict[int, int] = {}
        self._fields: dict[int, list[int]] = {}
        given = {member.version: member for member in members}
        lineage = {version: member.predecessor for version, member in given.items()}
        for version in ancestors_first(lineage):
            self.enter(given[version])

    @classmethod
    def from_scratch(
        cls, members: Iterable[Member], statistics: Statistics, numbers: Numbers = NUMBERS
    ) -> Fit:
        """Fit all matches: the same bits, in whatever order members and matches came."""
        fit = cls(members, numbers)
        graph = fit.graph
        for (kind, low, high), (met, margin) in statistics.rows():
            graph.count(graph.add_edge(kind, fit.place(low), fit.place(high)), met, margin)
        fit.settle(COLD)
        return fit

    def enter(self, member: Member) -> None:
        """Let a version in. A successor begins where its predecessor is now."""
        if member.version in self.places:
            raise ValueError(f"version {member.version} is known already")
        before = member.predecessor
        if before is not None and before not in self.places:
            raise ValueError(
                f"version {before} is not known, but {member.version} descends from it"
            )
        place = self.graph.add_bot(NOBODY if before is None else self.places[before])
        self.places[member.version] = place
        self.change(member)

    def change(self, member: Member) -> None:
        """Let a known version retire, come back, or play other kinds of match."""
        self.place(member.version)
        self.members[member.version] = member
        self._fields.clear()

    def count(self, match: Match) -> int:
        """Count a match and move all skills; return how many rounds that took."""
        return self._count(match, 1)

    def take_back(self, match: Match) -> int:
        """Let a match that was counted not have been."""
        return self._count(match, -1)

    def _count(self, match: Match, sign: int) -> int:
        graph = self.graph
        found = []
        for (kind, low, high), margin in margins_of(match):
            one, other = self.place(low), self.place(high)
            edge = graph.find(kind, one, other)
            if sign < 0 and (edge == NO_EDGE or graph.met[edge] == 0):
                raise ValueError(f"a match is taken back that was not counted: {match}")
            if edge == NO_EDGE:
                edge = graph.add_edge(kind, one, other)
            found.append((edge, margin))
        for edge, margin in found:
            graph.count(edge, sign, sign * margin)
        descent = Descent(graph, graph.skill, graph.rest)
        return _descend(descent, WARM, MOST_WARM_ROUNDS)

    def place(self, version: int) -> int:
        """Return where a version is in the graph."""
        found = self.places.get(version)
        if found is None:
            raise ValueError(f"version {version} is not known")
        return found

    def settle(self, close: float) -> int:
        """Move the skills until no step exceeds this; return the rounds."""
        descent = Descent(self.graph, self.graph.skill, self.graph.rest)
        rounds = _descend(descent, close, MOST_ROUNDS)
        if descent.largest_step() > close:
            raise NotSettled(f"the joint fit did not converge in {MOST_ROUNDS} rounds")
        return rounds

    # What it says

    def skill(self, version: int, kind: int) -> float:
        """Return the skill of a version in a kind, in luck, above the centre."""
        return self.graph.skill[self.place(version) * KIND_COUNT + kind]

    def leads(self, version: int, kind: int) -> Leads:
        """Return by how much a version is ahead of each other."""
        return Leads(self.graph, kind, self.place(version))

    def others(self, version: int, kind: int) -> vec[i64]:
        """Return the places of all active versions that play a kind, but for one."""
        place = self.place(version)
        return vec[i64]([other for other in self._field(kind) if other != place])

    def _field(self, kind: int) -> list[int]:
        found = self._fields.get(kind)
        if found is None:
            members = [self.members[version] for version in self.places]
            found = self._fields[kind] = [
                place
                for place, member in enumerate(members)
                if member.active and kind in member.kinds
            ]
        return found

    def weights(self, version: int, scope: Mapping[int, float]) -> dict[int, float]:
        """Return the weights of the kinds of a scope that a version plays, adding up to 1."""
        kinds = self.members[version].kinds
        found = {kind: scope[kind] for kind in sorted(scope) if kind in kinds}
        total = math.fsum(found.values())
        return {kind: weight / total for kind, weight in found.items()}


def _descend(descent: Descent, close: float, most: int) -> int:
    for rounds in range(most):
        if descent.largest_step() <= close:
            return rounds
        descent.advance()
    return most


def _empty_graph(numbers: Numbers) -> Graph:
    return Graph(
        numbers.covariance(),
        numbers.step_covariance(),
        [pair * pair for pair in numbers.pair],
        [
            float(TWELFTHS * kind.players) * luck
            for kind, luck in zip(KINDS, numbers.luck, strict=True)
        ],
        [kind.players for kind in KINDS],
    )
