"""Whoever has work gets its share of the referees' time, however long the others' matches are."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keltis_ladder.errors import LadderError
from keltis_ladder.match.orders import Purpose
from keltis_ladder.matchmaking.fair_shares import Charge, Flow, FlowQueue, Shares, parse_shares

LADDER = Flow(Purpose.LADDER)
LONGEST = 8.0  # seconds of a match

Lengths = dict[Flow, tuple[float, float]]  # from, to: seconds of a match


class Machine:
    """Referees that play matches of given lengths, by the turns."""

    def __init__(self, shares: Shares, referees: int, lengths: Lengths, seed: int) -> None:
        self.turns = FlowQueue(shares)
        self.seconds: defaultdict[Flow, float] = defaultdict(float)  # of what is over
        self.order: list[Flow] = []
        self.now = 0.0
        self._lengths = lengths
        self._random = Random(seed)
        self._referees = referees
        self._under_way: list[tuple[float, int, float, Charge]] = []

    def play(self, matches: int, wanting: Callable[[], Collection[Flow]]) -> None:
        """Begin so many matches, each as soon as a referee is free."""
        for _ in range(matches):
            if len(self._under_way) == self._referees:
                self._finish_one()
            flow = self.turns.next(wanting())
            self.order.append(flow)
            seconds = self._random.uniform(*self._lengths[flow])
            entry = (self.now + seconds, len(self.order), seconds, self.turns.begin(flow))
            heapq.heappush(self._under_way, entry)

    def _finish_one(self) -> None:
        self.now, _, seconds, charge = heapq.heappop(self._under_way)
        self.turns.end(charge, seconds)
        self.seconds[charge.flow] += seconds


lengths_of_matches = st.tuples(st.floats(0.05, LONGEST), st.floats(0.05, LONGEST)).map(
    lambda pair: (min(pair), max(pair))
)


@settings(deadline=None, max_examples=40)
@given(
    lengths=st.dictionaries(
        st.builds(Flow, st.sampled_from(list(map(str, Purpose))), st.integers(1, 4)),
        lengths_of_matches,
        min_size=1,
        max_size=8,
    ),
    referees=st.integers(1, 6),
    seed=st.integers(0, 2**32),
)
def test_over_any_long_window_each_purpose_and_each_author_gets_its_share(
    lengths: Lengths, referees: int, seed: int
) -> None:
    shares = Shares(ladder=3, tournament=2, challenge=1)
    machine = Machine(shares, referees, lengths, seed)
    for _ in range(2):  # windows, one after the other
        before = dict(machine.seconds)
        machine.play(1500, lambda: list(lengths))
        had = {flow: machine.seconds[flow] - before.get(flow, 0.0) for flow in lengths}
        everything = sum(had.values())
        purposes = {flow.purpose for flow in lengths}
        in_all = sum(shares.of(purpose) for purpose in purposes)
        for purpose in purposes:
            authors = [flow for flow in lengths if flow.purpose == purpose]
            fair = everything * shares.of(purpose) / in_all
            # What is under way at the window's ends, and a few wrong guesses, is all it may miss.
            slack = LONGEST * (2 * referees + 6) * 2
            assert sum(had[flow] for flow in authors) >= fair - slack
            for flow in authors:
                assert had[flow] >= (fair - slack) / len(authors) - slack


def test_short_matches_of_one_are_not_outweighed_by_long_ones_of_another() -> None:
    slow = Flow(Purpose.TOURNAMENT, 1)
    machine = Machine(Shares(6, 1, 1), 2, {LADDER: (0.2, 0.4), slow: (20.0, 40.0)}, seed=5)
    machine.play(4000, lambda: [LADDER, slow])
    assert machine.seconds[LADDER] >= 0.8 * machine.now * 2 * 6 / 7


def test_who_has_no_work_leaves_everything_to_the_others() -> None:
    slow = Flow(Purpose.TOURNAMENT, 1)
    machine = Machine(Shares(), 2, {slow: (1.0, 2.0)}, seed=6)
    machine.play(50, lambda: [slow])
    assert machine.order == [slow] * 50


def test_who_comes_is_next_and_has_saved_nothing_up() -> None:
    tournament, challenge = Flow(Purpose.TOURNAMENT, 1), Flow(Purpose.CHALLENGE, 2)
    lengths = {LADDER: (1.0, 1.0), tournament: (1.0, 1.0), challenge: (1.0, 1.0)}
    machine = Machine(Shares(6, 1, 1), 1, lengths, seed=7)
    machine.play(700, lambda: [LADDER, tournament])
    machine.order.clear()
    machine.play(80, lambda: [LADDER, tournament, challenge])
    assert machine.order[0] == challenge
    assert Counter(machine.order)[challenge] in (10, 11)


def test_who_comes_and_goes_gets_no_more_than_who_stays() -> None:
    coming = Flow(Purpose.TOURNAMENT, 1)
    machine = Machine(Shares(6, 1, 1), 1, {LADDER: (1.0, 1.0), coming: (1.0, 1.0)}, seed=8)
    random = Random(8)
    machine.play(700, lambda: [LADDER, coming] if random.random() < 0.5 else [LADDER])
    assert Counter(machine.order)[coming] <= 101


def test_one_author_with_many_matches_does_not_delay_another() -> None:
    greedy, modest = Flow(Purpose.CHALLENGE, 1), Flow(Purpose.CHALLENGE, 2)
    machine = Machine(Shares(6, 1, 1), 1, {LADDER: (1.0, 1.0), greedy: (1.0, 1.0)}, seed=9)
    machine.play(100, lambda: [LADDER, greedy])
    chosen = []
    for _ in range(20):
        flow = machine.turns.next([LADDER, greedy, modest])
        machine.turns.end(machine.turns.begin(flow), 1.0)
        chosen.append(flow)
    assert chosen.index(modest) < 8
    assert next(flow for flow in chosen if flow.purpose == Purpose.CHALLENGE) == modest


def test_a_new_author_pays_what_matches_usually_take_until_more_is_known() -> None:
    one, other = Flow(Purpose.TOURNAMENT, 1), Flow(Purpose.TOURNAMENT, 2)
    machine = Machine(Shares(), 2, {one: (0.04, 0.06), other: (0.04, 0.06)}, seed=5)
    machine.play(50, lambda: [one])
    machine.play(6, lambda: [one, other])
    assert machine.order[50:].count(other) == 3


def test_nobody_is_remembered_for_ever() -> None:
    flows = [Flow(Purpose.CHALLENGE, author) for author in range(2000)]
    turns = FlowQueue(Shares())
    for flow in flows:
        assert turns.next([flow]) == flow
        turns.end(turns.begin(flow), 0.5)
    lasting = [Flow(Purpose.CHALLENGE, -1)]
    for _ in range(3):
        turns.next(lasting)
        turns.end(turns.begin(lasting[0]), 0.5)
    authors = turns._authors[Purpose.CHALLENGE]
    assert len(authors._served) <= 2


def test_every_purpose_has_a_share() -> None:
    assert {str(purpose) for purpose in Purpose} == set(vars(Shares()))


def test_shares_are_read_from_a_text() -> None:
    assert parse_shares("ladder=3, challenge=2") == Shares(ladder=3, challenge=2)
    for bad in (
        "",
        "ladder",
        "ladder=0",
        "ladder=-1",
        "ladder=1,ladder=2",
        "rated=3",
        "ladder=1e3",
    ):
        with pytest.raises(LadderError, match="share"):
            parse_shares(bad)
    with pytest.raises(LadderError, match="shares"):
        parse_shares("ladder=" + "9" * 5000)
