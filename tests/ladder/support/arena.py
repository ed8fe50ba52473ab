"""Matches between the hostile bots of ``hostile/`` and honest ones, and what they leave behind."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from keltis_engine import find_variant
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.results import Loss, MatchResult
from keltis_ladder.programs.launchers import make_launcher
from keltis_ladder.referee.bot_process import BotProcess
from keltis_ladder.referee.referee import Referee
from keltis_ladder.sandbox.limits import PLAY, Limits
from tests.places import ROOT

HOSTILE = ROOT / "tests/ladder/hostile"
SHORT = TimeControl(bank_ms=400, increment_ms=30, start_ms=5000)
DEAL = 2026


@dataclass
class Arena:
    """A referee whose processes can be told from all others by a token in their command line."""

    referee: Referee
    token: str
    logs: dict[str, str] = field(default_factory=dict)  # by bot, of all its processes

    def bot(self, name: str, *arguments: str) -> Entrant:
        """Return a bot of ``hostile/``."""
        command = ("python3", f"{name}.py", self.token, *arguments)
        return Entrant(name, name, command, HOSTILE)

    def play(self, *entrants: Entrant, variant: str = "keltis", seed: int = DEAL) -> MatchResult:
        """Play one match and keep what the bots wrote to their logs."""
        ruleset = find_variant(variant, {})
        result = self.referee.play_match(ruleset, seed, entrants)
        for (key, _, _), process in self.referee.slots():
            self._keep(key, process)
        for game in result.games:
            for loss in game.losses:
                name = entrants[game.entrants[loss.seat]].name
                self.logs[name] = self.logs.get(name, "") + loss.card["stderr"]
        return result

    def _keep(self, name: str, process: BotProcess) -> None:
        self.logs[name] = self.logs.get(name, "") + process.log_text()

    def running(self) -> list[int]:
        """Return the processes of these bots that run, wherever they have hidden."""
        return processes_with(self.token)


@contextmanager
def arena(
    control: TimeControl = SHORT, sandboxed: bool = True, limits: Limits = PLAY
) -> Iterator[Arena]:
    """Give a referee, and end it."""
    referee = Referee(make_launcher(sandboxed), control, limits)
    try:
        yield Arena(referee, f"token-{uuid.uuid4().hex}")
    finally:
        referee.kill()


def processes_with(token: str) -> list[int]:
    """Return the processes with this word in their command line; zombies have none."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if token.encode() in command:
                found.append(int(entry.name))
    return found


def losses_of(result: MatchResult, entrant: int) -> list[Loss]:
    """Return the faults of one entrant in all games of a match."""
    return [
        loss for game in result.games for loss in game.losses if game.entrants[loss.seat] == entrant
    ]
