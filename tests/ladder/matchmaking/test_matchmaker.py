"""The matchmaker chooses what teaches most, and keeps its picture through all that happens."""

from __future__ import annotations

import random
import statistics
from collections import Counter

import pytest

from keltis_ladder.errors import LadderError
from keltis_ladder.match.orders import Order
from keltis_ladder.match.reasons import MatchReason, reason_text
from keltis_ladder.matchmaking import Category, Contender, History, Matchmaker, Policy, category_of
from keltis_ladder.matchmaking.field import Field
from keltis_ladder.matchmaking.value import chance
from keltis_ladder.ratings.model import noise_of
from keltis_ladder.ratings.scopes import ANY, OVERALL, Scope
from keltis_ladder.ratings.skill import Belief
from tests.ladder.matchmaking.support.ladders import (
    ANY_NUMBER,
    candidate,
    chance_beliefs,
    duellist,
    generalist,
    known,
    proposed,
    veteran,
    why,
)

DUELS = Policy(variants={"keltis": 1.0}, players={2: 1.0})


def ladder_of_veterans(
    ratings: list[float], policy: Policy | None = None, sigma: float = 1.0
) -> Matchmaker:
    """Return a ladder on which version k has the k-th rating, and nobody is new."""
    maker = Matchmaker(policy, seed=1)
    for version, mu in enumerate(ratings):
        contender = generalist(version)
        maker.enter(contender, known(mu, sigma), veteran(contender))
    return maker


def play(maker: Matchmaker, matches: int) -> list[Order]:
    """Play matches that teach nothing."""
    found = []
    for _ in range(matches):
        found.append(proposed(maker))
        maker.finished(found[-1], {})
    return found


def test_nobody_can_play_alone_or_only_with_an_authors_own_bots() -> None:
    maker = Matchmaker()
    assert maker.propose() is None
    maker.enter(generalist(1, author=7), {})
    assert maker.propose() is None
    maker.enter(generalist(2, author=7), {})
    assert maker.propose() is None
    maker.enter(generalist(3, author=8), {})
    assert 3 in proposed(maker).versions
    assert proposed(maker).players == 2  # three have no legal table


def test_the_policy_may_let_an_authors_bots_meet() -> None:
    maker = Matchmaker(Policy(same_author=True))
    maker.enter(generalist(1, author=7), {})
    maker.enter(generalist(2, author=7), {})
    assert set(proposed(maker).versions) == {1, 2}


def test_a_version_is_asked_for_what_it_claims_only() -> None:
    maker = Matchmaker()
    for version in range(4):
        maker.enter(duellist(version), {})
    maker.enter(Contender(9, 9, 9, False, ("neue-wege", "a later game"), (2,)), {})
    assert {category_of(proposal) for proposal in play(maker, 30)} == {("keltis", 2)}
    assert maker.fair_share(0) == 2
    assert maker.fair_share(9) == float("inf")


def test_a_fair_share_is_bots_over_seats() -> None:
    maker = ladder_of_veterans([25.0] * 11)
    assert maker.fair_share(0) == pytest.approx(11 / 2.75)
    maker.enter(duellist(99), {})
    assert maker.fair_share(99) == pytest.approx(12 / 2 * 8)
    assert maker.fair_share(0) == pytest.approx(1 / (2 / 8 / 12 + (2.75 - 2 / 8) / 11))


def test_opponents_of_a_new_version_are_spread_over_where_it_may_stand() -> None:
    policy = Policy(variants={"keltis": 1.0}, players={4: 1.0})
    maker = ladder_of_veterans([float(mu) for mu in range(5, 46)], policy)
    maker.enter(generalist(99), {OVERALL: Belief(25, 9)})
    _, *opponents = proposed(maker).versions
    assert sorted(5 + version for version in opponents) == [19, 25, 31]


def test_the_first_match_of_a_new_version_is_a_short_one() -> None:
    maker = ladder_of_veterans([25.0] * 12)
    for version in (97, 98, 99):
        maker.enter(generalist(version), known(25.0, 8.0))
        first = proposed(maker)
        assert (first.urgent, first.versions[0], first.players) == (True, version, 2)


def test_a_new_version_is_searched_for_by_halves_as_results_come_in() -> None:
    maker = ladder_of_veterans([float(mu) for mu in range(5, 46)])
    maker.enter(Contender(99, 99, 99, False, generalist(0).variants, (2,)), {})
    levels = []
    for mu, sigma in ((32.0, 6.0), (37.0, 5.0), (34.0, 4.0)):
        proposal = proposed(maker)
        assert proposal.versions[0] == 99
        levels.append(5 + proposal.versions[1])
        maker.finished(proposal, {99: known(mu, sigma)})
    levels.append(5 + proposed(maker).versions[1])
    assert levels == [pytest.approx(level, abs=1.5) for level in (25, 32, 37, 34)]


