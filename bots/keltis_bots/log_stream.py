"""Where ``print`` goes while a bot plays: its log, line by line."""

from __future__ import annotations

import contextlib
import io
import sys


class LogStream(io.TextIOWrapper):
    """Writes whole lines at once, and knows whether a part of one may be left.

    To flush a stream that has nothing to say takes about as long as a quick bot needs to choose.
    """

    has_rest = False

    def write(self, text: str) -> int:
        """Write to the log; what follows the last line's end waits."""
        self.has_rest = True
        return super().write(text)

    def flush_rest(self) -> None:
        """Write unfinished lines, too: whatever happens next, the log has what was printed."""
        self.has_rest = False
        with contextlib.suppress(OSError, ValueError):  # the bot has closed it: it wants no log
            self.flush()


def print_to_log(descriptor: int) -> LogStream:
    """Have all that is printed from now on written to the log; streams of the bot's own stay.

    A bot that is killed has no time to write what is buffered: so the streams that Python made
    write line by line, too, for whoever has kept one of them.
    """
    raw = io.FileIO(descriptor, "w", closefd=False)
    encoding, errors = "utf-8", "backslashreplace"
    log = LogStream(io.BufferedWriter(raw), encoding, errors, line_buffering=True)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and stream is getattr(sys, f"__{name}__"):
            stream.flush()  # what was printed before goes to the log, too
            stream.reconfigure(line_buffering=True)
            setattr(sys, name, log)
    return log
