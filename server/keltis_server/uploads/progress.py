"""What a check tells those who follow it: each thing once, however often the check is tried."""

from __future__ import annotations

from collections import Counter
from typing import Any

from keltis_server.uploads.check import OnEvent


class CheckProgress:
    """Passes on the events of a check, without what an earlier attempt has told already."""

    def __init__(self, tell: OnEvent) -> None:
        self._tell = tell
        self._told_findings: Counter[tuple[str, str]] = Counter()  # by check and mark
        self._told_output = 0  # characters of a build's output
        self._findings: Counter[tuple[str, str]] = Counter()  # of this attempt
        self._output = 0

    def begin_attempt(self) -> None:
        """Expect everything from the beginning."""
        self._findings.clear()
        self._output = 0

    def take(self, kind: str, data: dict[str, Any]) -> None:
        """Take an event of this attempt."""
        if kind == "finding":
            self._take_finding(data)
        elif kind == "output":
            self._take_output(data["text"])
        else:  # what is being done now: it may well come twice
            self._tell(kind, data)

    def _take_finding(self, finding: dict[str, Any]) -> None:
        kind = finding["check"], finding["mark"]
        self._findings[kind] += 1
        if self._findings[kind] > self._told_findings[kind]:
            self._told_findings[kind] += 1
            self._tell("finding", finding)

    def _take_output(self, text: str) -> None:
        self._output += len(text)
        fresh = self._output - self._told_output
        if fresh > 0:
            self._told_output = self._output
            self._tell("output", {"text": text[-fresh:]})
