"""Untrusted text: what a bot or its build prints is shown without control characters."""

from __future__ import annotations

import sys
import textwrap
from typing import Final

from rich.console import Console

from keltis_bots import texts

LONGEST_LINE: Final = 200  # characters of a line; the rest is in the crash card
TAB: Final = "    "


def printable(line: str) -> str:
    """Return one line, whatever is in it, safe to print."""
    return texts.printable(line.replace("\t", TAB)).replace("\n", r"\n")


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, safe to print."""
    return [printable(line.rstrip("\r")) for line in text.split("\n")]


def tail(text: str, most: int) -> list[str]:
    """Return the last lines of a text, safe to print; the first says if some were left out."""
    lines = [
        line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + " ..."
        for line in lines_of(text.rstrip())
    ]
    if lines == [""]:
        return []
    left_out = len(lines) - most
    if left_out <= 0:
        return lines
    return [f"({left_out} {'line' if left_out == 1 else 'lines'} before)", *lines[-most:]]


def say_indented(out: Console, text: str, head: str = "  ") -> None:
    """Print a text behind its head; in a terminal further lines are indented as far."""
    text = head + printable(text)
    if out.is_terminal:
        blanks = " " * len(head)
        text = textwrap.fill(text, out.width, subsequent_indent=blanks, break_on_hyphens=False)
    out.print(text, soft_wrap=True, highlight=False)


def show_build(text: str) -> None:
    """Pass on what a build prints, to the error output."""
    for line in lines_of(text.removesuffix("\n")):
        print(f"  | {line}", file=sys.stderr, flush=True)
