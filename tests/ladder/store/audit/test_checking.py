"""A check finds nothing where all is well, and every kind of damage where it is not."""

import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from keltis_ladder.findings import Doing, Finding, Mark
from keltis_ladder.store.archives import Archives, note_archive
from keltis_ladder.store.audit.soundness import CHECKS, DEEP, RECOMPUTE, Ground, check
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_ladder.store.matches.queue import claim, release
from keltis_ladder.store.ratings.recomputing import replace
from keltis_ladder.store.schema.job_troubles import JobTrouble
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import Table
from tests.ladder.conftest import KINDS
from tests.ladder.store.support.crowd import together
from tests.ladder.store.support.ladders import ask_for, dump, enter, entered, stored
from tests.ladder.store.support.postgres import Postgres
from tests.ladder.store.support.results import any_result, real

ARCHIVE = b"a bot"


@pytest.fixture(scope="module", params=KINDS)
def ladder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, upgraded_file: Path
) -> Iterator[tuple[Home, Database]]:
    """A ladder on which everything there is has happened."""
    directory = tmp_path_factory.mktemp("ladder")
    if request.param == "sqlite":
        home = Home(directory, str(shutil.copy(upgraded_file, directory / "ladder.db")))
    else:
        server: Postgres = request.getfixturevalue("postgres")
        server.execute("CREATE DATABASE checked TEMPLATE upgraded")
        home = Home(directory, server.url("checked"))
    database = home.open(create=False)
    _live(home, database)
    yield home, database
    database.close()


def _live(home: Home, database: Database) -> None:
    with database.writing() as session:
        note_archive(session, home.archives.put(ARCHIVE))
        versions = enter(session, "a", "b", "c", "d")
    for rows, seed in [
        (real("keltis", 2, 1), 1),
        (real("weg-der-steine", 3, 2, {1: (2, 20)}), 2),
        (real("kartenspiel", 4, 3), 3),
        (real("keltis", 2, 4, {0: (1, 6)}), 4),
    ]:
        stored(database, versions[: rows.players], rows, rated=seed != 3, seed=seed)
    entered(database, "a")
    with database.writing() as session:
        for _ in range(4):
            ask_for(session, versions[:2], seed=None)
        first, second, *_ = claim(session, "somebody", now(), limit=3)
        release(session, first.id, "somebody")
        release(session, second.id, "somebody", JobTrouble.PLATFORM)


@pytest.fixture
def sound(ladder: tuple[Home, Database]) -> Iterator[tuple[Home, Database]]:
    """The ladder, which is put right again afterwards."""
    home, database = ladder
    before = dump(database)
    yield home, database
    with database.writing() as session:
        for table in reversed(Table.metadata.sorted_tables):
            session.execute(table.delete())
        for table in Table.metadata.sorted_tables:
            names = [column.name for column in table.c]
            rows = [dict(zip(names, row, strict=True)) for row in before[table.name]]
            if rows:
                session.execute(table.insert(), rows)
    shutil.rmtree(home.archives.root)
    home.archives.put(ARCHIVE)


def found(home: Home, database: Database, deep: bool = True) -> list[Finding]:
    return [event for event in check(home, database, deep) if isinstance(event, Finding)]


def problems(home: Home, database: Database) -> list[tuple[str, str]]:
    return [
        (finding.check, finding.text)
        for finding in found(home, database)
        if finding.mark is not Mark.OK
    ]


def test_nothing_is_found_where_all_is_well(sound: tuple[Home, Database]) -> None:
    home, database = sound
    assert problems(home, database) == []
    texts = {finding.check: finding.text for finding in found(home, database)}
    assert list(texts) == [name for name, _, _ in CHECKS] + ["games"]
    assert texts["ledger"] == "4 matches, numbered without gaps"
    assert texts["jobs"] == "4 done, 1 leased, 3 waiting"
    assert texts["leases"] == "1 held"
    assert texts["results"] == "11 places and 11 games are complete and add up"
    assert texts["seeds"].startswith("128 parts, from which the seeds follow")
    assert texts["archives"] == "1 are there and undamaged"
    assert texts["ratings"].endswith("7 steps and 4 duels follow exactly from the results")
    assert texts["games"] == "those of 4 matches play out as they did"
    doing = [event.text for event in check(home, database) if isinstance(event, Doing)]
    assert doing == [text for _, text, _ in CHECKS]


def test_an_empty_ladder_is_sound(database: Database, tmp_path: Path) -> None:
    assert problems(Home(tmp_path, database.url), database) == []


