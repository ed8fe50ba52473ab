"""The prose of our documents can be read in a window of 100 columns, and reviewed line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.support.pages import read
from tests.docs.support.wrap import COLUMNS, prose_pages, rendered, too_long, wrap

LONG = "word " * 30


@pytest.mark.parametrize("page", prose_pages(), ids=str)
def test_no_line_of_prose_is_too_long(page: Path) -> None:
    found = too_long(read(page))
    assert not found, f"{page} has prose over {COLUMNS} columns (make format): {found[0]}"


def test_paragraphs_and_items_are_wrapped_with_their_indent() -> None:
    shorter = wrap(f"{LONG}\n\n- {LONG}\n  and more\n\n12. {LONG}\n")
    assert max(map(len, shorter.splitlines())) <= COLUMNS
    assert "\n  word" in shorter
    assert "\n    word" in shorter
    assert rendered(shorter) == rendered(f"{LONG}\n\n- {LONG}\n  and more\n\n12. {LONG}\n")


@pytest.mark.parametrize(
    "text",
    [
        f"# {LONG}\n",
        f"| {LONG} |\n|---|\n| {LONG} |\n",
        f"```\n{LONG}\n```\n",
        f"text\n\n    {LONG}\n",
        f"`{LONG.strip()}`\n",
        f"[a](https://example.org/{'x' * 100})\n",
        "short\nlines\n",
    ],
)
def test_what_is_no_prose_or_cannot_be_broken_stays(text: str) -> None:
    assert wrap(text) == text


def test_no_line_begins_with_what_would_be_a_list() -> None:
    text = f"{'x' * 97} 3. and - more * of # this {'y' * 90}\n"
    assert rendered(wrap(text)) == rendered(text)
