"""How the memory of all bots is divided among the tables at which they play at the same time.

All that play, and all that wait for their next game, fit into the group around all bots, whatever
they do: so the kernel never has to end one for what others hold. That would be a fault of the
platform, and no bot may be able to bring one about.

A table is a referee's, with up to four bots of anybody, or that of a check, where one bot is new
and plays against ours.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Final

from keltis_engine.games.variants import MOST_PLAYERS
from keltis_ladder.files.sizes import MIB
from keltis_ladder.sandbox.cgroups import available_memory, available_tasks
from keltis_ladder.sandbox.limits import IDLE_SHARE, PLAY, Limits, memory_of_bots

FEWEST_CHECKS: Final = 2  # quick ones at once, so that nobody waits for a single other author
CORES_OF_A_CHECK: Final = 4  # on larger machines there is one for so many cores
LONG_CHECKS: Final = 1  # at once, of those that take long: each may use gigabytes to build
OUR_BOTS: Final = 72 * MIB  # for those that a bot meets in its check
FOR_GROUPS: Final = 1 / 16  # of what all may hold: what the kernel itself needs for the groups
LEAST_IDLE: Final = 1 / 4  # of what all tables have, for processes that wait
SCRATCH_SHARE: Final = 1 / 8  # of what a bot has, for its /tmp: that is memory, too
LEAST: Final = 64 * MIB  # for one bot: the starters in Java and Node play with it
OF_TASKS: Final = 1 / 2  # of all processes and threads there may be, for those of bots
MOST_IDLE_TASKS: Final = 512  # at a table
LEAST_IDLE_TASKS: Final = 64


@dataclass(frozen=True)
class Share:
    """What a table has: each bot that plays there, and all that wait for their next game."""

    bot: int  # bytes, /tmp included
    idle: int  # bytes
    idle_tasks: int  # processes and threads of all that wait

    def __str__(self) -> str:
        """Write it as one word of a command line, for ``read_share``."""
        return f"{self.bot},{self.idle},{self.idle_tasks}"

    @property
    def limits(self) -> Limits:
        """The limits of a bot that plays."""
        scratch = min(PLAY.scratch, int(SCRATCH_SHARE * self.bot))
        return replace(PLAY, memory=min(PLAY.memory, self.bot - scratch), scratch=scratch)


def read_share(text: str) -> Share:
    """Return what was written into a command line."""
    return Share(*map(int, text.split(",")))


def quick_checks() -> int:
    """Return how many versions are checked at once on this machine, besides those that take long.

    A check builds, and plays single games, mostly on one core.
    """
    return max(FEWEST_CHECKS, len(os.sched_getaffinity(0)) // CORES_OF_A_CHECK)


def share_of_table(memory: int, referees: int, checks: int, tasks: int = 1 << 22) -> Share:
    """Return what each table has on a machine with so much memory, and so many tasks."""
    tables, playing = referees + checks, referees * MOST_PLAYERS + checks
    most = int((1 - FOR_GROUPS) * memory_of_bots(memory))
    whole = max(most // 2, most - checks * OUR_BOTS)
    bot = min(PLAY.memory + PLAY.scratch, int((1 - LEAST_IDLE) * whole) // playing)
    idle = min(whole - playing * bot, int(IDLE_SHARE * memory)) // tables
    rest = int(OF_TASKS * tasks) // tables - MOST_PLAYERS * (PLAY.processes + 1)
    return Share(bot, idle, max(LEAST_IDLE_TASKS, min(MOST_IDLE_TASKS, rest)))


def share_of_referee(referees: int, most_idle: int | None = None) -> Share:
    """Return what each of so many referees has on this machine, and each check beside them.

    ``most_idle`` bounds the bytes that may wait with all of the referees together.
    """
    checks = quick_checks() + LONG_CHECKS
    share = share_of_table(available_memory(), referees, checks, available_tasks())
    if most_idle is None:
        return share
    return replace(share, idle=min(share.idle, most_idle // referees))


def share_of_one_check() -> Share:
    """Return what a check has that is alone on this machine."""
    return share_of_table(available_memory(), 0, 1, available_tasks())


def referees_that_fit(memory: int, cores: int, checks: int) -> int:
    """Return how many of so many cores can have a referee whose bots can still start."""
    fit = 1
    while fit < cores and share_of_table(memory, fit + 1, checks).bot >= LEAST:
        fit += 1
    return fit


def default_cores() -> list[int]:
    """Return the cores to play on unless somebody chooses: all, or those that memory is for."""
    cores = sorted(os.sched_getaffinity(0))
    checks = quick_checks() + LONG_CHECKS
    return cores[: referees_that_fit(available_memory(), len(cores), checks)]
