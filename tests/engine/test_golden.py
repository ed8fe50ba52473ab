"""The golden playthroughs are what the engine plays today."""

import difflib

import pytest

from keltis_engine import VARIANTS, find_variant
from tests.engine.support.golden import FOLDER, PLAYERS, all_paths, path_of, playthrough
from tests.engine.support.positions import TABLES

SHOWN = 12  # lines of a difference
WIDTH = 160


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_the_game_is_played_as_it_was_written_down(variant: str, players: int) -> None:
    path = path_of(variant, players)
    written = path.read_text("ascii").splitlines()
    played = playthrough(variant, players).splitlines()
    if written != played:
        difference = difflib.unified_diff(written, played, "golden", "now", lineterm="", n=1)
        shown = [line[:WIDTH] for _, line in zip(range(SHOWN), difference, strict=False)]
        pytest.fail(
            f"{path.name} is played differently now. If that is meant, run `make golden`, review "
            "the diff, and give the variant a new version:\n" + "\n".join(shown),
            pytrace=False,
        )


def test_every_variant_and_number_of_players_has_a_playthrough_and_none_is_left_over() -> None:
    assert sorted(FOLDER.iterdir()) == sorted(all_paths())
    assert set(all_paths()) == {
        path_of(variant, players)
        for variant in VARIANTS
        for players in find_variant(variant).players
    }
    assert [(variant, players) for variant in VARIANTS for players in PLAYERS] == TABLES


def test_the_playthroughs_stay_small_enough_to_review() -> None:
    sizes = {path.name: path.stat().st_size for path in all_paths()}
    assert max(sizes.values()) < 200_000
    assert sum(sizes.values()) < 1_500_000
