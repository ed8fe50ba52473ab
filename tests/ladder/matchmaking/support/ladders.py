"""Ladders to try the matchmaker on, and what it claims, worked out the slow and simple way."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import combinations

from hypothesis import strategies as st

from keltis_engine import VARIANTS
from keltis_ladder.match.orders import Order
from keltis_ladder.match.reasons import MatchReason
from keltis_ladder.matchmaking import Category, Contender, History, Matchmaker, Policy
from keltis_ladder.matchmaking.candidates import Candidate
from keltis_ladder.ratings.scopes import ANY, OVERALL, Scope
from keltis_ladder.ratings.skill import Belief

EVERYTHING = tuple(VARIANTS)
ANY_NUMBER = (2, 3, 4)


def generalist(version: int, author: int | None = None) -> Contender:
    """Return an author's bot that plays everything; its only one unless the author is given."""
    author = version if author is None else author
    return Contender(version, version, author, False, EVERYTHING, ANY_NUMBER)


def duellist(version: int, author: int | None = None) -> Contender:
    """Return a bot that plays only the base game, with two players."""
    author = version if author is None else author
    return Contender(version, version, author, False, ("keltis",), (2,))


def known(mu: float, sigma: float = 1.0) -> dict[Scope, Belief]:
    """Return ratings that are the same in every variant."""
    belief = Belief(mu, sigma)
    return {OVERALL: belief, **{Scope(variant, ANY): belief for variant in VARIANTS}}


def veteran(contender: Contender, last: int = 0) -> History:
    """Return the history of a version that has been placed everywhere."""
    played = {(variant, 2): 3 for variant in contender.variants}
    return History(played=played, last=last)


def candidate(contender: Contender) -> Candidate:
    """Return what the matchmaker makes of a contender."""
    return Candidate(contender, {}, History(), Policy())


def chance_beliefs(proposal: Order, chance: random.Random) -> dict[int, dict[Scope, Belief]]:
    """Return ratings that a match might have led to, now and then absurd ones."""
    wide = chance.choice([1.0, 8.0, 100.0])
    scopes = [OVERALL, Scope(proposal.variant, ANY)]
    return {
        version: {
            scope: Belief(chance.gauss(25, wide), chance.choice([0.0, 0.1, 1.0, 8.0]))
            for scope in scopes
        }
        for version in proposal.versions
    }


def why(order: Order) -> MatchReason:
    """Return why a match is proposed."""
    assert order.reason is not None
    return order.reason.code


def proposed(maker: Matchmaker) -> Order:
    """Return the next match, which must exist."""
    proposal = maker.propose()
    assert proposal is not None
    return proposal


def legal(table: Iterable[Contender], policy: Policy) -> bool:
    """Say whether a table keeps to the rules about bots and authors, word by word."""
    for one, other in combinations(table, 2):
        if one.bot == other.bot:
            return False
        house = one.house and other.house
        if one.author == other.author and not house and not policy.same_author:
            return False
    return True


def all_tables(active: Sequence[Contender], category: Category, policy: Policy) -> list[set[int]]:
    """Return every legal table of a kind of match."""
    pool = [contender for contender in active if contender.plays(category)]
    return [
        {contender.version for contender in table}
        for table in combinations(pool, category.players)
        if legal(table, policy)
    ]


@st.composite
def bots(draw: st.DrawFn, most: int = 6) -> list[Contender]:
    """Draw bots, each with a number of its own as its version, claiming this and that."""
    count = draw(st.integers(2, most))
    variants = st.lists(st.sampled_from(EVERYTHING), min_size=1, unique=True)
    players = st.lists(st.sampled_from(ANY_NUMBER), min_size=1, unique=True)
    house_authors = draw(st.sets(st.integers(0, 3), max_size=1))
    found = []
    for bot in range(count):
        author = draw(st.integers(0, 4))
        everything = draw(st.booleans())
        found.append(
            Contender(
                version=bot,
                bot=bot,
                author=author,
                house=author in house_authors and draw(st.booleans()),
                variants=EVERYTHING if everything else tuple(draw(variants)),
                players=ANY_NUMBER if everything else tuple(draw(players)),
            )
        )
    return found
