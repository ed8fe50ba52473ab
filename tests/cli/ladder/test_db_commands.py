"""Looking after a ladder from the command line: its database, and the proof of its ratings."""

import json
import os
import pty
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from keltis_engine import VARIANTS
from keltis_ladder.ratings.scopes import OVERALL
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_ladder.store.ratings.leaderboards import leaderboard
from tests.cli.support.helpers import ESCAPE
from tests.cli.support.inside import Done, Inside
from tests.ladder.store.support.ladders import dump, enter, store
from tests.ladder.store.support.postgres import Postgres, running
from tests.ladder.store.support.results import any_result, real


@pytest.fixture
def inside(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Inside:
    return Inside(capsys, monkeypatch)


def play(database: Database) -> None:
    """Let something happen on a ladder: twelve matches, two of them unrated."""
    chance = random.Random(8)
    with database.writing() as session:
        versions = enter(session, *"abcde")
        for number in range(10):
            players = 2 + number % 3
            rows = any_result(chance, list(VARIANTS)[number % 4], players)
            store(session, chance.sample(versions, players), rows, rated=number != 4)
        versions[0] = enter(session, "a")[0]
        store(session, versions[:2], real("keltis", 2, 5), seed=5)
        store(session, versions[:2], real("keltis", 2, 6), rated=False, seed=6)


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a ladder, to be copied."""
    home = Home(tmp_path_factory.mktemp("played"), str(tmp_path_factory.mktemp("x") / "ladder.db"))
    home.archives.put(b"a bot")
    database = home.open()
    play(database)
    database.close()
    shutil.copy(home.url, home.directory / "ladder.db")
    return home.directory


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, played: Path) -> Path:
    """A ladder of our own, which all commands find in the environment."""
    directory = tmp_path / "home"
    shutil.copytree(played, directory)
    monkeypatch.setenv("KELTIS_DATA", str(directory))
    monkeypatch.delenv("KELTIS_DATABASE", raising=False)
    monkeypatch.chdir(tmp_path)
    return directory


def change(home: Path, statement: str) -> None:
    with closing(sqlite3.connect(home / "ladder.db")) as connection:
        connection.execute(statement)
        connection.commit()


def refused(done: Done) -> str:
    """Return the one line in which a command says that it cannot be done."""
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("keltis-ladder: ")
    assert done.err.count("\n") == 1
    return done.err


def test_a_database_is_made_and_then_is_up_to_date(inside: Inside, tmp_path: Path) -> None:
    new = tmp_path / "new" / "place"
    told = inside.output("db", "upgrade", "--data", new)
    assert told == f"Made the database {new}/ladder.db, step 0014.\n"
    told = inside.output("db", "upgrade", "--data", new)
    assert told == f"The database {new}/ladder.db is up to date, step 0014.\n"
    other = tmp_path / "other.db"
    assert str(other) in inside.output("db", "upgrade", "--data", new, "--database", other)
    assert other.exists()


def test_one_command_brings_a_ladder_of_another_release_up_to_date(
    inside: Inside, home: Path
) -> None:
    inside.output("ratings", "recompute", "--store")  # publishes the joint rating
    database = Database(str(home / "ladder.db"))
    before = dump(database)
    change(home, "UPDATE ledger SET joint_model = 0")
    change(home, "UPDATE duel SET margin = 0")
    for table in ("joint_history", "joint_rating", "joint_mark"):
        change(home, f"DELETE FROM {table}")
    assert inside.run("ratings", "recompute").code == 1
    told = inside.output("db", "upgrade").splitlines()
    assert told[1] == (
        "The ratings came from another release: worked them out again from 10 rated matches."
    )
    assert re.fullmatch(r"Fitted the joint rating: \d+ figures\.", told[2])
    after = dump(database)
    database.close()
    marks = after.pop("joint_mark"), before.pop("joint_mark")
    assert [row[:-1] for row in marks[0]] == [row[:-1] for row in marks[1]]  # but when
    assert after == before
    assert "All are equal" in inside.output("ratings", "recompute")
    assert len(inside.output("db", "upgrade").splitlines()) == 1


def test_an_upgrade_that_was_broken_off_goes_on_where_it_was(inside: Inside, home: Path) -> None:
    inside.output("ratings", "recompute", "--store")
    change(home, "DELETE FROM joint_rating WHERE variant = 'keltis'")
    change(home, "DELETE FROM joint_mark WHERE variant = 'keltis'")
    told = inside.output("db", "upgrade").splitlines()
    assert len(told) == 2
    assert told[1].startswith("Fitted the joint rating: ")
    assert "All are equal" in inside.output("ratings", "recompute")


def test_a_sound_ladder_passes_the_check(inside: Inside) -> None:
    told = inside.output("db", "check")
    lines = told.splitlines()
    assert lines[-1] == "All is well. To play every game again, add --deep."
    assert len(lines) == 11
    assert all(line.startswith("✓ ok ") for line in lines[:9])
    assert "12 matches, numbered without gaps" in told
    assert ESCAPE not in told


def test_what_a_check_finds_is_told_with_what_to_do(inside: Inside, home: Path) -> None:
    change(home, "UPDATE place SET rank = 2 WHERE match_number = 3")
    done = inside.run("db", "check")
    assert done.code == 1
    lines = done.out.splitlines()
    at = lines.index("✗ failed  results")
    assert lines[at + 1] == "  ranks do not follow from wins and points: 3"
    assert lines[at + 2] == "  Restore a backup: docs/operators/store.md says how."
    assert lines[-1] == "2 failed."  # the ratings do not follow either


def test_a_check_for_programs(inside: Inside, home: Path) -> None:
    report = json.loads(inside.output("db", "check", "--json"))
    assert report["format"] == "keltis-ladder db check 1"
    assert report["database"] == str(home / "ladder.db")
    assert report["passed"] is True
    assert {finding["mark"] for finding in report["findings"]} == {"ok"}
    change(home, "DELETE FROM duel")
    done = inside.run("db", "check", "--json")
    report = json.loads(done.out)
    assert (done.code, report["passed"]) == (1, False)
    (failed,) = (finding for finding in report["findings"] if finding["mark"] == "failed")
    assert failed["check"] == "ratings"
    assert failed["advice"].endswith("keltis-ladder ratings recompute --store")


def test_a_deep_check_plays_every_game_again(inside: Inside, home: Path) -> None:
    """The made up matches of this ladder cannot be played; the last two really were."""
    done = inside.run("db", "check", "--deep", "--json")
    games = [one for one in json.loads(done.out)["findings"] if one["check"] == "games"]
    assert done.code == 1
    assert games[0]["text"].startswith("game 0 of match 1 does not play out as it did")
    assert games[-1]["text"] == "10 matches are affected"


def test_a_backup_can_be_used_and_replaces_nothing(
    inside: Inside, home: Path, tmp_path: Path
) -> None:
    target = tmp_path / "backups" / "monday"
    told = inside.output("db", "backup", target).splitlines()
    assert told[0].startswith(f"Wrote {target}: the database (")
    assert told[0].endswith(" MB), 1 archive.")
    assert f"--data {target}" in told[1]
    inside.output("db", "check", "--data", target)
    old, new = Database(str(home / "ladder.db")), Database(str(target / "ladder.db"))
    assert dump(old) == dump(new)
    old.close()
    new.close()
    assert "exists already: choose another name" in refused(inside.run("db", "backup", target))


def test_a_database_of_an_older_release_is_refused_and_can_be_saved(
    inside: Inside, home: Path, tmp_path: Path
) -> None:
    change(home, "DELETE FROM alembic_version")
    for command in (["db", "check"], ["ratings", "recompute"], ["ratings", "refit"]):
        told = refused(inside.run(*command))
        assert "the database is not up to date: run keltis-ladder db upgrade" in told
    inside.output("db", "backup", tmp_path / "copy")


def test_equal_ratings_are_proved(inside: Inside) -> None:
    first, second = inside.output("ratings", "recompute").splitlines()
    assert first.startswith("Recomputed 10 rated matches in ")
    assert "/s). Compared " in first
    assert first.endswith(" duels.")
    assert second == "All are equal, to the last bit."
    report = json.loads(inside.output("ratings", "recompute", "--json"))
    assert report["format"] == "keltis-ladder ratings recompute 1"
    assert (report["equal"], report["matches"], report["differences"]) == (True, 10, 0)
    assert report["steps"] > report["matches"]


def test_ratings_that_differ_are_shown_and_replaced(inside: Inside, home: Path) -> None:
    change(home, "UPDATE rating SET mu = mu + 1, faults = 77 WHERE version_id = 2")
    done = inside.run("ratings", "recompute")
    lines = done.out.splitlines()
    assert done.code == 1
    differences = int(lines[1].split()[0])
    assert lines[1] == f"{differences} are not equal:"
    assert lines[2].startswith("  rating of version 2 in ")
    assert ", faults is 77, not " in lines[2]
    assert len(lines) == 2 + 10 + 1 + 1
    assert lines[-2] == f"  and {differences - 10} more"
    assert lines[-1] == "To replace them: keltis-ladder ratings recompute --store"
    report = json.loads(inside.run("ratings", "recompute", "--json").out)
    assert (report["equal"], report["differences"]) == (False, differences)
    assert len(report["examples"]) == 10

    assert inside.output("ratings", "recompute", "--store").endswith("Stored them.\n")
    inside.output("ratings", "recompute")
    report = json.loads(inside.output("ratings", "recompute", "--store", "--json"))
    assert (report["stored"], report["matches"]) == (True, 10)


def test_the_package_trueskill_agrees_with_the_stored_ratings(inside: Inside, home: Path) -> None:
    lines = inside.output("ratings", "recompute", "--with", "trueskill").splitlines()
    assert lines[0].startswith("Recomputed 10 rated matches in four scopes each: ")
    assert lines[0].endswith(" times as quick.")
    assert lines[1].endswith(" ratings, tolerance 1e-06.")
    assert lines[2].startswith("Largest difference of the kernel: mu ")
    assert lines[3].startswith("Largest difference of the stored ratings: mu ")
    assert lines[4:] == ["They agree: the kernel is TrueSkill, and so are the stored ratings."]
    report = json.loads(inside.output("ratings", "recompute", "--with", "trueskill", "--json"))
    assert report["format"] == "keltis-ladder ratings recompute --with trueskill 1"
    assert (report["agree"], report["matches"], report["tolerance"]) == (True, 10, 1e-6)
    assert max(report["stored"].values()) < 1e-9


def test_a_stored_rating_that_trueskill_does_not_give_is_told(inside: Inside, home: Path) -> None:
    overall = "version_id = 2 AND variant = 'all' AND players = 0"
    change(home, f"UPDATE rating SET mu = mu + 0.001 WHERE {overall}")
    done = inside.run("ratings", "recompute", "--with", "trueskill")
    lines = done.out.splitlines()
    assert done.code == 1
    assert "mu 1.0e-03 (rating of version 2 in all/any), sigma " in lines[3]
    assert lines[4] == "1 stored rating does not agree with trueskill:"
    assert lines[5].startswith("  rating of version 2 in all/any: mu is ")
    assert lines[6:] == ["To replace them: keltis-ladder ratings recompute --store"]
    report = json.loads(inside.run("ratings", "recompute", "--with", "trueskill", "--json").out)
    assert (report["agree"], report["differences"]) == (False, 1)
    inside.output("ratings", "recompute", "--store")
    inside.output("ratings", "recompute", "--with", "trueskill")


@pytest.mark.parametrize("other", ["--store", "--from-checkpoint"])
def test_a_comparison_with_a_package_stores_nothing(inside: Inside, other: str) -> None:
    told = refused(inside.run("ratings", "recompute", "--with", "trueskill", other))
    assert "leave out --store and --from-checkpoint" in told
    assert inside.run("ratings", "recompute", "--with", "elo").code == 2


def test_a_refit_stands_beside_the_stored_ratings(inside: Inside, home: Path) -> None:
    report = json.loads(inside.output("ratings", "refit", "--json"))
    assert report["format"] == "keltis-ladder ratings refit 1"
    assert (report["scope"], report["matches"], report["converged"]) == ("all/any", 10, True)
    database = Database(str(home / "ladder.db"))
    with database.reading() as session:
        lines = {line.version: line for line in leaderboard(session, OVERALL, everybody=True)}
    database.close()
    assert {one["version"] for one in report["versions"]} == set(lines)
    means = [one["refit"]["mu"] for one in report["versions"]]
    assert means == sorted(means, reverse=True)
    for one in report["versions"]:
        line = lines[one["version"]]
        assert one["stored"] == {
            "mu": line.mu, "sigma": line.sigma, "low": line.low, "high": line.high,
        }  # fmt: skip
        assert one["refit"]["low"] < one["refit"]["mu"] < one["refit"]["high"]
        assert abs(one["refit"]["mu"] - line.mu) < 3 * line.sigma

    told = inside.output("ratings", "refit").splitlines()
    assert told[0].startswith("Refit: all/any, 10 rated matches, ")
    assert told[1].split() == [
        "bot", "version", "state", "matches", "stored", "interval", "refit", "its", "interval",
        "change",
    ]  # fmt: skip
    assert len(told) == 2 + len(lines)
    assert any("superseded" in line for line in told)


def test_a_refit_of_one_kind_of_match(inside: Inside) -> None:
    report = json.loads(
        inside.output("ratings", "refit", "--variant", "keltis", "--players", "2", "--json")
    )
    assert report["scope"] == "keltis/2"
    assert 0 < report["matches"] < 10
    nobody = inside.output("ratings", "refit", "--variant", "keltis", "--players", "3")
    assert nobody.startswith("Refit: keltis/3, 0 rated matches")
    assert nobody.count("\n") == 1
    assert "take 2 to 4" in refused(inside.run("ratings", "refit", "--players", "7"))
    assert "no variant 'chess'" in refused(inside.run("ratings", "refit", "--variant", "chess"))


COMMANDS = [["db", "check"], ["ratings", "recompute"], ["ratings", "refit"]]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_ladder_is_told(inside: Inside, tmp_path: Path, command: list[str]) -> None:
    nowhere = tmp_path / "nowhere"
    told = refused(inside.run(*command, "--data", nowhere))
    assert f"cannot use {nowhere}/ladder.db: there is no ladder yet" in told
    assert not nowhere.exists()


@pytest.mark.parametrize("command", [*COMMANDS, ["db", "upgrade"]])
def test_a_server_that_does_not_answer_is_told(inside: Inside, command: list[str]) -> None:
    url = "postgresql://me:s3cret@127.0.0.1:1/ladder"
    told = refused(inside.run(*command, "--database", url))
    assert "postgresql+psycopg://me@127.0.0.1:1/ladder cannot be reached" in told
    assert "check that the server runs" in told
    assert "s3cret" not in told


def test_what_is_no_database_is_told(inside: Inside, tmp_path: Path) -> None:
    (tmp_path / "diary").write_text("Dear diary, " * 500)
    for command in [*COMMANDS, ["db", "upgrade"]]:
        told = refused(inside.run(*command, "--database", tmp_path / "diary"))
        assert f"{tmp_path}/diary cannot be used: file is not a database" in told
    told = refused(inside.run("db", "backup", "copy", "--database", tmp_path / "diary"))
    assert f"{tmp_path}/diary cannot be copied: file is not a database" in told
    told = refused(inside.run("db", "backup", "copy", "--database", tmp_path / "nothing"))
    assert f"there is no database {tmp_path}/nothing" in told
    assert not (tmp_path / "copy").exists()
    for url in ("mysql://me:s3cret@host/name", "postgresql://me:s3cret@host:port/name"):
        told = refused(inside.run("db", "check", "--database", url))
        assert "postgresql://USER:PASSWORD@HOST/NAME" in told
        assert "s3cret" not in told


def test_a_terminal_sees_how_far_the_work_is(home: Path) -> None:
    """The bar is on the error output and leaves nothing behind on the output."""
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "keltis_cli", "ratings", "recompute", "--data", home],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        text=True,
        check=True,
    )
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert "working out the ratings" in shown
    assert done.stdout.endswith("All are equal, to the last bit.\n")
    assert ESCAPE not in done.stdout


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running() as server:
        yield server


def test_all_of_it_works_on_postgresql(inside: Inside, postgres: Postgres, tmp_path: Path) -> None:
    postgres.execute("CREATE DATABASE ladder")
    url = postgres.url("ladder")
    on = ["--database", url, "--data", str(tmp_path / "data")]
    told = inside.output("db", "upgrade", *on)
    assert told.startswith("Made the database postgresql+psycopg://tests@/ladder?host=")
    with closing(Database(url)) as database:  # else a failure here fails some later test, too
        play(database)
        assert "All is well" in inside.output("db", "check", *on)
        assert "All are equal" in inside.output("ratings", "recompute", *on)
        before = dump(database)
        inside.output("ratings", "recompute", "--store", *on)
        after = dump(database)
        published = {name: after[name] for name in after if name.startswith("joint_")}
        assert published["joint_rating"]  # for the first time
        assert after == {**before, **published}
        report: dict[str, Any] = json.loads(inside.output("ratings", "refit", "--json", *on))
        assert report["converged"]
        told = inside.output("db", "backup", tmp_path / "copy", *on)
        assert f"pg_restore --dbname NEW_DATABASE {tmp_path}/copy/ladder.dump" in told
        with database.writing() as session:
            session.execute(text("DELETE FROM duel"))
        assert inside.run("db", "check", *on).code == 1


def test_what_is_too_old_is_pruned_and_the_rest_still_proves_itself(
    inside: Inside, home: Path
) -> None:
    database = Database(str(home / "ladder.db"))
    with database.writing() as session:
        pair = enter(session, "x", "y")
        for number in range(6):
            store(session, pair, any_result(random.Random(number), "keltis", 2))
    database.close()
    change(home, "UPDATE match SET finished = '2020-01-01 12:00:00.000000'")
    before = (home / "ladder.db").read_bytes()
    told = inside.output("db", "prune", "--dry-run")
    assert told.startswith("Would remove ")
    assert "rating steps" in told
    assert json.loads(inside.output("db", "prune", "--dry-run", "--json"))["replays"] > 0
    assert (home / "ladder.db").read_bytes() == before
    kept = inside.output("db", "prune", "--keep-steps", "forever", "--keep-replays", "99999d")
    assert kept.startswith("Removed 0 rating steps, 0 replays of games")
    assert inside.output("db", "prune").startswith(told.replace("Would remove", "Removed")[:20])
    again = json.loads(inside.output("db", "prune", "--json", "--vacuum"))
    assert (again["steps"], again["replays"], again["size"]) == (0, 0, 0)
    checked = inside.output("db", "check", "--deep")
    assert "steps were pruned" in checked
    assert "were pruned" in checked.splitlines()[-3]
    proved = json.loads(inside.output("ratings", "recompute", "--json"))
    assert proved["equal"]
    assert proved["pruned"] > 0
    gone = inside.run("ladder", "replay", "11")
    assert gone.code == 2
    assert "the replay of match 11 was removed" in gone.err


def test_lifetimes_that_cannot_be_are_refused(inside: Inside) -> None:
    assert "is no lifetime" in refused(inside.run("db", "prune", "--keep-logs", "soon"))
    told = refused(inside.run("db", "prune", "--keep-tournament-replays", "1d"))
    assert "at least as long" in told
    assert "leave out" in refused(
        inside.run("ratings", "recompute", "--store", "--from-checkpoint")
    )
