"""Replays: a whole game as JSON, to be played again and checked anywhere.

A replay holds the variant with its version and options, the number of players, the seed, the
decisions in notation, the scores, and a digest of the game. ``docs/readers/replay.md`` says
more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final

from keltis_engine.errors import EngineError
from keltis_engine.games.variants import Ruleset, find_variant
from keltis_engine.state.state import State

FORMAT: Final = "keltis-ladder replay 1"
EXPANDED_FORMAT: Final = "keltis-ladder expanded replay 1"
SEED_DIGITS: Final = 39
END: Final = -1  # stands where a decision would, once there are no more
_OUTCOMES: Final = {"draw": "drawn", "take": "taken", "reveal": "revealed"}
_SETUP: Final = ("tiles", "stacks", "wish_row")

Replay = dict[str, Any]


class ReplayError(EngineError):
    """A replay that cannot be read, or that does not play out as it says."""


def make_replay(ruleset: Ruleset, players: int, seed: int, actions: list[int]) -> Replay:
    """Return the replay of the game in which these decisions were taken."""
    replay: Replay = {
        "format": FORMAT,
        "variant": ruleset.id,
        "version": ruleset.version,
        "options": dict(ruleset.options),
        "players": players,
        "seed": str(seed),  # as text: many languages read JSON numbers as 64-bit floats
        "decisions": [ruleset.format(action) for action in actions],
        "scores": [],
        "digest": "",
    }
    end, digest = play_again(replay)
    replay["scores"] = end.scores()
    replay["digest"] = digest
    return replay


def play_again(replay: Replay) -> tuple[State, str]:
    """Play the game again; return its end and the digest of its transcript.

    The digest is the SHA-256 of lines that an expanded replay holds too, so that strangers can
    work it out and later versions of the engine, whatever else they show, agree with it.
    """
    ruleset = rules_of(replay)
    options = [f"{name}={value}" for name, value in sorted(ruleset.options.items())]
    lines = [" ".join([ruleset.id, str(ruleset.version), str(replay["players"]), *options])]
    game = steps(replay)
    state, action = next(game)
    while action != END:
        card = state.outcome(action) or "-"
        lines.append(f"{state.seat} {state.phase} {state.notation[action]} {card}")
        state, action = next(game)
    lines.append(" ".join(["scores", *(str(score) for score in state.scores())]))
    text = "".join(line + "\n" for line in lines)
    return state, hashlib.sha256(text.encode("ascii")).hexdigest()


def read_replay(line: str) -> Replay:
    """Return the replay that a line of JSON holds."""
    try:
        replay = json.loads(line)
    except ValueError as error:
        raise ReplayError(f"this is not JSON: {error}") from None
    except RecursionError:
        raise ReplayError("this is not a replay: it is nested too deeply") from None
    check_fields(replay)
    return dict(replay)


def check_fields(replay: object) -> None:
    """Raise unless all fields of a replay are there and of the right kind."""
    if not isinstance(replay, dict):
        raise ReplayError("a replay is a JSON object, one on each line")
    kinds: list[tuple[str, type]] = [
        ("format", str),
        ("variant", str),
        ("version", int),
        ("options", dict),
        ("players", int),
        ("seed", str),
        ("decisions", list),
        ("scores", list),
        ("digest", str),
    ]
    for name, kind in kinds:
        if name not in replay:
            raise ReplayError(f"the replay has no field {name!r}")
        if not isinstance(replay[name], kind) or isinstance(replay[name], bool):
            raise ReplayError(f"the replay's {name!r} is {replay[name]!r}, not a {kind.__name__}")
    if replay["format"] != FORMAT:
        raise ReplayError(f"the replay's format is {replay['format']!r}, expected {FORMAT!r}")
    if any(type(score) is not int for score in replay["scores"]):
        raise ReplayError(f"the replay's scores are {replay['scores']!r}, not whole numbers")
    seed = replay["seed"]
    if not (seed.isascii() and seed.isdigit() and len(seed) <= SEED_DIGITS):
        raise ReplayError(f"the replay's seed is {seed[:50]!r}, not a whole number below 2**128")


def rules_of(replay: Replay) -> Ruleset:
    """Return the ruleset that a replay was played with."""
    check_fields(replay)
    ruleset = find_variant(replay["variant"], replay["options"])
    if ruleset.version != replay["version"]:
        raise ReplayError(
            f"the replay was played with version {replay['version']} of {ruleset.id}; "
            f"this engine has version {ruleset.version}"
        )
    return ruleset


def steps(replay: Replay) -> Iterator[tuple[State, int]]:
    """Play the game again: yield the state before each decision with its action, then the end.

    The last pair has the final state and ``END``. The state is one object that goes on: copy it to
    keep it.
    """
    ruleset = rules_of(replay)
    state = ruleset.deal(replay["players"], int(replay["seed"]))
    for number, text in enumerate(replay["decisions"], 1):
        try:
            action = ruleset.parse(str(text))
            if not state.is_legal(action):
                state.apply(action)
        except EngineError as error:
            raise ReplayError(f"decision {number}: {error}") from None
        yield state, action
        state.apply(action)
    yield state, END


def verify(replay: Replay) -> State:
    """Play the game again and return its end, or raise if it is not what the replay says."""
    end, digest = play_again(replay)
    if end.scores() != replay["scores"]:
        raise ReplayError(f"the scores are {end.scores()}, the replay says {replay['scores']}")
    if digest != replay["digest"]:
        raise ReplayError(f"the game's digest is {digest}, the replay says {replay['digest']}")
    return end


def expand(replay: Replay) -> dict[str, Any]:
    """Return a replay from which every step can be checked without our seed or generator."""
    game = steps(replay)
    state, action = next(game)
    setup = _setup(state)
    decisions: list[dict[str, Any]] = []
    while action != END:
        decisions.append(_expanded(state, action))
        state, action = next(game)
    return {
        "format": EXPANDED_FORMAT,
        "variant": replay["variant"],
        "version": replay["version"],
        "options": replay["options"],
        "players": replay["players"],
        "setup": setup,
        "decisions": decisions,
        "over": state.over,
        "ending": state.ending,
        "scores": state.scores(),
        "breakdown": state.breakdown(),
        "winners": state.winners(),
    }


def _setup(state: State) -> dict[str, Any]:
    """Return everything about a game before its first decision, but for the order of the pile."""
    view = state.reveal()
    setup: dict[str, Any] = {"draw_pile_size": view["pile"]["size"]}
    if "hands" in view:
        setup["hands"] = [hand["cards"] for hand in view["hands"]]
        setup["removed"] = view["removed"]["cards"]
    for name in _SETUP:
        if name in view:
            setup[name] = view[name]
    return setup


def _expanded(state: State, action: int) -> dict[str, Any]:
    """Return a decision with all that could have been chosen and what came of it."""
    text = state.notation[action]
    decision: dict[str, Any] = {
        "seat": int(state.seat),
        "turn": int(state.turn),
        "phase": state.phase,
        "decision": text,
        "legal": [state.notation[legal] for legal in state.legal_actions()],
    }
    card = state.outcome(action)
    if card is not None:
        decision[_OUTCOMES[text.split()[0]]] = card
    return decision
