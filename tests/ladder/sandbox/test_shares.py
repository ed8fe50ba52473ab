"""All that play and wait at the same time fit into the memory that bots have, whatever they do."""

from __future__ import annotations

import os

import pytest

from keltis_engine.games.variants import MOST_PLAYERS
from keltis_ladder.files.sizes import MIB
from keltis_ladder.sandbox.cgroups import available_memory, available_tasks
from keltis_ladder.sandbox.limits import IDLE_SHARE, PLAY, memory_of_bots
from keltis_ladder.sandbox.shares import (
    LEAST,
    LEAST_IDLE_TASKS,
    MOST_IDLE_TASKS,
    OUR_BOTS,
    default_cores,
    read_share,
    referees_that_fit,
    share_of_referee,
    share_of_table,
)

GIB = 1024 * MIB


@pytest.mark.parametrize("gib", [1, 2, 4, 8, 16, 24, 64, 1024])
@pytest.mark.parametrize("referees", [1, 2, 4, 8, 64])
@pytest.mark.parametrize("checks", [0, 3, 17])
def test_all_that_play_together_never_need_more_than_bots_have(
    gib: int, referees: int, checks: int
) -> None:
    memory = gib * GIB
    share = share_of_table(memory, referees, checks)
    limits = share.limits
    # What the group of a sandbox is limited to.
    assert limits.memory + limits.scratch <= share.bot
    playing = (referees * MOST_PLAYERS + checks) * share.bot
    waiting = (referees + checks) * share.idle
    ours = min(checks * OUR_BOTS, memory_of_bots(memory) // 2)
    assert playing + waiting + ours < memory_of_bots(memory)
    assert 0 < waiting <= IDLE_SHARE * memory
    assert limits.memory <= PLAY.memory
    assert limits.scratch <= PLAY.scratch


def test_where_there_is_enough_a_bot_has_all_that_it_may() -> None:
    assert share_of_table(64 * GIB, 4, 3).limits == PLAY
    assert share_of_table(4 * GIB, 2, 3).limits.memory // MIB == 73


def test_on_a_small_machine_fewer_matches_are_played_rather_than_bots_that_cannot_start() -> None:
    assert referees_that_fit(4 * GIB, 2, 3) == 2
    assert referees_that_fit(8 * GIB, 8, 3) == 7
    assert referees_that_fit(8 * GIB, 2, 3) == 2
    assert referees_that_fit(GIB, 4, 3) == 1
    for cores in range(1, 9):
        fit = referees_that_fit(8 * GIB, cores, 3)
        assert share_of_table(8 * GIB, fit, 3).bot >= LEAST


def test_processes_and_threads_that_wait_are_bounded_by_what_the_machine_has() -> None:
    assert share_of_table(GIB, 2, 3).idle_tasks == MOST_IDLE_TASKS
    assert share_of_table(GIB, 5, 3, tasks=9216).idle_tasks == 9216 // 16 - 4 * 65
    assert share_of_table(GIB, 5, 3, tasks=1000).idle_tasks == LEAST_IDLE_TASKS


def test_what_an_operator_lets_wait_is_never_more_than_there_is_for_it() -> None:
    share = share_of_referee(2)
    assert share_of_referee(2, most_idle=2 * MIB).idle == MIB
    assert share_of_referee(2, most_idle=1 << 50) == share
    assert read_share(str(share)) == share


def test_this_machine_has_memory_tasks_and_cores() -> None:
    assert 0 < available_memory() <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert available_tasks() > 0
    cores = default_cores()
    assert cores
    assert set(cores) <= os.sched_getaffinity(0)
