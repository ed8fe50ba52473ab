"""What failed and was ours: written to the log, and kept for the operator to look at."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from keltis_ladder.dispatch.dispatcher import AttemptFailed
from keltis_ladder.run.scheduler import PlatformTrouble
from keltis_ladder.store.schema.moments import now
from keltis_server.events import Happening

MOST_KEPT: Final = 20

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Noted:
    """One of them."""

    at: datetime
    text: str


class Troubles:
    """The latest of them, the newest first."""

    def __init__(self) -> None:
        self.latest: deque[Noted] = deque(maxlen=MOST_KEPT)

    def note(self, happening: Happening) -> None:
        """Take note of what is trouble."""
        match happening:
            case PlatformTrouble(text=text):
                self._keep(text)
            case AttemptFailed(job=job, reason=reason, tries=tries):
                names = ", ".join(entrant.name for entrant in job.entrants)
                self._keep(f"match {job.id} ({job.variant}: {names}), try {tries}: {reason}")

    def _keep(self, text: str) -> None:
        log.warning("%s", text)
        self.latest.appendleft(Noted(now(), text))
