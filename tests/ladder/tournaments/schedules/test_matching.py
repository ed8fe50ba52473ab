"""Swiss pairings are compared with all that there could be."""

import random
import time
from collections.abc import Iterator, Sequence
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from keltis_ladder.tournaments.schedules.matching import SINGLE, Matching
from keltis_ladder.tournaments.schedules.swiss_pairs import Meetings, choose_bye, pair_off
from keltis_ladder.tournaments.schedules.swiss_tables import choose_byes, seat_tables

Pairs = list[tuple[int, int]]
FAR = 10**6


def all_pairings(left: Sequence[int]) -> Iterator[Pairs]:
    if not left:
        yield []
        return
    for at in range(1, len(left)):
        for rest in all_pairings([*left[1:at], *left[at + 1 :]]):
            yield [(left[0], left[at]), *rest]


def largest(edges: Pairs) -> int:
    """Return the size of a largest matching, by trying everything."""
    if not edges:
        return 0
    (one, other), rest = edges[0], edges[1:]
    without = [edge for edge in rest if not {one, other} & set(edge)]
    return max(largest(rest), 1 + largest(without))


def met(size: int, pairs: Pairs, times: Sequence[int]) -> list[list[int]]:
    meetings = [[0] * size for _ in range(size)]
    for (one, other), count in zip(pairs, times, strict=True):
        meetings[one][other] = meetings[other][one] = count
    return meetings


@st.composite
def meetings_of(draw: st.DrawFn, size: int) -> list[list[int]]:
    pairs = list(combinations(range(size), 2))
    often = draw(st.sampled_from([[0, 0, 0, 1], [0, 1], [0, 1, 1, 2], [1, 2]]))
    times = draw(st.lists(st.sampled_from(often), min_size=len(pairs), max_size=len(pairs)))
    return met(size, pairs, times)


@st.composite
def fields(draw: st.DrawFn, sizes: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    size = draw(st.sampled_from(sizes))
    scores = draw(st.lists(st.sampled_from([0, 6, 12, 24]), min_size=size, max_size=size))
    return sorted(scores, reverse=True), draw(meetings_of(size))


def quality(pairs: Pairs, scores: Sequence[int], meetings: Meetings) -> list[object]:
    """Return what the rules compare, level by level of meetings; less is better."""
    opponent = dict(pairs) | {other: one for one, other in pairs}
    found: list[object] = []
    left = list(range(len(scores)))
    times = 0
    while left:
        again = [one for one in left if meetings[one][opponent[one]] > times]
        found.append(len(again))
        found.append(
            [FAR if one in again else max(scores[one] - scores[opponent[one]], 0) for one in left]
        )
        left = again
        times += 1
    return found


def rematches(pairs: Pairs, meetings: Meetings) -> int:
    return sum(meetings[one][other] > 0 for one, other in pairs)


@settings(max_examples=200)
@given(st.integers(2, 9), st.data())
def test_a_matching_is_as_large_as_any(size: int, data: st.DataObject) -> None:
    every = list(combinations(range(size), 2))
    edges = data.draw(st.lists(st.sampled_from(every), unique=True, max_size=12))
    neighbours = [0] * size
    for one, other in edges:
        neighbours[one] |= 1 << other
        neighbours[other] |= 1 << one
    matching = Matching(neighbours)
    matching.grow()
    for one, other in enumerate(matching.mates):
        if other == SINGLE:
            assert matching.singles >> one & 1
        else:
            assert matching.mates[other] == one
            assert tuple(sorted((one, other))) in edges
    assert sum(mate != SINGLE for mate in matching.mates) == 2 * largest(edges)


def test_a_matching_finds_its_way_through_a_blossom() -> None:
    # Two odd circles and a bridge: a search that cannot contract them finds no perfect matching.
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (0, 6), (5, 7)]
    neighbours = [0] * 8
    for one, other in edges:
        neighbours[one] |= 1 << other
        neighbours[other] |= 1 << one
    matching = Matching(neighbours)
    for one, other in ((0, 1), (2, 3), (4, 5)):
        matching.join(one, other)
    assert not matching.neighbours[6] & matching.singles
    assert matching.augment(6)
    assert matching.singles == 0


@settings(max_examples=150)
@given(fields([2, 4, 6, 8]))
def test_a_swiss_pairing_is_the_best_of_all(field: tuple[list[int], list[list[int]]]) -> None:
    scores, meetings = field
    found = pair_off(scores, meetings)
    assert sorted(one for pair in found for one in pair) == list(range(len(scores)))
    best = min(quality(pairs, scores, meetings) for pairs in all_pairings(range(len(scores))))
    assert quality(found, scores, meetings) == best


