"""As whom somebody sees a game, before and after the match is over."""

from __future__ import annotations

import pytest

from keltis_engine import POST_GAME, SPECTATORS
from keltis_ladder.spectate.live_match import Viewer
from keltis_ladder.spectate.sight import early_sight, sight, sight_name

BOTS = ("alice", "bob", "carol")
LAST = len(BOTS) - 1


@pytest.mark.parametrize("rotation", range(len(BOTS)))
@pytest.mark.parametrize("first_play", [True, False])
@pytest.mark.parametrize("wish", ["public", "all", "0", "alice", "nobody"])
def test_while_a_match_runs_a_stranger_sees_what_is_public(
    wish: str, rotation: int, first_play: bool
) -> None:
    assert sight(wish, BOTS, rotation, over=False, own=False, first_play=first_play) == SPECTATORS


@pytest.mark.parametrize(
    ("rotation", "first_play", "seen"),
    [
        (0, True, SPECTATORS),
        (1, True, SPECTATORS),
        (LAST, True, 1),
        (LAST, False, SPECTATORS),
    ],
)
def test_an_owner_sees_a_hand_early_in_the_last_game_of_a_new_deal_alone(
    rotation: int, first_play: bool, seen: Viewer
) -> None:
    assert early_sight("alice", BOTS, rotation, first_play) == seen
    assert sight("alice", BOTS, rotation, over=False, own=True, first_play=first_play) == seen


def test_who_owns_a_bot_that_is_not_in_the_match_sees_what_is_public() -> None:
    assert early_sight("dora", BOTS, LAST, first_play=True) == SPECTATORS


@pytest.mark.parametrize(
    ("wish", "seen"),
    [
        ("public", SPECTATORS),
        ("all", POST_GAME),
        ("0", 0),
        ("2", 2),
        ("3", SPECTATORS),
        ("carol", 1),
        ("alice", 2),
        ("dora", SPECTATORS),
    ],
)
def test_when_a_match_is_over_everybody_sees_what_they_wish(wish: str, seen: Viewer) -> None:
    for own in (True, False):
        assert sight(wish, BOTS, 1, over=True, own=own, first_play=False) == seen


def test_a_bot_that_is_called_like_a_seat_is_meant_before_the_seat() -> None:
    assert sight("0", ("x", "0"), 0, over=True, own=False, first_play=False) == 1


def test_a_bot_that_is_there_twice_is_seen_on_the_seat_of_the_first() -> None:
    assert sight("x", ("y", "x", "x"), 1, over=True, own=False, first_play=False) == 0


def test_viewers_have_names_in_answers() -> None:
    assert [sight_name(viewer) for viewer in (SPECTATORS, POST_GAME, 2)] == ["public", "all", "2"]
