"""The searching bot: legal, fair, repeatable in both forms, within its budget, and stronger."""

import os
import subprocess
import sys

import pytest

from keltis_bots import greedy
from keltis_bots.budget import Milliseconds, Playouts
from keltis_bots.search import Search, utility
from keltis_engine import COMPILED, VARIANTS, Rng, restore
from tests.bots.support.matches import play, wins_match
from tests.engine.support.positions import TABLES, played
from tests.places import ROOT

FEW = 40 if COMPILED else 4  # playouts; interpreted, one takes up to a tenth of a second


def choices() -> list[int]:
    """Return what it chooses in some positions of all games."""
    return [
        Search(seed).choose(played(variant, 2, 8, "eager", 60), Playouts(12))
        for variant in VARIANTS
        for seed in (1, 2)
    ]


@pytest.mark.parametrize(("variant", "players"), TABLES)
@pytest.mark.parametrize("decisions", [0, 25, 50])
def test_the_choice_is_legal_and_depends_on_the_view_alone(
    variant: str, players: int, decisions: int
) -> None:
    state = played(variant, players, 5, "eager", decisions)
    view = state.view(int(state.seat))

    choice = Search(7).choose(state, Playouts(FEW))
    assert choice in state.legal_actions()
    for seed in (1, 2):
        assert Search(7).choose(restore(view, Rng(seed)), Playouts(FEW)) == choice


def test_the_root_is_left_alone() -> None:
    state = played("keltis", 2, 5, "eager", 20)
    before = state.reveal()
    Search(1).choose(state, Playouts(FEW))
    assert state.reveal() == before


def test_both_forms_choose_the_same() -> None:
    script = (
        "import keltis_engine, tests.bots.test_search as search\n"
        "print(keltis_engine.COMPILED, search.choices())"
    )
    sources = os.pathsep.join(str(ROOT / name) for name in ("engine", "bots", "ladder", "."))
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": sources},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert done.stdout == f"False {choices()}\n"


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_makes_no_more_playouts_than_it_may(variant: str) -> None:
    search = Search(1)
    state = played(variant, 2, 5, "eager", 1)
    search.choose(state, Playouts(FEW))
    assert 0 < search.playouts <= FEW or len(state.legal_actions()) == 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_without_time_it_plays_what_the_greedy_bot_plays(variant: str) -> None:
    search = Search(1)
    for decisions in (0, 1, 17, 40):
        state = played(variant, 2, 5, "eager", decisions)
        choices = {greedy.choose(state, Rng(seed)) for seed in range(16)}
        assert search.choose(state, Milliseconds(0)) in choices
    assert search.playouts == 0


def test_a_single_legal_action_needs_no_search() -> None:
    search = Search(1)
    state = played("weg-der-steine", 2, 5, "random", 0)
    assert len(state.legal_actions()) == 1
    assert search.choose(state, Milliseconds(60_000)) == state.legal_actions()[0]
    assert search.playouts == 0


def test_utility_is_the_lead_and_a_bonus_for_the_winner() -> None:
    state = played("weg-der-steine", 3, 6, "eager", 10_000)
    scores = state.scores()
    best, second, _ = sorted(scores, reverse=True)
    assert best > second
    assert utility(state, scores.index(best)) == best - second + 10
    assert utility(state, scores.index(second)) == second - best - 10


@pytest.mark.skipif(not COMPILED, reason="interpreted, this takes half an hour")
@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_it_beats_the_greedy_bot(variant: str) -> None:
    search, rng = Search(1), Rng(2)
    won = [
        wins_match(
            variant,
            seed,
            lambda state: search.choose(state, Playouts(50)),
            lambda state: greedy.choose(state, rng),
        )
        for seed in range(4)
    ]
    assert sum(won) >= 3


@pytest.mark.skipif(not COMPILED, reason="interpreted, this takes half an hour")
@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_it_wins_more_than_its_share_at_a_full_table(variant: str) -> None:
    search, rng = Search(1), Rng(2)
    wins = 0
    for seed in range(3):
        for seat in range(4):
            players = [lambda state: greedy.choose(state, rng)] * 4
            players[seat] = lambda state: search.choose(state, Playouts(30))
            wins += seat in play(variant, seed, players).winners()
    assert wins >= 4  # of 12
