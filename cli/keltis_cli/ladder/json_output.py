"""What a ladder stores as JSON, for programs; ``docs/operators/ladder.md`` names every field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from keltis_cli.draw.tables.matrix import Encounters
from keltis_ladder.ratings.official import Official
from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.store.bots.version_words import reason_of
from keltis_ladder.store.ratings.boards import PublishedBoard
from keltis_ladder.store.ratings.lines import Joint, Line
from keltis_ladder.store.schema.tables import Author, Bot, Version

LEADERBOARD: Final = "keltis-ladder leaderboard 1"
MATRIX: Final = "keltis-ladder matrix 1"
BOTS: Final = "keltis-ladder bots 1"


def leaderboard_document(
    scope: Scope, total: int, board: PublishedBoard, official: Official
) -> dict[str, Any]:
    """Return a leaderboard."""
    return {
        "format": LEADERBOARD,
        "scope": str(scope),
        "matches": total,
        "official": official.value,
        "as_of": None if board.publication is None else board.publication.as_of,
        "lines": [_line(line) for line in board.lines],
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "rank": line.rank,
        "tied": line.tied,
        "provisional": line.provisional,
        "bot": line.bot,
        "version": line.number,
        "id": line.version,
        "author": line.author,
        "state": line.state,
        "mu": line.mu,
        "sigma": line.sigma,
        "low": line.low,
        "high": line.high,
        "matches": line.matches,
        "won_alone": line.firsts,
        "won_shared": line.shared,
        "games": line.games,
        "games_won": line.wins,
        "seats": list(line.seats),
        "faults": line.faults,
        "last_match": line.last_match,
        "last_played": line.last_played.isoformat(),
        "joint": None if line.joint is None else _joint(line.joint),
    }


def _joint(joint: Joint) -> dict[str, Any]:
    return {**joint._asdict(), "low": joint.low, "high": joint.high}


def matrix_document(scope: Scope, lines: Sequence[Line], encounters: Encounters) -> dict[str, Any]:
    """Return who was ahead of whom: each two who have met, once."""
    return {
        "format": MATRIX,
        "scope": str(scope),
        "bots": [{"bot": line.bot, "version": line.number, "id": line.version} for line in lines],
        "pairs": [
            {
                "bots": [place, place + 1 + further],
                "wins": met.wins,
                "draws": met.draws,
                "losses": met.losses,
            }
            for place, one in enumerate(lines)
            for further, other in enumerate(lines[place + 1 :])
            if (met := encounters.get((one.version, other.version))) is not None
        ],
    }


def bots_document(rows: Sequence[tuple[Version, Bot, Author]]) -> dict[str, Any]:
    """Return all versions of all bots."""
    return {
        "format": BOTS,
        "versions": [
            {
                "bot": bot.name,
                "version": version.number,
                "id": version.id,
                "author": author.name,
                "house": author.house,
                "state": version.state,
                "reason": reason_of(version),
                "variants": version.variants,
                "players": version.players,
                "archive": version.archive_digest,
                "created": version.created.isoformat(),
            }
            for version, bot, author in rows
        ],
    }