def test_without_results_a_new_version_is_tried_at_several_levels() -> None:
    maker = ladder_of_veterans([float(mu) for mu in range(5, 46)])
    duels = Contender(99, 99, 99, False, generalist(0).variants, (2,))
    maker.enter(duels, {OVERALL: Belief(25, 9)})
    levels = []
    for _ in range(120):
        proposal = proposed(maker)
        if 99 not in proposal.versions:
            maker.finished(proposal, {})
        elif why(proposal) in (MatchReason.NEW_VERSION, MatchReason.FIRST_OF_VARIANT):
            levels.append(5 + proposal.versions[1])
    assert levels[:3] == [pytest.approx(level, abs=1.5) for level in (25, 31, 19)]


def test_close_ones_meet_and_lopsided_matches_are_rare() -> None:
    rng = random.Random(2)
    ratings = [rng.gauss(25, 8) for _ in range(40)]
    maker = ladder_of_veterans(ratings, DUELS)
    beta = noise_of("keltis", 2).beta
    chances = []
    for proposal in play(maker, 400):
        one, other = (Belief(ratings[version], 1.0) for version in proposal.versions)
        if why(proposal) == MatchReason.CLOSE:
            chances.append(chance(one, other, beta))
    assert len(chances) > 100
    assert statistics.fmean(chances) > 0.35
    assert min(chances) > 0.1


def test_matches_go_where_the_ranking_is_in_doubt() -> None:
    # Five close together, the others far from everybody, all equally well known.
    ratings = [24.0, 24.5, 25.0, 25.5, 26.0, 0.0, 8.0, 40.0, 48.0, 56.0]
    maker = ladder_of_veterans(ratings, DUELS)
    made_for = [each.versions[0] for each in play(maker, 300) if why(each) == MatchReason.CLOSE]
    assert len(made_for) > 100
    assert sum(version < 5 for version in made_for) > 0.95 * len(made_for)


def test_matches_go_to_who_is_uncertain() -> None:
    maker = ladder_of_veterans([25.0] * 20, DUELS, sigma=1.0)
    for version in range(20, 24):
        contender = generalist(version)
        maker.enter(contender, known(25, 3.0), veteran(contender))
    seats = Counter(version for each in play(maker, 200) for version in each.versions)
    certain = [seats[version] for version in range(20)]
    assert min(seats[version] for version in range(20, 24)) > 1.5 * statistics.fmean(certain)


def test_in_a_variant_its_own_rating_decides_who_is_close() -> None:
    maker = ladder_of_veterans([float(mu) for mu in range(5, 46)], DUELS)
    contender = generalist(99)
    beliefs = {**known(25, 1.0), Scope("keltis", ANY): Belief(40, 0.3)}
    maker.enter(contender, beliefs, veteran(contender))
    made = [
        each
        for each in play(maker, 200)
        if each.versions[0] == 99 and why(each) != MatchReason.NOT_MET
    ]
    levels = [5 + each.versions[1] for each in made]
    assert len(levels) >= 3
    assert statistics.median(levels) == pytest.approx(39, abs=3)


def test_opponents_vary() -> None:
    maker = ladder_of_veterans([25 + version / 10 for version in range(20)], DUELS)
    opponents: dict[int, Counter[int]] = {version: Counter() for version in range(20)}
    for proposal in play(maker, 400):
        one, other = proposal.versions
        opponents[one][other] += 1
        opponents[other][one] += 1
    for met in opponents.values():
        assert len(met) >= 10
        assert max(met.values()) <= 0.25 * met.total()


def test_who_is_playing_is_not_taken_while_others_are_free() -> None:
    maker = ladder_of_veterans([25.0] * 60)
    for _ in range(12):
        proposed(maker)
    seats = [version for proposal in maker.running for version in proposal.versions]
    assert len(seats) == len(set(seats))


def test_few_bots_play_several_matches_at_once_if_there_are_many_referees() -> None:
    maker = ladder_of_veterans([25.0, 26.0, 27.0])
    for _ in range(20):
        proposed(maker)
    seats = Counter(version for proposal in maker.running for version in proposal.versions)
    assert min(seats.values()) >= 10


def test_a_version_that_makes_referees_fail_gets_no_more_than_its_turns() -> None:
    maker = ladder_of_veterans([25.0] * 100)
    maker.enter(generalist(999), {})
    seats = 0
    for _ in range(600):
        proposal = proposed(maker)
        if 999 in proposal.versions:
            seats += 1
            maker.abandoned(proposal)
        else:
            maker.finished(proposal, {})
    policy = maker.policy
    assert seats <= policy.burst + policy.most * 600 / maker.fair_share(999)


