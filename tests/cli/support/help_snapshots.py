"""Snapshots of every ``--help``: one text file per command, 80 columns wide and without colours.

``make help-snapshots`` writes them; a changed word of the help shows as a readable difference.
"""

import io
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any
from unittest.mock import patch

import typer.main

from keltis_cli.commands import COMMANDS
from keltis_cli.main import PROGRAM, app, load
from tests.places import ROOT

FOLDER = ROOT / "tests/cli/help"
COLUMNS = 80


def all_commands() -> list[tuple[str, ...]]:
    """Return the words of every command and group, beginning with none: the program itself."""
    return [(), *(words for name in COMMANDS for words in _with_subcommands((name,), load(name)))]


def _with_subcommands(words: tuple[str, ...], command: Any) -> Iterator[tuple[str, ...]]:
    yield words
    for name, subcommand in getattr(command, "commands", {}).items():
        yield from _with_subcommands((*words, name), subcommand)


def file_name(words: tuple[str, ...]) -> str:
    return "-".join((PROGRAM, *words)) + ".txt"


def help_text(words: tuple[str, ...]) -> str:
    """Return what a command prints for ``--help``; blanks at the ends of lines are left out."""
    printed = io.StringIO()
    with (
        redirect_stdout(printed),
        patch("typer.rich_utils.MAX_WIDTH", COLUMNS),
        patch("typer.rich_utils.FORCE_TERMINAL", False),
    ):
        typer.main.get_command(app).main([*words, "--help"], PROGRAM, standalone_mode=False)
    lines = printed.getvalue().strip().splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def main() -> None:
    texts = {file_name(words): help_text(words) for words in all_commands()}
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
