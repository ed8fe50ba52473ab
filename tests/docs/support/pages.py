"""Our documents: every Markdown file of the tree, and what is written in it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.places import ROOT

# What is built or downloaded, and no part of the sources.
FOREIGN: Final = {
    *(".git", ".venv", ".venv-pythons", "build", "dist", "node_modules", "__pycache__"),
    *(
        "keltis_ladder.egg-info",
        ".hypothesis",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".import_linter_cache",
    ),
}


@cache
def files() -> tuple[Path, ...]:
    """Return all files of the sources, from their root."""
    found: list[Path] = []
    for folder, below, names in os.walk(ROOT):
        below[:] = [name for name in below if name not in FOREIGN]
        found += (Path(folder, name).relative_to(ROOT) for name in names)
    return tuple(sorted(found))


def pages() -> list[Path]:
    """Return all documents, from the root of the sources."""
    return [path for path in files() if path.suffix == ".md" and not (ROOT / path).is_symlink()]


def read(page: Path) -> str:
    return (ROOT / page).read_text("utf-8")


@cache
def tokens(page: Path) -> tuple[Token, ...]:
    """Return what a page consists of; what is inline stands after the block that it is in."""
    blocks = MarkdownIt("commonmark").enable("table").parse(read(page))
    return tuple(token for block in blocks for token in (block, *(block.children or [])))


def links(page: Path) -> Iterator[str]:
    """Return where the links and pictures of a page lead to."""
    for token in tokens(page):
        target = token.attrGet("href" if token.type == "link_open" else "src")
        if target is not None:
            yield str(target)


def code_words(page: Path) -> Iterator[str]:
    """Return what a page sets as code within its sentences and tables."""
    return (token.content for token in tokens(page) if token.type == "code_inline")


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the names of the headings of a page, as GitHub and our own server make them."""
    found: set[str] = set()
    for opened, inline in pairwise(tokens(page)):
        if opened.type == "heading_open":
            text = "".join(child.content for child in inline.children or [])
            slug = re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")
            again = (f"{slug}-{k}" for k in range(1, 100))
            found.add(slug if slug not in found else next(s for s in again if s not in found))
    return frozenset(found)
