"""Every link in every document leads somewhere, and every file and module that one names exists."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.docs.support.pages import anchors, code_words, files, links, pages
from tests.places import ROOT

FILE = re.compile(r"[\w./-]+\.(?:py|c|js|css|html|mako|md)")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+")
MODULE = re.compile(r"(?:keltis_(?:engine|bots|ladder|server|cli)|tests|bench)(?:\.\w+)+")
# Files of a bot, of its author.
AUTHORS_FILES: Final = {"bot.py"}
SCOPES: Final = {"keltis/4", "keltis/any"}  # of ratings
HISTORY: Final = {Path("CHANGELOG.md")}  # names what was there then


@pytest.mark.parametrize("page", pages(), ids=str)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page.parent / path).resolve() if path else ROOT / page
        assert target.exists(), f"{page} links to {link}, which is not there"
        assert target.is_relative_to(ROOT), f"{page} links to {link}, outside of the sources"
        if anchor:
            there = target.relative_to(ROOT)
            assert anchor in anchors(there), f"{page}: {there} has no heading for #{anchor}"


@pytest.mark.parametrize("page", [page for page in pages() if page not in HISTORY], ids=str)
def test_every_file_and_module_that_is_named_exists(page: Path) -> None:
    for words in code_words(page):
        path = words.removeprefix("./").removesuffix("/")
        in_folder = PATH.fullmatch(path) and path.partition("/")[0] in names()
        if (in_folder or FILE.fullmatch(path)) and path not in AUTHORS_FILES | SCOPES:
            assert path in names(), f"{page} names {words}, which is not there"
        if MODULE.fullmatch(words):
            assert is_module(words), f"{page} names {words}: there is no such module"


@cache
def names() -> frozenset[str]:
    """Return all files and folders of the sources, by every end of their paths."""
    ours = {path for file in files() for path in (file, *file.parents)}
    return frozenset("/".join(path.parts[k:]) for path in ours for k in range(len(path.parts)))


def is_module(dotted: str) -> bool:
    """Return whether a dotted name is a module, or something in one."""
    path = dotted.replace(".", "/")
    above = path.rpartition("/")[0]
    places = (path, f"{path}.py", f"{above}.py", f"{above}/__init__.py")
    return any(place in names() for place in places)
