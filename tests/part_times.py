"""Tells the time of each part of ``make test``, before the closing line, which is pytest's.

``.ci/timed`` starts a part and notes its time when it is over. The last part is a run of pytest,
whose summary has to be the last word: so pytest itself notes its time, and shows those of all.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

import pytest

# The variables that .ci/timed sets.
NAME: Final = "KELTIS_PART"
BEGAN: Final = "KELTIS_PART_BEGAN"  # in seconds since 1970
TIMES: Final = "KELTIS_TIMES"  # a file with a line for each part that is over


def enable(config: pytest.Config) -> None:
    """Show the times if this is a part; what it starts itself is none."""
    if NAME in os.environ and not hasattr(config, "workerinput"):
        plugin = PartTimes(
            os.environ.pop(NAME), float(os.environ.pop(BEGAN)), Path(os.environ.pop(TIMES))
        )
        config.pluginmanager.register(plugin, "part-times")


class PartTimes:
    """The plugin."""

    def __init__(self, name: str, began: float, times: Path) -> None:
        self._name = name
        self._began = began
        self._times = times

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Note the time of this part, and show those of all that are over."""
        with self._times.open("a", encoding="utf-8") as file:
            file.write(f"{self._name}: {in_words(time.time() - self._began)}\n")
        terminalreporter.section("time of each part")
        for line in self._times.read_text("utf-8").splitlines():
            terminalreporter.write_line(line)


def in_words(seconds: float) -> str:
    """Return a time as .ci/timed writes it."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