# What is done to the database, which check finds it, and words of what it says.
DAMAGE: list[tuple[str, str, str]] = [
    ("UPDATE ledger SET matches = 5", "ledger", "counts 5 matches, and 4 are stored"),
    ("DELETE FROM ledger", "ledger", "there is none"),
    (
        "UPDATE job SET state = 'done' WHERE state = 'leased'",
        "jobs",
        "a job is done and has no match",
    ),
    (
        "UPDATE job SET state = 'waiting' WHERE seed = '1'",
        "jobs",
        "a match is stored and its job is not done: 1",
    ),
    (
        "UPDATE job SET variant = 'keltis' WHERE seed = '2'",
        "jobs",
        "of another kind than its job: 2",
    ),
    (
        "UPDATE job SET rated = NOT rated WHERE seed = '3'",
        "jobs",
        "of another kind than its job: 3",
    ),
    (
        "DELETE FROM job_entrant WHERE position = 3",
        "jobs",
        "a job has not all its entrants",
    ),
    (
        "UPDATE job_entrant SET version_id = 4 WHERE version_id = 1",
        "jobs",
        "a match was played by others than were asked to: 1, 2, 3, 4",
    ),
    (
        "UPDATE job SET holder = NULL WHERE state = 'leased'",
        "leases",
        "leased, but to nobody or for ever",
    ),
    (
        "UPDATE job SET lease_until = NULL WHERE state = 'leased'",
        "leases",
        "leased, but to nobody or for ever",
    ),
    ("UPDATE job SET holder = 'x' WHERE seed = '1'", "leases", "a job is held that is not leased"),
    (
        "UPDATE job SET lease_until = '2100-01-01 00:00:00.000000' WHERE state = 'leased'",
        "leases",
        "a lease ends more than a day from now",
    ),
    ("UPDATE job SET tries = -1 WHERE seed = '1'", "leases", "an impossible number of tries"),
    (
        "UPDATE job SET tries = 0 WHERE state = 'leased'",
        "leases",
        "an impossible number of tries",
    ),
    (
        "DELETE FROM place WHERE match_number = 3 AND position = 3",
        "results",
        "a match has not all its places: 3",
    ),
    (
        "DELETE FROM place WHERE match_number = 3",
        "results",
        "a match has not all its places: 3",
    ),
    (
        "UPDATE place SET position = 5 WHERE match_number = 3 AND position = 2",
        "results",
        "a match has not all its places: 3",
    ),
    (
        "DELETE FROM game WHERE match_number = 3 AND rotation = 0",
        "results",
        "a match has not all its games: 3",
    ),
    (
        "UPDATE place SET twelfths = twelfths + 12 WHERE match_number = 3 AND position = 0",
        "results",
        "wins by seat do not add up: 3",
    ),
    (
        "UPDATE place SET seat3 = NULL, twelfths = seat0 + seat1 + seat2 WHERE match_number = 3",
        "results",
        "wins by seat do not add up: 3",
    ),
    (
        "UPDATE place SET seat2 = 0 WHERE match_number = 1",
        "results",
        "wins by seat do not add up: 1",
    ),
    (
        "UPDATE place SET seat0 = 6, twelfths = 6 + seat1 WHERE match_number = 1 AND position = 0",
        "results",
        "the wins of a match do not add up: 1",
    ),
    (
        "UPDATE place SET seat0 = 12, seat1 = 12, twelfths = 24 WHERE match_number = 1",
        "results",
        "the wins of a match do not add up: 1",
    ),
    ("UPDATE place SET rank = 1 WHERE match_number = 3", "results", "ranks do not follow"),
    ("UPDATE place SET points = 500 - points", "results", "ranks do not follow"),
    (
        "UPDATE place SET part1 = part1 + 1 WHERE match_number = 1 AND position = 0",
        "results",
        "points by component do not add up: 1",
    ),
    (
        "UPDATE place SET part2 = NULL WHERE match_number = 1",
        "results",
        "points by component do not add up: 1",
    ),
    ("DELETE FROM fault WHERE match_number = 2", "results", "faults are missing, or too many: 2"),
    (
        "UPDATE place SET faults = 1 WHERE match_number = 1 AND position = 0",
        "results",
        "faults are missing, or too many: 1",
    ),
    (
        "UPDATE fault SET version_id = 4 WHERE match_number = 2",
        "results",
        "a fault is somebody else's: 2",
    ),
    (
        "UPDATE fault SET seat = 3, rotation = 3 WHERE match_number = 2",
        "results",
        "a fault is somebody else's: 2",
    ),
    (
        "INSERT INTO archive VALUES ('beef', 7, '2026-11-16 12:00:00.000000')",
        "archives",
        "the archive beef is missing",
    ),
    ("UPDATE match SET result_digest = 'x' WHERE number = 2", "seeds", "of match 2, 3"),
    ("UPDATE match SET result_digest = NULL WHERE number = 4", "seeds", "of match 4"),
    ("UPDATE match SET rated = NOT rated WHERE number = 1", "seeds", "of match 1"),
    ("UPDATE seed_part SET after_match = 77 WHERE number = 1", "seeds", "not the one that was"),
    ("UPDATE seed_part SET secret = 'x' WHERE number = 9", "seeds", "part 9 of the seeds is not"),
    ("UPDATE job SET seed = '5' WHERE state = 'leased'", "seeds", "is another than it gives"),
    ("UPDATE job SET origin = '{}' WHERE state = 'leased'", "seeds", "its 'part' is None"),
    ("UPDATE archive SET size = 7", "archives", "has 5 bytes, 7 are noted"),
    ("UPDATE rating SET mu = mu + 1e-9 WHERE version_id = 1", "ratings", "7 numbers do not follow"),
    ("UPDATE ledger SET rating_model = 99", "ratings", "come from model 99"),
    ("DELETE FROM place WHERE match_number = 1", "ratings", "match 1 has not all its 2 places"),
    ("UPDATE game SET digest = 'x' WHERE match_number = 2", "games", "game 0 of match 2"),
    ("UPDATE game SET scores = '[1, 2]' WHERE match_number = 1", "games", "game 0 of match 1"),
    (
        "UPDATE game SET ranks = '[1, 1]' WHERE match_number = 1 AND rotation = 0",
        "games",
        "its games make them",
    ),
    ("UPDATE game SET ranks = '[1]' WHERE match_number = 1", "games", "match 1 cannot be played"),
    ("UPDATE fault SET kind = 'mood' WHERE match_number = 2", "games", "match 2 cannot be played"),
    ("UPDATE job SET seed = '77' WHERE seed = '3'", "games", "game 0 of match 3"),
    (
        "UPDATE place SET points = points + 1 WHERE match_number = 4",
        "games",
        "the places of match 4",
    ),
    ("DELETE FROM game WHERE match_number = 4", "games", "match 4 is not complete"),
]


