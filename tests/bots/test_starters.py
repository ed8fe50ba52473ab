"""Each starter, as ``init`` makes it: it builds, its own tests pass, and it plays everything."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from keltis_bots.framing import PREFIX
from keltis_bots.manifest import read_manifest
from keltis_bots.messages import read_hello
from keltis_cli.bots.init import TESTS, make
from keltis_engine import VARIANTS, find_variant
from tests.bots.support import transcripts
from tests.bots.support.piped import STARTERS, PipedBot, Seat, command_of, environment, play_game

TOOLS: Final = {
    "python": ["python3"],
    "javascript": ["node"],
    "cpp": ["g++"],
    "rust": ["cargo"],
    "go": ["go"],
    "java": ["java", "javac"],
}
NAME: Final = "zorro"


@pytest.fixture(scope="module", params=TESTS)
def starter(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bot made from a starter, and built; its directory is named by the language."""
    lang = str(request.param)
    for tool in TOOLS[lang]:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    directory = tmp_path_factory.mktemp("starters") / lang
    make(directory, lang, NAME)
    if build := read_manifest(directory).build:
        run(list(build), directory)
    return directory


def run(command: list[str], directory: Path) -> None:
    done = subprocess.run(
        command,
        cwd=directory,
        env=environment() | {"PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout


def test_there_is_a_starter_for_every_language() -> None:
    assert {path.name for path in STARTERS.iterdir()} == set(TESTS) == set(TOOLS)


@pytest.mark.slow
def test_its_name_is_filled_in(starter: Path) -> None:
    assert read_manifest(starter).name == NAME
    for path in (STARTERS / starter.name).rglob("*"):
        if path.is_file():
            text = (starter / path.relative_to(STARTERS / starter.name)).read_text("utf-8")
            assert f"my-{starter.name}-bot" not in text


@pytest.mark.slow
def test_its_own_tests_pass(starter: Path) -> None:
    words = TESTS[starter.name]
    if starter.name == "python":
        import sys

        words = words.replace("python3", sys.executable)
    run(["sh", "-c", words], starter)


@pytest.mark.slow
def test_its_readme_names_its_files_and_commands(starter: Path) -> None:
    text = (starter / "README.md").read_text("utf-8")
    for path in (STARTERS / starter.name).rglob("*"):
        if path.is_file() and path.name not in ("README.md", "Cargo.toml", "go.mod"):
            assert f"`{path.relative_to(STARTERS / starter.name)}`" in text
    for command in ("check .", "match . greedy --variant keltis --matches 50"):
        assert f"keltis-ladder {command}" in text


@pytest.mark.slow
def test_it_plays_every_variant_with_every_number_of_players(starter: Path) -> None:
    with PipedBot(command_of(starter), starter) as bot:
        seat = Seat(bot)
        seat.greet()
        for variant in VARIANTS:
            for players in (2, 3, 4):
                end, _ = play_game(find_variant(variant), players, players, {players - 2: seat})
                assert end.over
        assert bot.end() == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_it_decides_as_in_the_transcripts(starter: Path, variant: str) -> None:
    """All starters play alike, so a slip in the reading of a message shows as another decision."""
    lines = transcripts.read(variant).lines
    with PipedBot(command_of(starter), starter) as bot:
        assert read_hello(bot.ask(lines[0].frame)).name == NAME
        for line, following in zip(lines[2:], [*lines[3:], None], strict=True):
            if line.way == "to" and following is not None and following.way == "from":
                assert bot.ask(line.frame) == following.frame[PREFIX:]
            elif line.way == "to":
                bot.tell(line.frame)
        assert bot.end() == (0, "")


@pytest.mark.slow
def test_it_ends_with_its_input_and_tells_why_it_was_refused(starter: Path) -> None:
    from keltis_bots.framing import frame
    from keltis_bots.messages import error

    with PipedBot(command_of(starter), starter) as bot:
        bot.tell(frame(error("extra-reply", "too soon")))
        assert bot.end() == (0, "refused by the server (extra-reply): too soon\n")


@pytest.mark.slow
def test_building_and_running_leaves_the_packaged_starters_alone(starter: Path) -> None:
    left = {"__pycache__", "target", "classes", "Cargo.lock", "bot"}
    assert not left & {path.name for path in (STARTERS / starter.name).rglob("*")}
