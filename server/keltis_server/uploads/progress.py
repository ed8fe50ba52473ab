"""What a check tells those who follow it: each thing once, however often the check is tried."""

from __future__ import annotations

from collections import Counter
from typing import Any

from keltis_server.uploads.check import OnEvent


class Telling:
    """Passes on what the tries of a check tell, without what an earlier try has told already."""

    def __init__(self, tell: OnEvent) -> None:
        self._tell = tell
        self._findings: Counter[tuple[str, str]] = Counter()  # told, by check and mark
        self._output = 0  # characters of a build's output that were told

    def next_try(self) -> OnEvent:
        """Return who is told by another try, which begins at the beginning."""
        return _Try(self).take

    def tell_finding(self, count: int, data: dict[str, Any]) -> None:
        """Tell a finding unless so many of its kind were told."""
        kind = _kind(data)
        if count > self._findings[kind]:
            self._findings[kind] = count
            self._tell("finding", data)

    def tell_output(self, begin: int, text: str) -> None:
        """Tell output that stands at this place, but for what was told of it."""
        fresh = text[max(0, self._output - begin) :]
        if fresh:
            self._output = begin + len(text)
            self._tell("output", {"text": fresh})

    def tell_other(self, kind: str, data: dict[str, Any]) -> None:
        """Tell what may well come twice: what is being done now."""
        self._tell(kind, data)


class _Try:
    """Counts what one try has said."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._findings: Counter[tuple[str, str]] = Counter()
        self._output = 0

    def take(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "finding":
            self._findings[_kind(data)] += 1
            self._telling.tell_finding(self._findings[_kind(data)], data)
        elif kind == "output":
            begin = self._output
            self._output += len(data["text"])
            self._telling.tell_output(begin, data["text"])
        else:
            self._telling.tell_other(kind, data)


def _kind(finding: dict[str, Any]) -> tuple[str, str]:
    return finding["check"], finding["mark"]
