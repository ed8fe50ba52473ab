"""Who starts a bot, and in what: the sandbox for everybody, or nothing for what one trusts."""

from __future__ import annotations

import os
import random
from pathlib import Path

import keltis_bots
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.sandbox.child import Child, launch_plain
from keltis_ladder.sandbox.limits import Limits
from keltis_ladder.sandbox.prctl import adopt_orphans
from keltis_ladder.sandbox.sandbox import Sandbox, find_sandbox

# One of our own bots needs no files; its working directory is one that every sandbox has anyway.
NO_FILES = Path(keltis_bots.__file__).parent


class SandboxLauncher:
    """Starts every bot in a sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        adopt_orphans()  # sandboxes leave one each, and not every machine's init cares for them
        self.sandbox = sandbox

    def start(self, entrant: Entrant, limits: Limits) -> Child:
        """Start one process of a bot, on one core: only then the kernel counts its stalls exactly.

        A referee has one core anyway; a process with several, as a check has, gives one of them.
        """
        core = random.choice(sorted(os.sched_getaffinity(0)))
        return self.sandbox.launch(entrant.command, entrant.home or NO_FILES, {}, limits, cpu=core)


class PlainLauncher:
    """Starts bots as ordinary processes: for one's own, where there is no sandbox."""

    def start(self, entrant: Entrant, limits: Limits) -> Child:
        """Start one process of a bot."""
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        return launch_plain(entrant.command, entrant.home or NO_FILES, environment)


def make_launcher(sandboxed: bool) -> SandboxLauncher | PlainLauncher:
    """Return the launcher that is asked for; raise if there is no sandbox and one is wanted."""
    return SandboxLauncher(find_sandbox()) if sandboxed else PlainLauncher()
