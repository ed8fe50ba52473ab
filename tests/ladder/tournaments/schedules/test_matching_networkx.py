"""Matchings and Swiss pairings, against networkx: another implementation of Edmonds' algorithm."""

from itertools import combinations

import networkx
from hypothesis import given, settings
from hypothesis import strategies as st

from keltis_ladder.tournaments.schedules.matching import SINGLE, Matching, bits
from keltis_ladder.tournaments.schedules.swiss_pairs import choose_bye, pair_off

Edges = list[tuple[int, int]]


@st.composite
def graphs(draw: st.DrawFn, most: int = 40) -> tuple[int, Edges]:
    """Graphs of any density: few edges leave many single, some make nested odd circles."""
    size = draw(st.integers(2, most))
    every = list(combinations(range(size), 2))
    density = draw(st.sampled_from([0.03, 0.08, 0.2, 0.6]))
    chance = draw(st.randoms(use_true_random=False))
    return size, [edge for edge in every if chance.random() < density]


def masks(size: int, edges: Edges) -> list[int]:
    neighbours = [0] * size
    for one, other in edges:
        neighbours[one] |= 1 << other
        neighbours[other] |= 1 << one
    return neighbours


@settings(max_examples=60, deadline=None)
@given(graph=graphs())
def test_a_matching_is_as_large_as_that_of_networkx(graph: tuple[int, Edges]) -> None:
    size, edges = graph
    matching = Matching(masks(size, edges))
    matching.grow()
    pairs = [(one, mate) for one, mate in enumerate(matching.mates) if one < mate]
    theirs = networkx.max_weight_matching(networkx.Graph(edges), maxcardinality=True)
    assert len(pairs) == len(theirs)
    assert set(pairs) <= set(edges)
    assert sorted(bits(matching.singles)) == [
        one for one, mate in enumerate(matching.mates) if mate == SINGLE
    ]
    assert networkx.is_matching(networkx.Graph(edges), set(pairs))


@st.composite
def rounds(draw: st.DrawFn) -> tuple[list[int], list[list[int]]]:
    """Scores from the top down, and how often who has met whom."""
    size = draw(st.integers(1, 8)) * 2
    chance = draw(st.randoms(use_true_random=False))
    often = draw(st.sampled_from([[0, 0, 0, 1], [0, 1], [0, 1, 1, 2], [1, 2]]))
    scores = sorted((chance.choice([0, 6, 12, 24]) for _ in range(size)), reverse=True)
    meetings = [[0] * size for _ in range(size)]
    for one, other in combinations(range(size), 2):
        meetings[one][other] = meetings[other][one] = chance.choice(often)
    return scores, meetings


def weights(
    left: list[int], scores: list[int], meetings: list[list[int]], times: int
) -> dict[tuple[int, int], int]:
    """Return weights whose largest sum is what the first two rules of a Swiss round ask for.

    Those who may meet have an edge. A pair more outweighs everything else; then come the positions
    from the top down, each a digit of a large number: the nearer an opponent is, the larger it is.
    """
    base = 2 + max(scores)
    places = {position: len(left) - 1 - place for place, position in enumerate(left)}
    found = {}
    for one, other in combinations(left, 2):
        if meetings[one][other] <= times:
            digits = (base - 1 - (scores[one] - scores[other])) * base ** places[one]
            digits += (base - 1) * base ** places[other]  # to be met from above is no distance
            found[one, other] = base ** len(left) * 2 + digits
    return found


@settings(max_examples=60, deadline=None)
@given(field=rounds())
def test_a_swiss_pairing_weighs_as_much_as_that_of_networkx(
    field: tuple[list[int], list[list[int]]],
) -> None:
    scores, meetings = field
    pairs = set(pair_off(scores, meetings))
    left = list(range(len(scores)))
    times = 0
    while left:
        weight = weights(left, scores, meetings, times)
        graph = networkx.Graph()
        graph.add_weighted_edges_from((one, other, w) for (one, other), w in weight.items())
        theirs = networkx.max_weight_matching(graph, maxcardinality=True)
        ours = {pair for pair in pairs if pair in weight and set(pair) <= set(left)}
        assert sum(weight[pair] for pair in ours) == sum(
            weight[min(pair), max(pair)] for pair in theirs
        )
        left = [one for one in left if not any(one in pair for pair in ours)]
        times += 1


@settings(max_examples=40, deadline=None)
@given(graph=graphs(most=15))
def test_a_bye_costs_no_rematch_that_networkx_can_avoid(graph: tuple[int, Edges]) -> None:
    size, edges = graph
    size -= 1 - size % 2
    met = {(one, other) for one, other in edges if other < size}
    meetings = [[int((min(a, b), max(a, b)) in met) for b in range(size)] for a in range(size)]

    def new_pairs(without: int) -> int:
        players = [one for one in range(size) if one != without]
        unmet = [pair for pair in combinations(players, 2) if pair not in met]
        return len(networkx.max_weight_matching(networkx.Graph(unmet), maxcardinality=True))

    best = max(new_pairs(one) for one in range(size))
    expected = max(one for one in range(size) if new_pairs(one) == best)
    assert choose_bye([0] * size, meetings) == expected
