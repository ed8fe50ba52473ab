"""How far a file has come: a bar in a terminal, and nothing elsewhere."""

from __future__ import annotations

from types import TracebackType

from rich import progress

from keltis_cli.draw.look import console


class Transfer:
    """Shows on the error output how much of a file was sent or received."""

    def __init__(self, text: str, size: int | None, quiet: bool = False) -> None:
        errors = console(stderr=True)
        self.bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(bar_width=24),
            progress.DownloadColumn(binary_units=True),
            progress.TransferSpeedColumn(),
            console=errors,
            transient=True,
            disable=quiet or not errors.is_terminal,
        )
        self.task = self.bar.add_task(text, total=size)

    def __enter__(self) -> Transfer:
        """Begin to show."""
        self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the bar away."""
        self.bar.stop()

    def tell(self, done: int) -> None:
        """Say how many bytes it is."""
        self.bar.update(self.task, completed=done)
