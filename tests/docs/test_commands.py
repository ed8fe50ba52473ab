"""Every command that a document shows exists, with the options that it is shown with."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import typer

from keltis_cli.main import app
from tests.docs.support.pages import pages, tokens

PROGRAM: Final = "keltis-ladder"
ENDS: Final = {"&&", "||", "|", "&", ";", ">", "<"}
MADE_UP = re.compile(r"[\[\]{}…]|\.\.\.$")  # a pattern of a command, not one to type


def commands(page: Path) -> Iterator[list[str]]:
    """Return the words of each command of ours in the blocks of code of a page."""
    for token in tokens(page):
        if token.type not in ("fence", "code_block"):
            continue
        for line in token.content.splitlines():
            typed = line.strip().removeprefix("$ ")
            if typed.startswith(f"{PROGRAM} ") and not MADE_UP.search(typed.partition(" #")[0]):
                words = shlex.split(typed, comments=True)
                for k, word in enumerate(words):
                    if word == PROGRAM:
                        rest = words[k + 1 :]
                        end = next((at for at, each in enumerate(rest) if each in ENDS), None)
                        yield rest[:end]


def problem(words: list[str]) -> str:
    """Return what is wrong with a command, nothing if it could be typed so."""
    command: Any = typer.main.get_command(app)
    context = command.make_context(PROGRAM, [], resilient_parsing=True)
    known: set[str] = {"--help"}
    for word in words:
        if word.startswith("-"):
            option = word.partition("=")[0]
            if option not in known and not re.fullmatch(r"-\d+", option):
                return f"{command.name} has no option {option}"
        elif hasattr(command, "get_command"):
            found = command.get_command(context, word)
            if found is None and getattr(command, "invoke_without_command", False):
                continue
            if found is None:
                return f"{command.name} has no command {word}"
            command = found
        known |= {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    return ""


@pytest.mark.parametrize("page", [page for page in pages() if list(commands(page))], ids=str)
def test_every_command_that_is_shown_exists(page: Path) -> None:
    for words in commands(page):
        found = problem(words)
        assert not found, f"{page} shows {' '.join([PROGRAM, *words])}: {found}"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["leaderbord"], "has no command leaderbord"),
        (["submit", "my-bot", "--fast"], "submit has no option --fast"),
        (["tournament", "create", "cup", "--best", "8"], "create has no option --best"),
        (["match", "a", "b", "--variant", "keltis", "-n", "5"], ""),
    ],
)
def test_a_command_that_does_not_exist_is_noticed(words: list[str], found: str) -> None:
    assert problem(words).endswith(found)
    assert bool(problem(words)) == bool(found)
