"""Replays: written, read, played again, and refused with the reason when they are not true."""

import copy
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings

from keltis_engine import EngineError, Rng, find_variant
from keltis_engine.play.policies import POLICIES
from keltis_engine.records.replay import (
    EXPANDED_FORMAT,
    FORMAT,
    Replay,
    ReplayError,
    expand,
    make_replay,
    read_replay,
    steps,
    verify,
)
from tests.engine.support.positions import EXAMPLES, TABLES, Game, games

FIELDS = [
    "format", "variant", "version", "options", "players", "seed", "decisions", "scores", "digest",
]  # fmt: skip


def replay_of(game: Game) -> Replay:
    state = game.ruleset.deal(game.players, game.seed)
    rng = Rng(game.seed)
    actions: list[int] = []
    for policy, decisions in game.spells:
        for _ in range(decisions):
            if not state.over:
                actions.append(POLICIES[policy](state, rng))
                state.apply(actions[-1])
    return make_replay(game.ruleset, game.players, game.seed, actions)


def actions_of(replay: Replay) -> list[int]:
    ruleset = find_variant(replay["variant"], replay["options"])
    return [ruleset.parse(text) for text in replay["decisions"]]


def whole_game(variant: str = "keltis", players: int = 2) -> Replay:
    return replay_of(Game(variant, players, 7, {}, [("eager", 10_000)]))


# There and back


@settings(max_examples=EXAMPLES)
@given(games(to_the_end=True))
def test_a_replay_is_json_and_plays_out_as_it_says(game: Game) -> None:
    replay = replay_of(game)
    assert list(replay) == FIELDS
    assert replay["format"] == FORMAT
    line = json.dumps(replay)
    assert "\n" not in line
    assert read_replay(line) == replay
    end = verify(read_replay(line))
    assert end.over
    assert end.reveal() == game.position().reveal()
    assert replay == make_replay(game.ruleset, game.players, game.seed, actions_of(replay))


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_steps_lead_from_the_deal_to_the_end(variant: str, players: int) -> None:
    replay = whole_game(variant, players)
    ruleset = find_variant(variant)
    expected = ruleset.deal(players, 7)
    count = 0
    for state, action in steps(replay):
        assert state.reveal() == expected.reveal()
        if action >= 0:
            assert ruleset.format(action) == replay["decisions"][count]
            expected.apply(action)
            count += 1
        else:
            assert state.over
    assert count == len(replay["decisions"])


@settings(max_examples=EXAMPLES // 4)
@given(games(to_the_end=True))
def test_an_expanded_replay_tells_every_step(game: Game) -> None:
    replay = replay_of(game)
    expanded = expand(replay)
    assert json.loads(json.dumps(expanded)) == expanded
    assert expanded["format"] == EXPANDED_FORMAT
    assert "seed" not in expanded
    end = game.position()
    assert expanded["over"] is True
    assert expanded["scores"] == end.scores() == replay["scores"]
    assert expanded["breakdown"] == end.breakdown()
    assert expanded["winners"] == end.winners()
    state = game.ruleset.deal(game.players, game.seed)
    assert expanded["setup"]["draw_pile_size"] == state.reveal()["pile"]["size"]
    for text, step in zip(replay["decisions"], expanded["decisions"], strict=True):
        action = game.ruleset.parse(text)
        outcome = state.outcome(action)
        assert step["decision"] == text
        assert (step["seat"], step["turn"], step["phase"]) == (state.seat, state.turn, state.phase)
        assert step["legal"] == [game.ruleset.format(legal) for legal in state.legal_actions()]
        brought = [step[name] for name in ("drawn", "taken", "revealed") if name in step]
        assert brought == ([] if outcome is None else [outcome])
        state.apply(action)


def test_notation_in_a_replay_may_have_any_case() -> None:
    replay = whole_game()
    replay["decisions"] = [text.upper() for text in replay["decisions"]]
    verify(replay)


def test_a_replay_shares_nothing_with_the_ruleset() -> None:
    ruleset = find_variant("keltis")
    replay = make_replay(ruleset, 2, 1, [])
    replay["options"]["turn_limit"] = 5
    assert ruleset.options == {"turn_limit": 1000}


def digest_of_expanded(expanded: dict[str, Any]) -> str:
    """Work the digest out as docs/readers/replay.md says, from the expanded replay alone."""
    options = [f"{name}={value}" for name, value in sorted(expanded["options"].items())]
    head = [expanded["variant"], str(expanded["version"]), str(expanded["players"]), *options]
    text = " ".join(head) + "\n"
    for step in expanded["decisions"]:
        card = step.get("drawn") or step.get("taken") or step.get("revealed") or "-"
        text += f"{step['seat']} {step['phase']} {step['decision']} {card}\n"
    text += " ".join(["scores", *map(str, expanded["scores"])]) + "\n"
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_strangers_can_work_out_the_digest(variant: str, players: int) -> None:
    replay = whole_game(variant, players)
    assert digest_of_expanded(expand(replay)) == replay["digest"]


# Tampering


@pytest.mark.parametrize("name", FIELDS)
def test_a_missing_field_is_named(name: str) -> None:
    replay = whole_game()
    del replay[name]
    for check in (verify, expand, lambda r: read_replay(json.dumps(r))):
        with pytest.raises(ReplayError, match=f"^the replay has no field '{name}'$"):
            check(replay)


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("format", 1, "str"),
        ("variant", None, "str"),
        ("variant", ["keltis"], "str"),
        ("version", "1", "int"),
        ("version", 1.0, "int"),
        ("version", True, "int"),
        ("options", [], "dict"),
        ("players", "2", "int"),
        ("players", 2.0, "int"),
        ("seed", 7, "str"),
        ("decisions", "draw", "list"),
        ("decisions", {}, "list"),
        ("scores", 5, "list"),
        ("scores", {"0": 5}, "list"),
        ("digest", None, "str"),
    ],
)
def test_a_field_of_the_wrong_type_is_named(name: str, value: object, kind: str) -> None:
    replay = whole_game() | {name: value}
    with pytest.raises(ReplayError) as caught:
        verify(replay)
    assert str(caught.value) == f"the replay's {name!r} is {value!r}, not a {kind}"


