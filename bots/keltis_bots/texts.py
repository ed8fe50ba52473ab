"""Texts of others: what people may give us, and how what programs print is shown.

Nothing in them changes how the text around it is shown, be it on a page or in a terminal.
"""

from __future__ import annotations

import re
from typing import Final

# Control characters (ESC moves a terminal's cursor), marks that turn the direction of writing
# around, line ends that do not look like any, and marks that cannot be seen at all.
FORBIDDEN: Final = (
    r"\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb"
)
LAYOUT: Final = "\n\t"  # of what a program prints
_LAYOUT: Final = str.maketrans("", "", LAYOUT)
_FORBIDDEN: Final = re.compile(f"[{FORBIDDEN}\ud800-\udfff]")


def forbidden_in(text: str, but: str = "") -> str | None:
    """Return the first character that a text must not have, as U+202E; none if it may be shown.

    Some that are forbidden elsewhere may be allowed, such as the ends of lines.
    """
    for found in _FORBIDDEN.finditer(text):
        if found.group() not in but:
            return f"U+{ord(found.group()):04X}"
    return None


def check_text(text: str) -> str:
    """Return a text of one line as it is; raise ValueError if it must not be shown."""
    bad = forbidden_in(text)
    if bad is not None:
        raise ValueError(
            f"the character {bad} is not allowed: leave out control characters, and marks that "
            "change the direction of writing or cannot be seen"
        )
    return text


def printable(text: str) -> str:
    """Return what a program printed, with all that cannot be seen spelled out as Python writes it.

    Ends of lines and tabs stay. What is printable already stays as it is.
    """
    text = text.replace("\r\n", "\n")
    if text.translate(_LAYOUT).isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in LAYOUT else ascii(char)[1:-1] for char in text
    )
