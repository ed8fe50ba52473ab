"""The steps lead to exactly the tables that the program knows, and lose nothing on the way."""

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from keltis_ladder.match.reasons import reason_text, tournament_reason
from keltis_ladder.match.table_labels import TableCode, TableLabel, label_text
from keltis_ladder.ratings.model import MODEL_VERSION
from keltis_ladder.store.audit.book import advance
from keltis_ladder.store.bots.names import fold
from keltis_ladder.store.bots.version_words import reason_of
from keltis_ladder.store.database import BadDatabase, Database, proper_url
from keltis_ladder.store.matches.job_rows import reason_of as match_reason
from keltis_ladder.store.ratings.joint.fitting import SCOPES
from keltis_ladder.store.ratings.recomputing import compare, replace
from keltis_ladder.store.ratings.renewing import FITTING, RATING, publish_first, renew
from keltis_ladder.store.schema import steps
from keltis_ladder.store.schema.job_troubles import JobTrouble
from keltis_ladder.store.schema.tables import Author, Bot, Job, Ledger, Version
from keltis_ladder.store.schema.upkeep import (
    configuration,
    require_up_to_date,
    tables_differ,
    upgrade,
)
from keltis_ladder.tournaments.plan import DOUBLE, Plan
from keltis_ladder.tournaments.schedules.brackets import bracket_of
from tests.ladder.store.support.ladders import dump, enter, entered, stored
from tests.ladder.store.support.results import faulty, won_by


def test_the_steps_lead_to_the_tables_of_the_program(database: Database) -> None:
    assert tables_differ(database) == []


def test_the_steps_are_those_of_alembic_in_the_same_order() -> None:
    scripts = ScriptDirectory.from_config(configuration()).walk_revisions()
    assert steps.known_steps() == tuple(reversed([script.revision for script in scripts]))


def test_alembic_and_we_see_a_database_at_the_same_step(database: Database) -> None:
    with database.engine.connect() as connection:
        theirs = MigrationContext.configure(connection).get_current_revision()
        assert steps.step_of(connection) == theirs == steps.newest_step()


def test_upgrading_twice_changes_nothing(database: Database) -> None:
    with database.writing() as session:
        ledger = session.get(Ledger, 1)
        assert ledger is not None
        assert ledger.rating_model == MODEL_VERSION
        ledger.matches = 7
        session.add(ledger)
    before, now = upgrade(database)
    assert before == now
    with database.reading() as session:
        ledger = session.get(Ledger, 1)
        assert ledger is not None
        assert ledger.matches == 7


