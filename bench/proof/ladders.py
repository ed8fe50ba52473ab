"""Ladders: who meets whom, drawn at random or proposed by the project's matchmaker."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from bench.proof.bank import Outcome
from keltis_ladder.match.orders import Order
from keltis_ladder.matchmaking import Contender, Matchmaker, Policy
from keltis_ladder.matchmaking.kind_shares import CategoryShares
from keltis_ladder.ratings.book import Book, Record, Share
from keltis_ladder.ratings.scopes import ANY, OVERALL, Scope
from keltis_ladder.ratings.skill import Belief

RANDOM: Final = "random"
OWN: Final = "own"  # those of the project's matchmaker

Table = Callable[[str, Sequence[int], int], Outcome]


def run(tables: str, size: int, matches: int, seed: int, table: Table) -> list[Outcome]:
    """Return the matches of a ladder."""
    return (random_ladder if tables == RANDOM else own_ladder)(size, matches, seed, table)


def random_ladder(size: int, matches: int, seed: int, table: Table) -> list[Outcome]:
    """Keep to the shares of the kinds, and draw tables."""
    policy, chance, shares = Policy(), random.Random(seed), CategoryShares()
    shares.change(policy.shares(policy.categories()))
    found = []
    for number in range(matches):
        category = shares.lagging()[0]
        shares.take(category)
        bots = chance.sample(range(size), category.players)
        found.append(table(category.variant, bots, number))
    return found


def own_ladder(size: int, matches: int, seed: int, table: Table) -> list[Outcome]:
    """Let the matchmaker propose, told the live ratings as on a server."""
    ladder = OwnLadder(seed)
    for bot in range(size):
        ladder.enter(bot)
    for _ in range(matches):
        ladder.step(table)
    return ladder.outcomes


class OwnLadder:
    """A ladder run by the project's matchmaker, one match at a time."""

    def __init__(self, seed: int) -> None:
        self.maker = Matchmaker(Policy(), seed=seed)
        self.book = Book({})
        self.outcomes: list[Outcome] = []

    def enter(self, bot: int, author: int | None = None) -> None:
        """Let a bot in; by default it is its author's only one."""
        policy = self.maker.policy
        owner = bot if author is None else author
        variants, players = tuple(policy.variants), tuple(policy.players)
        beliefs: Mapping[Scope, Belief] = {
            scope: standing.belief
            for (version, scope), standing in self.book.standings.items()
            if version == bot
        }
        self.maker.enter(Contender(bot, bot, owner, False, variants, players), beliefs)

    def propose(self) -> Order:
        """Return the next match."""
        proposal = self.maker.propose()
        assert proposal is not None
        return proposal

    def finish(self, proposal: Order, outcome: Outcome) -> None:
        """Count a match, and tell the matchmaker."""
        number = len(self.outcomes)
        self.outcomes.append(outcome)
        self.book.enter(record_of(outcome, number))
        scopes = (Scope(outcome.variant, ANY), OVERALL)
        rated = {
            bot: {scope: self.book.standing(bot, scope).belief for scope in scopes}
            for bot in outcome.bots
        }
        self.maker.finished(proposal, rated)

    def step(self, table: Table) -> None:
        """Play one match."""
        proposal = self.propose()
        outcome = table(proposal.variant, proposal.versions, len(self.outcomes))
        self.finish(proposal, outcome)


def record_of(outcome: Outcome, number: int) -> Record:
    """Return a match as the live rating reads it; it looks at ranks alone."""
    shares = tuple(
        Share(bot, rank, 0, 0, ()) for bot, rank in zip(outcome.bots, outcome.ranks, strict=True)
    )
    return Record(number, outcome.variant, len(outcome.bots), shares)
