"""Why a job was given back, called off or has failed: codes with parameters, never sentences."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from keltis_bots.texts import printable


class JobTrouble(StrEnum):
    """What went wrong with the last try of a job; those with a text say more in their details."""

    PLATFORM = "platform"  # referees failed again and again: text
    BUSY = "busy"  # the machine had too little left for it, which counts as no try: text
    HOLDER_GONE = "holder-gone"  # the process that played it has ended
    LEASES_ENDED = "leases-ended"  # too often, and no result came
    UNPREPARED = "unprepared"  # a program in it cannot be made ready: text
    CALLED_OFF = "called-off"  # a bot in it was taken off the ladder


NO_TROUBLE: Final[Mapping[str, Any]] = {"trouble": "", "trouble_details": None}


def trouble_values(trouble: JobTrouble, text: str = "") -> dict[str, Any]:
    """Return what is stored of a trouble, by the names of the columns."""
    return {
        "trouble": trouble.value,
        "trouble_details": {"text": printable(text)} if text else None,
    }
