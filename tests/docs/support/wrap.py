"""Wrap the prose of our documents: ``python -m tests.docs.support.wrap``, also in ``make format``.

Only paragraphs with a line that is too long are touched. Tables, code, quotations and headings stay
as they are, and what cannot be broken (code in a sentence, an address) is not.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt

from tests.docs.support.pages import pages, read
from tests.places import ROOT

COLUMNS: Final = 100
RECORDS: Final = Path("bench/results")  # written by programs, and kept as they were written
ITEM = re.compile(r" *(?:[-*+]|\d+[.)]) +")
AS_IT_IS = re.compile(r" *(?:\||#|>|!\[|\[[^\]]+\]: )")
# At the beginning of a line these would be a list, a heading, a quotation or a table.
NOT_FIRST = re.compile(r"(?:[-+*>=|]|#+|\d+[.)]|[-=]+)$|[|>#]")
# What may stand between two blanks: anything without one, with code and pictures in one piece.
PIECE = re.compile(r"(?:`+[^`]+`+|!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)|\S)+")


def prose_pages() -> list[Path]:
    """Return the documents that people write."""
    return [page for page in pages() if RECORDS not in page.parents]


def wrap(text: str) -> str:
    """Return a document without prose that is too long."""
    return "\n".join(line for block in _blocks(text.splitlines()) for line in block) + "\n"


def too_long(text: str) -> list[str]:
    """Return the lines that ``wrap`` would make shorter."""
    kept = set(wrap(text).splitlines())
    return [line for line in text.splitlines() if len(line) > COLUMNS and line not in kept]


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Return a document in pieces: paragraphs, wrapped, and lines that stay as they are."""
    paragraph: list[str] = []
    fenced = False
    for line in lines:
        fence = line.lstrip().startswith("```")
        code = line.startswith("    ") and not paragraph
        if fenced or fence or code or not line.strip() or AS_IT_IS.match(line):
            yield _wrapped(paragraph)
            yield [line]
            paragraph = []
        elif ITEM.match(line):
            yield _wrapped(paragraph)
            paragraph = [line]
        else:
            paragraph.append(line)
        fenced ^= fence
    yield _wrapped(paragraph)


def _wrapped(paragraph: list[str]) -> list[str]:
    if all(len(line) <= COLUMNS for line in paragraph):
        return paragraph
    first = paragraph[0]
    item = ITEM.match(first)
    indent = item.group() if item else first[: len(first) - len(first.lstrip())]
    pieces = PIECE.findall(" ".join([first[len(indent) :], *paragraph[1:]]))
    lines, line = [], indent
    for piece in pieces:
        longer = line + piece if line == indent or not line.strip() else f"{line} {piece}"
        if len(longer) <= COLUMNS or not line.strip() or line == indent or NOT_FIRST.match(piece):
            line = longer
        else:
            lines.append(line)
            line = " " * len(indent) + piece
    return [*lines, line]


def rendered(text: str) -> str:
    """Return what a reader sees, without regard to blanks and lines."""
    return " ".join(MarkdownIt("commonmark").enable("table").render(text).split())


def main() -> int:
    for page in prose_pages():
        text = read(page)
        shorter = wrap(text)
        if shorter == text:
            continue
        if rendered(shorter) != rendered(text):
            print(f"{page}: cannot be wrapped without changing it; wrap it by hand")
            return 1
        (ROOT / page).write_text(shorter, "utf-8")
        print(f"wrapped {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
