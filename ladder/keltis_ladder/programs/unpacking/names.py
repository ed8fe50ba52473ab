"""Names inside an archive: which are refused, and which are left out."""

from __future__ import annotations

import os
import re
import unicodedata
from typing import Final

from keltis_ladder.errors import LadderError
from keltis_ladder.files.trees import DEEPEST

LONGEST_PART: Final = 255  # bytes, as file systems have it
LONGEST_NAME: Final = 1000
TOLD: Final = 80  # characters of a name that a refusal quotes

# What people's tools put in beside the bot. Nothing of it is needed to play.
JUNK: Final = frozenset({"__MACOSX", ".DS_Store", ".git", "__pycache__"})
APPLE_DOUBLE: Final = "._"

_DRIVE: Final = re.compile(r"[A-Za-z]:")
# Control characters, halves of characters, and line ends that do not look like any.
_BAD: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})

Parts = tuple[str, ...]


class BadArchive(LadderError):
    """An archive that is not taken; the text says why, and what to do."""


def quoted(name: str) -> str:
    """Return a name as a refusal may show it: without anything that is not to be shown."""
    return repr(name if len(name) <= TOLD else name[:TOLD] + "...")


def parts_of(name: str) -> Parts:
    """Return the directories and the name of a member; refuse what could lead elsewhere."""
    if any(unicodedata.category(letter) in _BAD for letter in name):
        raise BadArchive(f"the name {quoted(name)} has control characters, or is not UTF-8")
    if "\\" in name:
        raise BadArchive(f"the name {quoted(name)} has a backslash: pack it with / in its names")
    if _DRIVE.match(name):
        raise BadArchive(f"{quoted(name)} is an absolute path: pack the bot's directory only")
    return any_parts_of(name)


def any_parts_of(name: str) -> Parts:
    """Return the parts of a name that may have any characters; refuse what leads elsewhere."""
    if name.startswith("/"):
        raise BadArchive(f"{quoted(name)} is an absolute path: pack the bot's directory only")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if ".." in parts or "\0" in name:
        raise BadArchive(f"{quoted(name)} leads out of the archive: pack the bot's directory only")
    sizes = [len(os.fsencode(part)) for part in parts]
    if len(os.fsencode(name)) > LONGEST_NAME or any(size > LONGEST_PART for size in sizes):
        raise BadArchive(
            f"the name {quoted(name)} is too long: at most {LONGEST_PART} bytes, and"
            f" {LONGEST_NAME} with its directories"
        )
    if len(parts) > DEEPEST:
        raise BadArchive(f"{quoted(name)} is nested too deep: at most {DEEPEST} directories")
    return parts


def is_junk(parts: Parts) -> bool:
    """Return whether a member is left out without a word."""
    return any(part in JUNK or part.startswith(APPLE_DOUBLE) for part in parts)


def leads_out(link: Parts, target: str) -> bool:
    """Return whether a link, by its words alone, leads out of the archive."""
    depth = len(link) - 1
    for part in target.split("/"):
        if part == "..":
            depth -= 1
        elif part not in ("", "."):
            depth += 1
        if depth < 0:
            return True
    return target.startswith("/")
