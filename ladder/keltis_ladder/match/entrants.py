"""The bots of a match: where their files are and how they are started."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from keltis_bots.manifest import Manifest
from keltis_engine import VARIANTS

BUILT_IN: Final = ("random", "greedy", "search")


@dataclass(frozen=True)
class Entrant:
    """A bot that is ready to be started. ``key`` tells programs apart: same key, same program."""

    name: str
    key: str
    command: tuple[str, ...]
    home: Path | None  # none: one of ours, which needs no files
    variants: tuple[str, ...] = tuple(VARIANTS)
    players: tuple[int, ...] = (2, 3, 4)

    def to_plain(self) -> dict[str, Any]:
        """Return it as dicts, lists and texts."""
        return {
            "name": self.name,
            "key": self.key,
            "command": list(self.command),
            "home": str(self.home) if self.home else None,
            "variants": list(self.variants),
            "players": list(self.players),
        }


def entrant_from_plain(plain: dict[str, Any]) -> Entrant:
    """Return the entrant that ``to_plain`` wrote."""
    return Entrant(
        name=plain["name"],
        key=plain["key"],
        command=tuple(plain["command"]),
        home=Path(plain["home"]) if plain["home"] else None,
        variants=tuple(plain["variants"]),
        players=tuple(plain["players"]),
    )


def entrant_of(manifest: Manifest, home: Path, digest: str) -> Entrant:
    """Return the bot whose files, ready to run, are in a directory."""
    return Entrant(
        name=manifest.name,
        key=digest,
        command=manifest.run,
        home=home,
        variants=manifest.variants,
        players=manifest.players,
    )


def built_in(name: str) -> Entrant:
    """Return one of the reference bots."""
    command = (sys.executable, "-m", "keltis_bots", name)
    return Entrant(name, f"built-in/{name}", command, None)


def named_apart(entrants: Sequence[Entrant]) -> list[Entrant]:
    """Number the entrants of the same name, so that each has one of its own."""
    seen: Counter[str] = Counter()
    named = []
    for entrant in entrants:
        seen[entrant.name] += 1
        copy = seen[entrant.name]
        named.append(replace(entrant, name=f"{entrant.name}#{copy}") if copy > 1 else entrant)
    return named