@settings(max_examples=100)
@given(fields([3, 5, 7]), st.data())
def test_a_bye_goes_to_the_last_of_those_with_the_fewest_if_it_costs_no_rematch(
    field: tuple[list[int], list[list[int]]], data: st.DataObject
) -> None:
    scores, meetings = field
    size = len(scores)
    byes = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    cost = {
        one: min(
            rematches(pairs, meetings)
            for pairs in all_pairings([other for other in range(size) if other != one])
        )
        for one in range(size)
        if byes[one] == min(byes)
    }
    assert choose_bye(byes, meetings) == max(k for k in cost if cost[k] == min(cost.values()))


def test_equal_scores_meet_across_the_halves() -> None:
    nobody_met = met(8, [], [])
    assert pair_off([0] * 8, nobody_met) == [(0, 4), (1, 5), (2, 6), (3, 7)]
    assert pair_off([12] * 4 + [0] * 4, nobody_met) == [(0, 2), (1, 3), (4, 6), (5, 7)]
    # Three with a win: the last of them plays the best of the others.
    assert pair_off([12] * 3 + [0] * 3, met(6, [], [])) == [(0, 1), (2, 3), (4, 5)]


def test_the_top_keeps_its_group_when_others_have_to_leave_theirs() -> None:
    # 0 and 2 met, and so did 1 and 3: within the group there is one way left.
    assert pair_off([12] * 4, met(4, [(0, 2), (1, 3)], [1, 1])) == [(0, 3), (1, 2)]
    # 2 has met all of its group and must leave it; with the third of four alone, 3 follows.
    taken = met(8, [(0, 2), (1, 2), (2, 3)], [1, 1, 1])
    assert pair_off([12] * 4 + [0] * 4, taken) == [(0, 1), (2, 4), (3, 5), (6, 7)]


def test_a_large_round_is_paired_in_time_and_without_rematches() -> None:
    size = 256
    rng = random.Random(3)
    points = [0] * size
    opponents: list[set[int]] = [set() for _ in range(size)]
    slowest = 0.0
    for _ in range(11):
        order = sorted(range(size), key=lambda one: (-points[one], one))
        meetings = [[int(other in opponents[one]) for other in order] for one in order]
        begun = time.process_time()
        pairs = pair_off([points[one] for one in order], meetings)
        slowest = max(slowest, time.process_time() - begun)
        for high, low in pairs:
            one, other = order[high], order[low]
            assert other not in opponents[one]
            opponents[one].add(other)
            opponents[other].add(one)
            points[one] += rng.choice([0, 6, 12, 12])
    assert slowest < 2


@settings(max_examples=60)
@given(st.sampled_from([3, 4]), st.integers(1, 8), st.data())
def test_larger_tables_are_full_and_never_meet_again_more_than_neighbours_would(
    players: int, tables: int, data: st.DataObject
) -> None:
    size = players * tables
    scores = sorted(
        data.draw(st.lists(st.sampled_from([0, 4, 6, 12]), min_size=size, max_size=size)),
        reverse=True,
    )
    meetings = data.draw(meetings_of(size))
    found = seat_tables(scores, meetings, players)
    assert sorted(one for table in found for one in table) == list(range(size))
    assert {len(table) for table in found} == {players}

    def again(seating: Sequence[Sequence[int]]) -> int:
        return sum(meetings[a][b] ** 2 for table in seating for a, b in combinations(table, 2))

    nobody_met = met(size, [], [])
    assert again(found) <= again(seat_tables(scores, nobody_met, players))


def test_larger_tables_mix_the_parts_of_a_score_group() -> None:
    nobody_met = met(12, [], [])
    assert seat_tables([0] * 12, nobody_met, 4) == [(0, 3, 6, 9), (1, 4, 7, 10), (2, 5, 8, 11)]
    assert seat_tables([12] * 5 + [0] * 7, nobody_met, 4) == [
        (0, 1, 2, 3),
        (4, 5, 6, 7),
        (8, 9, 10, 11),
    ]


def test_byes_of_larger_tables_go_to_those_with_the_fewest() -> None:
    assert choose_byes([0, 0, 0, 0, 0], 2) == [3, 4]
    assert choose_byes([0, 1, 0, 1, 1], 2) == [0, 2]
    assert choose_byes([1, 1, 0, 1, 2], 3) == [1, 2, 3]
    assert choose_byes([0, 0, 0], 0) == []


def test_those_who_sat_at_one_larger_table_are_parted() -> None:
    nobody_met = met(9, [], [])
    first = seat_tables([0] * 9, nobody_met, 3)
    assert first == [(0, 3, 6), (1, 4, 7), (2, 5, 8)]
    pairs = [pair for table in first for pair in combinations(table, 2)]
    second = seat_tables([0] * 9, met(9, pairs, [1] * 9), 3)
    assert not {pair for table in second for pair in combinations(table, 2)} & set(pairs)
