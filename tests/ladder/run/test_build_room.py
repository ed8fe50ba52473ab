"""Builds take no more of the disk than there is room for, and no author takes that of others."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from keltis_ladder.files.sizes import MIB
from keltis_ladder.programs.preparing import prepare, room_taken
from keltis_ladder.run.build_room import builds_in, make_room, room_for, why_no_room
from keltis_ladder.store.archives import Kept, note_archive
from keltis_ladder.store.bots.catalogue import add_version, ensure_author, ensure_bot
from keltis_ladder.store.bots.submissions import Subject
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import TournamentEntrant, TournamentRecord
from keltis_ladder.store.schema.version_states import VersionCause, change_state
from tests.ladder.support.small_bots import write_bot

Entering = Callable[..., Subject]


@pytest.fixture
def home(url: str, tmp_path: Path) -> Home:
    return Home(tmp_path / "home", url)


@pytest.fixture
def entering(home: Home, database: Database) -> Entering:
    """Return what enters a bot whose build takes so many MiB, the earlier the longer unused."""
    count = 0

    def enter(author: str, name: str, size: int, cause: VersionCause) -> Subject:
        nonlocal count
        count += 1
        digest = f"{count:064x}"
        build = home.directory / "bots" / digest
        build.mkdir(parents=True)
        (build / ".ready").write_text(str(size * MIB))
        os.utime(build, (count, count))
        with database.writing() as session:
            note_archive(session, Kept(digest, 1))
            owner = ensure_author(session, author)
            bot = ensure_bot(session, owner, name)
            version, _ = add_version(session, bot, ["keltis"], [2], archive=digest)
            if cause is not VersionCause.UPLOADED:
                change_state(session, bot, version, cause)
            assert version.id is not None
            assert owner.id is not None
            return Subject(version.id, name, version.number, owner.id, digest)

    return enter


def test_what_does_not_play_goes_first_and_what_plays_stays(
    home: Home, database: Database, entering: Entering
) -> None:
    plays = entering("ada", "plays", 500, VersionCause.ENTERED)
    entering("mallory", "one", 300, VersionCause.FAILED)
    newer = entering("mallory", "two", 300, VersionCause.FAILED)
    assert make_room(home, database, 1100 * MIB) == 0
    assert make_room(home, database, 900 * MIB) == 1
    assert [each.archive for each in builds_in(home)] == [plays.digest, newer.digest]
    assert make_room(home, database, 100 * MIB) == 1
    assert [each.archive for each in builds_in(home)] == [plays.digest]


def test_an_author_has_so_much_for_all_bots_and_a_new_version_replaces_the_old(
    home: Home, database: Database, entering: Entering
) -> None:
    entering("ada", "large", 1500, VersionCause.ENTERED)
    entering("bob", "other", 1500, VersionCause.ENTERED)
    fits = entering("ada", "small", 500, VersionCause.UPLOADED)
    again = entering("ada", "large", 1900, VersionCause.UPLOADED)
    lots = 100_000 * MIB
    assert why_no_room(home, database, fits, lots) is None
    assert why_no_room(home, database, again, lots) is None
    much = entering("ada", "second", 600, VersionCause.UPLOADED)
    told = why_no_room(home, database, much, lots)
    assert told is not None
    assert "takes 2,100 MiB of disk, and may take 2,048 MiB" in told


def test_what_a_tournament_needs_is_counted_beside_the_new_version(
    home: Home, database: Database, entering: Entering
) -> None:
    old = entering("ada", "large", 1500, VersionCause.NEWER_UPLOADED)
    new = entering("ada", "large", 1500, VersionCause.UPLOADED)
    lots = 100_000 * MIB
    assert why_no_room(home, database, new, lots) is None
    with database.writing() as session:
        tournament = TournamentRecord(
            uuid="1",
            name="cup",
            plan={},
            seed="",
            bank_ms=1,
            increment_ms=1,
            start_ms=1,
            created=now(),
        )
        session.add(tournament)
        session.flush()
        assert tournament.id is not None
        session.add(
            TournamentEntrant(
                tournament_id=tournament.id, number=0, version_id=old.version_id, name="large"
            )
        )
    told = why_no_room(home, database, new, lots)
    assert told is not None
    assert "takes 3,000 MiB of disk" in told
    assert "tournaments" in told


def test_where_there_is_little_room_each_author_has_an_equal_share(
    home: Home, database: Database, entering: Entering
) -> None:
    entering("mallory", "greedy-one", 700, VersionCause.ENTERED)
    small = entering("ada", "small", 100, VersionCause.UPLOADED)
    more = entering("mallory", "greedy-two", 100, VersionCause.UPLOADED)
    room = 750 * MIB
    assert why_no_room(home, database, small, room) is None
    told = why_no_room(home, database, more, room)
    assert told is not None
    assert "takes 800 MiB of disk, and may take 750 MiB" in told
    with_two = entering("ada", "second", 100, VersionCause.ENTERED)
    told = why_no_room(home, database, more, room)
    assert told is not None
    assert "may take 375 MiB" in told
    assert why_no_room(home, database, with_two, room) is None


def test_builds_may_take_half_of_what_the_disk_would_have_without_them(
    home: Home, entering: Entering
) -> None:
    entering("ada", "plays", 500, VersionCause.ENTERED)
    room = room_for(home, builds_in(home))
    free = shutil.disk_usage(home.directory).free
    assert abs(room - (free + 500 * MIB) // 2) < 1024 * MIB  # others write meanwhile


def test_a_build_is_counted_by_blocks_and_one_of_an_older_release_when_it_is_asked_for(
    tmp_path: Path,
) -> None:
    many = write_bot(tmp_path / "many")
    for number in range(50):
        (many / f"{number}.txt").write_text("x")
    home = prepare(many, None, lambda _: None, tmp_path / "cache").directory.parent
    assert room_taken(home) >= 50 * 4096
    (home / ".ready").write_text("")
    assert room_taken(home) >= 50 * 4096
    assert room_taken(tmp_path / "gone") == 0