def test_a_database_of_a_later_release_is_refused(database: Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(BadDatabase, match="newer than this program"):
        upgrade(database)


def test_tables_of_an_earlier_step_are_not_used(database: Database) -> None:
    require_up_to_date(database)
    with database.engine.begin() as connection:
        connection.execute(text("DELETE FROM alembic_version"))
    with pytest.raises(BadDatabase, match="db upgrade"):
        require_up_to_date(database)


@pytest.mark.parametrize("bad", ["mysql://here/there", "://", "nonsense://"])
def test_other_databases_are_refused_with_what_to_write(bad: str) -> None:
    with pytest.raises(BadDatabase, match="postgresql://"):
        proper_url(bad)


def test_the_usual_names_of_postgresql_are_understood() -> None:
    assert proper_url("postgres://me:pw@host/db") == "postgresql+psycopg://me:pw@host/db"
    assert proper_url("here/ladder.db") == "sqlite:///here/ladder.db"


REMAKE = '''"""Make a table anew that others refer to, as SQLite has to for most changes."""

import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{before}"


def upgrade() -> None:
    for table, column in [
        ("author", "name"), ("bot", "name"), ("version", "state"), ("match", "variant"),
    ]:
        with op.batch_alter_table(table) as batch:
            batch.alter_column(column, existing_type=sa.String(), type_=sa.Text())
            batch.add_column(sa.Column("note", sa.String(), nullable=True))
'''


@pytest.fixture
def later_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release with one more step, which makes tables anew."""
    later = tmp_path / "later"
    shutil.copytree(steps.STEPS, later)
    before = steps.newest_step()
    (later / "versions" / "9999_remade.py").write_text(REMAKE.format(before=before))
    monkeypatch.setattr(steps, "STEPS", later)


@pytest.mark.usefixtures("later_release")
def test_a_table_that_is_made_anew_does_not_take_its_children_with_it(database: Database) -> None:
    versions = entered(database, "a", "b")
    stored(database, versions, won_by("keltis", 2, 0))
    before = dump(database)
    assert upgrade(database)[1] == "9999"
    assert dump(database) == before
    with database.reading() as session:
        assert session.execute(text("SELECT note FROM version")).scalars().all() == [None, None]
        assert compare(session)[0].examples == []
    with pytest.raises(IntegrityError), database.writing() as session:
        session.execute(text("DELETE FROM author"))  # they are guarded as before


@pytest.mark.usefixtures("later_release")
def test_a_step_that_fails_leaves_everything_as_it_was(database: Database) -> None:
    stored(database, entered(database, "a", "b"), won_by("keltis", 2, 0))
    with (steps.STEPS / "versions" / "9999_remade.py").open("a") as step_file:
        step_file.write("    op.execute('INSERT INTO ledger SELECT * FROM ledger')\n")
    before = dump(database)
    with pytest.raises(IntegrityError):
        upgrade(database)
    assert dump(database) == before
    assert tables_differ(database) == []
    with database.reading() as session:
        step = session.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
    assert step != "9999"
    with pytest.raises(IntegrityError), database.writing() as session:
        session.execute(text("DELETE FROM author"))


def test_children_without_parents_are_found_before_a_step_is_taken_for_good(
    tmp_path: Path, upgraded_file: Path, later_release: None
) -> None:
    file = str(shutil.copy(upgraded_file, tmp_path / "ladder.db"))
    with closing(sqlite3.connect(file)) as connection:  # where nobody looks at references
        connection.execute(
            "INSERT INTO bot (id, author_id, name, created) VALUES (7, 99, 'x', '2026-11-16')"
        )
        connection.commit()
    database = Database(file)
    with pytest.raises(BadDatabase, match="bot"):
        upgrade(database)
    with database.engine.connect() as connection:
        step = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
    assert step != "9999"
    database.close()


def _take_back_to(database: Database, step: str) -> None:
    config = configuration()
    with (
        database.engine.connect() as connection,
        connection.execution_options(keltis_writes=True).begin(),
    ):
        config.attributes["connection"] = connection
        command.downgrade(config, step)


def test_names_that_look_alike_are_kept_and_local_authors_are_known(database: Database) -> None:
    _take_back_to(database, "0005")
    moment = "2026-11-01 12:00:00+00:00"
    add_author = text(
        "INSERT INTO author (id, name, house, disabled, created)"
        " VALUES (:id, :name, :house, false, :moment)"
    )
    names = ["keltis-ladder", "gwyn", "keltis-ladder.", "morgan", "m0rgan", "removed-9"]
    with database.engine.connect() as connection:
        connection = connection.execution_options(keltis_writes=True)
        with connection.begin():
            for id, name in enumerate(names, start=1):
                row = {"id": id, "name": name, "house": id == 1, "moment": moment}
                connection.execute(add_author, row)
            connection.execute(
                text(
                    "INSERT INTO token (author_id, label, digest, scopes, created)"
                    " VALUES (:author, '', :digest, '[]', :moment)"
                ),
                [{"author": id, "digest": f"digest-{id}", "moment": moment} for id in (3, 5)],
            )
            connection.execute(
                text(
                    "INSERT INTO bot (id, author_id, name, created) VALUES"
                    " (1, 1, 'greedy', :moment), (2, 3, 'greedy.', :moment), (3, 3, 'x', :moment)"
                ),
                {"moment": moment},
            )
    upgrade(database)
    assert tables_differ(database) == []
    with database.reading() as session:
        authors = session.exec(select(Author).order_by(col(Author.id))).all()
        bots = session.exec(select(Bot).order_by(col(Bot.id))).all()
    assert [author.name for author in authors] == names
    assert [author.folded for author in authors] == [
        *("keltlsladder", "gwyn", "keltlsladder~3", "morgan", "morgan~5", "removed9"),
    ]
    users = {author.name: author.local_user for author in authors if author.local_user}
    assert users == {"gwyn": "gwyn", "morgan": "morgan"}  # nobody else can get in there
    assert [bot.folded for bot in bots] == ["greedy", "greedy~2", "x"]
    assert all(author.folded.split("~")[0] == fold(author.name) for author in authors)


REASONS = [  # state, reason before, cause, reason now if it is another one
    ("checking", "", "uploaded", None),
    ("active", "", "passed", None),
    ("unchecked", "any words", "not-checked", "the server could not check it (our fault,"),
    ("superseded", "version 12 was uploaded", "newer-uploaded", None),
    ("superseded", "version 12 plays", "newer-plays", None),
    ("superseded", "version 12 plays now", "newer-plays", "version 12 plays"),
    ("superseded", "removed with its author", "newer-plays", ""),
    ("broken", "build: {0} is no Python", "failed", None),
    ("broken", "one cannot be made ready: no bot.toml", "unprepared", None),
    ("broken", "faults in 10 of its last 20 matches", "faults", None),
    ("broken", "faults in 11 of its last 20 rated matches", "faults", None),
    ("broken", "removed with its author", "failed", ""),
    ("retired", "the bot is disabled: it mines coins", "bot-disabled", None),
    ("retired", "its author is disabled: spam", "author-disabled", None),
    ("retired", "removed with its author", "author-removed", None),
    ("retired", "enough", "taken-back", None),
]


def test_what_sentences_said_about_versions_becomes_codes_that_say_the_same(
    database: Database,
) -> None:
    _take_back_to(database, "0007")
    moment = "2026-11-01 12:00:00+00:00"
    with database.engine.connect() as connection:
        connection = connection.execution_options(keltis_writes=True)
        with connection.begin():
            for id, name, disabled in [(1, "removed-1", True), (2, "removed-2", False)]:
                connection.execute(
                    text(
                        "INSERT INTO author (id, name, folded, house, disabled, created)"
                        " VALUES (:id, :name, :name, false, :disabled, :moment)"
                    ),
                    {"id": id, "name": name, "disabled": disabled, "moment": moment},
                )
            bots = [(1, "removed with its author"), (2, "spam"), (3, None)]
            for id, why in bots:
                connection.execute(
                    text(
                        "INSERT INTO bot (id, author_id, name, folded, disabled, created)"
                        " VALUES (:id, 1, :name, :name, :why, :moment)"
                    ),
                    {"id": id, "name": f"bot{id}", "why": why, "moment": moment},
                )
            connection.execute(
                text("INSERT INTO archive (digest, size, created) VALUES ('d', 1, :moment)"),
                {"moment": moment},
            )
            for number, (state, reason, _, _) in enumerate(REASONS, start=1):
                connection.execute(
                    text(
                        "INSERT INTO version (bot_id, number, archive_digest, variants, players,"
                        " description, state, reason, created)"
                        " VALUES (3, :number, 'd', '[]', '[]', '', :state, :reason, :moment)"
                    ),
                    {"number": number, "state": state, "reason": reason, "moment": moment},
                )
    upgrade(database)
    assert tables_differ(database) == []
    with database.reading() as session:
        authors = session.exec(select(Author).order_by(col(Author.id))).all()
        assert [author.removed for author in authors] == [True, False]
        found = session.exec(select(Bot).order_by(col(Bot.id))).all()
        assert [bot.removed for bot in found] == [True, False, False]
        versions = session.exec(select(Version).order_by(col(Version.number))).all()
        for version, (state, before, cause, now) in zip(versions, REASONS, strict=True):
            assert (version.state, version.cause) == (state, cause)
            expected = before if now is None else now
            assert reason_of(version).startswith(expected)
            assert expected or not reason_of(version)


# The sentence before, the code, what more is said.
TROUBLES: list[tuple[str, str, dict[str, str] | None]] = [
    ("", "", None),
    ("the process that played it has ended", JobTrouble.HOLDER_GONE, None),
    ("its leases ended", JobTrouble.LEASES_ENDED, None),
    ("a bot in it was taken off the ladder", JobTrouble.CALLED_OFF, None),
    ("one cannot be made ready: no compiler", JobTrouble.UNPREPARED, {}),
    ("the match could not be finished in 3 tries: no disk", JobTrouble.PLATFORM, {}),
]


def add_old_jobs(
    database: Database, rows: list[dict[str, str]], of_tournament: bool = False
) -> None:
    """Add jobs with these values to tables of an earlier step."""
    usual = {"reason": "", "trouble": "", "moment": "2026-11-01 12:00:00+00:00"}
    with database.engine.connect() as connection:
        connection = connection.execution_options(keltis_writes=True)
        with connection.begin():
            if of_tournament:
                connection.execute(
                    text(
                        "INSERT INTO tournament (id, uuid, name, plan, seed, rated, bank_ms,"
                        " increment_ms, start_ms, created, state) VALUES (1, 'u', 'cup', '{}', '',"
                        " false, 1000, 20, 5000, :moment, 'running')"
                    ),
                    usual,
                )
            connection.execute(
                text(
                    "INSERT INTO job (id, purpose, rated, variant, ruleset_version, options,"
                    " players, seed, bank_ms, increment_ms, start_ms, priority, reason, created,"
                    " state, tries, trouble, tournament_id)"
                    " VALUES (:id, 'ladder', true, 'keltis', 1, '{}', 2, '',"
                    " 1000, 20, 5000, 0, :reason, :moment, 'failed', 5, :trouble, :cup)"
                ),
                [{**usual, "cup": 1 if of_tournament else None, **row} for row in rows],
            )


def test_what_sentences_said_about_the_troubles_of_jobs_becomes_codes(database: Database) -> None:
    _take_back_to(database, "0008")
    add_old_jobs(
        database, [{"id": str(n), "trouble": said} for n, (said, _, _) in enumerate(TROUBLES)]
    )
    upgrade(database)
    assert tables_differ(database) == []
    with database.reading() as session:
        for number, (said, code, details) in enumerate(TROUBLES):
            job = session.get_one(Job, str(number))
            assert job.trouble == code
            assert job.trouble_details == (details if details is None else {"text": said})


MATCH_REASONS = [
    "",
    "close and uncertain",
    "new version",
    "has waited longest",
    "have not met for long",
    "a challenge",
    "a challenge by maeve: the 2nd",
    "first match of weg-der-steine",
    "the share of keltis with 4 players",
]


def test_what_sentences_said_about_the_reasons_of_matches_becomes_codes(database: Database) -> None:
    _take_back_to(database, "0009")
    unknown = "because"
    add_old_jobs(
        database,
        [{"id": str(n), "reason": said} for n, said in enumerate([*MATCH_REASONS, unknown])],
    )
    leg = {"id": "leg", "reason": "cup: 2: Semi-final 1"}
    add_old_jobs(database, [leg], of_tournament=True)
    upgrade(database)
    assert tables_differ(database) == []
    with database.reading() as session:
        for number, said in enumerate([*MATCH_REASONS, ""]):
            assert reason_text(match_reason(session.get_one(Job, str(number)))) == said
        found = match_reason(session.get_one(Job, "leg"))
        assert found == tournament_reason("cup: 2", TableLabel(TableCode.SEMI_FINAL, table=1))


# Every form that a release has written.
LABELS = [
    *((f"Round {n}, table {k}", TableLabel(TableCode.ROUND, n, k)) for n, k in [(1, 1), (12, 3)]),
    ("Round of 16, table 8", TableLabel(TableCode.ROUND_OF, 16, 8)),
    ("Round of 9", TableLabel(TableCode.ROUND_OF, 9)),
    ("Quarter-final 4", TableLabel(TableCode.QUARTER_FINAL, table=4)),
    ("Quarter-final", TableLabel(TableCode.QUARTER_FINAL)),
    ("Semi-final 2", TableLabel(TableCode.SEMI_FINAL, table=2)),
    ("Semi-final", TableLabel(TableCode.SEMI_FINAL)),
    ("Final", TableLabel(TableCode.FINAL)),
    ("Third place", TableLabel(TableCode.THIRD_PLACE)),
    ("Winners' round 1, table 7", TableLabel(TableCode.WINNERS_ROUND, 1, 7)),
    ("Winners' round 2", TableLabel(TableCode.WINNERS_ROUND, 2)),
    ("Winners' final", TableLabel(TableCode.WINNERS_FINAL)),
    ("Losers' round 3, table 2", TableLabel(TableCode.LOSERS_ROUND, 3, 2)),
    ("Losers' round 4", TableLabel(TableCode.LOSERS_ROUND, 4)),
    ("Losers' final", TableLabel(TableCode.LOSERS_FINAL)),
    ("Grand final", TableLabel(TableCode.GRAND_FINAL)),
    ("Grand final, again", TableLabel(TableCode.GRAND_FINAL_AGAIN)),
]


def test_what_tables_of_tournaments_were_called_becomes_codes_that_say_the_same(
    database: Database,
) -> None:
    assert {label.code for _, label in LABELS} == set(TableCode)
    _take_back_to(database, "0012")
    old = [*(said for said, _ in LABELS), "at the window"]
    rows = [{"id": str(n), "reason": "tournament"} for n in range(len(old))]
    add_old_jobs(database, rows, of_tournament=True)
    with database.writing() as session:
        for number, said in enumerate(old):
            job = session.get_one(Job, str(number))
            job.reason_details = {"tournament": "cup", "label": said}
    upgrade(database)
    assert tables_differ(database) == []
    with database.reading() as session:
        for number, (said, label) in enumerate(LABELS):
            found = match_reason(session.get_one(Job, str(number)))
            assert found == tournament_reason("cup", label)
            assert reason_text(found) == f"cup: {said}"
        assert match_reason(session.get_one(Job, str(len(LABELS)))) is None


def test_every_label_of_a_bracket_is_one_that_was_migrated() -> None:
    said = {text for text, _ in LABELS}
    for format_, players in (("single-elimination", 2), ("single-elimination", 3), (DOUBLE, 2)):
        for entrants in range(2, 20):
            for node in bracket_of(Plan(format_, entrants, players=players)).nodes:
                form = re.sub(r"\d+", "#", label_text(node.label))
                assert form in {re.sub(r"\d+", "#", text) for text in said}


def test_the_audit_of_later_games_is_worked_out_again_by_authors(database: Database) -> None:
    with database.writing() as session:
        versions = [*enter(session, "a"), *enter(session, "b", author="Mallory")]
        third = enter(session, "c", author="Carol")
    for _ in range(3):
        stored(database, [*versions, *third], won_by("keltis", 3, 0))
    database.write(advance)
    with database.writing() as session:
        session.execute(text("UPDATE audit_bot SET alarm = 2 WHERE bot_id = 1"))
    before = dump(database)
    assert before["audit_author"]
    _take_back_to(database, "0010")
    upgrade(database)
    assert database.write(advance).done == 3
    database.write(replace)  # the margins of duels are a later step
    assert dump(database) == before


def test_a_ladder_from_before_the_joint_rating_gets_its_margins_from_its_games(
    database: Database,
) -> None:
    versions = entered(database, "a", "b", "c")
    stored(database, versions, won_by("keltis", 3, 0))
    stored(database, versions[:2], faulty(2, culprit=1))
    before = dump(database)
    _take_back_to(database, "0011")
    upgrade(database)
    assert tables_differ(database) == []
    with database.reading() as session:
        assert session.execute(text("SELECT sum(abs(margin)) FROM duel")).scalar() == 0
        assert "joint model 0" in compare(session)[0].examples[0]
    work = NotedWork()
    assert renew(database, work) == 2
    assert dump(database) == before
    figures = publish_first(database, work)
    assert figures > 0
    assert work.begun == {RATING: (2, 2), FITTING: (len(SCOPES), len(SCOPES))}
    with database.reading() as session:
        assert compare(session)[0].equal
    # All of it is done once, however often one asks.
    assert (renew(database, work), publish_first(database, work)) == (None, 0)


class NotedWork:
    """Notes what was begun, and how far it came."""

    def __init__(self) -> None:
        self.begun: dict[str, tuple[int, int]] = {}

    def begin(self, text: str) -> None:
        self.begun[text] = (0, 0)

    def tell(self, done: int, total: int) -> None:
        self.begun[list(self.begun)[-1]] = (done, total)
