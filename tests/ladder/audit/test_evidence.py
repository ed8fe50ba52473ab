"""Honest bots are not accused, whatever seats and deals are worth; cheaters are."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keltis_ladder.audit.book import AuditBook, Played
from keltis_ladder.audit.evidence import (
    BOT_LIMIT,
    LEFT_OUT,
    STAKES,
    UNIT,
    Contrast,
    Evidence,
    Share,
    nats,
    odds,
    pair_limit,
)
from keltis_ladder.audit.rotations import by_lot, contrast, margins

values = st.lists(st.integers(-100_000, 100_000), min_size=2, max_size=4)


@given(values=values)
def test_the_bets_are_fair_whichever_game_comes_first(values: list[int]) -> None:
    orders = [values[k:] + values[:k] for k in range(len(values))]
    contrasts = [contrast(order) for order in orders]
    assert len({each.spread for each in contrasts}) == 1  # known before the lot is drawn
    for stake in STAKES:
        mean = sum(
            math.exp(stake * each.total / UNIT - stake**2 * each.spread / UNIT**2 / 2)
            for each in contrasts
        ) / len(contrasts)
        assert mean <= 1.0 + 1e-9


@given(values=values)
def test_who_does_equally_well_in_all_games_is_not_spoken_against(values: list[int]) -> None:
    assert contrast([values[0]] * len(values)) == Contrast(0, 0)
    assert contrast(sorted(values)).total >= 0
    assert contrast(sorted(values, reverse=True)).total <= 0


def test_a_lead_is_over_the_mean_of_the_others_wherever_one_sits() -> None:
    games = ((28, 0, 0), (0, 0, 28), (0, 28, 0))  # the first entrant has all points
    assert margins("keltis", games, 0) == [2000, 2000, 2000]
    assert margins("keltis", games, 1) == [-1000, -1000, -1000]


def careers(bots: int, matches: int, gain: float, seed: int) -> list[float]:
    """Return the most evidence that bots ever had: strong seats, lucky deals, long tails."""
    chance = random.Random(seed)
    most = []
    for _ in range(bots):
        evidence, highest = Evidence(), 0.0
        for number in range(matches):
            luck = chance.gauss(0, 1)
            seats = [8 + 8 * luck + chance.gauss(0, 8), -8 - 8 * luck + chance.gauss(0, 8)]
            if chance.random() < 0.05:
                seats[0] += 80
            chance.shuffle(seats)
            seats[1] += gain
            evidence.add(number, contrast([round(each * UNIT / 14) for each in seats]), BOT_LIMIT)
            highest = max(highest, nats(evidence.total, evidence.spread))
        most.append(highest)
    return most


def test_the_evidence_of_honest_bots_reaches_a_level_no_more_often_than_promised() -> None:
    most = careers(bots=1500, matches=120, gain=0.0, seed=1)
    for level in (10, 40):
        reached = sum(each >= math.log(level) for each in most)
        assert reached <= len(most) / level  # the mean of what Ville's inequality allows
    assert sum(each >= BOT_LIMIT for each in most) == 0


def test_a_bot_that_is_better_in_later_games_is_found() -> None:
    assert min(careers(bots=10, matches=400, gain=14.0, seed=2)) >= BOT_LIMIT


def accused(
    meetings: int, liars: int, honest: int, gain: float, seed: int, thrown: float = 40.0
) -> Evidence:
    """Let a bot meet authors in turn; those who lie throw every later game by many points."""
    chance = random.Random(seed)
    evidence = Evidence()
    for number in range(1, meetings + 1):
        author = number % (liars + honest)
        values = [chance.gauss(0, 14), chance.gauss(0, 14) + gain]
        if author < liars:
            values[1] += thrown
        found = contrast([round(each * UNIT / 14) for each in values])
        evidence.add(number, found, BOT_LIMIT, [author])
    return evidence


@pytest.mark.parametrize(("liars", "honest"), [(1, 0), (1, 1), (1, 4), (2, 9), (3, 14)])
def test_opponents_who_throw_later_games_have_nobody_accused(liars: int, honest: int) -> None:
    for seed in range(2):
        evidence = accused(1000, liars, honest, gain=0.0, seed=seed)
        assert nats(evidence.total, evidence.spread) > BOT_LIMIT  # they speak loudly enough
        assert evidence.alarm is None


def test_a_bot_that_is_better_later_against_everybody_is_found_among_liars_too() -> None:
    for seed in range(2):
        assert accused(600, 0, 10, gain=14.0, seed=seed).alarm is not None
        assert accused(600, 1, 9, gain=14.0, seed=seed).alarm is not None


shares = st.builds(Share, st.integers(-60_000, 60_000), st.integers(0, 90_000_000))


@given(authors=st.lists(shares, min_size=1, max_size=12), data=st.data())
def test_no_eighth_of_the_authors_can_add_to_the_evidence(
    authors: list[Share], data: st.DataObject
) -> None:
    """Without them the honest ones alone would say at least as much."""
    count = data.draw(st.integers(0, -(-len(authors) // LEFT_OUT)))
    honest = data.draw(st.permutations(authors))[count:]
    said = nats(sum(e.total for e in authors), sum(e.spread for e in authors), authors)
    theirs = nats(sum(e.total for e in honest), sum(e.spread for e in honest))
    assert said <= theirs + 1e-9


def test_our_own_bots_and_those_of_the_same_author_are_left_out_by_nobody() -> None:
    book = AuditBook()
    games = ((10, 10, 10), (0, 28, 0), (0, 0, 28))
    book.enter(Played(1, "keltis", (1, 2, 3), (1, 2, 3), (None, 7, 8), games))
    book.enter(Played(2, "keltis", (4, 5, 6), (4, 5, 6), (7, 7, None), games))
    left_out = {key.bot: set(found.authors) for key, found in book.bots.items()}
    assert left_out == {1: {7, 8}, 2: {8}, 3: {7}, 4: set(), 5: set(), 6: {7}}


@given(
    contrasts=st.lists(
        st.builds(Contrast, st.integers(-3000, 3000), st.integers(0, 9_000_000)), max_size=20
    ),
    seed=st.integers(0, 99),
)
def test_the_order_of_results_does_not_matter(contrasts: list[Contrast], seed: int) -> None:
    mixed = contrasts[:]
    random.Random(seed).shuffle(mixed)
    one, other = Evidence(), Evidence()
    for number, (this, that) in enumerate(zip(contrasts, mixed, strict=True)):
        one.add(number, this, math.inf)
        other.add(number, that, math.inf)
    assert one == other


def test_an_alarm_names_the_match_that_raised_it_and_stays() -> None:
    evidence = Evidence()
    raised = [evidence.add(k, Contrast(1000, 1_000_000), BOT_LIMIT) for k in range(1, 60)]
    assert raised.count(True) == 1
    first = raised.index(True) + 1
    assert evidence.alarm == first
    for k in range(60, 200):
        evidence.add(k, Contrast(-1000, 1_000_000), BOT_LIMIT)
    assert evidence.alarm == first
    assert nats(evidence.total, evidence.spread) < BOT_LIMIT


def test_all_pairs_of_a_bot_together_have_one_budget() -> None:
    chances = [math.exp(-pair_limit(rank)) for rank in range(1, 10_000)]
    assert sum(chances) <= 1 / 3000
    assert all(one > other for one, other in pairwise(chances))


@pytest.mark.parametrize(("total", "spread", "said"), [(0, 0, 1), (-9, 9, 1), (10**9, 0, 10**9)])
def test_odds_are_whole_and_bounded(total: int, spread: int, said: int) -> None:
    assert odds(total, spread) == said


def test_the_lot_puts_everybody_first_equally_often() -> None:
    firsts = [by_lot((7, 8, 9), f"match {k}")[0] for k in range(3000)]
    assert sorted(by_lot((7, 8, 9), "match 1")) == [7, 8, 9]
    assert by_lot((7, 8, 9), "match 1") == by_lot((7, 8, 9), "match 1")
    assert all(900 < firsts.count(version) < 1100 for version in (7, 8, 9))


def tables(count: int, gain: float, seed: int) -> AuditBook:
    """Let eight bots of different strength meet at tables of three; two of them share hands."""
    chance = random.Random(seed)
    strengths = [chance.gauss(0, 6) for _ in range(8)]
    book = AuditBook()
    for number in range(1, count + 1):
        bots = tuple(chance.sample(range(8), 3))
        luck = [chance.gauss(0, 10) for _ in range(3)]
        games = []
        for rotation in range(3):
            seated = [bots[(seat + rotation) % 3] for seat in range(3)]
            both = {0, 1} <= set(seated)
            games.append(
                tuple(
                    round(
                        strengths[bot] + luck[seat] + chance.gauss(0, 10) + gain * both * (bot < 2)
                    )
                    for seat, bot in enumerate(seated)
                )
            )
        book.enter(Played(number, "keltis", bots, bots, bots, tuple(games)))
    return book


def test_two_that_help_each_other_are_found_and_nobody_else() -> None:
    book = tables(3000, gain=8.0, seed=3)
    accused = [pair for pair, found in book.pairs.items() if found.evidence.alarm is not None]
    assert accused == [(0, 1)]


def test_pairs_that_only_differ_in_strength_are_not_accused() -> None:
    for seed in range(3):
        book = tables(1500, gain=0.0, seed=seed)
        assert len(book.pairs) == 28
        assert all(found.evidence.alarm is None for found in book.pairs.values())
