"""Programs that nobody needs are removed, and no others."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest
from sqlmodel import select

from keltis_ladder.errors import LadderError
from keltis_ladder.run.programs import Programs, keep_program
from keltis_ladder.run.pruning import UNUSED, Pruned, prune, thin_out
from keltis_ladder.store.archives import note_archive
from keltis_ladder.store.bots.catalogue import add_version, ensure_author, ensure_bot
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_ladder.store.matches.queue import claim
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import Archive, Bot, JobState, Version
from keltis_ladder.store.schema.version_states import VersionCause, change_state
from tests.ladder.store.support.ladders import ask_for, store
from tests.ladder.store.support.results import won_by
from tests.ladder.support.small_bots import write_bot

LONG_AGO = timedelta(days=30)


class Shelf:
    """A ladder's home, with bots whose programs are real."""

    def __init__(self, home: Home, database: Database, scratch: Path) -> None:
        self.home = home
        self.database = database
        self.programs = Programs(home, None, lambda _: None)
        self._scratch = scratch

    def add(
        self, name: str, *causes: VersionCause, age: timedelta = LONG_AGO, text: str = ""
    ) -> int:
        """Upload a bot, build it, and let things happen to it."""
        (self._scratch / name).mkdir(parents=True, exist_ok=True)
        (self._scratch / name / "text").write_text(text)
        _, kept = keep_program(self.home, write_bot(self._scratch / name))
        with self.database.writing() as session:
            note_archive(session, kept)
            bot = ensure_bot(session, ensure_author(session, "ada"), name)
            version, _ = add_version(session, bot, ["keltis"], [2], archive=kept.digest)
            assert version.id is not None
            for cause in causes:
                change_state(session, bot, version, cause)
            version.created = now() - age
            session.add(version)
            id = version.id
        self.build(id)
        return id

    def build(self, id: int) -> Path:
        """Make a version ready to play; return where it is."""
        with self.database.reading() as session:
            version = session.get_one(Version, id)
            made = self.programs.entrant(version, session.get_one(Bot, version.bot_id)).home
        assert made is not None
        return made.parent

    def age(self) -> None:
        """Let time pass in which nobody plays."""
        old = time.time() - UNUSED - 60
        for path in [*self.home.directory.glob("bots/*"), *self.home.archives.root.glob("*/*")]:
            os.utime(path, (old, old))

    def builds(self) -> int:
        """Return how many bots are ready to play."""
        return len(list(self.home.directory.glob("bots/*")))

    def archives(self) -> set[int]:
        """Return the versions whose archives are there, in the database and on disk."""
        with self.database.reading() as session:
            rows = session.exec(select(Version)).all()
            noted = set(session.exec(select(Archive.digest)))
        held = {row.id: row.archive_digest for row in rows if row.archive_digest is not None}
        assert noted == set(held.values())
        assert {path.name for path in self.home.archives.root.glob("*/*")} == noted
        return {id for id in held if id is not None}


@pytest.fixture
def shelf(url: str, database: Database, tmp_path: Path) -> Shelf:
    return Shelf(Home(tmp_path / "home", url), database, tmp_path / "sources")


def test_a_build_is_named_by_its_archive(shelf: Shelf) -> None:
    id = shelf.add("one", VersionCause.ENTERED)
    with shelf.database.reading() as session:
        assert shelf.build(id).name == f"{session.get_one(Version, id).archive_digest}-plain"


