"""How deeply JSON is nested, found out without parsing it."""

from __future__ import annotations

import re
from typing import Final

DEEPEST: Final = 32  # lists and maps within each other; what we understand has three

_TEXT: Final = re.compile(rb'"(?:[^"\\]+|\\.)*"?', re.DOTALL)
_OTHERS: Final = bytes(set(range(256)) - set(b"[]{}"))


class TooDeep(ValueError):
    """JSON that is nested so deeply that a parser would suffer."""


def check_depth(data: bytes) -> None:
    """Raise unless JSON is nested within reason; whether it is JSON at all is for the parser.

    Pairs of brackets that have nothing between them are taken away, again and again: each round
    takes the innermost level, at the speed of a search.
    """
    if data.count(b"[") + data.count(b"{") <= DEEPEST:
        return
    brackets = _TEXT.sub(b"", data).translate(None, _OTHERS)
    for _ in range(DEEPEST):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    if b"[]" in brackets or b"{}" in brackets or len(brackets) > DEEPEST:
        raise TooDeep(f"it is nested too deeply, or not closed: at most {DEEPEST} levels")
