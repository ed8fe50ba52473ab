"""The benchmark of strength under load: each side has the core that it should have."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from bench.clock.load_strength import CALM, CROWDED, Comparison, CrowdedLauncher, compare, markdown

from keltis_bots.framing import frame
from keltis_bots.messages import hello
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import built_in
from keltis_ladder.sandbox.limits import PLAY
from keltis_ladder.sandbox.sandbox import Sandbox
from tests.ladder.support.boxes import PATIENCE, silent_for

CORES = sorted(os.sched_getaffinity(0))


def test_only_the_crowded_side_is_moved(sandbox: Sandbox) -> None:
    launcher = CrowdedLauncher(sandbox, CORES[-1])
    for name, cores in ((CROWDED, CORES[-1:]), (CALM, CORES)):
        child = launcher.start(replace(built_in("random"), name=name), PLAY)
        try:
            os.write(child.stdin, frame(hello("keltis-ladder", 5000)))
            assert not silent_for(child.stdout, PATIENCE)  # its greeting: it runs
            assert sorted(os.sched_getaffinity(child.program())) == cores
        finally:
            child.kill()


@pytest.mark.skipif(len(CORES) < 2, reason="one side needs a core of its own")
def test_a_match_is_played_and_the_cores_are_given_back(sandbox: Sandbox) -> None:
    control = TimeControl(bank_ms=4_000, increment_ms=1)  # which load does not cost them
    one = compare("weg-der-steine", 1, 1, control, {"turn_limit": 3})
    assert sorted(os.sched_getaffinity(0)) == CORES
    assert (one.matches, one.variant, one.busy) == (1, "weg-der-steine", 1)
    assert one.faults == (0, 0)
    assert min(one.cpu_ms) > 0
    assert "| weg-der-steine | 1 | 1 |" in markdown([one])


@pytest.mark.parametrize(
    ("low", "high", "faults", "equal"),
    [
        (0.45, 0.55, (0, 0), True),
        (0.30, 0.49, (0, 0), False),
        (0.51, 0.60, (0, 0), False),
        (0.45, 0.55, (1, 0), False),
    ],
)
def test_equal_means_that_an_even_share_is_within_the_interval(
    low: float, high: float, faults: tuple[int, int], equal: bool
) -> None:
    one = Comparison("keltis", 1, 9, 0.5, low, high, 0.0, (1.0, 1.0), (2.0, 1.0), faults, 0)
    assert one.is_equal == equal