def test_only_what_nobody_needs_is_pruned(shelf: Shelf) -> None:
    playing = shelf.add("playing", VersionCause.ENTERED)
    retired = shelf.add("retired", VersionCause.TAKEN_BACK)  # its author may restore it
    rejected = shelf.add("rejected", VersionCause.FAILED)
    recent = shelf.add("recent", VersionCause.FAILED, age=timedelta(days=1))
    superseded = shelf.add("superseded", VersionCause.NEWER_UPLOADED)  # before it ever played
    rated = shelf.add("rated", VersionCause.NEWER_UPLOADED)
    wanted = shelf.add("wanted", VersionCause.NEWER_UPLOADED)
    everybody = {playing, retired, rejected, recent, superseded, rated, wanted}
    with shelf.database.writing() as session:
        store(session, [rated, playing], won_by("keltis", 2, 0))
        ask_for(session, [wanted, playing])
    stray = shelf.home.archives.put(b"of an upload that was never completed")
    sizes = _sizes(shelf, rejected, superseded)
    assert prune(shelf.home, shelf.database) == Pruned(0, 2, sizes)
    # What was used today stays; the archives of uploads that never played went.
    assert shelf.builds() == len(everybody)
    everybody -= {rejected, superseded}
    assert shelf.home.archives.path(stray.digest).exists()

    shelf.age()
    looked = prune(shelf.home, shelf.database, dry_run=True)
    assert (looked.builds, looked.archives) == (5, 1)
    assert looked.size > 0
    assert shelf.builds() == 7
    assert prune(shelf.home, shelf.database) == looked
    assert shelf.builds() == 2
    assert shelf.archives() == everybody
    assert prune(shelf.home, shelf.database) == Pruned(0, 0, 0)

    # Whatever is needed after all is built again.
    assert shelf.build(rated).is_dir()
    assert shelf.builds() == 3
    assert prune(shelf.home, shelf.database, played=True).archives == 1
    assert shelf.archives() == everybody - {rated}


def test_of_uploads_that_never_play_each_author_keeps_the_newest(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keltis_ladder.run.pruning.REGRETTED", 2)
    young = timedelta(hours=1)
    rated = shelf.add("rated", VersionCause.NEWER_UPLOADED, age=young)
    playing = shelf.add("playing", VersionCause.ENTERED, age=young)
    first, *newest = [shelf.add(f"bad{k}", VersionCause.FAILED, age=young) for k in range(3)]
    with shelf.database.writing() as session:
        store(session, [rated, playing], won_by("keltis", 2, 0))
    assert first in shelf.archives()
    assert thin_out(shelf.home, shelf.database) == 1
    assert shelf.archives() == {rated, playing, *newest}
    assert thin_out(shelf.home, shelf.database) == 0


def test_of_versions_that_played_long_ago_each_bot_keeps_the_newest(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keltis_ladder.run.pruning.RECENT", 2)
    opponent = shelf.add("opponent", VersionCause.ENTERED)
    ages = [timedelta(days=days) for days in (400, 399, 398, 80, 79)]
    played = []
    for number, age in enumerate(ages):
        played.append(shelf.add("bot", VersionCause.NEWER_UPLOADED, age=age, text=f"# {number}"))
        with shelf.database.writing() as session:
            store(session, [played[-1], opponent], won_by("keltis", 2, 0))
    assert prune(shelf.home, shelf.database).archives == 3
    assert shelf.archives() == {opponent, *played[3:]}
    assert prune(shelf.home, shelf.database).archives == 0


def _sizes(shelf: Shelf, *ids: int) -> int:
    with shelf.database.reading() as session:
        digests = [session.get_one(Version, id).archive_digest for id in ids]
        return sum(session.get_one(Archive, digest).size for digest in digests)


def test_what_a_match_or_a_check_uses_is_not_pruned(shelf: Shelf) -> None:
    one = shelf.add("one", VersionCause.TAKEN_BACK)
    two = shelf.add("two")
    with shelf.database.writing() as session:
        ask_for(session, [one, two])
        [job] = claim(session, "me", now())
        assert job.state == JobState.LEASED
    names = {shelf.build(id).name.removesuffix("-plain") for id in (one, two)}
    shelf.age()
    assert prune(shelf.home, shelf.database, at_once=names, played=True) == Pruned(0, 0, 0)


def test_nothing_is_removed_where_an_archive_is_missing(shelf: Shelf) -> None:
    lost = shelf.add("lost", VersionCause.ENTERED)
    shelf.add("old", VersionCause.TAKEN_BACK)
    shelf.age()
    with shelf.database.reading() as session:
        digest = session.get_one(Version, lost).archive_digest
    assert digest is not None
    shelf.home.archives.path(digest).unlink()
    with pytest.raises(LadderError, match="missing"):
        prune(shelf.home, shelf.database)
    assert shelf.builds() == 2
