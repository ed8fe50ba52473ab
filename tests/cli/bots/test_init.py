"""``init``: a new bot in any of the languages, or a clear refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from keltis_bots.manifest import read_manifest
from keltis_cli.bots.init import TESTS, valid_name
from tests.cli.support.helpers import command, output


@pytest.mark.parametrize("lang", TESTS)
def test_a_bot_is_made_in_every_language(tmp_path: Path, lang: str) -> None:
    home = tmp_path / "deep" / "Zorro the 2nd"
    told = output("init", home, "--lang", lang)
    manifest = read_manifest(home)
    assert manifest.name == "zorro-the-2nd"
    assert manifest.run
    assert (home / "README.md").read_text().startswith("# zorro-the-2nd\n")
    assert TESTS[lang] in told
    assert f"keltis-ladder check '{home}'" in told
    assert f"keltis-ladder match '{home}' greedy --variant keltis --matches 50" in told
    assert not list(home.rglob("__pycache__"))


def test_the_language_is_python_unless_named(tmp_path: Path) -> None:
    output("init", tmp_path / "a")
    assert (tmp_path / "a" / "bot.py").is_file()


def test_an_empty_directory_will_do(tmp_path: Path) -> None:
    output("init", tmp_path, "--name", "zorro")
    assert read_manifest(tmp_path).name == "zorro"


def test_a_directory_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("important")
    done = command("init", tmp_path)
    assert done.returncode == 2
    assert "is not empty: name a new directory" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lang", "cobol"], "choose from python, javascript, cpp, rust, go, java"),
        (["--name", "El Zorro"], "invalid name 'El Zorro': use 1 to 40 small letters"),
    ],
)
def test_wrong_input_is_refused_and_makes_nothing(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = command("init", tmp_path / "a", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("keltis-ladder: ")
    assert message in done.stderr
    assert not (tmp_path / "a").exists()


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    assert "is a file" in command("init", tmp_path / "a").stderr


@pytest.mark.parametrize(
    ("directory", "name"),
    [
        ("zorro", "zorro"),
        ("My Bot!", "my-bot"),
        ("..hidden", "hidden"),
        ("Ärger", "rger"),
        ("日本", "my-bot"),
        ("", "my-bot"),
        ("x" * 60, "x" * 40),
    ],
)
def test_a_directory_name_becomes_a_bot_name(directory: str, name: str) -> None:
    assert valid_name(directory) == name
