"""Games are written, told and checked; what was tampered with is refused."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keltis_engine import find_variant
from tests.cli.support.helpers import ALL_VARIANTS, ESCAPE, command, output
from tests.cli.support.inside import Inside

Replay = dict[str, Any]


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two games of each variant."""
    file = tmp_path_factory.mktemp("games") / "games.jsonl"
    output("selfplay", "--games", "2", "--seed", "3", "--players", "3", "--out", file)
    return file


@pytest.fixture
def inside(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Inside:
    return Inside(capsys, monkeypatch)


def test_selfplay_writes_replays_that_verify(games: Path) -> None:
    replays = [json.loads(line) for line in games.read_text().splitlines()]
    assert [replay["variant"] for replay in replays] == [v for v in ALL_VARIANTS for _ in "12"]
    assert [replay["seed"] for replay in replays] == ["3", "4"] * 4
    assert output("replay", games, "--verify").endswith("OK: 8 games\n")


def test_selfplay_is_the_same_every_time(games: Path) -> None:
    again = output("selfplay", "--games", "2", "--seed", "3", "--players", "3", "--out", "-")
    assert again == games.read_text()


@pytest.mark.parametrize("policy", ["random", "eager"])
def test_each_policy_plays_each_variant(tmp_path: Path, policy: str) -> None:
    file = tmp_path / "games.jsonl"
    told = output("selfplay", "--games", "1", "--policy", policy, "--out", file)
    assert all(variant in told for variant in ALL_VARIANTS)
    assert output("replay", "-", "--verify", typed=file.read_text()).endswith("OK: 4 games\n")


def test_selfplay_keeps_an_existing_file_unless_forced(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    file.write_text("precious")
    play = ("selfplay", "--variant", "weg-der-steine", "--games", "1", "--out", file)
    refused = command(*play)
    assert refused.returncode == 2
    assert "exists already" in refused.stderr
    assert file.read_text() == "precious"
    output(*play, "--force")
    assert file.read_text() != "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]


def test_selfplay_records_the_options(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    output("selfplay", "-v", "keltis", "-n", "1", "--option", "turn_limit=5", "--out", file)
    assert json.loads(file.read_text())["options"] == {"turn_limit": 5}
    assert "The game ends: the turn limit is reached." in output("replay", file)


def other_score(replay: Replay) -> None:
    replay["scores"][0] += 1


def other_seed(replay: Replay) -> None:
    replay["seed"] = "99"


def other_digest(replay: Replay) -> None:
    replay["digest"] = "0" * 64


def one_decision_less(replay: Replay) -> None:
    replay["decisions"].pop()


def unknown_decision(replay: Replay) -> None:
    replay["decisions"][0] = "cheat"


def no_seed(replay: Replay) -> None:
    del replay["seed"]


@pytest.mark.parametrize(
    "tamper",
    [other_score, other_seed, other_digest, one_decision_less, unknown_decision, no_seed],
)
def test_a_tampered_replay_is_refused_with_its_line_and_a_reason(
    games: Path, tamper: Callable[[Replay], None], inside: Inside
) -> None:
    lines = games.read_text().splitlines()
    replay = json.loads(lines[4])
    tamper(replay)
    lines[4] = json.dumps(replay)
    lines.append("not even JSON")
    done = inside.run("replay", "-", "--verify", typed="\n".join(lines))
    assert done.code == 1
    refused = dict.fromkeys(line.split(":")[0] for line in done.err.splitlines())
    assert list(refused) == ["line 5", "line 9"]
    held = "ok: decisions, scores, digest, seed; not in the file: faults, ending, ranks, names,"
    assert done.out.startswith(f"lines 1 to 4: {held}")
    assert done.out.endswith("7 of 9 games OK\n")
    for other in ([], ["--expand"]):
        told = inside.run("replay", "-", "--game", "5", *other, typed="\n".join(lines))
        assert (told.code, told.out) == (1, "")
        assert told.err.startswith("line 5: ")


@pytest.mark.parametrize("number", range(1, 9))
def test_a_told_game_names_every_turn_and_the_score(
    games: Path, number: int, inside: Inside
) -> None:
    replay = json.loads(games.read_text().splitlines()[number - 1])
    told = inside.output("replay", games, "--game", str(number))
    turns = [int(turn) for turn in re.findall(r"^Turn (\d+), seat \d [a-z]", told, re.MULTILINE)]
    assert turns == list(range(1, turns[-1] + 1))
    for seat, score in enumerate(replay["scores"]):
        assert re.search(rf"^seat {seat} .* {score}(  wins.*)?$", told, re.MULTILINE)
    assert ESCAPE not in told


def test_a_turn_is_told_from_the_card_to_the_draw(tmp_path: Path) -> None:
    ruleset = find_variant("keltis")
    state = ruleset.deal(2, 1)
    first = next(a for a in state.legal_actions() if ruleset.format(a).startswith("lay"))
    card = ruleset.format(first).split()[1]
    file = tmp_path / "games.jsonl"
    output("selfplay", "-v", "keltis", "-n", "1", "--option", "turn_limit=2", "--out", file)
    replay = json.loads(file.read_text())
    replay["decisions"] = [f"lay {card}", "big", "draw"]
    drawn = None
    for decision in replay["decisions"]:
        drawn = state.outcome(ruleset.parse(decision))
        state.apply(ruleset.parse(decision))
    told = told_steps(replay)
    colour = {"R": "red", "Y": "yellow", "V": "violet", "G": "green", "B": "blue"}[card[0]]
    assert told == (
        f"Turn 1, seat 0 lays {card} in the {colour} row ({card}); "
        f"the big figure enters {colour} stone 1; draws {drawn}."
    )


def told_steps(replay: Replay) -> str:
    from keltis_cli.draw.narrator import turns
    from keltis_cli.games.narrating import watch
    from keltis_engine import POST_GAME
    from keltis_engine.records.replay import steps

    return " ".join(turn.sentence() for turn in turns(watch(steps(replay), POST_GAME)))


def test_told_from_a_seat_others_draw_unseen_cards(games: Path) -> None:
    told = output("replay", games, "--game", "1", "--seat", "1")
    assert re.search(r"seat 0 .*draws a card", told)
    assert not re.search(r"seat [02] .*draws [RYVGB]", told)
    assert re.search(r"seat 1 \(you\) .*draws [RYVGB]\d", told)
    assert re.search(r"^hand A \d cards", told, re.MULTILINE)


def test_boards_are_drawn_every_few_turns(games: Path) -> None:
    told = output("replay", games, "--game", "7", "--board", "10")
    turns = len(re.findall("^Turn", told, re.MULTILINE))
    assert told.count("weg-der-steine · turn") == turns // 10 + 1


def test_expanded_games_are_json_lines(games: Path) -> None:
    expanded = [json.loads(line) for line in output("replay", games, "--expand").splitlines()]
    assert [game["variant"] for game in expanded] == [v for v in ALL_VARIANTS for _ in "12"]
    for game in expanded:
        assert all(step["decision"] in step["legal"] for step in game["decisions"])


def test_a_missing_game_and_an_empty_file_are_explained(games: Path) -> None:
    missing = command("replay", games, "--game", "9")
    assert missing.returncode == 2
    assert missing.stderr == (f"keltis-ladder: there is no game 9 in {games}: it holds 8\n")
    assert "holds no games" in command("replay", "-").stderr
