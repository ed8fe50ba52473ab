"""A bot in a process of its own, and a small table at which it plays whole games."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import msgpack

from keltis_bots.framing import LENGTH, PREFIX, frame
from keltis_bots.manifest import read_manifest
from keltis_bots.messages import hello, read_action, read_hello
from keltis_engine import Rng, Ruleset, State
from keltis_engine.play.policies import eager
from keltis_ladder.match.clock import Clock, TimeControl
from keltis_ladder.referee.messages import GameMessages
from keltis_ladder.spectate.vocabulary import Vocabulary
from tests.places import ROOT

PATIENCE: Final = 300.0  # seconds; only a bot that hangs needs them
LOG_BYTES: Final = 1 << 20
CONTROL: Final = TimeControl()
COST: Final = 0.023  # seconds that every decision costs on the clock of a recorded game
STARTERS: Final = ROOT / "bots/keltis_bots/starters"


class PipedBot:
    """A program that speaks the protocol. What it writes to stderr is kept."""

    def __init__(self, command: Sequence[str | Path], directory: Path | None = None) -> None:
        # Not a pipe: one that nobody empties would block the bot.
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the bot
        self.process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            bufsize=0,
        )
        assert self.process.stdin
        assert self.process.stdout
        self.source = self.process.stdout.fileno()
        self.target = self.process.stdin.fileno()

    def __enter__(self) -> PipedBot:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        self.log.close()

    def tell(self, data: bytes) -> None:
        """Write a frame to which there is no answer."""
        while data:
            data = data[os.write(self.target, data) :]

    def ask(self, data: bytes) -> bytes:
        """Write a frame and return the payload of the one that answers it."""
        self.tell(data)
        length: int = LENGTH.unpack(self.read(PREFIX))[0]
        return self.read(length)

    def read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            ready, _, _ = select.select([self.source], [], [], PATIENCE)
            more = os.read(self.source, size - len(data)) if ready else b""
            if not more:
                raise AssertionError(f"{len(data)} of {size} bytes came; {self.end()[1]}")
            data += more
        return data

    def wait_for_log(self, text: str) -> None:
        """Wait until it has written a text to its log."""
        deadline = time.monotonic() + PATIENCE
        while text not in (log := os.pread(self.log.fileno(), LOG_BYTES, 0).decode()):
            if time.monotonic() > deadline:
                raise AssertionError(f"{text!r} is not in the log: {log}")
            time.sleep(0.01)

    def end(self) -> tuple[int, str]:
        """Close its stdin; return its exit code and its log. Nothing more may come from it."""
        rest, _ = self.process.communicate(timeout=PATIENCE)
        assert rest == b"", f"unasked: {rest!r}"
        self.log.seek(0)
        return self.process.returncode, self.log.read().decode()


def environment() -> dict[str, str]:
    """Return our environment for a program that runs in another directory."""
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return inherited | {"PYTHONPATH": os.pathsep.join(str(Path(p).absolute()) for p in paths if p)}


def command_of(directory: Path) -> list[str]:
    """Return how a bot is run; Python bots by the Python that runs the tests."""
    run = read_manifest(directory).run
    return [sys.executable if word == "python3" else word for word in run]


class Seat:
    """A seat with a bot: asks it, keeps its clock, and remembers every frame in both directions."""

    def __init__(self, bot: PipedBot, first_id: int = 1) -> None:
        self.bot = bot
        self.next_id = first_id
        self.clock = Clock(CONTROL)
        self.frames: list[tuple[str, bytes]] = []

    def greet(self) -> None:
        read_hello(self.ask(frame(hello("keltis-ladder", CONTROL.start_ms))))

    def tell(self, data: bytes) -> None:
        self.frames.append(("to", data))
        self.bot.tell(data)

    def ask(self, data: bytes) -> bytes:
        self.frames.append(("to", data))
        payload = self.bot.ask(data)
        self.frames.append(("from", LENGTH.pack(len(payload)) + payload))
        return payload

    def begin(self) -> None:
        self.clock = Clock(CONTROL)

    def decide(self, messages: GameMessages, state: State, legal: list[int]) -> int:
        id, self.next_id = self.next_id, self.next_id + 1
        left = round(self.clock.left * 1000)
        request = messages.request(state, int(state.seat), legal, id, left)
        self.clock.spend(COST)
        return read_action(self.ask(request), id)


def play_game(
    ruleset: Ruleset, players: int, seed: int, bots: dict[int, Seat]
) -> tuple[State, list[int]]:
    """Play a game to its end; where no bot sits, the eager policy plays."""
    messages = GameMessages(
        ruleset, players, CONTROL.bank_ms, CONTROL.increment_ms, Vocabulary(ruleset)
    )
    state = ruleset.deal(players, seed)
    rng = Rng(seed)
    actions: list[int] = []
    for seat, bot in bots.items():
        bot.begin()
        bot.tell(messages.game(seat))
    while not state.over:
        legal = state.legal_actions()
        seat = int(state.seat)
        if len(legal) == 1:
            action = legal[0]
        elif seat in bots:
            action = bots[seat].decide(messages, state, legal)
        else:
            action = eager(state, rng)
        assert action in legal
        messages.note(state, action)
        state.apply(action)
        actions.append(action)
    for seat, bot in bots.items():
        bot.tell(messages.end(seat, str(state.ending), state.scores(), ranks(state.scores())))
    return state, actions


def ranks(scores: list[int]) -> list[int]:
    """Return each seat's rank; equal scores share one."""
    return [1 + sum(other > score for other in scores) for score in scores]


def decoded(data: bytes) -> Any:
    """Return the message in a frame, whatever its size."""
    return msgpack.unpackb(data[PREFIX:])
