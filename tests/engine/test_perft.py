"""Exhaustive counts of the next decisions, pinned: any change of what is legal moves them."""

import pytest

from keltis_engine import COMPILED, State
from keltis_engine.perft import divide, perft
from tests.engine.support.positions import TABLES, played

# Variant, players, seed, decisions of eager play before: then the counts for depth 1, 2, 3, ...
PINNED = """
    keltis 2 1 0: 16 24 144 501 2512 10342 52774 256756
    keltis 2 2 40: 6 12 180 258 3612 6671 79522 173759
    keltis 2 3 110: 7 30 390 1782 12217 55004
    keltis 3 1 0: 16 24 128 433 2112 8775 42774 197797
    keltis 3 2 40: 16 26 236 531 5277 13168 141595
    keltis 3 3 110: 3 21 71 606 2286 25688 101240
    keltis 4 1 0: 16 24 144 502 2528 10304 47792 210688
    keltis 4 2 40: 1 16 41 184 672 4452 14007 111828 343971
    keltis 4 3 110: 1 13 33 190 536 3968 11237 88777 312513
    neue-wege 2 1 0: 16 22 140 206 2232 4068 38510 74229
    neue-wege 2 2 40: 1 15 17 144 297 2286 7750 42212 149617
    neue-wege 2 3 110: 1 8 9 65 134 939 2165 15689 43800 303158
    neue-wege 3 1 0: 16 23 142 217 2180 3826 39964 81331
    neue-wege 3 2 40: 16 32 294 989 6292 26430 154892
    neue-wege 3 3 110: 6 20 95 235 1127 4038 18059 70501 328650
    neue-wege 4 1 0: 14 19 136 217 1994 3680 33088 66267
    neue-wege 4 2 40: 2 32 56 359 1489 8866 40104 228370
    neue-wege 4 3 110: 16 16 180 339 2180 7998 48105 204857
    kartenspiel 2 1 0: 17 17 321 478 6423 13333 206413
    kartenspiel 2 2 40: 2 32 120 1920 6490 101635 328926
    kartenspiel 2 3 110: 11 22 220 442 4752 11300 120286 307394
    kartenspiel 3 1 0: 18 18 274 432 8019 15448 187325
    kartenspiel 3 2 40: 17 50 806 2206 34106 97151
    kartenspiel 3 3 110: 14 14 182 266 3724 6489 85169 173448
    kartenspiel 4 1 0: 16 16 268 466 5368 13702 156552
    kartenspiel 4 2 40: 2 36 50 770 1302 21676 43252
    kartenspiel 4 3 110: 16 16 176 252 3276 6216 99456 212560
    weg-der-steine 2 1 0: 1 2 3 5 10 17 35 70 141 307 662 1459 3347 7689 17999 43262 103542 253592
    weg-der-steine 2 2 40: 2 4 5 7 12 16 24 43 70 111 203 343 641 1181 2227 4301 7923 15554 29933
    weg-der-steine 2 3 90: 1 1 1 2 2 2 2 3 4 4 4 9
    weg-der-steine 3 1 0: 1 2 3 5 10 17 35 70 141 307 656 1442 3326 7660 17907 43019 104530 260225
    weg-der-steine 3 2 40: 2 3 5 10 17 35 69 133 278 580 1260 2773 5750 12291 27500 64236 154374
    weg-der-steine 3 3 90: 2 3 4 5 7 7 11 17 30 50 60 61 71 110 184 275 379 576 1003 1950 3524 5232
    weg-der-steine 4 1 0: 1 2 3 5 10 17 35 70 141 307 662 1459 3361 7717 18080 43544 104358 257008
    weg-der-steine 4 2 40: 1 2 3 5 9 13 26 46 96 206 408 807 1519 2921 6398 14236 30131 64294
    weg-der-steine 4 3 90: 1 1 2 3 6 10 18 29 55 113 230 432 730 1365 2664 5281 11401 23736 44574
"""
LINES = [line.split(": ") for line in PINNED.strip().splitlines()]
MOST = 400_000 if COMPILED else 6_000  # sequences to count; deeper counts are for the compiled form
MOST_BY_HAND = 30_000 if COMPILED else 3_000


def position(name: str) -> State:
    variant, players, seed, decisions = name.split()
    return played(variant, int(players), int(seed), "eager", int(decisions))


@pytest.mark.parametrize(("name", "counts"), LINES, ids=[name for name, _ in LINES])
def test_perft_counts_what_it_always_counted(name: str, counts: str) -> None:
    expected = [int(count) for count in counts.split() if int(count) <= MOST]
    state = position(name)
    assert len(expected) >= 3
    assert [perft(state, depth) for depth in range(1, len(expected) + 1)] == expected


def test_every_variant_and_number_of_players_is_pinned() -> None:
    pinned = {tuple(name.split()[:2]) for name, _ in LINES}
    assert pinned == {(variant, str(players)) for variant, players in TABLES}


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


@pytest.mark.parametrize(("name", "counts"), LINES, ids=[name for name, _ in LINES])
def test_perft_is_what_legal_actions_and_apply_give(name: str, counts: str) -> None:
    depth = sum(int(count) <= MOST_BY_HAND for count in counts.split())
    state = position(name)
    assert count_by_hand(state, depth) == perft(state, depth)


@pytest.mark.parametrize(("name", "counts"), LINES, ids=[name for name, _ in LINES])
def test_divide_tells_how_the_count_comes_about(name: str, counts: str) -> None:
    depth = sum(int(count) <= MOST_BY_HAND for count in counts.split())
    state = position(name)
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
