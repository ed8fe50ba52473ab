"""What an author uploads takes so much of the disk at most: old programs make room for new ones."""

from __future__ import annotations

import pytest
from sqlmodel import Session, col, select

from keltis_bots.manifest import Manifest
from keltis_ladder.store.archives import Kept
from keltis_ladder.store.bots.catalogue import ensure_author
from keltis_ladder.store.bots.room import TooMuchKept
from keltis_ladder.store.bots.submissions import (
    CheckFindings,
    Submitted,
    conclude,
    submit,
    take_back,
)
from keltis_ladder.store.database import Database
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import Archive, Bot, Version
from tests.ladder.store.support.ladders import ask_for

SIZE = 100  # bytes of a program, unless it says otherwise
MOST = 350


def come_in(session: Session, program: str, bot: str = "one", size: int = SIZE) -> Submitted:
    """Upload a program; its digest is its name."""
    author = ensure_author(session, "ada")
    session.flush()
    assert author.id is not None
    manifest = Manifest(bot, ("python3", "bot.py"), variants=("keltis",), players=(2,))
    return submit(session, author.id, manifest, Kept(program, size), 10, MOST)


def play(session: Session, submitted: Submitted) -> int:
    """Let a version that came in pass its check."""
    id = submitted.row.version.id
    assert id is not None
    conclude(session, id, CheckFindings([], "", now(), now()), None)
    return id


def kept(session: Session) -> list[str]:
    versions = session.exec(select(Version.archive_digest).order_by(col(Version.id))).all()
    held = [digest for digest in versions if digest is not None]
    assert set(session.exec(select(Archive.digest))) == set(held)
    return held


def test_the_oldest_that_does_not_play_goes_first(database: Database) -> None:
    with database.writing() as session:
        for program in ("a", "b", "c"):
            done = come_in(session, program)
            assert done.gone == []
            play(session, done)
        done = come_in(session, "d")
        assert done.gone == ["a"]
        assert done.row.size == SIZE
        assert kept(session) == ["b", "c", "d"]
        play(session, done)
        assert come_in(session, "e", size=2 * SIZE).gone == ["b", "c"]
        assert kept(session) == ["d", "e"]


def test_what_plays_never_goes_and_a_new_one_is_refused_with_what_to_do(
    database: Database,
) -> None:
    with database.writing() as session:
        for bot in ("one", "two", "three"):
            play(session, come_in(session, f"of {bot}", bot))
    with (
        pytest.raises(TooMuchKept, match="keltis-ladder retire BOT"),
        database.writing() as session,
    ):
        come_in(session, "of four", "four")
    with database.writing() as session:
        assert kept(session) == ["of one", "of two", "of three"]
        assert session.exec(select(Bot).where(Bot.name == "four")).first() is None
        take_back(session, "two", "not needed")
        assert come_in(session, "of four", "four").gone == ["of two"]


def test_what_is_over_goes_before_what_was_retired(database: Database) -> None:
    with database.writing() as session:
        play(session, come_in(session, "retired", "two"))
        take_back(session, "two", "for a while")
        play(session, come_in(session, "old"))
        play(session, come_in(session, "new"))
        assert come_in(session, "newer").gone == ["old"]
        assert kept(session) == ["retired", "new", "newer"]


def test_what_a_match_needs_and_what_others_have_stays(database: Database) -> None:
    with database.writing() as session:
        old = play(session, come_in(session, "old"))
        play(session, come_in(session, "same"))
        play(session, come_in(session, "new"))
        other = play(session, come_in(session, "same", "two"))
        ask_for(session, [old, other])
        assert come_in(session, "newer", size=50).gone == [], "what both have is there once"
        assert come_in(session, "newest", size=50).gone == ["newer"]
        assert kept(session) == ["old", "same", "new", "same", "newest"]


def test_the_disk_of_one_author_is_not_that_of_another(database: Database) -> None:
    with database.writing() as session:
        for program in ("a", "b", "c"):
            play(session, come_in(session, program))
        bob = ensure_author(session, "bob")
        session.flush()
        assert bob.id is not None
        manifest = Manifest("bobs", ("python3", "bot.py"), variants=("keltis",), players=(2,))
        assert submit(session, bob.id, manifest, Kept("d", SIZE), 10, MOST).gone == []
        assert kept(session) == ["a", "b", "c", "d"]