@pytest.mark.parametrize(("statement", "name", "words"), DAMAGE, ids=range(len(DAMAGE)))
def test_damage_is_found(
    sound: tuple[Home, Database], statement: str, name: str, words: str
) -> None:
    home, database = sound
    with database.writing() as session:
        session.execute(text(statement))
    look = {one: look for one, _, look in [*CHECKS, DEEP]}[name]
    with database.reading() as session:
        told = list(look(Ground(home, database, session, None)))
    assert {(finding.check, finding.mark) for finding in told} == {(name, Mark.FAILED)}
    assert [finding for finding in told if words in finding.text], told
    assert all(finding.advice for finding in told)


def test_numbers_with_a_gap_are_found(sound: tuple[Home, Database]) -> None:
    home, database = sound
    with database.writing() as session:
        session.execute(text("DELETE FROM rating_step WHERE match_number = 1"))
        for table in ("place", "game"):
            session.execute(text(f"DELETE FROM {table} WHERE match_number = 1"))
        session.execute(text("DELETE FROM match WHERE number = 1"))
        session.execute(text("UPDATE ledger SET matches = 3"))
    assert ("ledger", "3 matches are numbered from 2 to 4: there are gaps") in problems(
        home, database
    )


def test_a_damaged_crash_card_and_moves_are_found(sound: tuple[Home, Database]) -> None:
    home, database = sound
    with database.writing() as session:
        session.execute(
            text("UPDATE fault SET card = :card WHERE match_number = 2"), {"card": b"\x01\x02"}
        )
        session.execute(
            text("UPDATE game SET moves = :moves WHERE match_number = 1 AND rotation = 1"),
            {"moves": b"\x78\x9c\x01"},
        )
    told = problems(home, database)
    assert [name for name, _ in told] == ["games", "games"]
    assert "game 1 of match 1" in told[0][1]
    assert "crash card" in told[1][1]


def damage_archive(archives: Archives) -> None:
    (path,) = (path for path in archives.root.rglob("*") if path.is_file())
    path.chmod(0o600)
    path.write_bytes(b"a cat")


def remove_archives(archives: Archives) -> None:
    shutil.rmtree(archives.root)
    archives.root.mkdir()


@pytest.mark.parametrize(
    ("damage", "words"), [(damage_archive, "is damaged"), (remove_archives, "is missing")]
)
def test_damage_to_archives_is_found(
    sound: tuple[Home, Database], damage: Callable[[Archives], None], words: str
) -> None:
    home, database = sound
    damage(home.archives)
    ((name, told),) = problems(home, database)
    assert name == "archives"
    assert words in told


