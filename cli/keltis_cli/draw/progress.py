"""What is being done, and how far it is: a bar in a terminal, otherwise a line now and then."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Final

from rich import progress

from keltis_cli.draw.look import console

EVERY: Final = 0.1  # seconds between two changes: more nobody can read
LINE_EVERY: Final = 10.0  # seconds between two lines where there is no terminal


class LongWork:
    """Shows on the error output how far work is that takes long; ``tell`` is called as it goes."""

    def __init__(self, text: str = "") -> None:
        errors = console(stderr=True)
        self.live = errors.is_terminal
        self.text = text
        self.bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(bar_width=16),
            progress.TaskProgressColumn(),
            progress.TimeRemainingColumn(compact=True),
            console=errors,
            transient=True,
            disable=not self.live,
        )
        self.task: progress.TaskID | None = None
        self.told = time.monotonic()

    def __enter__(self) -> LongWork:
        """Begin to show."""
        if self.text:
            self.begin(self.text)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the bar away."""
        self.rest()

    def begin(self, text: str) -> None:
        """Say what is done now."""
        self.rest()
        self.text = text
        self.task = self.bar.add_task(text, total=None)
        self.bar.start()

    def tell(self, done: int, total: int) -> None:
        """Say how far it is, if it is time to."""
        now = time.monotonic()
        if now - self.told < (EVERY if self.live else LINE_EVERY):
            return
        self.told = now
        if not self.live:
            print(f"{self.text}: {done:,} of {total:,}", file=sys.stderr)
        elif self.task is not None:
            self.bar.update(self.task, completed=done, total=total)

    def rest(self) -> None:
        """Show nothing, so that others can print."""
        self.bar.stop()
        if self.task is not None:
            self.bar.remove_task(self.task)
            self.task = None
