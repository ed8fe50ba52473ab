"""Players and games for the oracle's tests: between them they reach every corner of the rules."""

from functools import cache
from typing import Any

from keltis_engine import Rng, State, find_variant
from keltis_engine.play.policies import Policy, eager, random
from keltis_engine.records.replay import expand, make_replay

OPTIONS: dict[str, list[dict[str, int]]] = {
    "keltis": [{}, {}, {"turn_limit": 40}],
    "neue-wege": [{}, {}, {"turn_limit": 40}],
    "kartenspiel": [
        {},
        {"end_card_opens_row": 0},
        {"turn_limit": 20},
        {"turn_limit": 20, "end_card_opens_row": 0},
        {"points_on_end_card": 1},
    ],
    "weg-der-steine": [
        {},
        {"last_clover_turn": 1},
        {"turn_limit": 30},
        {"turn_limit": 66, "last_clover_turn": 1},
    ],
}


def runner(state: State, rng: Rng) -> int:
    """Run for the ends that others seldom reach: the goal, end cards, pairs, drops, last turns."""
    return run(state, rng, 8)


def climber(state: State, rng: Rng) -> int:
    """Run like the runner, but go on within the goal."""
    return run(state, rng, 10)


def run(state: State, rng: Rng, last_row: int) -> int:
    actions = state.legal_actions()
    texts = [state.notation[action] for action in actions]
    if state.phase in ("turn", "final", "last-turn"):
        for wanted in ("pair", "E", "last", "on"):
            found = [a for a, text in zip(actions, texts, strict=True) if is_wanted(text, wanted)]
            if found and rng.below(4):
                return found[int(rng.below(len(found)))]
        return eager(state, rng)
    if state.phase in ("move", "clover") and rng.below(8):
        progress = [row_left(text, last_row) for text in texts]
        found = [a for a, row in zip(actions, progress, strict=True) if row == max(progress)]
        return found[int(rng.below(len(found)))]
    return random(state, rng)


def is_wanted(text: str, wanted: str) -> bool:
    words = text.split()
    return wanted in words or (words[0] != "discard" and words[-1].endswith(wanted))


def row_left(text: str, last_row: int) -> int:
    """The row that a figure of neue-wege leaves; those beyond the last one have no hurry."""
    place = text.split()[-1].split("-")[0]
    if place == "stay":
        return -2
    row = int(place[:-1]) if place[:-1].isdigit() else 0
    return row if row < last_row else -1


def idler(state: State, rng: Rng) -> int:
    """Discard and take what was discarded, which would go on for ever."""
    actions = state.legal_actions()
    idle = [a for a in actions if state.notation[a].startswith(("discard", "take", "leave"))]
    if not idle or rng.below(4) == 0:
        return random(state, rng)
    return idle[int(rng.below(len(idle)))]


def waiter(state: State, rng: Rng) -> int:
    """Leave all tiles but the last in the middle, for a long last turn."""
    wanted = {"turn": "reveal", "revealed": "leave" if state.turn < 55 else "keep"}
    if rng.below(2):
        wanted["last-turn"] = "pass"
    for action in state.legal_actions():
        if state.notation[action] == wanted.get(state.phase):
            return action
    return random(state, rng)


def specialist(colour: str) -> Policy:
    """Return a player who builds one long row upwards, for end stones and top row scores."""

    def policy(state: State, rng: Rng) -> int:
        actions = {state.notation[action]: action for action in state.legal_actions()}
        cards = [text for text in actions if text.startswith("discard")]
        others = [text for text in cards if text[8] != colour]
        lays = [text for text in actions if text.startswith(f"lay {colour}") and text[-1] != "E"]
        lays.sort(key=lambda text: int(text[5:]))
        lays = [text for text in actions if text.endswith(f" on {colour}")] + lays
        if lays and (len(cards) - len(others) > 2 or rng.below(8) == 0):
            return actions[lays[0]]
        if others:
            return actions[others[int(rng.below(len(others)))]]
        for text in (f"take {colour}", "draw", f"clover {colour}", "done"):
            if text in actions:
                return actions[text]
        return random(state, rng)

    return policy


