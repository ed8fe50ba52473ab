"""Who may sit with whom, and that a table is found whenever there is one."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keltis_ladder.matchmaking import Category, Contender, Policy
from keltis_ladder.matchmaking.candidates import Candidate
from keltis_ladder.matchmaking.contenders import may_meet, seatable
from keltis_ladder.matchmaking.tables import find_table, repeats, repeats_for_the_first
from tests.ladder.matchmaking.support.ladders import all_tables, bots, candidate, legal

CHANCE = st.builds(random.Random, st.integers(0, 10**6))
KELTIS = ("keltis",)


def bot_of(version: int, bot: int, author: int, house: bool = False) -> Contender:
    return Contender(version, bot, author, house, KELTIS, (2,))


@pytest.mark.parametrize(
    ("one", "other", "allowed", "with_same_author"),
    [
        (bot_of(1, 1, 1), bot_of(2, 2, 2), True, True),
        (bot_of(1, 1, 1), bot_of(2, 2, 1), False, True),
        (bot_of(1, 1, 1), bot_of(2, 1, 1), False, False),
        (bot_of(1, 1, 1, house=True), bot_of(2, 2, 1, house=True), True, True),
        (bot_of(1, 1, 1, house=True), bot_of(2, 1, 1, house=True), False, False),
        (bot_of(1, 1, 1, house=True), bot_of(2, 2, 1), False, True),
    ],
)
def test_who_may_meet(
    one: Contender, other: Contender, allowed: bool, with_same_author: bool
) -> None:
    assert may_meet(one, other, same_author=False) == may_meet(other, one, False) == allowed
    assert may_meet(one, other, same_author=True) == with_same_author


def versions_of(contenders: list[Contender], chance: random.Random) -> list[Contender]:
    """Return one or two versions of each bot, all playing one thing."""
    return [
        bot_of(10 * each.bot + k, each.bot, each.author, each.house)
        for each in contenders
        for k in range(chance.randint(1, 2))
    ]


@given(bots(most=7), st.integers(2, 4), st.booleans(), CHANCE)
def test_counting_authors_tells_who_has_a_table(
    found: list[Contender], players: int, same_author: bool, chance: random.Random
) -> None:
    pool = versions_of(found, chance)
    policy = Policy(same_author=same_author)
    tables = [table for table in combinations(pool, players) if legal(table, policy)]
    expected = {contender.version for table in tables for contender in table}
    able = seatable(pool, players, same_author)
    assert {contender.version for contender in able} == expected


@given(bots(most=7), st.integers(2, 4), st.booleans(), CHANCE)
def test_the_same_table_comes_again_only_if_there_is_no_other(
    found: list[Contender], players: int, same_author: bool, chance: random.Random
) -> None:
    policy = Policy(same_author=same_author)
    contenders = versions_of(found, chance)
    category = Category("keltis", players)
    contenders = [
        Contender(each.version, each.bot, each.author, each.house, KELTIS, (players,))
        for each in contenders
    ]
    tables = all_tables(contenders, category, policy)
    able = seatable(contenders, players, same_author)
    if not able:
        return
    order = [candidate(contender) for contender in able]
    chance.shuffle(order)
    for each in order:
        own = [table for table in tables if each.version in table]
        each.table = frozenset(chance.choice(own)) if chance.random() < 0.8 else frozenset()
    focus = chance.choice(order)
    by_version = {each.version: each for each in order}
    mine = [
        [focus, *(by_version[version] for version in table - {focus.version})]
        for table in tables
        if focus.version in table
    ]

    table = find_table(focus, order, players, same_author)

    assert table[0] is focus
    assert legal([each.contender for each in table], policy)
    assert len(table) == players
    assert not repeats(table) or all(repeats(other) for other in mine)
    assert not repeats_for_the_first(table) or len(mine) == 1


def test_those_who_come_first_in_the_order_are_taken() -> None:
    people = [candidate(bot_of(k, k, k)) for k in range(6)]
    order: list[Candidate] = [people[4], people[2], people[5], people[1], people[3]]
    assert find_table(people[0], order, 3, same_author=False) == [people[0], people[4], people[2]]
    people[2].table = frozenset({0, 4, 2})
    assert find_table(people[0], order, 3, same_author=False) == [people[0], people[4], people[5]]
