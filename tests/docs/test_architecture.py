"""``docs/architecture.md`` shows the folders, layers and walks as they are."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from tests.docs.support.pages import code_words, files, read
from tests.places import ROOT

PAGE: Final = Path("docs/architecture.md")
TEXT: Final = read(PAGE)
GLOSSARY: Final = Path("docs/glossary.md")
MOST_WORDS: Final = 30
MOST_FILES: Final = 60  # that a submitted bot goes through
TWICE: Final = {
    "ladder/keltis_ladder/check/check.py",  # by the command, and by the worker
    "ladder/keltis_ladder/store/bots/submissions.py",  # begins a check, and ends it
}
PACKAGES: Final = {
    *("engine/keltis_engine", "bots/keltis_bots", "ladder/keltis_ladder"),
    *("server/keltis_server", "cli/keltis_cli"),
}
STEP = re.compile(r"^\| (\d+) \| [^|]+ \| `([^`]+)` \|", re.MULTILINE)


def contracts() -> list[dict[str, Any]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    found: list[dict[str, Any]] = project["tool"]["importlinter"]["contracts"]
    return found


def test_every_folder_of_the_packages_has_a_line() -> None:
    there = {"/".join(path.parts[:3]) for path in files() if len(path.parts) > 3}
    folders = {path for path in there if path.rpartition("/")[0] in PACKAGES}
    listed = {words for words in code_words(PAGE) if words.rpartition("/")[0] in PACKAGES}
    assert listed == folders


@pytest.mark.parametrize(
    "contract", [c for c in contracts() if "containers" in c], ids=lambda c: c["name"]
)
def test_the_layers_are_those_of_the_contracts(contract: dict[str, Any]) -> None:
    assert " > ".join(contract["layers"]) in " ".join(TEXT.split())


@pytest.mark.parametrize(
    "title", ["A bot is submitted", "A match is played and stored", "A spectator watches"]
)
def test_the_steps_of_a_walk_are_counted(title: str) -> None:
    walk = TEXT.split(f"## {title}\n")[1].split("\n## ")[0]
    steps = STEP.findall(walk)
    assert [int(number) for number, _ in steps] == list(range(1, len(steps) + 1))
    for _, file in steps:
        assert (ROOT / file).is_file(), f"step through {file}, which is not there"
    count = f"That is {len(steps)} steps through {len({file for _, file in steps})} files."
    assert count in walk, f"{title}: {count}"


def test_submit_goes_through_few_files_and_the_page_names_those_that_come_twice() -> None:
    walk = TEXT.split("## A bot is submitted\n")[1].split("\n## ")[0]
    steps = [file for _, file in STEP.findall(walk)]
    assert len(set(steps)) <= MOST_FILES
    reasons = walk.split(" Two files come twice: ")[1]
    twice = {file for file in steps if steps.count(file) > 1}
    assert twice == set(re.findall(r"`([^`]+)`", reasons)) == TWICE


def test_the_glossary_is_short_and_in_order() -> None:
    words = re.findall(r"^\| \*\*([^*]+)\*\* \|", read(GLOSSARY), re.MULTILINE)
    assert 0 < len(words) <= MOST_WORDS
    assert words == sorted(words)
