"""A tournament as JSON: the plan, the bots, every match with its seed, and the final table."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from typing import Any, Final

from sqlmodel import Session, col, select

from keltis_cli.candidates import program_of
from keltis_ladder.courses import Course
from keltis_ladder.store.records import TWELFTHS
from keltis_ladder.store.tables import (
    FaultRecord,
    Job,
    Match,
    Place,
    TournamentRecord,
    Version,
)
from keltis_ladder.tournaments.standings import Standing
from keltis_ladder.tournaments.views import RoundView, TableView

FORMAT: Final = "keltis-ladder tournament 1"

Matches = dict[str, list[dict[str, Any]]]  # by table: round/table


def document(session: Session, course: Course) -> dict[str, Any]:
    """Return everything about a tournament; ``docs/tournaments.md`` names every field."""
    record, tournament = course.record, course.tournament
    matches = _matches(session, record)
    versions = {
        version.id: version
        for version in session.exec(
            select(Version).where(col(Version.id).in_([entry.version for entry in course.entries]))
        )
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
            {"name": entry.name, "key": program_of(versions[entry.version])}
            for entry in course.entries
        ],
        "matches": played,
        "rounds": [_round(view, matches) for view in tournament.rounds],
        "voids": list(tournament.voids),
        "standings": [_standing(standing) for standing in tournament.standings()],
    }


def _matches(session: Session, record: TournamentRecord) -> Matches:
    """Return all matches that were played, by table, in the order of their numbers there."""
    of_ours = col(Job.tournament_id) == record.id
    rows = session.exec(
        select(Job, Match).join(Match, col(Match.job_id) == Job.id).where(of_ours)
    ).all()
    places: defaultdict[int, list[Place]] = defaultdict(list)
    for place in session.exec(
        select(Place)
        .join(Match, col(Match.number) == Place.match_number)
        .join(Job, col(Job.id) == Match.job_id)
        .where(of_ours)
        .order_by(col(Place.position))
    ):
        places[place.match_number].append(place)
    faults: defaultdict[int, list[FaultRecord]] = defaultdict(list)
    for fault in session.exec(
        select(FaultRecord)
        .join(Match, col(Match.number) == FaultRecord.match_number)
        .join(Job, col(Job.id) == Match.job_id)
        .where(of_ours)
        .order_by(col(FaultRecord.id))
    ):
        faults[fault.match_number].append(fault)
    found: Matches = defaultdict(list)
    for job, match in sorted(rows, key=lambda row: _leg_number(row[0])):
        assert job.leg is not None
        table = job.leg.rpartition("/")[0]
        found[table].append(_match(job, match, places[match.number], faults[match.number]))
    return found


def _leg_number(job: Job) -> int:
    assert job.leg is not None
    return int(job.leg.rpartition("/")[2])


def _match(
    job: Job, match: Match, places: list[Place], faults: list[FaultRecord]
) -> dict[str, Any]:
    return {
        "match": match.number,
        "job": job.id,
        "variant": job.variant,
        "seed": job.seed,
        "ranks": [place.rank for place in places],
        "games_won": [place.twelfths / TWELFTHS for place in places],
        "points": [place.points for place in places],
        "faults": [
            {
                "rotation": fault.rotation,
                "seat": fault.seat,
                "bot": (fault.seat + fault.rotation) % match.players,
                "decision": fault.decision,
                "kind": fault.kind,
                "code": fault.code,
                "text": fault.text,
            }
            for fault in faults
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
        "label": table.label,
        "bracket": table.bracket,
        "state": table.state,
        "bots": list(table.entrants),
        "scores": [float(score) for score in table.scores],
        "winner": table.winner,
        "matches": matches.get(f"{table.round}/{table.table}", []),
    }


def _standing(standing: Standing) -> dict[str, Any]:
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
        "eliminated_in": standing.eliminated_in,
        "withdrawn": standing.withdrawn,
        "group": standing.group,
    }
