"""``audit`` and ``admin audit``: what was found in words, and the proof of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import update

from keltis_cli.remote.connect.shapes import safe
from keltis_cli.remote.pages.audit import bot_lines, ladder_lines
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_ladder.store.schema.tables import AuditBot, table_of
from keltis_server.models.audit import AuditOut, BotAuditOut
from tests.cli.support.helpers import command
from tests.cli.support.inside import Inside
from tests.ladder.store.support.ladders import dump, entered, stored
from tests.ladder.store.support.results import real

LINE = {
    "bot": "knows",
    "partner": None,
    "test": "later",
    "variant": "keltis",
    "matches": 43,
    "odds": 70_000,
    "alarm": 31,
}
PAIR = LINE | {"partner": "friend\x1b[1m", "test": "pair", "variant": None}


@pytest.fixture
def database(tmp_path: Path) -> Database:
    """Return a ladder on which two real matches were played."""
    found = Home(tmp_path, str(tmp_path / "ladder.db")).open()
    versions = entered(found, "a", "b")
    for seed in (5, 6):
        stored(found, versions, real("weg-der-steine", 2, seed=seed), seed=seed)
    return found


@pytest.fixture
def inside(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Inside:
    return Inside(capsys, monkeypatch)


def test_decisions_are_looked_at_once_and_the_proof_holds(
    database: Database, tmp_path: Path, inside: Inside
) -> None:
    first = command("audit", "look", "--data", tmp_path)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == "Looked at 2 matches.\nNobody new is suspicious.\n"
    assert len(dump(database)["foresight"]) == 4
    assert inside.output("audit", "look", "a", "--data", tmp_path).startswith("Looked at 0")
    proof = inside.output("audit", "recompute", "--data", tmp_path)
    assert proof.splitlines()[-1] == "All are equal."
    with database.writing() as session:
        session.execute(update(table_of(AuditBot)).values(spread=7))
    failed = inside.run("audit", "recompute", "--data", tmp_path)
    assert failed.code == 1
    assert "4 are not equal" in failed.out
    stored_anew = inside.output("audit", "recompute", "--store", "--data", tmp_path)
    assert stored_anew == "Stored again, from 2 matches.\n"
    assert inside.run("audit", "recompute", "--data", tmp_path).code == 0


def test_a_bot_that_is_not_there_is_named(
    database: Database, tmp_path: Path, inside: Inside
) -> None:
    done = inside.run("audit", "look", "nobody", "--data", tmp_path)
    assert done.code == 2
    assert "there is no bot nobody on this ladder" in done.err


def test_a_ladder_without_suspects_is_told_in_words() -> None:
    plain = {"done": 9, "waiting": 1, "looked_at": 4, "suspend": False, "suspects": []}
    assert ladder_lines(AuditOut.model_validate(safe(plain))) == [
        "The audit has come to match 9; 1 wait.",
        "Decisions were looked at in 4 matches.",
        "Nobody is suspicious.",
    ]


def test_suspects_are_told_with_the_evidence_and_what_to_do() -> None:
    plain = {"done": 9, "waiting": 0, "looked_at": 4, "suspend": False, "suspects": [LINE, PAIR]}
    text = "\n".join(ladder_lines(AuditOut.model_validate(safe(plain))))
    assert "knows, keltis: better in later games of a deal than in the first" in text
    assert "70,000 to 1 against chance in 43 matches, ALARM at match 31" in text
    assert "knows and friend" in text
    assert "\x1b" not in text
    assert "admin disable-bot BOT" in text


def test_one_bot_is_told_with_its_matches() -> None:
    plain = {"matches": 312, "suspicious": False, "tests": [], "telling": []}
    assert bot_lines("a", BotAuditOut.model_validate(safe(plain))) == [
        "a: nothing unusual in 312 matches."
    ]
    plain = {"matches": 43, "suspicious": True, "tests": [LINE], "telling": [7, 8]}
    assert bot_lines("knows", BotAuditOut.model_validate(safe(plain)))[-1].endswith(": 7, 8")
