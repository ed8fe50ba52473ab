"""Faults: why a bot lost a game other than by points, and what is our own fault instead."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from keltis_bots.texts import printable
from keltis_ladder.errors import LadderError


class Kind(StrEnum):
    """The five kinds of faults."""

    CRASH = "crash"  # it ended, or closed its output
    TIMEOUT = "timeout"  # it was not ready in time, or its clock ran out
    ILLEGAL = "illegal"  # it chose an action that is not legal
    PROTOCOL = "protocol"  # it sent what the protocol does not allow
    RESOURCES = "resources"  # it used more than it may


@dataclass(frozen=True)
class Fault:
    """One fault: its kind, a code for programs, and the text for the author."""

    kind: Kind
    code: str
    text: str

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.kind}/{self.code}: {self.text}"


class BotFault(Exception):
    """Raised where a bot's fault comes to light."""

    def __init__(self, kind: Kind, code: str, text: str) -> None:
        text = printable(text)  # it may quote the bot
        super().__init__(text)
        self.fault = Fault(kind, code, text)


class PlatformFault(Exception):
    """The machine or our own software failed. No bot is to blame; the match is played again."""


class MachineBusy(PlatformFault):
    """The machine had too little left for a match. It is played later; that was no failed try."""


class InDoubt(MachineBusy):
    """A bot failed while the machine was short of cores or memory: nobody can tell whose fault."""

    def __init__(self, text: str, bot: str) -> None:
        """``bot`` is the key of the one that failed."""
        super().__init__(text)
        self.bot = bot


class MachineFailed(LadderError, PlatformFault):
    """Our machine could not keep, copy or build a bot: a full disk, say, or a missing archive."""
