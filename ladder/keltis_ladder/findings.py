"""What a check of a bot finds, one finding at a time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from keltis_ladder.match.faults import Fault, Kind


class Mark(StrEnum):
    """How a check came out. Only a failure keeps a bot from the ladder."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True)
class Finding:
    """The outcome of one check: for a failure, also what to do and what the bot had logged."""

    check: str  # its name, the same in every report
    mark: Mark
    text: str
    advice: str = ""
    fault: Fault | None = None
    log: str = ""
    card: dict[str, Any] | None = None  # the crash card, to make it happen again

    def to_plain(self) -> dict[str, Any]:
        """Return it as dicts, texts and nothing else; the crash card goes its own way."""
        fault = self.fault
        return {
            "check": self.check,
            "mark": str(self.mark),
            "text": self.text,
            "advice": self.advice,
            "fault": {"kind": str(fault.kind), "code": fault.code, "text": fault.text}
            if fault
            else None,
            "log": self.log,
        }


@dataclass(frozen=True)
class Doing:
    """What is being checked now, for those who watch."""

    text: str


Event = Finding | Doing


def of_fault(
    check: str, fault: Fault, log: str, text: str = "", card: dict[str, Any] | None = None
) -> Finding:
    """Return the failure that a fault means."""
    return Finding(
        check=check,
        mark=Mark.FAILED,
        text=text or fault.text,
        advice=advice_for(fault),
        fault=fault,
        log=log,
        card=card,
    )


def advice_for(fault: Fault) -> str:
    """Return what an author should look at first."""
    special = {
        "cannot-start": "Check `run` in bot.toml: the program must be in the bot's directory, be "
        "made by `build`, or be installed.",
        "start": "Answer hello first, and load what takes long afterwards or in the build.",
        "memory": "Use less memory: the limit counts all processes of the bot together.",
        "extra-reply": "Write exactly one message for each request, and nothing to game and end "
        "messages.",
    }
    general = {
        Kind.CRASH: "The end of its stderr usually says why.",
        Kind.TIMEOUT: "Look at left_ms in each request, and answer before it is used up.",
        Kind.ILLEGAL: "Answer with one of the numbers in the request's `legal`.",
        Kind.PROTOCOL: "docs/authors/protocol.md describes each message, byte by byte.",
        Kind.RESOURCES: "docs/operators/sandbox.md lists what a bot may use.",
    }
    return special.get(fault.code, general[fault.kind])
