"""Scores are whole numbers, and no fault ever gains."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keltis_bots.greedy import choose
from keltis_engine import VARIANTS, Rng, State, find_variant
from keltis_ladder.match.faults import Fault, Kind
from keltis_ladder.match.results import GameResult, Loss, MatchResult, rank_by
from keltis_ladder.match.rotation import entrants_by_seat
from keltis_ladder.ratings.joint import kinds
from keltis_ladder.ratings.joint.fit import COLD, Fit
from keltis_ladder.ratings.joint.kinds import KINDS, variant_number
from keltis_ladder.ratings.joint.numbers import NUMBERS
from keltis_ladder.ratings.joint.scores import game_scores, match_scores
from keltis_ladder.ratings.joint.standings import rating
from keltis_ladder.ratings.joint.statistics import Statistics, match_of
from keltis_ladder.ratings.model import UnknownMatch
from keltis_ladder.referee.caretaker import Caretaker
from tests.ladder.ratings.joint.support.drawn import Drawn, newcomers

FAULT = Fault(Kind.TIMEOUT, "clock", "its clock ran out")


def game(scores: list[int], dropped: dict[int, int] | None = None, rotation: int = 0) -> GameResult:
    """A game as the referee tells it; ``dropped`` says which seats did, and when."""
    out = dropped or {}
    ranks = rank_by([(0, out[k]) if k in out else (1, score) for k, score in enumerate(scores)])
    losses = [Loss(seat, decision, FAULT, {}) for seat, decision in out.items()]
    seats = entrants_by_seat(rotation, len(scores))
    return GameResult(rotation, seats, [], "", scores, ranks, [], losses)


def test_the_model_knows_all_variants() -> None:
    assert list(kinds.VARIANTS) == list(VARIANTS)


def test_points_and_wins_are_summed_over_the_rotations() -> None:
    played = MatchResult([game([30, 20]), game([10, 10], rotation=1)])
    assert match_scores("keltis", played) == (12 * 40 + 60 + 30, 12 * 30 + 30)


def test_a_shared_win_is_a_whole_number_of_twelfths() -> None:
    for scores in ([9, 9, 9, 9], [9, 9, 9, 0], [9, 9, 0, 0]):
        shared = game(scores)
        for number, win in enumerate(NUMBERS.win):
            exact = [
                12 * (points + win * share)
                for points, share in zip(scores, shared.shares(), strict=True)
            ]
            assert game_scores(shared, win, NUMBERS.forfeit[number]) == exact
            assert all(Fraction(score).denominator == 1 for score in exact)


def test_a_match_lacks_no_rotation_and_is_of_a_known_kind() -> None:
    with pytest.raises(ValueError, match="a game for each rotation; got 1"):
        match_scores("keltis", MatchResult([game([1, 2])]))
    with pytest.raises(UnknownMatch, match="'chess' with 2 players"):
        match_scores("chess", MatchResult([game([1, 2]), game([1, 2], rotation=1)]))


def test_a_fault_costs_at_least_three_times_the_luck_of_a_match() -> None:
    for number, kind in enumerate(KINDS):
        lost = NUMBERS.forfeit[variant_number(number)] / kind.players
        assert lost > 3 * NUMBERS.luck[number]


def test_who_drops_out_while_leading_loses_all_the_same() -> None:
    scores = game_scores(game([80, 10], {0: 40}), 5, 110)
    assert scores[0] - scores[1] == -12 * 110


def test_who_drops_out_far_behind_keeps_its_distance() -> None:
    scores = game_scores(game([-30, 90], {0: 40}), 5, 110)
    assert scores[0] - scores[1] == -12 * 125


def test_who_stays_is_as_far_ahead_of_others_who_stay_as_it_was() -> None:
    scores = game_scores(game([30, 12, 7, 0], {3: 5}), 5, 110)
    assert scores[0] - scores[1] == 12 * (18 + 5)
    assert scores[1] - scores[2] == 12 * 5
    assert scores[2] - scores[3] == 12 * 110


def test_who_drop_out_of_the_same_game_are_even() -> None:
    scores = game_scores(game([30, 12, 7, 0], {0: 5, 3: 9}), 5, 110)
    assert scores[0] == scores[3] == scores[2] - 12 * 110
    assert game_scores(game([30, 12], {0: 0, 1: 0}), 5, 110) == [0, 0]


SCORES = st.integers(-25, 75)  # any two are nearer to each other than the forfeit of keltis


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, list[int], list[int], dict[int, int]]:
    """A seat, scores if it had stayed, scores after its fault, and who else dropped out."""
    players = draw(st.integers(2, 4))
    seat = draw(st.integers(0, players - 1))
    stayed = draw(st.lists(SCORES, min_size=players, max_size=players))
    dropped = draw(st.lists(SCORES, min_size=players, max_size=players))
    others = st.sampled_from([k for k in range(players) if k != seat])
    out = draw(st.dictionaries(others, st.integers(0, 50), max_size=players - 1))
    return seat, stayed, dropped, out


@given(tables())
def test_whatever_a_game_would_have_come_to_a_fault_is_worse(
    table: tuple[int, list[int], list[int], dict[int, int]],
) -> None:
    """Against everybody at the table, whatever the others make of it, and whoever else fails."""
    seat, stayed, dropped, out = table
    win, forfeit = NUMBERS.win[0], NUMBERS.forfeit[0]
    honest = game_scores(game(stayed, out), win, forfeit)
    fault = game_scores(game(dropped, {**out, seat: 7}), win, forfeit)
    for other in range(len(stayed)):
        if other != seat:
            assert fault[seat] - fault[other] <= honest[seat] - honest[other]


def play(variant: str, players: int, seed: int, dropped: dict[int, int]) -> GameResult:
    """The first seat is greedy, the last plays at random, and some drop out as with the referee."""
    ruleset = find_variant(variant, {})
    state, caretaker = ruleset.deal(players, seed), Caretaker(ruleset)
    rng, chance = Rng(seed), random.Random(seed)
    out: dict[int, int] = {}
    decisions = 0
    while not state.over and players - len(out) > 1:
        seat = int(state.seat)
        if seat not in out and decisions >= dropped.get(seat, decisions + 1):
            out[seat] = decisions
            continue
        state.apply(_decide(state, seat, players, rng, chance, caretaker if seat in out else None))
        decisions += 1
    return game(state.scores(), out)


def _decide(
    state: State,
    seat: int,
    players: int,
    rng: Rng,
    chance: random.Random,
    caretaker: Caretaker | None,
) -> int:
    legal = list(state.legal_actions())
    if caretaker is not None:
        return caretaker.choose(legal)
    return chance.choice(legal) if seat == players - 1 else choose(state, rng)


@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_in_real_games_dropping_out_never_gains(kind: int) -> None:
    """The bot that plays at random loses by more than any other, and would have most to gain."""
    variant, players = KINDS[kind]
    place = variant_number(kind)
    win, forfeit = NUMBERS.win[place], NUMBERS.forfeit[place]
    for seed in range(12):
        honest = game_scores(play(variant, players, seed, {}), win, forfeit)
        for seat in (0, players - 1):
            for moment in (0, 20, 60):
                left = play(variant, players, seed, {seat: moment})
                if not left.losses:
                    continue  # the game was over before
                scores = game_scores(left, win, forfeit)
                for other in range(players):
                    if other != seat:
                        assert scores[seat] - scores[other] < honest[seat] - honest[other]


@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_the_rating_of_who_drops_out_is_lower_for_it(kind: int) -> None:
    """In one game of a match, while the rest of it stays as it was."""
    variant, players = KINDS[kind]
    for seed in range(5):
        ladder = Drawn(seed, newcomers(6)).play_at_random(60)
        fit = Fit.from_scratch(ladder.members, Statistics.of(ladder.matches))
        honest = [replace(play(variant, players, seed, {}), rotation=0)]
        for rotation in range(1, players):
            seats = entrants_by_seat(rotation, players)
            honest.append(replace(honest[0], rotation=rotation, entrants=seats))
        dropped = play(variant, players, seed, {players - 1: 10})
        assert dropped.losses
        ratings = []
        for games in (honest, [dropped, *honest[1:]]):
            scores = match_scores(variant, MatchResult(games))
            match = match_of(variant, range(players), scores)
            fit.count(match)
            fit.settle(COLD)
            ratings.append(rating(fit, players - 1, {kind: 1.0}) or 0.0)
            fit.take_back(match)
            fit.settle(COLD)
        assert ratings[1] < ratings[0]