@pytest.mark.parametrize(
    "seed", ["", "-1", "1.0", "seven", "0x7", "7 ", " 7", "7_0", "²", "٣", "+7"]
)
def test_a_seed_that_is_no_whole_number_is_refused(seed: str) -> None:
    with pytest.raises(ReplayError, match=r"seed is .*, not a whole number"):
        verify(whole_game() | {"seed": seed})


def changed(**fields: Any) -> Callable[[Replay], Replay]:
    return lambda replay: replay | fields


def decided(number: int, text: Any) -> Callable[[Replay], Replay]:
    def change(replay: Replay) -> Replay:
        replay["decisions"][number - 1] = text
        return replay

    return change


def longer(replay: Replay) -> Replay:
    replay["decisions"].append("draw")
    return replay


def shorter(replay: Replay) -> Replay:
    replay["decisions"].pop()
    return replay


def without_one(replay: Replay) -> Replay:
    del replay["decisions"][20]
    return replay


def better_scores(replay: Replay) -> Replay:
    replay["scores"][0] += 1
    return replay


@pytest.mark.parametrize(
    ("tamper", "reason"),
    [
        (
            changed(format="keltis-ladder replay 2"),
            "the replay's format is 'keltis-ladder replay 2'",
        ),
        (changed(variant="chess"), "there is no variant 'chess': choose from keltis, "),
        (changed(variant="neue-wege"), r"^decision \d+: "),
        (changed(version=2), "with version 2 of keltis; this engine has version 1"),
        (changed(options={"turn_limit": 0}), "option 'turn_limit' cannot be 0"),
        (changed(options={"turn_limit": "1000"}), "option 'turn_limit' cannot be '1000'"),
        (changed(options={"speed": 1}), "keltis has no option 'speed': it has turn_limit"),
        (changed(options={"turn_limit": 5}), "^decision 1[0-9]: .* the game is over"),
        (changed(players=5), "cannot be played by 5"),
        (changed(players=1), "cannot be played by 1"),
        (changed(players=3), r"^decision \d+: .* is not legal"),
        (changed(seed="8"), r"^decision \d: .* is not legal"),
        (changed(seed=str(2**128)), f"seed {2**128} is out of range"),
        (changed(seed="9" * 5000), "seed"),
        (decided(1, "draw"), r"^decision 1: 'draw' \(123\) is not legal: seat 0 has to decide"),
        (decided(12, "pass"), "^decision 12: 'pass' is not an action of keltis"),
        (decided(12, None), "^decision 12: 'None' is not an action of keltis"),
        (decided(12, 123), "^decision 12: '123' is not an action of keltis"),
        (longer, r"^decision \d+: 'draw' \(123\) is not legal: the game is over$"),
        (shorter, "the scores are|the game's digest is"),
        (without_one, r"^decision \d+: "),
        (changed(decisions=[]), "the scores are"),
        (better_scores, r"^the scores are \[.*\], the replay says \[.*\]$"),
        (changed(scores=[]), r"^the scores are \[.*\], the replay says \[\]$"),
        (changed(digest="0" * 64), "the replay says 0000"),
        (changed(digest=""), "digest is [0-9a-f]{64}, the replay says $"),
    ],
)
def test_a_changed_replay_is_refused_with_the_reason(
    tamper: Callable[[Replay], Replay], reason: str
) -> None:
    replay = tamper(copy.deepcopy(whole_game()))
    with pytest.raises(EngineError, match=reason):
        verify(replay)


def test_scores_must_be_whole_numbers() -> None:
    replay = whole_game()
    replay["scores"] = [float(score) for score in replay["scores"]]
    with pytest.raises(ReplayError, match="scores"):
        verify(replay)


@pytest.mark.parametrize("number", range(1, 60, 7))
def test_any_decision_changed_to_an_illegal_one_is_found_at_its_number(number: int) -> None:
    replay = whole_game()
    ruleset = find_variant("keltis")
    state = next(s for k, (s, _) in enumerate(steps(replay), 1) if k == number)
    illegal = next(a for a in range(ruleset.actions) if not state.is_legal(a))
    with pytest.raises(ReplayError, match=f"^decision {number}: '{ruleset.format(illegal)}'"):
        verify(decided(number, ruleset.format(illegal))(replay))


@pytest.mark.parametrize("number", range(1, 120, 9))
def test_any_decision_changed_to_another_legal_one_is_found(number: int) -> None:
    replay = whole_game("kartenspiel", 3)
    state = next(s for k, (s, _) in enumerate(steps(replay), 1) if k == number)
    names = [state.notation[action] for action in state.legal_actions()]
    for other in names:
        if other != replay["decisions"][number - 1]:
            with pytest.raises(ReplayError):
                verify(decided(number, other)(copy.deepcopy(replay)))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "this is not JSON"),
        ("{", "this is not JSON"),
        ("keltis", "this is not JSON"),
        ("[]", "a replay is a JSON object"),
        ("null", "a replay is a JSON object"),
        ("{}", "the replay has no field 'format'"),
        ('{"seed":' + "9" * 5000 + "}", "this is not JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
    ids=lambda text: text[:20],
)
def test_a_line_that_is_no_replay_is_refused(line: str, reason: str) -> None:
    with pytest.raises(ReplayError, match=reason):
        read_replay(line)
