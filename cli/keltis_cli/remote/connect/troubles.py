"""Errors of the connection to a server, each with its exit code."""

from __future__ import annotations

from typing import ClassVar

from keltis_cli.errors import BadRequest
from keltis_cli.exit_codes import ExitCode


class Refused(BadRequest):
    """The server says no; its text says why."""

    exit_code: ClassVar[ExitCode] = ExitCode.REFUSED

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status


class Unreachable(BadRequest):
    """There is no server, or none that answers as it should."""

    exit_code: ClassVar[ExitCode] = ExitCode.UNREACHABLE


class NothingNew(Unreachable):
    """What was waited for did not come, for so long that waiting has ended; nothing is lost."""

    def __init__(self, url: str, seconds: float, how_it_goes_on: str) -> None:
        super().__init__(
            f"nothing new from {url} for {seconds:.0f} s: stopped waiting, and nothing is lost;"
            f" {how_it_goes_on}"
        )
