"""Replays and crash cards of stored matches."""

from __future__ import annotations

import zlib
from textwrap import shorten
from typing import Any, Final, Protocol

from sqlmodel import Session, col, select

from keltis_engine import Ruleset, find_variant
from keltis_engine.records.replay import Replay, make_replay
from keltis_ladder.errors import LadderError
from keltis_ladder.match.commitments import commitment_of
from keltis_ladder.match.rotation import by_seat
from keltis_ladder.match.seeds import NO_RESULT
from keltis_ladder.store.matches.records import unpack_json, unpack_moves
from keltis_ladder.store.schema.tables import (
    Bot,
    FaultRecord,
    Game,
    Job,
    Match,
    Place,
    SeedPart,
    Version,
)

REASON: Final = 80  # characters of what the engine has against a move


class Damaged(LadderError):
    """A stored game that does not play out as it did."""


class Pruned(LadderError):
    """What was removed because it was older than this ladder keeps it. The result stays."""


class StoredGame(Protocol):
    """What is stored of a game: a row of its table, or as much of one."""

    match_number: int
    rotation: int
    scores: list[int]
    moves: bytes
    digest: str


def replays_of(session: Session, number: int) -> list[dict[str, Any]]:
    """Return a replay of each game of a match, with names, ranks, faults and the seed's origin.

    Raise Pruned if they were removed.
    """
    job = session.exec(select(Job).where(Match.number == number, Job.id == Match.job_id)).first()
    if job is None:
        raise LadderError(f"there is no match {number}")
    names = _names(session, number)
    faults = list(
        session.exec(
            select(FaultRecord)
            .where(FaultRecord.match_number == number)
            .order_by(col(FaultRecord.id))
        )
    )
    games = session.exec(
        select(Game).where(Game.match_number == number).order_by(col(Game.rotation))
    )
    ruleset = find_variant(job.variant, job.options)
    pledged: dict[str, Any] = {"job": job.id, "commitment": commitment_of(job.id, job.seed)}
    if job.origin is not None:
        part = session.exec(select(SeedPart).where(SeedPart.job_id == job.id)).one()
        pledged["origin"] = {**job.origin, "secret": part.secret}
    digests = dict(
        session.exec(
            select(Match.number, Match.result_digest).where(
                col(Match.number).in_([number - 1, number])
            )
        ).all()
    )
    if digests[number] is not None:
        pledged["result"] = {
            "rated": job.rated,
            "before": digests.get(number - 1) or NO_RESULT,
            "digest": digests[number],
        }
    return [
        {
            **play_out(ruleset, job.players, int(job.seed), game),
            "names": by_seat(names, game.rotation),
            "match": number,
            "rotation": game.rotation,
            "ranks": game.ranks,
            "ending": game.ending,
            "faults": [
                fault.model_dump(include={"seat", "decision", "kind", "code", "text"})
                for fault in faults
                if fault.rotation == game.rotation
            ],
            **pledged,
        }
        for game in games
    ]


def play_out(ruleset: Ruleset, players: int, seed: int, game: StoredGame) -> Replay:
    """Return the replay of a stored game, or raise if it does not play out as it did."""
    if not game.moves:
        raise pruned_replay(game.match_number)
    try:
        replay = make_replay(ruleset, players, seed, unpack_moves(game.moves))
    except (zlib.error, ValueError) as error:  # whatever the engine has against the moves
        raise Damaged(_damage(game, f" ({shorten(str(error), REASON)})")) from None
    if replay["digest"] != game.digest or replay["scores"] != game.scores:
        raise Damaged(_damage(game, ""))
    return replay


def pruned_replay(number: int) -> Pruned:
    """Return that the replay of a match is gone."""
    return Pruned(
        f"the replay of match {number} was removed: it was older than the operator of this ladder "
        "keeps replays; the result stays"
    )


def _damage(game: StoredGame, reason: str) -> str:
    return (
        f"game {game.rotation} of match {game.match_number} does not play out as it did{reason}: "
        "its record is damaged, or the engine plays by other rules; restore a backup"
    )


def crash_card(session: Session, fault_id: int) -> dict[str, Any]:
    """Return the crash card of a fault."""
    fault = session.get(FaultRecord, fault_id)
    if fault is None:
        raise LadderError(f"there is no fault {fault_id}")
    return read_card(fault_id, fault.card)


def read_card(fault_id: int, data: bytes) -> dict[str, Any]:
    """Return a crash card, or raise if it cannot be read any more."""
    if not data:
        raise Pruned(
            f"the crash card of fault {fault_id} was removed: it was older than this ladder keeps "
            "logs; that there was a fault, and of which kind, stays"
        )
    try:
        card: dict[str, Any] = unpack_json(data)
    except (zlib.error, ValueError):
        raise Damaged(f"the crash card of fault {fault_id} is damaged: restore a backup") from None
    return card


def _names(session: Session, number: int) -> list[str]:
    query = (
        select(Bot.name)
        .join(Version, col(Version.bot_id) == Bot.id)
        .join(Place, col(Place.version_id) == Version.id)
        .where(Place.match_number == number)
        .order_by(col(Place.position))
    )
    return list(session.exec(query))
