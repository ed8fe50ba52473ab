"""Crash cards: all that an author needs to understand a fault, and to make it happen again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgpack

from keltis_bots.framing import PREFIX
from keltis_engine import EngineError, Ruleset, State, find_variant
from keltis_ladder.errors import LadderError
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.faults import Fault, Kind
from keltis_ladder.referee.charging import Effort
from keltis_ladder.sandbox.child import Exit

FORMAT: Final = "keltis-ladder crash card 1"


def crash_card(
    *,
    bot: str,
    fault: Fault,
    ruleset: Ruleset,
    names: Sequence[str],
    seat: int,
    seed: int,
    actions: Sequence[int],
    request: bytes | None,
    left_ms: int | None,
    control: TimeControl,
    log: str,
    ended: Exit,
    efforts: Sequence[Effort],
    fatal: Effort | None,
) -> dict[str, Any]:
    """Return the card. It names the deal: nobody gets it before the whole match is over."""
    return {
        "format": FORMAT,
        "bot": bot,
        "fault": {"kind": str(fault.kind), "code": fault.code, "text": fault.text},
        "game": {
            "variant": ruleset.id,
            "version": ruleset.version,
            "options": dict(ruleset.options),
            "players": len(names),
            "names": list(names),
            "seat": seat,
            "seed": str(seed),
            "decisions": [ruleset.format(action) for action in actions],
        },
        "clock": {
            "bank_ms": control.bank_ms,
            "increment_ms": control.increment_ms,
            "start_ms": control.start_ms,
            "left_ms": left_ms,
        },
        "request": msgpack.unpackb(request[PREFIX:]) if request else None,
        "stderr": log,
        "exit": {"code": ended.code, "signal": ended.signal, "text": str(ended)},
        "peak_memory": ended.peak_memory,
        "cpu_seconds": round(ended.cpu, 3),
        "efforts": [_plain_effort(effort) for effort in efforts],
        "fatal": _plain_effort(fatal) if fatal else None,
        "reproduce": "keltis-ladder reproduce CARD.json --bot DIRECTORY",
    }


def _plain_effort(effort: Effort) -> dict[str, float]:
    seconds = {
        "wall": effort.wall,
        "cpu": effort.cpu,
        "stalled": effort.stalled,
        "referee_delay": effort.delay,
        "stolen": effort.stolen,
        "charged": effort.charged,
    }
    return {f"{name}_ms": round(value * 1000, 3) for name, value in seconds.items()}


class BadCard(LadderError):
    """A file that is no crash card, or one that this version cannot play."""


@dataclass(frozen=True)
class Card:
    """What a crash card says about the conversation that ended with a fault."""

    bot: str
    fault: Fault
    ruleset: Ruleset
    players: int
    seat: int
    seed: int
    actions: list[int]
    control: TimeControl
    left_ms: int | None  # at the last request; none if it came to none
    request_id: int | None
    asked: int  # how often it had been asked in this game before
    spent: list[float]  # seconds that each of these decisions was charged

    @property
    def at_start(self) -> bool:
        """Whether the bot failed before it was asked for anything."""
        return self.request_id is None


def read_card(text: str) -> Card:
    """Return the crash card that a file holds."""
    try:
        return _card(json.loads(text))
    except EngineError as error:
        raise BadCard(f"this crash card cannot be played: {error}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        if isinstance(error, BadCard):
            raise
        raise BadCard(
            f"this is no crash card, which match and check write: {type(error).__name__} {error}"
        ) from None


def _card(plain: dict[str, Any]) -> Card:
    if plain["format"] != FORMAT:
        raise BadCard(f"the card's format is {plain['format']!r}, expected {FORMAT!r}")
    game, clock, request = plain["game"], plain["clock"], plain["request"]
    ruleset = find_variant(game["variant"], game["options"])
    if ruleset.version != game["version"]:
        raise BadCard(
            f"the card was written with version {game['version']} of {ruleset.id}; "
            f"this engine has version {ruleset.version}"
        )
    if game["seat"] not in range(game["players"]):
        raise BadCard(f"there is no seat {game['seat']} in a game of {game['players']}")
    actions = [ruleset.parse(decision) for decision in game["decisions"]]
    return Card(
        bot=str(plain["bot"]),
        fault=Fault(Kind(plain["fault"]["kind"]), plain["fault"]["code"], plain["fault"]["text"]),
        ruleset=ruleset,
        players=game["players"],
        seat=game["seat"],
        seed=int(game["seed"]),
        actions=actions,
        control=TimeControl(
            int(clock["bank_ms"]), int(clock["increment_ms"]), int(clock["start_ms"])
        ),
        left_ms=clock["left_ms"],
        request_id=int(request["id"]) if request else None,
        asked=_asked(ruleset.deal(game["players"], int(game["seed"])), game["seat"], actions)
        if request
        else 0,
        spent=[_charged(effort) for effort in plain["efforts"]],
    )


def _charged(effort: dict[str, Any]) -> float:
    """Return the seconds that a decision was charged; old cards have what was given back."""
    if "charged_ms" in effort:
        return float(effort["charged_ms"]) / 1000
    return float(effort["wall_ms"] - effort["lost_ms"]) / 1000


def _asked(state: State, seat: int, actions: list[int]) -> int:
    """Return how often a seat was asked; raise unless it is to be asked next."""
    asked = 0
    for action in actions:
        asked += int(state.seat) == seat and len(state.legal_actions()) > 1
        state.apply(action)
    if state.over or int(state.seat) != seat or len(state.legal_actions()) == 1:
        raise BadCard("by the decisions of this crash card, its bot was not to be asked next")
    return asked
