"""Jobs: a match to be played, as it is sent to a referee, and the seeds of many matches."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import asdict, dataclass, field
from typing import Any

from keltis_engine import Ruleset, find_variant
from keltis_ladder.match.clock import DEFAULT_CONTROL, TimeControl
from keltis_ladder.match.entrants import Entrant, entrant_from_plain
from keltis_ladder.match.seeds import Origin


@dataclass(frozen=True)
class Job:
    """One match to be played."""

    variant: str
    options: dict[str, int]
    seed: int
    entrants: tuple[Entrant, ...]
    control: TimeControl = DEFAULT_CONTROL
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    origin: Origin | None = None  # of the seed, for onlookers: referees need not know it

    def ruleset(self) -> Ruleset:
        """Return the rules that it is played by."""
        return find_variant(self.variant, self.options)

    def to_plain(self) -> dict[str, Any]:
        """Return it as dicts, lists, texts and numbers."""
        return {
            "variant": self.variant,
            "options": self.options,
            "seed": str(self.seed),  # msgpack's numbers end at 64 bits
            "entrants": [entrant.to_plain() for entrant in self.entrants],
            "control": asdict(self.control),
            "id": self.id,
        }


def job_from_plain(plain: dict[str, Any]) -> Job:
    """Return the job that ``to_plain`` wrote."""
    return Job(
        variant=plain["variant"],
        options=plain["options"],
        seed=int(plain["seed"]),
        entrants=tuple(entrant_from_plain(entrant) for entrant in plain["entrants"]),
        control=TimeControl(**plain["control"]),
        id=plain["id"],
    )


def seed_of_match(seed: int, number: int) -> int:
    """Return the seed of the match with this number: far from all others, the same for ever."""
    text = f"keltis-ladder/match/1/{seed}/{number}"
    return int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:16], "big")
