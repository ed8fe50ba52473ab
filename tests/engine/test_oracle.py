"""The engine plays every game exactly as the oracle, written from the rules page, says."""

from collections import Counter
from itertools import pairwise

import pytest

import keltis_engine
from keltis_engine import Rng, State, find_variant
from tests.engine import oracle
from tests.engine.oracle import common, neue_wege
from tests.engine.support.oracle_games import hoarder, mixed_game, play, runners_games, sponsor

VARIANTS = list(oracle.GAMES)
GAMES = 150 if keltis_engine.COMPILED else 24

PHASES = {
    "keltis": {"turn", "figure", "move", "clover", "draw"},
    "neue-wege": {"turn", "move", "figure", "clover", "drop", "draw"},
    "kartenspiel": {"turn", "draw", "final"},
    "weg-der-steine": {"turn", "revealed", "last-turn"},
}
ENDINGS = {
    "keltis": {"figures", "last card", "turn limit"},
    "neue-wege": {"figures", "last card", "turn limit"},
    "kartenspiel": {"end cards", "last card", "turn limit"},
    "weg-der-steine": {"last tile", "turn limit"},
}
VERBS = {
    "keltis": "lay discard small big move clover stay draw take",
    "neue-wege": "lay discard move small big clover stay drop keep draw take",
    "kartenspiel": "lay discard pair draw take add done",
    "weg-der-steine": "reveal take keep leave last pass",
}


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_engine_plays_by_the_oracles_rules(variant: str) -> None:
    for number in range(GAMES):
        oracle.check(mixed_game(variant, number))


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_scores_hold_in_games_that_are_broken_off(variant: str) -> None:
    for number in range(GAMES // 2):
        oracle.check(mixed_game(variant, number, 1 + number * 7 % 150))


@pytest.mark.one_form  # what the games of the runners hold is the same in both forms
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_phase_verb_and_ending_occurs(variant: str) -> None:
    games = [oracle.check(replay) for replay in runners_games(variant)]
    assert set[str]().union(*(game.phases_seen for game in games)) == PHASES[variant]
    assert set[str]().union(*(game.decisions_seen for game in games)) == set(VERBS[variant].split())
    assert {game.ending for game in games} == ENDINGS[variant]


def test_a_figure_at_the_end_of_its_path_calls_one_from_the_start() -> None:
    follow_ups: set[str] = set()
    for replay in runners_games("keltis"):
        phases = [record["phase"] for record in replay["decisions"]]
        follow_ups.update(b for a, b in pairwise(phases) if a == "move")
    assert {"figure", "clover", "draw"} <= follow_ups


def test_a_figure_that_came_to_the_end_without_a_card_obeys_the_end_stone_rule() -> None:
    first_cards = 0
    for seed in range(240):
        tiles = find_variant("keltis").deal(4, seed).reveal()["tiles"]
        clovers = Counter(place[0] for place, tile in tiles.items() if tile == "clover")
        (path, many), (colour, some) = clovers.most_common(2)
        if many + some < 7:
            continue
        replay = play("keltis", 4, seed, {}, [hoarder(colour, path), *[sponsor(colour)] * 3])
        oracle.check(replay)
        cards: Counter[str] = Counter()
        for record, following in pairwise(replay["decisions"]):
            if record["decision"].startswith("lay"):  # only the hoarder lays
                cards[record["decision"][4]] += 1
                first_cards += following["phase"] == "move" and cards[record["decision"][4]] == 1
    assert first_cards


@pytest.mark.parametrize("variant", ["keltis", "neue-wege", "kartenspiel"])
def test_players_who_never_finish_meet_the_default_turn_limit(variant: str) -> None:
    def circle(state: State, rng: Rng) -> int:
        """Discard, and take anything but the draw pile's cards."""
        return state.legal_actions()[-1]

    game = oracle.check(play(variant, 2, 1, {}, [circle] * 2))
    assert (game.turn, game.ending) == (1000, "turn limit")


# The oracle's own rules hold what the rules page says by example ----------------------------------


@pytest.mark.parametrize("row", [[0, 1, 3, 3, 5], [9, 9, 7, 6, 4]])
def test_rows_of_the_rules_page_fit(row: list[int]) -> None:
    assert all(common.fits(row[:i], row[i]) for i in range(len(row)))


@pytest.mark.parametrize("value", [7, 9])
def test_a_falling_row_takes_nothing_higher(value: int) -> None:
    assert not common.fits([8, 5], value)


def test_wish_stones_of_the_rules_page_score_16() -> None:
    assert neue_wege.score_wish_stones(["B", "B", "B", "Y", "Y", "R", "V"]) == 16
