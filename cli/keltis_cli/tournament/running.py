"""A tournament in a directory of its own: started or resumed, run, and reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.text import Text

from keltis_cli.bots.candidates import Candidate, enter, program_of
from keltis_cli.draw.brackets import bracket_lines
from keltis_cli.draw.journal import Journal
from keltis_cli.draw.look import QUIET, TITLE, Look, styled
from keltis_cli.draw.strokes import counted, score_text
from keltis_cli.draw.tables.standings import Tables, standings_lines
from keltis_cli.errors import BadRequest
from keltis_cli.tournament.screen import Moment, TournamentState, round_text, tournament_lines
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.run.course import Course, Entry, plan_from_plain
from keltis_ladder.run.tournaments import Director
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.tournaments import entered_versions, first_tournament
from keltis_ladder.store.schema.tables import TournamentRecord
from keltis_ladder.store.schema.tables import TournamentState as Stage
from keltis_ladder.tournaments.plan import Plan

ENDLESS = 10_000  # lines of a bracket that is not on a screen


class TournamentSubject:
    """A tournament while it is run."""

    def __init__(self, director: Director, id: int, referees: int, look: Look) -> None:
        self.director = director
        self.id = id
        self.look = look
        course = director.course(id)
        self.state = TournamentState(course.record.name, Journal(), referees, moment_of(course))

    @property
    def journal(self) -> Journal:
        """What has happened in this run."""
        return self.state.journal

    @property
    def over(self) -> bool:
        """Whether the last match has been played."""
        return self.state.moment.finished

    def finish(self) -> None:
        """Take note that we are about to stop."""
        self.state.finishing = True

    def attend(self, dispatcher: LocalDispatcher) -> None:
        """Show the matches while they are played."""
        self.dispatcher = dispatcher

    def read(self) -> None:
        """Read how it stands."""
        # While it is looked at nobody changes it: the scheduler has the same director.
        self.state.moment = self.director.consult(self.id, lambda _, course: moment_of(course))

    def lines(self, width: int, height: int) -> list[Text]:
        """Return the screen."""
        self.state.live = self.dispatcher.playing
        return tournament_lines(self.state, width, height, self.look)

    def line(self) -> str:
        """Return how far it is, and who leads."""
        moment = self.state.moment
        tables = moment.tables
        first = ", ".join(
            f"{tables.names[standing.entrant]} {score_text(standing.score, Look(ascii=True))}"
            for standing in tables.standings[:3]
        )
        done = f"{moment.played} of {moment.total} matches, {round_text(moment)}"
        return f"{done}; {counted(self.journal.faults, 'fault')}; {first}"


def moment_of(course: Course) -> Moment:
    """Return how a tournament stands, as values that nobody changes any more."""
    tournament = course.tournament
    plan = tournament.plan
    played, total = tournament.progress
    return Moment(
        tables=Tables(
            plan=plan,
            names=[entry.name for entry in course.entries],
            standings=tournament.standings(),
            rounds=tournament.rounds,
            crosstable=None if plan.elimination else tournament.crosstable(),
            bracket=tournament.bracket() if plan.elimination else (),
        ),
        played=played,
        total=total,
        round=tournament.round,
        finished=course.record.state == Stage.FINISHED,
    )


def begin_or_find(
    director: Director,
    name: str,
    plan: Plan,
    control: TimeControl,
    entering: Sequence[Candidate],
    directory: Path,
) -> int:
    """Return the tournament of this directory: a new one, or the same as before."""
    database = director.database
    with database.reading() as session:
        record, matches = first_tournament(session)
    if record is None and matches:
        raise BadRequest(f"{directory} holds a ladder, not a tournament: choose another --data")
    if record is not None:
        differing = _differences(database, record, name, plan, control, entering)
        if differing:
            raise BadRequest(
                f"{directory} holds another tournament ({'; '.join(differing)}): ask for the same "
                "again to go on with it, or choose another --name or --data"
            )
        assert record.id is not None
        return record.id

    with database.writing() as session:
        entries = []
        for candidate in entering:
            version = enter(session, candidate)
            assert version.id is not None
            entries.append(Entry(version.id, candidate.name))
    return director.create(name, plan, entries, control, seed=plan.seed)


def _differences(
    database: Database,
    record: TournamentRecord,
    name: str,
    plan: Plan,
    control: TimeControl,
    entering: Sequence[Candidate],
) -> list[str]:
    """Return what the tournament of a directory has otherwise than what is asked for."""
    there = {
        "name": record.name,
        **asdict(plan_from_plain(record.plan)),
        "bank": record.bank_ms,
        "increment": record.increment_ms,
    }
    here = {
        "name": name,
        **asdict(plan),
        "bank": control.bank_ms,
        "increment": control.increment_ms,
    }
    found = [
        f"{key} {_plain(there[key])} there, {_plain(here[key])} here"
        for key in here
        if there[key] != here[key] and key != "entrants"
    ]
    return found + _differing_bots(database, record, entering)


def _plain(value: object) -> str:
    if value is None:
        return "not given"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _differing_bots(
    database: Database, record: TournamentRecord, entering: Sequence[Candidate]
) -> list[str]:
    assert record.id is not None
    with database.reading() as session:
        entered = entered_versions(session, record.id)
    there = [(name, program_of(version)) for name, version in entered]
    here = [(candidate.name, candidate.program) for candidate in entering]
    names, new_names = [name for name, _ in there], [name for name, _ in here]
    if names != new_names:
        return [f"bots {', '.join(names)} there, {', '.join(new_names)} here"]
    return [
        f"{name} has changed since"
        for (name, old), (_, new) in zip(there, here, strict=True)
        if old != new
    ]


def final_page(name: str, moment: Moment, width: int, look: Look) -> Text:
    """Return the final table, and the bracket of an elimination."""
    plan, tables = moment.tables.plan, moment.tables
    facts = (
        f"{plan.format}, {counted(plan.entrants, 'bot')}, "
        f"{counted(moment.played, 'match', 'matches')} of {', '.join(plan.variants)}"
    )
    lines = [styled(name, TITLE), Text(facts, QUIET), Text()]
    if plan.elimination:
        drawn = bracket_lines(tables.bracket, tables.names, width, ENDLESS, look)
        lines += [*drawn, Text()] if drawn else []
    lines += standings_lines(tables, width, look, ties_first=True)
    return Text("\n").join(lines)