def test_files_that_were_never_completed_are_a_warning(sound: tuple[Home, Database]) -> None:
    home, database = sound
    shelf = home.archives.root / "00"
    shelf.mkdir()
    (shelf / ".new-today").touch()
    assert problems(home, database) == []  # it may be on its way
    (shelf / ".new-old").touch()
    os.utime(shelf / ".new-old", (0, time.time() - 7200))
    (finding,) = [one for one in found(home, database) if one.mark is not Mark.OK]
    assert finding.mark is Mark.WARNING
    assert finding.text.startswith("1 files that were never completed")


def test_overdue_leases_are_told_and_no_damage(sound: tuple[Home, Database]) -> None:
    home, database = sound
    with database.writing() as session:
        moment = now() - timedelta(hours=1)
        session.execute(
            text(
                "UPDATE job SET state = 'waiting', holder = NULL, lease_until = NULL "
                "WHERE state = 'leased'"
            )
        )
        claim(session, "somebody else", moment, limit=2)
    texts = {finding.check: finding.text for finding in found(home, database, deep=False)}
    assert texts["leases"] == "2 held, 2 of them overdue"


def test_ratings_are_put_right_without_a_backup(sound: tuple[Home, Database]) -> None:
    home, database = sound
    with database.writing() as session:
        session.execute(text("DELETE FROM duel"))
    (finding,) = (one for one in found(home, database) if one.mark is not Mark.OK)
    assert finding.advice == RECOMPUTE
    with database.writing() as session:
        replace(session)
    assert problems(home, database) == []


def test_only_some_of_many_are_named(sound: tuple[Home, Database]) -> None:
    home, database = sound
    with database.writing() as session:
        session.execute(text("UPDATE job SET tries = -1"))
    told = dict(problems(home, database))["leases"]
    assert told.endswith(" and 3 more")


def test_tables_of_another_release_end_the_check(database: Database, tmp_path: Path) -> None:
    with database.writing() as session:
        session.execute(text("ALTER TABLE match ADD COLUMN weather VARCHAR"))
    told = problems(Home(tmp_path, database.url), database)
    assert [name for name, _ in told] == ["tables", "everything else"]
    assert "weather" in told[0][1]


def test_a_damaged_file_ends_the_check(upgraded_file: Path, tmp_path: Path) -> None:
    file = Path(shutil.copy(upgraded_file, tmp_path / "ladder.db"))
    with closing(Database(str(file))) as database:
        with database.writing() as session:
            versions = enter(session, "a", "b", "c", "d")
        chance = random.Random(1)
        for _ in range(40):
            stored(database, versions, any_result(chance, "keltis", 4))
    data = bytearray(file.read_bytes())
    for page in range(20, len(data) // 4096, 3):
        data[page * 4096 : page * 4096 + 64] = os.urandom(64)
    file.write_bytes(data)
    with closing(Database(str(file))) as database:
        told = problems(Home(tmp_path, str(file)), database)
    assert told[0][0] == "database"
    assert told[-1][0] == "everything else"


def test_references_to_nothing_are_found(upgraded_file: Path, tmp_path: Path) -> None:
    file = str(shutil.copy(upgraded_file, tmp_path / "ladder.db"))
    with closing(Database(file)) as database:
        connection = database.engine.raw_connection()
        connection.cursor().execute("PRAGMA foreign_keys=OFF")
        connection.cursor().execute(
            "INSERT INTO bot (id, author_id, name, created) VALUES (1, 99, 'x', '2026-11-16')"
        )
        connection.commit()
        connection.close()
        told = problems(Home(tmp_path, file), database)
    assert told[0] == ("database", "rows refer to others that are not there: bot to author")


def test_a_ladder_in_use_is_sound_at_every_moment(
    url: str, database: Database, tmp_path: Path
) -> None:
    versions = entered(database, *"abcd")
    home = Home(tmp_path, url)

    def work(mine: Database, number: int) -> list[tuple[str, str]]:
        chance = random.Random(number)
        told: list[tuple[str, str]] = []
        for _ in range(3):
            if number:
                for _ in range(5):
                    rows = any_result(chance, "keltis", 3)
                    stored(mine, chance.sample(versions, 3), rows)
            else:
                told += [
                    (finding.check, finding.text)
                    for finding in found(home, mine, deep=False)
                    if finding.mark is not Mark.OK
                ]
        return told

    assert together(url, 3, work) == [[], [], []]
