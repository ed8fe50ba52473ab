"""A played match as rows: worked out before the transaction, which then only has to write."""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from keltis_engine import find_variant
from keltis_engine.replay import make_replay
from keltis_ladder.jobs import Job
from keltis_ladder.ratings.book import SEATS
from keltis_ladder.results import GameResult, MatchResult
from keltis_ladder.store.texts import printable

TWELFTHS: Final = 12


@dataclass(frozen=True)
class MatchRows:
    """The rows of a match, without its number and the ids of the versions. Lists are by entrant."""

    variant: str
    players: int
    decisions: int
    places: list[dict[str, Any]]
    games: list[dict[str, Any]]
    faults: list[dict[str, Any]]  # ``entrant`` says whose


def rows_of(job: Job, result: MatchResult) -> MatchRows:
    """Return the rows of a match that was played."""
    ruleset = find_variant(job.variant, job.options)
    return MatchRows(
        variant=job.variant,
        players=len(job.entrants),
        decisions=sum(len(game.actions) for game in result.games),
        places=_places(result),
        games=[
            {
                "rotation": game.rotation,
                "ending": game.ending,
                "scores": game.scores,
                "ranks": game.ranks,
                "moves": pack_moves(game.actions),
                "digest": make_replay(ruleset, len(job.entrants), job.seed, game.actions)["digest"],
            }
            for game in result.games
        ],
        faults=[
            {
                "rotation": game.rotation,
                "seat": loss.seat,
                "entrant": game.entrants[loss.seat],
                "decision": loss.decision,
                "kind": str(loss.fault.kind),
                "code": loss.fault.code,
                "text": printable(loss.fault.text),
                "card": pack_json(loss.card),
            }
            for game in result.games
            for loss in game.losses
        ],
    )


def _places(result: MatchResult) -> list[dict[str, Any]]:
    ranks, points, shares = result.ranks, result.points, result.shares
    places: list[dict[str, Any]] = [
        {
            "position": entrant,
            "rank": ranks[entrant],
            "twelfths": in_twelfths(shares[entrant]),
            "points": points[entrant],
            "faults": 0,
            "asked": 0,
            "wall_ms": 0.0,
            "cpu_ms": 0.0,
            "slowest_ms": 0.0,
            **{f"seat{seat}": None for seat in range(SEATS)},
        }
        for entrant in range(len(ranks))
    ]
    for game in result.games:
        _add_game(places, game)
    return places


def _add_game(places: list[dict[str, Any]], game: GameResult) -> None:
    shares = game.shares()
    for seat, (entrant, time) in enumerate(zip(game.entrants, game.times, strict=True)):
        place = places[entrant]
        place[f"seat{seat}"] = in_twelfths(shares[seat])
        place["asked"] += time.asked
        place["wall_ms"] += time.wall * 1000
        place["cpu_ms"] += time.cpu * 1000
        place["slowest_ms"] = max(place["slowest_ms"], time.longest * 1000)
    for loss in game.losses:
        places[game.entrants[loss.seat]]["faults"] += 1


def in_twelfths(share: Fraction) -> int:
    """Return a share of a win as a whole number of twelfths."""
    twelfths = share * TWELFTHS
    if twelfths.denominator != 1:
        raise ValueError(f"a share of {share} is not a whole number of twelfths")
    return int(twelfths)


def pack_moves(actions: Sequence[int]) -> bytes:
    """Return decisions in compressed form: two bytes each, the low one first, deflated."""
    numbers = array("H", actions)
    if numbers.itemsize != 2:
        raise TypeError("this machine's short numbers do not have two bytes")
    return zlib.compress(_little(numbers).tobytes(), 9)


def unpack_moves(data: bytes) -> list[int]:
    """Return the decisions that ``pack_moves`` wrote."""
    numbers = array("H", zlib.decompress(data))
    return list(_little(numbers))


def _little(numbers: array[int]) -> array[int]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def pack_json(value: Any) -> bytes:
    """Return plain data as compressed JSON."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode("utf-8"), 6)


def unpack_json(data: bytes) -> Any:
    """Return the data that ``pack_json`` wrote."""
    return json.loads(zlib.decompress(data))
