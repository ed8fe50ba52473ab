"""``docs/add-a-variant.md`` lists every file that a new game touches.

In the packages every file that names a game is on the page. Documents, tests and benchmarks often
take one as an example: there a file counts that names all of them, as a list of the games does.
``keltis`` is also the name of all of this, so that the three others are looked for.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from keltis_engine import VARIANTS
from tests.docs.support.pages import code_words, files
from tests.docs.support.wrap import RECORDS
from tests.places import ROOT

PAGE: Final = Path("docs/add-a-variant.md")
PACKAGES: Final = ("engine", "bots", "ladder", "server", "cli")
NAMES: Final = [id for id in VARIANTS if id != "keltis"]
PLACEHOLDER = re.compile(r"<id>|<module>")
TEXTS: Final = {".py", ".js", ".css", ".svg", ".toml", ".html", ".md", ".txt", ".jsonl", ".c", ""}


def pattern(id: str) -> re.Pattern[str]:
    """Return how a game is written: neue-wege, neue_wege, NeueWege, Neue Wege."""
    return re.compile("[-_ ]?".join(id.split("-")), re.IGNORECASE)


def named_in(path: Path) -> list[str]:
    """Return the games that a file names, or that it is named after."""
    text = f"{path}\n{(ROOT / path).read_text('utf-8', 'replace')}"
    return [id for id in NAMES if pattern(id).search(text)]


@cache
def listed() -> list[str]:
    """Return the paths on the page, with their placeholders."""
    return [words for words in code_words(PAGE) if "/" in words or words.endswith((".md", ".toml"))]


def expanded(row: str) -> set[str]:
    ids = VARIANTS if PLACEHOLDER.search(row) else ["-"]
    return {row.replace("<id>", id).replace("<module>", id.replace("-", "_")) for id in ids}


def is_listed(path: Path) -> bool:
    text = str(path)
    # Parts of a game, its further tests and playthroughs stand beside the file that is listed.
    beside = re.sub(r"((?:neue|weg)_\w+?e|kartenspiel)_\w+\.py$", r"\1.py", text)
    beside = re.sub(r"-[34]p\.txt$", "-2p.txt", beside)
    return any({text, beside} & expanded(row) for row in listed())


def touched() -> list[Path]:
    """Return the files that a game has to be added to."""
    found = []
    for path in files():
        if path.suffix not in TEXTS or RECORDS in path.parents or (ROOT / path).is_symlink():
            continue
        named = named_in(path)
        if named if path.parts[0] in PACKAGES else len(named) == len(NAMES):
            found.append(path)
    return found


def test_every_file_that_names_a_game_is_on_the_page() -> None:
    missing = [str(path) for path in touched() if not is_listed(path)]
    assert not missing, f"name the games and are not in {PAGE}: {', '.join(missing)}"


@pytest.mark.parametrize("row", [row for row in listed() if not row.startswith("/")])
def test_every_row_of_the_page_is_a_file(row: str) -> None:
    for name in expanded(row):
        assert (ROOT / name).exists(), f"{PAGE} lists {row}: there is no {name}"


def test_a_list_of_games_in_a_new_place_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "new.py"
    path.write_text("GAMES = {'keltis': 1, 'NeueWege': 2, 'kartenspiel': 3, 'weg_der_steine': 4}")
    assert named_in(path) == NAMES
    assert not is_listed(path)