def test_a_match_ends_once() -> None:
    maker = ladder_of_veterans([25.0] * 4)
    one, other = proposed(maker), proposed(maker)
    maker.finished(one, {})
    maker.abandoned(other)
    for over in (one, other):
        with pytest.raises(LadderError, match="not under way"):
            maker.finished(over, {})


def test_results_of_those_who_left_are_ignored() -> None:
    maker = ladder_of_veterans([25.0] * 5)
    running = [proposed(maker) for _ in range(4)]
    maker.withdraw(2)
    for proposal in running:
        maker.finished(proposal, chance_beliefs(proposal, random.Random(1)))
    assert all(2 not in proposal.versions for proposal in play(maker, 40))
    assert [contender.version for contender in maker.active] == [0, 1, 3, 4]


def test_what_cannot_be_is_refused() -> None:
    maker = ladder_of_veterans([25.0] * 3)
    with pytest.raises(LadderError, match="already"):
        maker.enter(generalist(2), {})
    with pytest.raises(LadderError, match="not on the ladder"):
        maker.withdraw(7)
    with pytest.raises(LadderError, match="versions 2 and 8"):
        maker.enter(Contender(8, 2, 5, False, ("keltis",), (2,)), {})


def test_the_same_seed_makes_the_same_matches() -> None:
    stories = []
    for seed in (1, 1, 2):
        maker = Matchmaker(seed=seed)
        for version in range(12):
            maker.enter(generalist(version), {})
        chance_of_results = random.Random(5)
        story = []
        for _ in range(60):
            proposal = proposed(maker)
            story.append((proposal.variant, proposal.versions, proposal.reason))
            maker.finished(proposal, chance_beliefs(proposal, chance_of_results))
        stories.append(story)
    assert stories[0] == stories[1] != stories[2]


