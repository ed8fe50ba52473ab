"""Exhaustive counts of the next decisions, pinned: any change of what is legal moves them."""

import pytest

from keltis_engine import COMPILED, State
from keltis_engine.play.perft import divide, perft
from tests.engine.support.perft_files import FOLDER, Counted, line_of, read
from tests.engine.support.positions import TABLES, played

POSITIONS = read()
NAMES = [position.name for position in POSITIONS]
MOST = 400_000 if COMPILED else 6_000  # sequences to count; deeper counts are for the compiled form
MOST_BY_HAND = 30_000 if COMPILED else 3_000


@pytest.mark.parametrize("counted", POSITIONS, ids=NAMES)
def test_perft_counts_what_it_always_counted(counted: Counted) -> None:
    expected = [count for count in counted.counts if count <= MOST]
    state = counted.state()
    assert len(expected) >= 3
    assert [perft(state, depth) for depth in range(1, len(expected) + 1)] == expected


def test_every_variant_and_number_of_players_is_pinned() -> None:
    assert {(position.variant, position.players) for position in POSITIONS} == set(TABLES)
    assert len(set(NAMES)) == len(NAMES) == 3 * len(TABLES)


def test_a_position_is_written_as_its_file_has_it() -> None:
    shortest = min(POSITIONS, key=lambda position: sum(position.counts))
    file = (FOLDER / f"{shortest.variant}.jsonl").read_text().splitlines()
    assert line_of(shortest) in file


def count_by_hand(state: State, depth: int) -> int:
    """Count through the public face of the engine alone."""
    actions = state.legal_actions()
    if depth == 0 or not actions:
        return 1
    total = 0
    for action in actions:
        after = state.copy()
        after.apply(action)
        total += count_by_hand(after, depth - 1)
    return total


@pytest.mark.parametrize("counted", POSITIONS, ids=NAMES)
def test_perft_is_what_legal_actions_and_apply_give(counted: Counted) -> None:
    depth = sum(count <= MOST_BY_HAND for count in counted.counts)
    state = counted.state()
    assert count_by_hand(state, depth) == perft(state, depth)


@pytest.mark.parametrize("counted", POSITIONS, ids=NAMES)
def test_divide_tells_how_the_count_comes_about(counted: Counted) -> None:
    depth = sum(count <= MOST_BY_HAND for count in counted.counts)
    state = counted.state()
    divided = divide(state, depth)
    assert list(divided) == [state.notation[action] for action in state.legal_actions()]
    assert sum(divided.values()) == perft(state, depth)


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_a_finished_game_counts_once_at_any_depth(variant: str, players: int) -> None:
    end = played(variant, players, 1, "eager", 10_000)
    assert [perft(end, depth) for depth in range(4)] == [1, 1, 1, 1]
    assert divide(end, 3) == {}


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_nothing_deep_is_one_way(variant: str, players: int) -> None:
    state = played(variant, players, 1, "eager", 10)
    assert perft(state, 0) == 1
    assert divide(state, 1) == {state.notation[action]: 1 for action in state.legal_actions()}


def test_a_depth_below_zero_is_refused() -> None:
    """Otherwise it would count all games to their ends, which takes for ever."""
    state = played("weg-der-steine", 2, 3, "eager", 110)
    with pytest.raises(ValueError, match="depth"):
        perft(state, -1)
    with pytest.raises(ValueError, match="depth"):
        divide(state, 0)
