"""The progress bar of all commands: a bar in a terminal, otherwise a line now and then."""

from __future__ import annotations

import sys
import time
from typing import Final

from rich import progress
from rich.text import Text

from keltis_cli.draw.look import console, look
from keltis_cli.draw.strokes import progress_bar

REDRAW_SECONDS: Final = 0.1  # between two changes: more nobody can read
LINE_SECONDS: Final = 10.0  # between two lines where there is no terminal
WIDTH: Final = 16  # cells of the bar


class _Bar(progress.ProgressColumn):
    """The bar itself, drawn as on our other screens."""

    def render(self, task: progress.Task) -> Text:
        """Return the bar of a task; it stays empty as long as the total is not known."""
        return progress_bar(int(task.completed), int(task.total or 0), WIDTH, look(False))


class ProgressBar:
    """Shows on the error output what is being done and how far it is; ``tell`` says so.

    ``in_bytes`` shows sizes and a speed. ``lines`` is whether lines are printed where there is no
    terminal.
    """

    def __init__(
        self,
        text: str = "",
        total: int | None = None,
        *,
        in_bytes: bool = False,
        lines: bool = True,
        quiet: bool = False,
    ) -> None:
        errors = console(stderr=True)
        self.text, self.total = text, total
        self._live = errors.is_terminal and not quiet
        self._lines = lines and not errors.is_terminal and not quiet
        figures: tuple[progress.ProgressColumn, ...] = (progress.MofNCompleteColumn(),)
        if in_bytes:
            figures = progress.DownloadColumn(binary_units=True), progress.TransferSpeedColumn()
        self._bar = progress.Progress(
            _Bar(),
            *figures,
            progress.TextColumn("{task.description}"),
            progress.TimeRemainingColumn(compact=True),
            console=errors,
            transient=True,
            disable=not self._live,
        )
        self._task: progress.TaskID | None = None
        self._told = 0.0 if self._live else time.monotonic()

    def __enter__(self) -> ProgressBar:
        """Begin to show."""
        if self.text:
            self.begin(self.text, self.total)
        return self

    def __exit__(self, *error: object) -> None:
        """Take the bar away."""
        self.rest()

    def begin(self, text: str, total: int | None = None) -> None:
        """Say what is done now, instead of what was before."""
        self.rest()
        self.text, self.total = text, total
        self._task = self._bar.add_task(text, total=total)
        self._bar.start()

    def tell(self, done: int, total: int | None = None, text: str = "") -> None:
        """Say how far it is, if it is time to."""
        now = time.monotonic()
        if now - self._told < (REDRAW_SECONDS if self._live else LINE_SECONDS):
            return
        self._told = now
        self.text, self.total = text or self.text, total or self.total
        if self._lines and self.total is not None:
            print(f"{done:,} of {self.total:,}: {self.text}", file=sys.stderr)
        elif self._task is not None:
            self._bar.update(self._task, completed=done, total=self.total, description=self.text)

    def rest(self) -> None:
        """Show nothing, so that others can print."""
        self._bar.stop()
        if self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None
