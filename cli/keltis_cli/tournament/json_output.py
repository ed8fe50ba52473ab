"""A tournament as JSON: the plan, the bots, every match with its seed, and the final table."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from sqlmodel import Session

from keltis_cli.bots.candidates import program_of
from keltis_ladder.match.rotation import entrant_at
from keltis_ladder.match.table_labels import label_text
from keltis_ladder.run.course import Course
from keltis_ladder.store.matches.records import TWELFTHS
from keltis_ladder.store.matches.tournaments import PlayedLeg, entered_versions, played_legs
from keltis_ladder.tournaments.standings import Standing
from keltis_ladder.tournaments.views import RoundView, TableView

FORMAT: Final = "keltis-ladder tournament 1"

Matches = dict[str, list[dict[str, Any]]]  # by table: round/table


def document(session: Session, course: Course) -> dict[str, Any]:
    """Return everything about a tournament; ``docs/readers/tournaments.md`` names every field."""
    record, tournament = course.record, course.tournament
    assert record.id is not None
    matches = {
        table: [_match(leg) for leg in legs]
        for table, legs in played_legs(session, record.id).items()
    }
    played, _ = tournament.progress
    return {
        "format": FORMAT,
        "name": record.name,
        "state": record.state,
        "plan": asdict(tournament.plan),
        "seed": record.seed,
        "clock": {"bank_ms": record.bank_ms, "increment_ms": record.increment_ms},
        "started": record.started.isoformat() if record.started else None,
        "finished": record.finished.isoformat() if record.finished else None,
        "bots": [
            {"name": name, "key": program_of(version)}
            for name, version in entered_versions(session, record.id)
        ],
        "matches": played,
        "rounds": [_round(view, matches) for view in tournament.rounds],
        "voids": list(tournament.voids),
        "standings": [_standing(standing) for standing in tournament.standings()],
    }


def _match(leg: PlayedLeg) -> dict[str, Any]:
    job, match = leg.job, leg.match
    return {
        "match": match.number,
        "job": job.id,
        "variant": job.variant,
        "seed": job.seed,
        "ranks": [place.rank for place in leg.places],
        "games_won": [place.twelfths / TWELFTHS for place in leg.places],
        "points": [place.points for place in leg.places],
        "faults": [
            {
                "rotation": fault.rotation,
                "seat": fault.seat,
                "bot": entrant_at(fault.seat, fault.rotation, match.players),
                "decision": fault.decision,
                "kind": fault.kind,
                "code": fault.code,
                "text": fault.text,
            }
            for fault in leg.faults
        ],
    }


def _round(view: RoundView, matches: Matches) -> dict[str, Any]:
    return {
        "round": view.number,
        "byes": list(view.byes),
        "tables": [_table(table, matches) for table in view.tables],
    }


def _table(table: TableView, matches: Matches) -> dict[str, Any]:
    return {
        "table": table.table,
        "label": label_text(table.label),
        "bracket": table.bracket,
        "state": table.state,
        "bots": list(table.entrants),
        "scores": [float(score) for score in table.scores],
        "winner": table.winner,
        "matches": matches.get(f"{table.round}/{table.table}", []),
    }


def _standing(standing: Standing) -> dict[str, Any]:
    out = standing.eliminated_in
    return {
        "place": standing.place,
        "bot": standing.entrant,
        "score": float(standing.score),
        "tie_breaks": {tie.name: float(tie.value) for tie in standing.tie_breaks},
        "played": standing.played,
        "wins": standing.wins,
        "draws": standing.draws,
        "losses": standing.losses,
        "byes": standing.byes,
        "faults": standing.faults,
        "eliminated_in": label_text(out) if out is not None else "",
        "withdrawn": standing.withdrawn,
        "group": standing.group,
    }
