"""The SDK: write ``choose``, call ``run``.

.. code-block:: python

    from keltis_bots import Request, run


    def choose(request: Request) -> int:
        return request.legal[0]


    run(choose)
"""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, Final, Protocol

import msgpack

from keltis_bots.framing import (
    MOST_TO_BOT,
    PREFIX,
    PROTOCOL,
    ProtocolError,
    framed,
    pack,
    payload_length,
)
from keltis_bots.log_stream import LogStream, print_to_log
from keltis_bots.messages import CPU_CLOCK, LONGEST_NAME
from keltis_bots.request import Game, Request, read_game, read_result

# The signal by which a referee asks a bot that ran out of time to say where it is.
TIMEOUT_SIGNAL: Final = signal.SIGXCPU
LOG: Final = 2  # the descriptor, whatever becomes of sys.stderr

_CHUNK: Final = 1 << 16
_CHOOSE: Final = b"\xa4type\xa6choose"  # how nearly every message begins, behind its map header


class Bot(Protocol):
    """What ``run`` needs of a bot.

    It may also have ``name`` and ``version``, and be told of a game's begin and end by
    ``new_game(game: Game)`` and ``game_over(result: Result)``.
    """

    def choose(self, request: Request) -> int | str:
        """Return one of ``request.legal``, or its notation."""


Chooser = Callable[[Request], int | str]


class BadChoice(ValueError):
    """The bot chose something that is not an action of the request."""


def run(bot: Bot | Chooser) -> None:
    """Play with whoever is at the other end of stdin and stdout until stdin is closed."""
    source, target, log = _take_pipes()
    _show_stacks_on_timeout()
    reader = _Reader(source)
    # Whatever comes back is looked at: bots return numpy's integers, for example.
    choose: Callable[[Request], Any] = bot if callable(bot) else bot.choose
    new_game = getattr(bot, "new_game", None)
    game_over = getattr(bot, "game_over", None)
    game: Game | None = None
    cpu_clock = False
    gc.freeze()  # what was imported stays: no need to look at it again and again
    while (payload := reader.read()) is not None:
        if payload.startswith(_CHOOSE, 1) and game is not None:
            request = Request(game, payload, reader.arrived, cpu_clock)
            _answer(target, log, request.id, _action(choose(request), request))
            continue
        message: dict[str, Any] = msgpack.unpackb(payload)
        kind = message["type"]
        if kind == "hello":
            cpu_clock = message.get("clock") == CPU_CLOCK
            _write(target, pack(_hello(bot, message)))
        elif kind == "game":
            game = read_game(message)
            if new_game:
                new_game(game)
        elif kind == "choose" and game is not None:
            request = Request(game, payload, reader.arrived, cpu_clock)
            _answer(target, log, request.id, _action(choose(request), request))
        elif kind == "end":
            result = read_result(message)
            if game_over:
                game_over(result)
        elif kind == "error":
            print(f"refused by the server ({message['code']}): {message['text']}", file=sys.stderr)


def _take_pipes() -> tuple[int, int, LogStream]:
    """Keep stdin and stdout for the protocol: whatever else prints, prints to the log."""
    if os.isatty(0):
        print(
            "This is a bot: it talks msgpack on stdin and stdout. Let it play with:\n"
            "  keltis-ladder match DIRECTORY random",
            file=sys.stderr,
        )
        sys.exit(2)
    source, target = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - a device, not a path of ours
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return source, target, print_to_log(LOG)


def _show_stacks_on_timeout() -> None:
    """Have the stacks of all threads written to the log when the referee's signal comes.

    That is done at once, in the middle of a long call of a C library too. A bot that has a handler
    of its own keeps it.
    """
    if signal.getsignal(TIMEOUT_SIGNAL) is signal.SIG_DFL:
        faulthandler.register(TIMEOUT_SIGNAL, file=LOG, all_threads=True)


class _Reader:
    """Takes frames from a pipe; usually one read brings one frame."""

    def __init__(self, source: int) -> None:
        self.source = source
        self.data = b""
        self.arrived = 0.0  # when the first byte of what is read came, and the clock ran

    def read(self) -> bytes | None:
        """Return the next message, or none when the other end has closed the pipe."""
        if not self._fill(PREFIX):
            return None
        end = PREFIX + payload_length(self.data, MOST_TO_BOT)
        if not self._fill(end):
            return None
        payload, self.data = self.data[PREFIX:end], self.data[end:]
        return payload

    def _fill(self, size: int) -> bool:
        while len(self.data) < size:
            more = os.read(self.source, _CHUNK)
            if not more:
                return False
            if not self.data:
                self.arrived = time.perf_counter()
            self.data += more
        return True


def _hello(bot: object, message: dict[str, Any]) -> dict[str, Any]:
    if message["protocol"] != PROTOCOL:
        raise ProtocolError(
            "wrong-protocol",
            f"the server speaks protocol {message['protocol']}, this SDK speaks {PROTOCOL}: "
            "install the SDK that fits the server",
        )
    return {
        "type": "hello",
        "protocol": PROTOCOL,
        "name": str(getattr(bot, "name", "") or getattr(bot, "__name__", ""))[:LONGEST_NAME],
        "version": str(getattr(bot, "version", ""))[:LONGEST_NAME],
    }


def _action(chosen: Any, request: Request) -> int:
    """Return the id of what the bot chose, given as an id or in notation."""
    if isinstance(chosen, str):
        if chosen in request.notation:
            return request.legal[request.notation.index(chosen)]
        raise BadChoice(
            f"the bot chose {chosen!r}; the legal actions are: {', '.join(request.notation)}"
        )
    return int(chosen)


def _answer(target: int, log: LogStream, id: int, action: int) -> None:
    if log.has_rest:
        log.flush_rest()
    _write(target, pack({"type": "action", "id": id, "action": action}))


def _write(target: int, payload: bytes) -> None:
    data = framed(payload)
    while data:
        data = data[os.write(target, data) :]
