"""The exit codes of all commands; a test compares them with docs/authors/client.md."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended; the docstring of each code says what it means."""

    def __new__(cls, value: int, meaning: str) -> ExitCode:
        """Make a code with its meaning as its docstring."""
        code = int.__new__(cls, value)
        code._value_ = value
        code.__doc__ = meaning
        return code

    DONE = 0, "done"
    FAILED = 1, "failed: a bot did not pass its check, a match was not played, a rating is wrong"
    REFUSED = 2, "invalid input, or the server refused the request"
    UNREACHABLE = 3, "no server, an internal error there, or nothing new before the timeout"
    INTERRUPTED = 130, "interrupted by Ctrl-C (SIGINT)"
    TERMINATED = 143, "ended by SIGTERM"
