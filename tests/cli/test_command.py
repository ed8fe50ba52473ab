"""The command around the games: help, errors, small commands."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import keltis_engine
from keltis_cli.commands import COMMANDS
from keltis_cli.exit_codes import ExitCode
from keltis_cli.main import load
from tests.cli.support.helpers import ALL_VARIANTS, ESCAPE, command, output
from tests.cli.support.inside import Inside
from tests.places import ROOT


def test_help_names_every_command() -> None:
    told = output("--help")
    assert all(f"│ {name} " in told for name in COMMANDS)


def test_help_says_of_each_command_what_the_command_says_itself() -> None:
    own = {name: load(name).help.split("\n\n")[0] for name in COMMANDS}
    assert {name: entry.help for name, entry in COMMANDS.items()} == own


# Not pydantic: typer itself may load it.
HEAVY = (
    "aiohttp",
    "alembic",
    "jinja2",
    "sqlmodel",
    "sqlalchemy",
    "textual",
    "trueskill",
    "keltis_server",
)


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["--help"], ()),
        (["--version"], ()),
        (["selfpaly"], ()),
        (["whoami", "--server", "http://127.0.0.1:1"], ("aiohttp", "keltis_server")),
        (
            ["leaderboard", "--server", "http://127.0.0.1:1"],
            ("aiohttp", "keltis_server"),
        ),
        (["submit", "--help"], ("keltis_server",)),
        (["show", "greedy", "--server", "http://127.0.0.1:1"], ("aiohttp", "keltis_server")),
        (["match", "--help"], ()),
        (["ladder", "show"], ("sqlalchemy", "sqlmodel", "keltis_server")),
        (["serve", "--help"], ("aiohttp", "jinja2", "sqlalchemy", "sqlmodel", "keltis_server")),
    ],
)
def test_a_command_loads_only_what_it_needs(
    arguments: list[str], allowed: tuple[str, ...], tmp_path: Path
) -> None:
    code = (
        f"import sys; from keltis_cli.main import main; sys.argv[1:] = {arguments!r}\n"
        "try: main()\n"
        f"finally: print('loaded', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    home = {"XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | home
    )
    loaded = done.stdout.splitlines()[-1]
    assert loaded.startswith("loaded")
    assert [name for name in HEAVY if f"'{name}'" in loaded and name not in allowed] == []


def test_the_shell_completes_commands_with_what_they_do_and_loads_none(tmp_path: Path) -> None:
    code = (
        "import sys; from keltis_cli.main import main; sys.argv[1:] = []\n"
        "try: main()\n"
        f"finally: print('loaded', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    asked = {
        "_KELTIS_LADDER_COMPLETE": "complete_zsh",
        "_TYPER_COMPLETE_ARGS": "keltis-ladder who",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | asked
    )
    assert "whoami" in done.stdout
    assert "Show which server is used" in done.stdout
    assert done.stdout.splitlines()[-1] == "loaded []"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Inside(capsys, monkeypatch).output(name, "--help")
    assert f"Usage: keltis-ladder {name}" in told


def test_version_tells_the_form_of_the_engine() -> None:
    form = "compiled" if keltis_engine.COMPILED else "interpreted"
    assert f"engine {form}, Python {sys.version_info.major}." in output("version")


def test_version_needs_neither_rich_nor_the_games_of_other_commands() -> None:
    code = (
        "import sys; from keltis_cli.main import main; sys.argv[1:] = ['version']\n"
        "try: main()\n"
        "finally: print([m for m in sys.modules if m.startswith('keltis_cli.')])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    always = ["keltis_cli.commands", "keltis_cli.exit_codes", "keltis_cli.main"]
    assert str([*always, "keltis_cli.games", "keltis_cli.games.about"]) in told.stdout


def test_variants_lists_all_with_their_options() -> None:
    told = output("variants")
    assert all(variant in told for variant in ALL_VARIANTS)
    assert "end_card_opens_row  0 to 1, default 1 (kartenspiel)" in told
    assert "points_on_end_card  0 to 1, default 0 (kartenspiel)" in told
    described = json.loads(output("variants", "--json"))
    assert [variant["id"] for variant in described] == ALL_VARIANTS
    assert described[0]["players"] == [2, 3, 4]
    assert described[0]["options"][0]["name"] == "turn_limit"


@pytest.mark.parametrize("variant", ALL_VARIANTS)
def test_rules_are_shown_with_every_ruling(variant: str) -> None:
    plain = output("rules", variant, "--plain")
    assert plain.startswith("# ")
    told = output("rules", variant)
    assert "Rulings" in told
    assert ESCAPE not in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rules", "chess"], "there is no variant 'chess': choose from keltis, neue-wege"),
        (["perft", "--players", "7"], "cannot be played by 7: it takes 2 to 4 players"),
        (["perft", "--seed", "-1"], "seed -1 is out of range"),
        (["selfplay", "--option", "speed=1"], "has no option 'speed': it has turn_limit"),
        (["selfplay", "--option", "turn_limit"], "write NAME=NUMBER"),
        (["selfplay", "--option", f"turn_limit={'9' * 5000}"], "write NAME=NUMBER"),
        (["selfplay", "--option", "turn_limit=--5"], "write NAME=NUMBER"),
        (["selfplay", "--option", "turn_limit=0"], "whole number from 1 to 100000"),
        (["selfplay", "--policy", "clever"], "no policy 'clever': choose from random, eager"),
        (["selfplay", "--policy", "eager", "--policy", "eager", "-p", "3"], "2 policies"),
        (["replay", "/no/such/file"], "cannot use /no/such/file: No such file or directory"),
        (["selfplay", "-n", "1", "--out", "/no/such/file"], "there is no directory /no/such"),
        (["play", "--out", "/no/such/file"], "there is no directory /no/such"),
        (["replay", "/tmp"], "cannot use /tmp: Is a directory"),
        (["replay", "/bin/true"], "/bin/true is not a text file"),
    ],
)
def test_wrong_input_is_one_clear_line(arguments: list[str], message: str) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("keltis-ladder: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert done.stdout == ""


def test_a_mistyped_command_is_guessed() -> None:
    done = command("selfpaly")
    assert done.returncode == 2
    assert "Did you mean 'selfplay'?" in done.stderr


def test_perft_counts_grow_and_divide_adds_up() -> None:
    told = output("perft", "--variant", "keltis", "--depth", "2", "--divide").splitlines()
    total = int(told[3].split()[1].replace(",", ""))
    parts = [int(line.split()[-1].replace(",", "")) for line in told[6:]]
    assert told[1].split() == ["depth", "sequences", "seconds"]
    assert sum(parts) == total


def test_perft_checks_a_file_of_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = Inside(capsys, monkeypatch)
    kept = ROOT / "tests/engine/perft/weg-der-steine.jsonl"
    told = inside.output("perft", "--file", kept, "--depth", "4")
    assert told == f"9 of 9 positions have the counts of {kept}, to depth 4.\n"
    line = json.loads(kept.read_text().splitlines()[0])
    file = tmp_path / "counts.jsonl"

    line["counts"][2] += 1
    file.write_text(json.dumps(line) + "\n")
    assert inside.run("perft", "--file", file, "--depth", "2").code == 0
    done = inside.run("perft", "--file", file)
    assert done.code == 1
    assert done.out.splitlines() == [
        "weg-der-steine, 2 players, seed 1, after 0 decisions: depth 3 has 3 sequences, not 4",
        f"0 of 1 positions have the counts of {file}, to depth 3.",
    ]
    for text, message in (
        ("", "has no positions"),
        ("{", "line 1 is not JSON"),
        ("7", "line 1 is not a JSON object"),
        (json.dumps(line | {"seed": "x"}), "line 1: seed is missing or is not of the type int"),
        (json.dumps(line | {"counts": [True]}), "counts is a list of whole numbers"),
        (json.dumps(line | {"moves": [1]}), "moves is a list of decisions in notation"),
        (json.dumps(line | {"moves": ["fly"]}), "line 1: "),
        (json.dumps(line | {"variant": "chess"}), "line 1: there is no variant 'chess'"),
    ):
        file.write_text(text)
        done = inside.run("perft", "--file", file)
        assert (done.code, done.out) == (2, "")
        assert message in done.err


def test_demo_tells_a_game_of_each_variant() -> None:
    told = output("demo")
    for variant in keltis_engine.VARIANTS.values():
        assert variant.title in told
    assert told.count("game over") == 4
    assert told.count(" wins") >= 4
    assert "What to try next" in told
    assert max(len(line) for line in output("demo", "--ascii").splitlines() if " - " in line) <= 80


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    script = f"{sys.executable} -m keltis_cli demo | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] in ("0", "1")


def test_an_interrupt_ends_quietly_and_leaves_no_file(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    running = subprocess.Popen(
        [sys.executable, "-m", "keltis_cli", "selfplay", "-n", "1000000", "--out", file],
        stderr=subprocess.PIPE,
        env=os.environ,
        # Whoever started the tests in the background ignores interrupts, and so would this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        while not list(tmp_path.iterdir()):
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=300)
    finally:
        running.kill()
    assert running.returncode == 130
    assert b"Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_the_exit_codes_are_those_of_the_document() -> None:
    document = (ROOT / "docs/authors/client.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", document, re.MULTILINE)
    assert rows == [(str(int(code)), code.__doc__) for code in ExitCode]


def test_no_command_ends_with_a_bare_number() -> None:
    bare = re.compile(r"\b(Exit|sys\.exit)\(\d")
    sources = (ROOT / "cli/keltis_cli").rglob("*.py")
    assert [path.name for path in sources if bare.search(path.read_text(encoding="utf-8"))] == []
