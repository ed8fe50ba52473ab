"""The guarantees of docs/readers/matchmaking.md, on ladders of all kinds.

Bots claim this and that, come and go, several matches are under way at once, and some never end.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keltis_ladder.match.orders import Order
from keltis_ladder.match.reasons import MatchReason
from keltis_ladder.matchmaking import Category, Contender, Matchmaker, Policy, category_of
from tests.ladder.matchmaking.support.ladders import (
    all_tables,
    bots,
    chance_beliefs,
    generalist,
    known,
    legal,
    proposed,
    veteran,
    why,
)

CHANCE = st.builds(random.Random, st.integers(0, 10**6))
STORY = settings(max_examples=60, deadline=None)


class Witness:
    """Drives a matchmaker, and looks at every proposal."""

    def __init__(self, found: list[Contender], policy: Policy, chance: random.Random) -> None:
        self.policy = policy
        self.chance = chance
        self.maker = Matchmaker(policy, seed=chance.randrange(1000))
        self.bots = found
        self.versions = 0
        self.unseated: list[int] = []  # new versions, in the order of arrival
        self.tables: dict[int, set[int]] = {}  # each version's last one
        self.counts: Counter[Category] = Counter()  # since what can be played last changed
        self.playable: list[Category] = []

    def enter(self) -> None:
        """Let a new version of some bot in."""
        bot = self.chance.choice(self.bots)
        self.versions += 1
        contender = Contender(
            self.versions, bot.bot, bot.author, bot.house, bot.variants, bot.players
        )
        beliefs = known(self.chance.gauss(25, 8), self.chance.choice([0.5, 2, 8]))
        self.maker.enter(contender, self.chance.choice([{}, beliefs]))
        self.unseated.append(self.versions)

    def withdraw(self) -> None:
        """Let somebody go."""
        version = self.chance.choice(self.maker.active).version
        self.maker.withdraw(version)
        self.tables.pop(version, None)
        if version in self.unseated:
            self.unseated.remove(version)

    def end(self) -> None:
        """End one of the matches under way, with a result or without."""
        proposal = self.chance.choice(self.maker.running)
        if self.chance.random() < 0.2:
            self.maker.abandoned(proposal)
        else:
            self.maker.finished(proposal, chance_beliefs(proposal, self.chance))

    def propose(self) -> Order | None:
        """Take the next proposal and check all that is promised about it."""
        active = {contender.version: contender for contender in self.maker.active}
        tables = {
            category: all_tables(list(active.values()), category, self.policy)
            for category in self.policy.categories()
        }
        before = self.maker.lags
        proposal = self.maker.propose()
        if proposal is None:
            assert not any(tables.values())
            return None
        seats = set(proposal.versions)
        assert len(seats) == len(proposal.versions) == proposal.players
        assert seats in tables[category_of(proposal)]
        assert legal([active[version] for version in proposal.versions], self.policy)
        self.check_newcomers(proposal, tables)
        self.check_shares(proposal, tables, before)
        self.check_repetition(proposal, tables[category_of(proposal)])
        for version in proposal.versions:
            self.tables[version] = seats
        return proposal

    def check_newcomers(self, proposal: Order, tables: dict[Category, list[set[int]]]) -> None:
        """Whoever is new, and can play, plays next, in the order of arrival."""
        able = set[int]().union(*(table for found in tables.values() for table in found))
        waiting = [version for version in self.unseated if version in able]
        if waiting:
            assert proposal.versions[0] == waiting[0]
            assert why(proposal) == MatchReason.NEW_VERSION
        else:
            assert why(proposal) != MatchReason.NEW_VERSION
        self.unseated = [each for each in self.unseated if each not in proposal.versions]

    def check_shares(
        self,
        proposal: Order,
        tables: dict[Category, list[set[int]]],
        before: Mapping[Category, float],
    ) -> None:
        """Every kind of match that can be played is near its share."""
        playable = [category for category in tables if tables[category]]
        shares, lags = self.policy.shares(playable), self.maker.lags
        assert set(lags) == set(playable)
        if lags == before and len(playable) > 1:
            # Outside the shares: for a new version, if nothing that it can play is behind.
            assert why(proposal) == MatchReason.NEW_VERSION
            for category in playable:
                if any(proposal.versions[0] in table for table in tables[category]):
                    assert lags[category] + shares[category] < 1e-6
            return
        if playable != self.playable:
            self.playable, self.counts = playable, Counter()
        self.counts[category_of(proposal)] += 1
        for category in playable:
            assert -1 < lags[category] < max(1, len(playable) - 1) + 1e-6
            target = shares[category] * self.counts.total()
            assert abs(target - self.counts[category]) < len(playable)

    def check_repetition(self, proposal: Order, tables: list[set[int]]) -> None:
        """Nobody sits at the same table twice in a row if the match could have had another one."""
        focus = proposal.versions[0]
        mine = [table for table in tables if focus in table]
        if self.repeats(set(proposal.versions)):
            assert all(self.repeats(table) for table in mine)
        if self.tables.get(focus) == set(proposal.versions):
            assert len(mine) == 1

    def repeats(self, table: set[int]) -> bool:
        """Say whether it is the last table of anybody at it."""
        return any(self.tables.get(version) == table for version in table)


@STORY
@given(bots(), CHANCE, st.booleans())
def test_every_proposal_keeps_its_promises(
    found: list[Contender], chance: random.Random, same_author: bool
) -> None:
    witness = Witness(found, Policy(same_author=same_author), chance)
    for _ in range(50):
        step = chance.random()
        if step < 0.15 and len(witness.maker.active) < 9:
            witness.enter()
        elif step < 0.22 and witness.maker.active:
            witness.withdraw()
        elif step < 0.5 and witness.maker.running:
            witness.end()
        else:
            witness.propose()


def wait_bound(maker: Matchmaker, version: int) -> float:
    """Return how long a version waits at most while nobody comes or goes: guarantee 2."""
    policy, active = maker.policy, maker.active
    playable = list(maker.lags)
    shares = policy.shares(playable)
    mine = [
        category
        for category in playable
        if any(version in table for table in all_tables(active, category, policy))
    ]
    share = sum(shares[category] for category in mine)
    if not mine:
        return math.inf
    slower = policy.rotation / (policy.rotation - 1)
    queue = slower * (len(active) - 1 + len(mine)) + len(mine)
    return policy.patience * maker.fair_share(version) + queue / share + len(playable) + 1


@STORY
@given(bots(most=9), CHANCE)
def test_nobody_waits_longer_than_promised(found: list[Contender], chance: random.Random) -> None:
    maker = Matchmaker(Policy(rotation=chance.choice([2, 12])), seed=chance.randrange(1000))
    for contender in found:
        maker.enter(contender, known(chance.gauss(25, 8), chance.choice([0.1, 8])))
    seated: dict[int, int] = {}
    bounds = {contender.version: wait_bound(maker, contender.version) for contender in found}
    for number in range(1, 200):
        proposal = maker.propose()
        if proposal is None:
            return
        for version in proposal.versions:
            seated[version] = number
        for contender in found:
            waited = number - seated.get(contender.version, 0)
            assert waited <= bounds[contender.version] + len(found)  # their first matches
        while len(maker.running) > 3 and chance.random() < 0.9:
            running = chance.choice(maker.running)
            maker.finished(running, chance_beliefs(running, chance))


@STORY
@given(st.integers(5, 14), CHANCE)
def test_who_plays_everything_waits_five_fair_shares_and_twelve_matches_at_most(
    count: int, chance: random.Random
) -> None:
    maker = Matchmaker(seed=chance.randrange(1000))
    for version in range(count):
        contender = generalist(version)
        maker.enter(
            contender, known(chance.gauss(25, 8), chance.choice([0.1, 8])), veteran(contender)
        )
    waited = dict.fromkeys(range(count), 0)  # matches, but for the first ones of new versions
    largest = count
    versions = count
    for _ in range(250):
        if chance.random() < 0.04:
            maker.enter(generalist(versions), {})
            waited[versions] = 0
            versions += 1
        elif chance.random() < 0.04 and len(waited) > 5:
            gone = chance.choice(list(waited))
            maker.withdraw(gone)
            del waited[gone]
        largest = max(largest, len(waited))
        proposal = proposed(maker)
        for version in waited:
            waited[version] += why(proposal) != MatchReason.NEW_VERSION
        for version in proposal.versions:
            waited[version] = 0
        assert max(waited.values()) <= 5 * largest / 2.75 + 12
        if len(maker.running) > 4:
            running = chance.choice(maker.running)
            maker.finished(running, chance_beliefs(running, chance))


@pytest.mark.parametrize("newcomers", [1, 7])
def test_new_versions_are_placed_in_every_variant_soon(newcomers: int) -> None:
    maker = Matchmaker(seed=3)
    for version in range(30):
        contender = generalist(version)
        maker.enter(contender, known(20 + version / 3), veteran(contender))
    for _ in range(100):
        maker.finished(proposed(maker), {})
    for version in range(100, 100 + newcomers):
        maker.enter(generalist(version), {})
    variants = defaultdict[int, set[str]](set)
    first: dict[int, int] = {}
    took = 0
    while len(variants) < newcomers or min(map(len, variants.values())) < 4:
        took += 1
        proposal = proposed(maker)
        for version in proposal.versions:
            if version >= 100:
                first.setdefault(version, took)
                variants[version].add(proposal.variant)
        maker.finished(proposal, {})
    assert all(first[version] <= version - 99 for version in first)
    assert took <= 12 * newcomers + 12


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_pair_that_is_not_hopeless_meets(players: int) -> None:
    policy = Policy(variants={"keltis": 1.0}, players={players: 1.0}, rotation=6)
    maker = Matchmaker(policy, seed=1)
    # What there is to learn is all about two of them; the others would never be looked at.
    for version in range(8):
        contender = Contender(version, version, version, False, ("keltis",), (players,))
        maker.enter(contender, known(24 + version / 4, 6.0 if version < 2 else 0.01))
    met: set[frozenset[int]] = set()
    for _ in range(policy.rotation * 8 * 7):
        proposal = proposed(maker)
        met |= {frozenset({a, b}) for a in proposal.versions for b in proposal.versions if a != b}
        maker.finished(proposal, {})
    assert len(met) == 8 * 7 / 2
