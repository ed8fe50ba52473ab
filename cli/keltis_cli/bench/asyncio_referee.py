"""A plain asyncio referee, as one writes it first: what ``bench referee`` compares ours with.

One event loop, subprocesses with stream readers, a timeout around each answer, several games at
once. The bots and the messages are the same; there is no sandbox and nobody is stopped. It packs
its messages with msgpack from dicts or, to see what the loop alone costs, as our referee does.
"""

from __future__ import annotations

import asyncio
import time
from asyncio.subprocess import PIPE, Process
from typing import Any

from keltis_bots import messages
from keltis_bots.framing import LENGTH, PREFIX, frame
from keltis_engine import Ruleset, State
from keltis_ladder.match.clock import DEFAULT_CONTROL, Clock
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.referee.messages import GameMessages, game_message
from keltis_ladder.spectate.vocabulary import Vocabulary


class PlainMessages:
    """Writes the messages of one game, each packed from a dict."""

    def __init__(self, ruleset: Ruleset, players: int) -> None:
        self.ruleset = ruleset
        self.players = players
        self.news: list[list[dict[str, Any]]] = [[] for _ in range(players)]

    def game(self, seat: int) -> bytes:
        """Return the message that a game begins."""
        bank, increment = DEFAULT_CONTROL.bank_ms, DEFAULT_CONTROL.increment_ms
        return game_message(self.ruleset, self.players, seat, bank, increment)

    def request(self, state: State, seat: int, legal: list[int], id: int, left_ms: int) -> bytes:
        """Return the request for a decision."""
        events, self.news[seat] = self.news[seat], []
        return frame(
            {
                "type": "choose",
                "id": id,
                "legal": legal,
                "left_ms": left_ms,
                "increment_ms": DEFAULT_CONTROL.increment_ms,
                "notation": [self.ruleset.format(action) for action in legal],
                "events": events,
                "view": state.view(seat),
            }
        )

    def note(self, state: State, action: int) -> None:
        """Remember a decision for all who sit at the table."""
        actor, notation = int(state.seat), self.ruleset.format(action)
        card = state.outcome(action)
        for seat, news in enumerate(self.news):
            seen = None if notation == "draw" and seat != actor else card
            news.append({"seat": actor, "action": action, "notation": notation, "card": seen})


def decisions_per_second(
    ruleset: Ruleset, entrant: Entrant, games: int, seconds: float, seed: int, prepacked: bool
) -> float:
    """Return how many decisions are asked in a second with this many games at once."""
    return asyncio.run(_measure(ruleset, entrant, games, seconds, seed, prepacked))


async def _measure(
    ruleset: Ruleset, entrant: Entrant, games: int, seconds: float, seed: int, prepacked: bool
) -> float:
    words = Vocabulary(ruleset) if prepacked else None
    tables = [[await _start(entrant) for _ in range(2)] for _ in range(games)]
    begin = time.perf_counter()
    end = begin + seconds
    asked = await asyncio.gather(
        *(
            _play_until(end, ruleset, words, bots, seed + 1_000_000 * number)
            for number, bots in enumerate(tables)
        )
    )
    rate = sum(asked) / (time.perf_counter() - begin)
    for bots in tables:
        for bot in bots:
            assert bot.stdin is not None
            bot.stdin.close()
            await bot.wait()
    return rate


async def _start(entrant: Entrant) -> Process:
    bot = await asyncio.create_subprocess_exec(*entrant.command, stdin=PIPE, stdout=PIPE)
    await _exchange(bot, frame(messages.hello("asyncio", 5000)), 5.0)
    return bot


async def _exchange(bot: Process, message: bytes, seconds: float) -> bytes:
    assert bot.stdin is not None
    assert bot.stdout is not None
    bot.stdin.write(message)
    await bot.stdin.drain()
    async with asyncio.timeout(seconds):
        start = await bot.stdout.readexactly(PREFIX)
        return await bot.stdout.readexactly(LENGTH.unpack(start)[0])


async def _play_until(
    end: float, ruleset: Ruleset, words: Vocabulary | None, bots: list[Process], seed: int
) -> int:
    """Play games until the time is over and return how many decisions were asked."""
    asked = 0
    ids = [0] * len(bots)
    while time.perf_counter() < end:
        seed += 1
        state = ruleset.deal(len(bots), seed)
        control = DEFAULT_CONTROL
        writer = (
            GameMessages(ruleset, len(bots), control.bank_ms, control.increment_ms, words)
            if words
            else PlainMessages(ruleset, len(bots))
        )
        clocks = [Clock(control) for _ in bots]
        for seat, bot in enumerate(bots):
            assert bot.stdin is not None
            bot.stdin.write(writer.game(seat))
        while not state.over and time.perf_counter() < end:
            seat = int(state.seat)
            legal = state.legal_actions()
            action = legal[0]
            if len(legal) > 1:
                ids[seat] += 1
                left = clocks[seat].left
                request = writer.request(state, seat, legal, ids[seat], int(left * 1000))
                before = time.monotonic()
                payload = await _exchange(bots[seat], request, left)
                clocks[seat].spend(time.monotonic() - before)
                action = messages.read_action(payload, ids[seat])
                asked += 1
            writer.note(state, action)
            state.apply(action)
    return asked
