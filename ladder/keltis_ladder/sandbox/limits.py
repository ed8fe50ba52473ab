"""What a bot may use of the machine; ``docs/operators/sandbox.md`` explains each limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from keltis_ladder.files.sizes import MIB


@dataclass(frozen=True)
class Limits:
    """The limits of one sandbox: of all its processes together where the kernel can do that."""

    memory: int  # bytes resident, all processes together
    private: int  # bytes writable and private that each process may ask for, used or not
    processes: int  # and threads
    open_files: int  # by each process
    file_size: int  # bytes of one file
    scratch: int  # bytes in /tmp, which is the only place to write
    scratch_files: int
    is_build: bool = False  # it shares memory with other builds, and not with bots that play


SANDBOX_SHARE: Final = 0.75  # of the memory there is, for all sandboxes together
IDLE_SHARE: Final = 0.25  # of the memory there is, at most, for all that wait for their next game
MOST_OF_BUILDS: Final = 16 * 1024 * MIB  # for all builds together


def memory_of_builds(memory: int) -> int:
    """Return the bytes that all builds may hold together, of those that a machine has.

    A third of what sandboxes have; on a small machine up to a half, so that one large build fits.
    """
    one = BUILD.memory + BUILD.scratch
    share = int(SANDBOX_SHARE * memory)
    return min(share // 2, max(one, share // 3), MOST_OF_BUILDS)


def memory_of_bots(memory: int) -> int:
    """Return the bytes that all bots that play, or wait to, may hold together."""
    return int(SANDBOX_SHARE * memory) - memory_of_builds(memory)


# Start-up, and each decision, are bounded by the clock; a build has only these. It may use so many
# seconds; what the machine does not let end in so many on the wall is nobody's fault.
BUILD_SECONDS: Final = 300.0
LONGEST_BUILD_SECONDS: Final = 1800.0

# The most that a bot may use; where many play on a machine with little memory each has less, by
# ``shares.py``.
PLAY: Final = Limits(
    memory=1024 * MIB,
    private=1024 * MIB,
    processes=64,
    open_files=256,
    file_size=64 * MIB,
    scratch=64 * MIB,
    scratch_files=1024,
)
BUILD: Final = Limits(
    memory=3072 * MIB,
    private=3072 * MIB,
    processes=256,
    open_files=1024,
    file_size=512 * MIB,
    scratch=1024 * MIB,
    scratch_files=100_000,
    is_build=True,
)