def test_after_a_restart_nobody_is_new_who_has_played_and_the_last_table_is_known() -> None:
    maker = Matchmaker(DUELS, number=1000)
    for version, other in ((0, 1), (1, 0), (2, 3), (3, 2)):
        history = History({("keltis", 2): 9}, 990 + version, (version, other), {other: 990})
        maker.enter(duellist(version), known(25 + 20 * (version // 2)), history)
    proposal = proposed(maker)
    assert maker.number == 1001
    assert why(proposal) != MatchReason.NEW_VERSION
    assert set(proposal.versions) not in ({0, 1}, {2, 3})


def test_who_waited_before_a_restart_has_waited() -> None:
    maker = Matchmaker(DUELS, number=1000)
    for version in range(10):
        contender = duellist(version)
        maker.enter(contender, known(25), veteran(contender, last=980 if version == 7 else 999))
    proposal = proposed(maker)
    assert proposal.versions[0] == 7
    assert why(proposal) == MatchReason.WAITED


def test_whoever_has_waited_longest_comes_first() -> None:
    maker = Matchmaker(DUELS, number=1000)
    last = {0: 940, 1: 900, 2: 920, 3: 910, 4: 930}
    for version in range(40):
        contender = duellist(version)
        maker.enter(contender, known(25 + 3 * version), veteran(contender, last.get(version, 1000)))
    made_for: list[int] = []
    while len(made_for) < 3:
        proposal = proposed(maker)
        assert why(proposal) == MatchReason.WAITED
        made_for.append(proposal.versions[0])
    assert made_for[0] == 1
    assert made_for == sorted(made_for, key={1: 0, 3: 1, 2: 2, 4: 3, 0: 4}.__getitem__)


def test_a_new_version_waits_for_its_result_but_not_for_ever() -> None:
    maker = ladder_of_veterans([float(mu) for mu in range(5, 46)])
    maker.enter(generalist(99), {})
    first = proposed(maker)
    others = [proposed(maker) for _ in range(5)]
    assert not any(99 in proposal.versions for proposal in others)
    maker.finished(first, {99: known(27, 6.0)})
    second = proposed(maker)
    assert second.versions[0] == 99
    waited = 1
    while 99 not in (proposal := proposed(maker)).versions:
        maker.finished(proposal, {})
        waited += 1
    assert waited == pytest.approx(maker.fair_share(99), abs=2)


def test_who_has_been_placed_stays_placed_when_others_come() -> None:
    maker = Matchmaker(seed=1)
    for version in range(6):
        maker.enter(generalist(version), {})
    play(maker, 60)
    for version in range(6, 9):
        maker.enter(generalist(version), {})
        firsts = [each for each in play(maker, 30) if why(each) == MatchReason.FIRST_OF_VARIANT]
        assert all(each.versions[0] == version for each in firsts)


def test_another_match_is_made_rather_than_the_same_table_again() -> None:
    # Two authors with two bots each: some versions have no other table left, but others have.
    policy = Policy(variants={"keltis": 1.0}, players={2: 1.0}, patience=1e6, rotation=10**6)
    maker = Matchmaker(policy, seed=4)
    for version in range(4):
        contender = duellist(version, author=version // 2)
        maker.enter(contender, known(25), veteran(contender))
    tables: dict[int, set[int]] = {}
    for proposal in play(maker, 100):
        for version in proposal.versions:
            assert tables.get(version) != set(proposal.versions)
            tables[version] = set(proposal.versions)


def test_who_has_left_is_forgotten() -> None:
    field = Field(Policy())
    people = [candidate(generalist(version)) for version in range(2)]
    for each in people:
        field.add(each)
    people[0].sit_down(1, Category("keltis", 2), (0, 1))
    assert people[0].met == {1: 1}
    field.remove(1)
    assert people[0].met == {}


def test_a_history_from_a_ladder_that_counted_further_makes_nobody_wait() -> None:
    maker = Matchmaker(DUELS, number=10)
    for version in range(6):
        met = dict.fromkeys(set(range(6)) - {version}, 5000)
        history = History({("keltis", 2): 9}, 5000, (version, 99), met)
        maker.enter(duellist(version), known(25), history)
    seats = Counter(version for each in play(maker, 40) for version in each.versions)
    assert min(seats.values()) >= 8


def test_a_match_under_way_is_taken_over_after_a_restart() -> None:
    maker = Matchmaker(DUELS, number=1000)
    maker.enter(duellist(0), {})
    resumed = Order("keltis", (0, 1))
    maker.resume(resumed)
    maker.enter(duellist(1), {})  # in whichever order
    for version in range(2, 12):
        maker.enter(duellist(version), known(25), veteran(duellist(version), last=1000))
    assert maker.running == [resumed]
    proposal = proposed(maker)
    assert why(proposal) != MatchReason.NEW_VERSION  # the first match of both is being played
    assert not {0, 1} & set(proposal.versions)
    maker.finished(resumed, {0: known(30)})
    assert maker.running == [proposal]


def test_people_are_told_why() -> None:
    maker = ladder_of_veterans([25.0 + k for k in range(12)])
    maker.enter(generalist(99), {})
    told = {reason_text(proposal.reason) for proposal in play(maker, 150)}
    assert told >= {
        "new version",
        "close and uncertain",
        "has waited longest",
        "have not met for long",
    }
    assert any(reason.startswith("first match of ") for reason in told)
    four = Matchmaker(Policy(players={4: 1.0}))
    for version in range(4):
        four.enter(Contender(version, version, version, False, ("keltis",), ANY_NUMBER), {})
    assert "the share of keltis with 4 players" in {
        reason_text(each.reason) for each in play(four, 10)
    }


def test_the_best_gain_falls_as_ratings_get_sure_and_rises_with_a_new_version() -> None:
    assert Matchmaker().best_gain() is None
    gains = []
    makers = [
        ladder_of_veterans([20.0 + place for place in range(12)], sigma=sigma)
        for sigma in (4.0, 2.0, 1.0, 0.5, 0.2)
    ]
    for maker in makers:
        gain = maker.best_gain()
        assert gain is not None
        gains.append(gain)
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] <= 0.0  # drift undoes more than a match would teach
    makers[-1].enter(generalist(99), {})
    renewed = makers[-1].best_gain()
    assert renewed is not None
    assert renewed > gains[0] / 10


def test_who_is_far_from_everybody_leaves_little_to_learn() -> None:
    near, far = (ladder_of_veterans(ratings) for ratings in ([25.0, 25.5], [5.0, 45.0]))
    close, apart = near.best_gain(), far.best_gain()
    assert close is not None
    assert apart is not None
    assert close > 0.0
    assert apart < close / 1000


def test_the_best_gain_counts_only_matches_that_may_be_played() -> None:
    maker = Matchmaker()
    for version, (author, mu) in enumerate([(1, 25.0), (1, 25.0), (2, 90.0)]):
        contender = generalist(version, author)
        maker.enter(contender, known(mu), veteran(contender))
    gain = maker.best_gain()
    assert gain is not None
    assert gain < 1e-6  # the two that are equal are of one author


def test_the_best_gain_follows_results() -> None:
    maker = ladder_of_veterans([25.0, 25.5], DUELS, sigma=4.0)
    before = maker.best_gain()
    proposal = proposed(maker)
    maker.finished(proposal, {version: known(25.0, 0.3) for version in proposal.versions})
    after = maker.best_gain()
    assert before is not None
    assert after is not None
    assert after < before / 10
