"""Bots in languages without a starter build and play in the sandbox, where they are installed."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

import pytest

from keltis_cli.bots.init import make
from keltis_engine import find_variant
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import built_in
from keltis_ladder.programs.launchers import SandboxLauncher
from keltis_ladder.programs.preparing import find_entrant
from keltis_ladder.referee.referee import Referee
from keltis_ladder.sandbox.runtimes import STACKS_END, any_maps
from keltis_ladder.sandbox.sandbox import Sandbox
from tests.ladder.support.boxes import run
from tests.places import ROOT

LANGUAGES = ROOT / "tests/ladder/languages"
NEEDS = {
    "perl": ("perl",),
    "lua": ("lua5.4",),
    "ruby": ("ruby",),
    "php": ("php",),
    "ocaml": ("ocamlopt",),
    "nim": ("nim",),
    "csharp": ("mcs", "mono"),
    "lisp": ("sbcl",),
}
STARTERS = {
    "python": (),
    "javascript": ("node",),
    "cpp": ("g++",),
    "rust": ("cargo",),
    "go": ("go",),
    "java": ("java", "javac"),
}
ALWAYS = {"perl", "lua", "ruby", "php"}  # small enough to be installed for the tests
PRESENT = [name for name in NEEDS if all(shutil.which(program) for program in NEEDS[name])]
CONTROL = TimeControl(bank_ms=120_000, increment_ms=1000, start_ms=60_000)


def test_the_small_ones_are_there() -> None:
    missing = ALWAYS.difference(PRESENT)
    if missing:
        pytest.skip(f"not installed: {', '.join(sorted(missing))}")


def test_there_is_a_bot_for_each() -> None:
    assert {path.name for path in LANGUAGES.iterdir()} == set(NEEDS)


@pytest.mark.parametrize("name", PRESENT)
def test_a_bot_builds_and_plays(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    tmp_path.chmod(0o755)
    said: list[str] = []
    bot = find_entrant(str(LANGUAGES / name), sandbox, said.append, tmp_path)
    referee = Referee(SandboxLauncher(sandbox), CONTROL)
    try:
        for variant in ("weg-der-steine", "keltis"):
            ruleset = find_variant(variant, {})
            result = referee.play_match(ruleset, 14, [bot, built_in("random")])
            faults = [str(loss.fault) for game in result.games for loss in game.losses]
            assert faults == [], said
    finally:
        referee.kill()


@pytest.mark.slow
@pytest.mark.parametrize("lang", STARTERS)
def test_a_starter_builds_and_plays_in_the_sandbox(
    sandbox: Sandbox, tmp_path: Path, lang: str
) -> None:
    """Whatever the filter refuses, no runtime that we promise may need it."""
    if missing := [tool for tool in STARTERS[lang] if shutil.which(tool) is None]:
        pytest.skip(f"{missing[0]} is not installed")
    tmp_path.chmod(0o755)
    make(tmp_path / lang, lang, "zorro")
    said: list[str] = []
    bot = find_entrant(str(tmp_path / lang), sandbox, said.append, tmp_path / "cache")
    referee = Referee(SandboxLauncher(sandbox), CONTROL)
    try:
        result = referee.play_match(find_variant("keltis", {}), 14, [bot, built_in("random")])
        faults = [str(loss.fault) for game in result.games for loss in game.losses]
        assert faults == [], said
    finally:
        referee.kill()


def test_what_stands_in_for_the_maps_tells_nothing_and_is_there_for_mono_only(
    sandbox: Sandbox,
) -> None:
    assert platform.machine() in STACKS_END
    assert run(sandbox, ["sh", "-c", "ls /proc"]).exit.code == 2
    lines = any_maps().splitlines()
    end = int(lines[0].partition("-")[2].split()[0], 16)
    begin, _, top = lines[1].split()[0].partition("-")
    assert end == int(begin, 16) < int(top, 16) == STACKS_END[platform.machine()]


def test_no_secret_of_the_machine_is_among_what_is_shown_of_etc(sandbox: Sandbox) -> None:
    listing = run(sandbox, ["sh", "-c", "cat /etc/passwd; ls -R /etc"]).out
    assert listing.startswith("bot:x:")
    for name in (
        "shadow",
        "ssh",
        "ssl",
        "certstore",
        "hosts",
        "machine-id",
        "gitconfig",
        "pip.conf",
    ):
        assert f"\n{name}" not in listing