def hoarder(colour: str, path: str) -> Policy:
    """Return a player of keltis whose cards of one colour also bring a figure to another end.

    Once both figures are at their ends, he lays the first card of the second path's colour.
    """
    arrived = False

    def policy(state: State, rng: Rng) -> int:
        nonlocal arrived
        actions = {state.notation[action]: action for action in state.legal_actions()}
        if state.phase in ("move", "clover"):
            arrived = arrived or f"{state.phase} {path}" not in actions
            for text in (f"{state.phase} {path}", f"{state.phase} {colour}"):
                if text in actions:
                    return actions[text]
        if state.phase == "draw":
            return actions.get(f"take {path if arrived else colour}", actions["draw"])
        if state.phase != "turn":
            return random(state, rng)
        lays = [text for text in actions if text.startswith(f"lay {colour}")]
        others = [text for text in actions if text.startswith("discard") and text[8] != colour]
        kept = [text for text in others if text[8] == path][:1]
        others = [text for text in others if text not in kept]
        for text in actions:
            if arrived and text.startswith(f"lay {path}"):
                return actions[text]
        if others and len(lays) < 5:
            return actions[others[int(rng.below(len(others)))]]
        return actions[min(lays, key=lambda text: int(text[5:]))] if lays else random(state, rng)

    return policy


def sponsor(colour: str) -> Policy:
    """Return a player who leaves one colour and the draw pile to another."""

    def policy(state: State, rng: Rng) -> int:
        actions = state.legal_actions()
        texts = [state.notation[action] for action in actions]
        for wanted in (f"discard {colour}", "discard"):
            if any(text.startswith(wanted) for text in texts):
                return next(a for a in actions if state.notation[a].startswith(wanted))
        idle = [a for a in actions if state.notation[a] not in ("draw", f"take {colour}")]
        return idle[int(rng.below(len(idle)))] if idle else actions[0]

    return policy


POLICIES: list[Policy] = [random, eager, runner, climber, idler]


def play(
    variant: str,
    players: int,
    seed: int,
    options: dict[str, int],
    policies: list[Policy],
    most_decisions: int = 1_000_000,
) -> dict[str, Any]:
    """Return the expanded replay of one game, broken off after that many decisions."""
    ruleset = find_variant(variant, options)
    state = ruleset.deal(players, seed)
    rng = Rng(seed)
    actions: list[int] = []
    while not state.over and len(actions) < most_decisions:
        action = policies[state.seat](state, rng)
        actions.append(action)
        state.apply(action)
    return expand(make_replay(ruleset, players, seed, actions))


def mixed_game(variant: str, number: int, most_decisions: int = 1_000_000) -> dict[str, Any]:
    """Return a game whose options, players and policies vary with its number."""
    rng = Rng(number)
    choices = OPTIONS[variant]
    options = dict(choices[int(rng.below(len(choices)))])
    if "turn_limit" in options and rng.below(2):
        options["turn_limit"] = 1 + int(rng.below(90))
    players = 2 + number % 3
    if number // 3 % 2:
        policies = [POLICIES[number // 6 % 5]] * players
    else:
        policies = [POLICIES[int(rng.below(5))] for _ in range(players)]
    return play(variant, players, number, options, policies, most_decisions)


@cache
def runners_games(variant: str) -> list[dict[str, Any]]:
    """Return games that between them have every phase, every verb and every ending."""
    choices = OPTIONS[variant]
    games = []
    for number in range(60):
        policy = climber if number % 2 else runner
        options = choices[number // 3 % len(choices)]
        games.append(play(variant, 2 + number % 3, number, options, [policy] * 4))
    games += [play(variant, 2, number, {}, [eager, random]) for number in range(6)]
    if variant in ("keltis", "kartenspiel"):
        specialists = [specialist(colour) for colour in "RYVG"]
        games += [play(variant, 2 + number % 3, number, {}, specialists) for number in range(30)]
    if variant == "weg-der-steine":
        options = {"last_clover_turn": 1}
        games += [play(variant, 2, number, options, [waiter] * 2) for number in range(40)]
    return games
