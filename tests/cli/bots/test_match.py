"""Bots play matches, and the report says what came of it."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from keltis_cli.bots import entering
from keltis_cli.errors import BadRequest
from keltis_ladder.sandbox.cgroups import INEXACT_CLOCK, Groups
from keltis_ladder.sandbox.sandbox import Sandbox, SandboxMissing, find_sandbox
from tests.cli.support.helpers import ESCAPE, command, output
from tests.ladder.support.arena import processes_with
from tests.ladder.support.small_bots import FIRST, write_bot

MISSING = "bubblewrap is not installed: sudo apt-get install -y bubblewrap"
LAST = "return request.legal[-1]"
CHEAT = "print('\\x1b[31mI cheat', file=sys.stderr)\nreturn 9999"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory of our own, and keep prepared bots there, too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def played(*arguments: str | Path) -> dict[str, Any]:
    """Return the JSON of a match of the fastest variant."""
    game = ["-v", "weg-der-steine", "--no-sandbox", "--json"]
    found: dict[str, Any] = json.loads(output("match", *arguments, *game))
    return found


def test_the_report_says_who_won_and_how_surely(tmp_path: Path) -> None:
    first, last = write_bot(tmp_path / "first"), write_bot(tmp_path / "last", LAST)
    told = output("match", first, last, "-n", "6", "-v", "weg-der-steine", "--no-sandbox")
    assert told.startswith("weg-der-steine: first v last\n6 matches, 12 games in ")
    assert "seed 1, turn_limit=1000, last_clover_turn=0, clock 1000 + 20 ms, no sandbox" in told
    row = re.search(r"^first +(\d+) +(\d+) +(\d+) +\d+\.\d %", told, re.MULTILINE)
    assert row
    assert sum(map(int, row.groups())) == 6
    for line in ("Elo difference", "games won", "points per game", "stronger at all"):
        assert f"\n{line}" in told
    assert re.search(r"^wins by seat +seat 0 \d+\.\d %, seat 1 \d+\.\d %$", told, re.MULTILINE)
    assert "\nended by      last tile 12\n" in told
    assert ESCAPE not in told
    assert max(map(len, told.splitlines())) <= 80


def test_three_bots_are_compared_in_pairs(tmp_path: Path) -> None:
    first = write_bot(tmp_path / "first")
    told = output(
        "match", first, first, "greedy", "-n", "2", "-v", "weg-der-steine", "--no-sandbox"
    )
    for pair in ("first v first#2", "first v greedy", "first#2 v greedy"):
        assert f"\n{pair} " in told
    assert max(map(len, told.splitlines())) <= 80


def test_the_json_adds_up(tmp_path: Path) -> None:
    first, last = write_bot(tmp_path / "first"), write_bot(tmp_path / "last", LAST)
    match = played(first, last, "-n", "5", "--seed", "9")
    assert match["format"] == "keltis-ladder match 1"
    assert (match["matches"], match["games"], match["stopped"]) == (5, 10, None)
    assert [bot["name"] for bot in match["bots"]] == ["first", "last"]
    assert sum(match["outcomes"]) == len(match["results"]) == 5
    assert sum(match["endings"].values()) == sum(match["seat_wins"]) == 10
    [pair] = match["pairs"]
    assert pair["wins"] + pair["draws"] + pair["losses"] == 5
    mean = sum(result["games_won"][0] for result in match["results"]) / 5
    assert match["bots"][0]["games_won"]["value"] == pytest.approx(mean)
    assert match["bots"][0]["games_won"]["low"] <= mean <= match["bots"][0]["games_won"]["high"]
    assert match["lead"]["value"] == pytest.approx(
        match["bots"][0]["points"]["value"] - match["bots"][1]["points"]["value"]
    )
    assert match["sprt"] is None
    assert match["crash_cards"] == []


def test_the_same_seed_gives_the_same_games_on_any_number_of_cores(tmp_path: Path) -> None:
    first, last = write_bot(tmp_path / "first"), write_bot(tmp_path / "last", LAST)
    files = []
    for cores in ("1", "2"):
        files.append(tmp_path / f"{cores}.jsonl")
        played(first, last, "-n", "6", "--cores", cores, "--out", files[-1])
    assert files[0].read_text() == files[1].read_text()
    assert output("replay", "--verify", files[0]).endswith("OK: 12 games\n")
    games = [json.loads(line) for line in files[0].read_text().splitlines()]
    assert [(game["match"], game["rotation"]) for game in games[:4]] == [
        (1, 0), (1, 1), (2, 0), (2, 1)
    ]  # fmt: skip
    assert games[0]["seed"] == games[1]["seed"] != games[2]["seed"]
    assert [game["names"] for game in games[:2]] == [["first", "last"], ["last", "first"]]
    other = played(first, last, "-n", "1", "--seed", "2", "--out", tmp_path / "other.jsonl")
    assert other["results"][0]["seed"] != games[0]["seed"]


def test_faults_are_told_recorded_and_kept_as_cards(tmp_path: Path) -> None:
    cheat = write_bot(
        tmp_path / "cheat", f"if asked > 3:\n    {CHEAT.replace(chr(10), '; ')}\n{FIRST}"
    )
    done = command("match", "cheat", "random", "-n", "4", "--no-sandbox", "--out", "games.jsonl")
    assert cheat.is_dir()
    assert done.returncode == 0
    assert "cheat illegal/not-legal 8" in done.stdout
    assert "cheat lost 8 games by illegal/not-legal" in done.stderr
    assert "the bot chose 9999, which is no action at all" in done.stderr
    assert ESCAPE not in done.stderr
    assert "| \\x1b[31mI cheat" in done.stderr
    held = "decisions, scores, digest, faults, ending, ranks, names, rotation, match, seed"
    checked = output("replay", "--verify", "games.jsonl")
    assert checked.startswith(f"lines 1 to 8: ok: {held}; not in the file: origin, commitment, res")
    assert checked.endswith("OK: 8 games\n")
    for line in output("replay", "--expand", "games.jsonl").splitlines():
        game = json.loads(line)
        honest = game["names"].index("random")
        assert (game["over"], game["ending"], game["winners"]) == (True, "fault", [honest])
        assert game["ranks"][honest] == 1
        assert game["faults"][0]["seat"] == 1 - honest
    first, *others = Path("games.jsonl").read_text().splitlines()
    forged = {**json.loads(first), "ranks": json.loads(first)["ranks"][::-1]}
    Path("forged.jsonl").write_text("\n".join([json.dumps(forged), *others]))
    for mode in ("--verify", "--expand"):
        refused = command("replay", mode, "forged.jsonl")
        assert refused.returncode == 1
        assert "line 1: ranks: expected [" in refused.stderr
    faults = [json.loads(line)["faults"] for line in Path("games.jsonl").read_text().splitlines()]
    assert [fault["code"] for [fault] in faults] == ["not-legal"] * 8
    cards = sorted(Path("crashes").iterdir())
    assert len(cards) == 5  # enough of one kind
    card = json.loads(cards[0].read_text())
    assert card["reproduce"] == f"keltis-ladder reproduce {cards[0]} --bot cheat"
    assert card["reproduce"] in done.stderr


def test_a_bot_that_does_not_start_loses_every_game(tmp_path: Path) -> None:
    write_bot(tmp_path / "broken", before="sys.exit('no licence found')")
    done = command("match", "broken", "random", "-n", "2", "--no-sandbox", "--crash-dir", "cards")
    assert done.returncode == 0
    assert re.search(r"^random +2 +0 +0 +100\.0 %", done.stdout, re.MULTILINE)
    assert "no licence found" in done.stderr
    assert len(list(Path("cards").iterdir())) == 4


def test_the_sequential_test_stops_as_soon_as_it_is_clear() -> None:
    match = played("greedy", "random", "--sprt", "--elo1", "100", "-n", "500")
    assert match["stopped"] == "sprt"
    assert match["sprt"]["verdict"] == "H1"
    assert 20 <= match["matches"] < 100
    assert match["sprt"]["llr"] > match["sprt"]["upper"]


def test_a_bot_is_built_before_it_plays_and_its_output_is_shown(tmp_path: Path) -> None:
    code = "print('building \\x1b[2J now'); open('made.py', 'w').write('CHOICE = 0')"
    write_bot(
        tmp_path / "built",
        "return request.legal[made.CHOICE]",
        before="sys.path.insert(0, '.')\nimport made",
        build=[sys.executable, "-c", code],
    )
    done = command("match", "built", "random", "-n", "1", "-v", "weg-der-steine", "--no-sandbox")
    assert done.returncode == 0, done.stderr
    assert "| building \\x1b[2J now" in done.stderr
    assert "built crash" not in done.stdout
    broken = write_bot(tmp_path / "broken", build=[sys.executable, "-c", "1/0"])
    done = command("match", broken, "random", "--no-sandbox")
    assert done.returncode == 2
    assert "| ZeroDivisionError: division by zero" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"keltis-ladder: {broken} cannot be built: the build ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["greedy"], "cannot be played by 1: it takes 2 to 4 players"),
        (["greedy"] * 5, "cannot be played by 5"),
        (["greedy", "gredy"], "there is no bot 'gredy': name one of random, greedy, search"),
        (["picky", "greedy", "-v", "neue-wege"], "picky does not play neue-wege: its bot.toml"),
        (["picky", "greedy", "random"], "picky does not play with 3 players: its bot.toml"),
        (["empty", "greedy"], "empty has no bot.toml"),
        (["wrong", "greedy"], "wrong/bot.toml: the field 'run' is missing"),
        (["greedy", "random", "random", "--sprt"], "--sprt compares two bots, not 3"),
        (["greedy", "random", "--sprt", "--elo1", "-5"], "elo1 must be the greater one"),
        (["greedy", "random", "--json", "--out", "-"], "both want the output"),
        (["greedy", "random", "--out", "empty/no/file"], "there is no directory empty/no"),
        (["greedy", "random", "--cores", "1000"], "cores, not 1000"),
    ],
)
def test_wrong_input_is_one_clear_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    write_bot(tmp_path / "picky", variants=["keltis"], players=[2])
    (tmp_path / "empty").mkdir()
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "bot.toml").write_text('name = "wrong"\n')
    done = command("match", *arguments, "--no-sandbox")
    assert done.returncode == 2
    assert done.stderr.startswith("keltis-ladder: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert done.stdout == ""


def test_without_a_sandbox_only_our_own_bots_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none_found() -> None:
        raise SandboxMissing(MISSING)

    monkeypatch.setattr(entering, "find_sandbox", none_found)
    assert entering.sandbox_for(["greedy", "random"], no_sandbox=False) is None
    assert capsys.readouterr().err == "No sandbox was found; our own bots play without one.\n"
    with pytest.raises(BadRequest, match=MISSING):
        entering.sandbox_for(["greedy", str(tmp_path)], no_sandbox=False)
    assert entering.sandbox_for([str(tmp_path)], no_sandbox=True) is None


def test_inexact_clocks_are_said_in_one_line_before_anything_is_played(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_groups = Sandbox(Groups([]), "bwrap", "mount", "setpriv")
    monkeypatch.setattr(entering, "find_sandbox", lambda: without_groups)
    assert entering.sandbox_for(["greedy"], no_sandbox=False) is without_groups
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", f"Note: {INEXACT_CLOCK}\n")


def test_bots_play_in_the_sandbox_unless_told_otherwise(tmp_path: Path) -> None:
    try:
        find_sandbox()
    except SandboxMissing as missing:
        pytest.skip(str(missing))
    peek = f"if os.path.exists({str(tmp_path)!r}): sys.exit('I see you')\n{FIRST}"
    spy = write_bot(tmp_path / "spy", peek)
    game = ["-v", "weg-der-steine", "-n", "1", "--json"]
    inside = json.loads(output("match", spy, "random", *game))
    assert inside["sandboxed"]
    assert inside["bots"][0]["faults"] == []
    outside = json.loads(output("match", spy, "random", *game, "--no-sandbox"))
    assert outside["bots"][0]["faults"] == [{"kind": "crash", "code": "exit", "count": 2}]


def test_an_interrupt_ends_the_match_with_a_report_of_what_was_played(tmp_path: Path) -> None:
    token = f"token-{time.time_ns()}"
    first = write_bot(tmp_path / "first", token=token)
    arguments = ["-n", "100000", "-v", "weg-der-steine", "--no-sandbox", "--out", "games.jsonl"]
    running = subprocess.Popen(
        [sys.executable, "-m", "keltis_cli", "match", first, "random", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    part = tmp_path / f".games.jsonl.{running.pid}.part"
    deadline = time.monotonic() + 300
    while not (part.exists() and part.stat().st_size > 0):
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    told, errors = running.communicate(timeout=300)
    assert running.returncode == 130, errors
    assert "Traceback" not in errors
    head = re.search(r"^(\d+) of 100,000 matches, then aborted, (\d+) games", told, re.MULTILINE)
    assert head
    assert output("replay", "--verify", "games.jsonl").endswith(f"OK: {head[2]} games\n")
    assert not part.exists()
    assert processes_with(token) == []
