"""Bots and authors are kept off the ladder, let back, or forgotten; what was played stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import Session, col, select

from keltis_ladder.findings import Finding, Mark
from keltis_ladder.match.orders import Purpose
from keltis_ladder.match.reasons import MatchReason, Reason, reason_text
from keltis_ladder.ratings.scopes import OVERALL
from keltis_ladder.store.archives import note_archive
from keltis_ladder.store.audit.soundness import check
from keltis_ladder.store.bots.accounts import (
    AUTHOR_SCOPES,
    add_token,
    bearer_of,
    invite,
    use_invitation,
)
from keltis_ladder.store.bots.catalogue import (
    Refused,
    activate,
    add_version,
    ensure_author,
    ensure_bot,
    ensure_house_bots,
    set_aside,
)
from keltis_ladder.store.bots.forgetting import forget_files, forget_programs, remove_author
from keltis_ladder.store.bots.moderation import (
    Unknown,
    disable_author,
    disable_bot,
    enable_author,
    enable_bot,
    rerate,
    take_stock,
)
from keltis_ladder.store.bots.version_words import reason_of
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_ladder.store.matches.finishing import finish
from keltis_ladder.store.matches.job_rows import reason_of as match_reason
from keltis_ladder.store.matches.queue import claim, give_up_waiting, release
from keltis_ladder.store.matches.records import MatchRows, pack_json, unpack_json
from keltis_ladder.store.ratings.memory import active_ids
from keltis_ladder.store.ratings.recomputing import compare
from keltis_ladder.store.schema.job_troubles import JobTrouble, trouble_values
from keltis_ladder.store.schema.tables import (
    Archive,
    Author,
    Bot,
    CheckReport,
    FaultRecord,
    Job,
    JobState,
    Match,
    Rating,
    Version,
)
from keltis_ladder.store.schema.version_states import VersionCause, VersionState
from tests.ladder.store.support.ladders import NOON, ask_for, dump, enter, later, stored
from tests.ladder.store.support.results import real, won_by

NOBODY = 0  # the id of an administrator who is not among the authors


def state_of(session: Session, version: int) -> tuple[str, str]:
    row = session.get_one(Version, version)
    return str(row.state), reason_of(row)


def author_id(session: Session, name: str) -> int:
    found = session.exec(select(Author.id).where(Author.name == name)).one()
    assert found is not None
    return found


def test_a_disabled_bot_plays_no_more_and_comes_back_through_a_check(database: Database) -> None:
    with database.writing() as session:
        [mine, _] = enter(session, "a", "b")
    with database.writing() as session:
        done = disable_bot(session, "a", "it mines coins")
        assert [(each.version_id, each.state) for each in done.changed] == [(mine, "retired")]
    with database.writing() as session:
        assert state_of(session, mine) == ("retired", "the bot is disabled: it mines coins")
        assert mine not in active_ids(session)
        assert session.exec(select(Bot.disabled).where(Bot.name == "a")).one() == "it mines coins"
        assert disable_bot(session, "a", "it mines coins").changed == []  # once is enough
    with database.writing() as session:
        done = enable_bot(session, "a")
        assert [(each.number, each.state) for each in done.changed] == [(1, "checking")]
        assert session.exec(select(Bot.disabled).where(Bot.name == "a")).one() is None
        assert enable_bot(session, "b").changed == []  # nothing was taken off
    with database.writing() as session, pytest.raises(Unknown, match="no bot 'c'"):
        disable_bot(session, "c", "why not")


def test_a_bot_of_our_own_just_plays_again(database: Database) -> None:
    with database.writing() as session:
        [version] = ensure_house_bots(session, ["random"])
        assert version.id is not None
        disable_bot(session, "random", "too weak")
        assert active_ids(session) == []
        [changed] = enable_bot(session, "random").changed
        assert changed.state == VersionState.ACTIVE
        assert active_ids(session) == [version.id]


def test_a_new_release_does_not_bring_back_what_was_disabled(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.write(ensure_house_bots)
    database.write(lambda session: disable_bot(session, "greedy", "too loud"))
    monkeypatch.setattr("importlib.metadata.version", lambda _: "999")
    versions = database.write(ensure_house_bots)
    assert [version.state for version in versions] == ["active", "retired", "active"]
    with (
        pytest.raises(Refused, match="disabled by the operator"),
        database.writing() as session,
    ):
        activate(session, session.get_one(Version, versions[1].id))


def test_what_an_author_has_retired_does_not_come_back_with_the_bot(database: Database) -> None:
    with database.writing() as session:
        [version] = enter(session, "a")
        set_aside(session, version, VersionCause.TAKEN_BACK, text="no more")
        disable_bot(session, "a", "spam")
        assert enable_bot(session, "a").changed == []
        assert state_of(session, version) == ("retired", "no more")


def test_matches_that_wait_are_called_off(database: Database) -> None:
    with database.writing() as session:
        a, b, c = enter(session, "a", "b", "c")
        ladder = ask_for(session, [a, b])
        challenge = ask_for(session, [b, a], purpose=Purpose.CHALLENGE, rated=False)
        tournament = ask_for(session, [a, c], purpose=Purpose.TOURNAMENT)
        others = ask_for(session, [b, c])
        disable_bot(session, "a", "spam")
    with database.reading() as session:
        states = {job.id: job.state for job in session.exec(select(Job))}
    assert states[ladder] == states[challenge] == JobState.CANCELLED
    assert states[tournament] == JobState.FAILED  # which a tournament counts as void
    assert states[others] == JobState.WAITING


def test_a_disabled_author_is_not_let_in_and_comes_back_with_the_bots(database: Database) -> None:
    with database.writing() as session:
        ada = ensure_author(session, "ada")
        _, text = add_token(session, ada, AUTHOR_SCOPES, NOON)
        a, b = enter(session, "a", "b", author="ada")
        [c] = enter(session, "c", author="bob")
        disable_bot(session, "b", "spam")
    with database.writing() as session:
        done = disable_author(session, "ada", "more spam", NOBODY)
        assert [each.version_id for each in done.changed] == [a]
        assert bearer_of(session, text, NOON) is None
        assert active_ids(session) == [c]
        with pytest.raises(Refused, match="enable the author first"):
            enable_bot(session, "b")
    with database.writing() as session:
        done = enable_author(session, "ada")
        assert [(each.version_id, each.state) for each in done.changed] == [(a, "checking")]
        assert state_of(session, b)[0] == VersionState.RETIRED  # it is disabled by itself
        assert bearer_of(session, text, NOON) is not None


def test_nobody_shuts_out_the_house_or_themselves(database: Database) -> None:
    with database.writing() as session:
        ensure_house_bots(session, ["random"])
        ada = ensure_author(session, "ada").id
        assert ada is not None
        house = author_id(session, "keltis-ladder")
        for name, by in [("keltis-ladder", ada), ("ada", ada)]:
            with pytest.raises(Refused):
                disable_author(session, name, "why not", by)
        for id, by in [(house, ada), (ada, ada)]:
            with pytest.raises(Refused):
                remove_author(session, id, by, NOON)
        assert len(active_ids(session)) == 1


def test_a_removed_author_leaves_results_that_are_whole_and_nothing_else(
    url: str, database: Database, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home", url)
    own, shared = home.archives.put(b"hers alone"), home.archives.put(b"of both")
    with database.writing() as session:
        note_archive(session, own)
        note_archive(session, shared)
        gwyn, bob = (ensure_author(session, name) for name in ("gwyn", "bob"))
        _, text = add_token(session, gwyn, AUTHOR_SCOPES, NOON, "laptop of gwyn")
        _, invitation = invite(session, NOON, "for Ada Lovelace")
        use_invitation(session, invitation, gwyn, NOON)
        versions = []
        for author, name, kept in [
            (gwyn, "gwyn-1", own),
            (gwyn, "gwyn-2", shared),
            (bob, "b", shared),
        ]:
            version, _ = add_version(
                session,
                ensure_bot(session, author, name),
                variants=["keltis"],
                players=[2],
                archive=kept.digest,
                cause=VersionCause.ENTERED,
                description=f"words of {author.name}",
            )
            assert version.id is not None
            versions.append(version.id)
        for id in versions:
            session.add(CheckReport(version_id=id, findings=[], started=NOON, finished=NOON))
        gwyn_id = author_id(session, "gwyn")
    stored(database, versions[:2], real("keltis", 2, 1, {0: (1, 5)}), seed=1)
    stored(database, versions[1:], real("keltis", 2, 2), seed=2)
    with database.reading() as session:
        before = [tuple(row.model_dump().values()) for row in session.exec(select(Rating))]

    done = database.write(lambda session: remove_author(session, gwyn_id, NOBODY, NOON))
    again = database.write(lambda session: remove_author(session, gwyn_id, NOBODY, NOON))

    assert done.author == again.author == f"removed-{gwyn_id}"
    gone_files = database.write(forget_programs)
    assert gone_files == [own.digest]
    assert database.write(forget_programs) == []
    assert sorted(each.version_id for each in done.changed) == versions[:2]
    with database.reading() as session:
        forget_files(session, home.archives, gone_files)
        assert bearer_of(session, text, NOON) is None
        assert active_ids(session) == versions[2:]
        gone = {f"removed-{_bot_of(session, id)}" for id in versions[:2]}
        assert set(session.exec(select(Bot.name))) == {"b", *gone}
        assert session.exec(select(Archive.digest)).all() == [shared.digest]
        assert session.exec(select(CheckReport.version_id)).all() == versions[2:]
        assert len(session.exec(select(Match)).all()) == 2
        after = [tuple(row.model_dump().values()) for row in session.exec(select(Rating))]
        assert after == before
    assert not home.archives.path(own.digest).exists()
    assert home.archives.size_of(shared.digest) == len(b"of both")
    everything = repr(dump(database))
    assert "words of bob" in everything
    for word in ("gwyn-1", "gwyn-2", "words of gwyn", "laptop", "Lovelace", "'gwyn'"):
        assert word not in everything
    findings = [each for each in check(home, database, deep=True) if isinstance(each, Finding)]
    assert [each for each in findings if each.mark is not Mark.OK] == []
    with database.writing() as session:  # the names are free again
        with pytest.raises(Refused, match="nothing is left"):
            enable_author(session, f"removed-{gwyn_id}")
        enter(session, "gwyn-1", author="gwyn")
        assert author_id(session, "gwyn") != gwyn_id


def _bot_of(session: Session, version: int) -> int:
    return session.get_one(Version, version).bot_id


def texts_of_faults(session: Session) -> list[tuple[int, str, dict[str, Any]]]:
    faults = session.exec(select(FaultRecord).order_by(col(FaultRecord.id)))
    return [(each.version_id, each.text, unpack_json(each.card)) for each in faults]


def with_names(rows: MatchRows, *names: str) -> MatchRows:
    """Return a match whose crash cards say who played."""
    faults = [
        {**row, "text": f"{names[row['entrant']]} said ouch", "card": pack_json(_card(row, names))}
        for row in rows.faults
    ]
    return replace(rows, faults=faults)


def _card(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    seated = [names[(seat + row["rotation"]) % len(names)] for seat in range(len(names))]
    game = {"names": seated, "seat": row["seat"]}
    return {"bot": names[row["entrant"]], "game": game, "stderr": f"log of {row['entrant']}"}


def test_the_words_of_faults_go_with_their_author_and_the_faults_stay(database: Database) -> None:
    with database.writing() as session:
        [mine] = enter(session, "gwyn-1", author="gwyn")
        [other] = enter(session, "b", author="bob")
        id = author_id(session, "gwyn")
    rows = real("keltis", 2, 1, {0: (0, 5), 1: (0, 7)})  # each fails once
    stored(database, [mine, other], with_names(rows, "gwyn-1", "b"), seed=1)
    with database.writing() as session:  # one that nobody can play: the reason may say anything
        job = ask_for(session, [mine, other])
        troubled = session.get_one(Job, job)
        troubled.state = JobState.FAILED
        for name, value in trouble_values(JobTrouble.PLATFORM, "gwyn-1 ate the disk").items():
            setattr(troubled, name, value)
        session.add(troubled)
        ratings = [row.model_dump() for row in session.exec(select(Rating))]

    database.write(lambda session: remove_author(session, id, NOBODY, NOON))

    with database.reading() as session:
        (who, text, card), (second, words, others) = texts_of_faults(session)
        assert (who, text, card) == (mine, "", {})
        assert (second, words) == (other, "b said ouch")
        assert others["game"]["names"] == ["b", "seat 1"]
        assert others["stderr"] == "log of 1"
        assert compare(session)[0].equal
        assert [row.model_dump() for row in session.exec(select(Rating))] == ratings
        failed = session.get_one(Job, job)
        assert (failed.trouble, failed.trouble_details) == (JobTrouble.PLATFORM, None)
    assert "gwyn" not in repr(dump(database))


def test_a_challenge_does_not_name_its_author_any_more(database: Database) -> None:
    with database.writing() as session:
        a, b = enter(session, "a", author="gwyn")[0], enter(session, "b", author="bob")[0]
        id = author_id(session, "gwyn")
        why = Reason(MatchReason.CHALLENGE, {"author": "gwyn"})
        job = ask_for(session, [a, b], rated=False, author_id=id, reason=why)
        assert reason_text(match_reason(session.get_one(Job, job))) == "a challenge by gwyn"

    database.write(lambda session: remove_author(session, id, NOBODY, NOON))

    with database.reading() as session:
        assert reason_text(match_reason(session.get_one(Job, job))) == "a challenge"
    assert "gwyn" not in repr(dump(database))


def test_a_match_under_way_is_played_to_its_end_and_nothing_is_written_about_who_is_gone(
    database: Database, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home", "unused")
    kept = home.archives.put(b"hers")
    with database.writing() as session:
        note_archive(session, kept)
        gwyn = ensure_author(session, "gwyn")
        bot = ensure_bot(session, gwyn, "gwyn-1")
        version, _ = add_version(
            session, bot, ["keltis"], [2], archive=kept.digest, cause=VersionCause.ENTERED
        )
        assert gwyn.id is not None
        assert version.id is not None
        mine, id = version.id, gwyn.id
        [other] = enter(session, "b", author="bob")
        for _ in range(3):
            ask_for(session, [mine, other])
        ask_for(session, [other, mine], purpose=Purpose.TOURNAMENT)
        jobs = [job.id for job in claim(session, "me", NOON, limit=4)]

    database.write(lambda session: remove_author(session, id, NOBODY, NOON))
    assert database.write(forget_programs) == []  # they are being played with

    rows = with_names(real("keltis", 2, 1, {0: (0, 5), 1: (0, 7)}), "gwyn-1", "b")
    with database.writing() as session:
        # The first comes to its end, the platform fails in the second, the third is given back for
        # want of its program, and whoever had the fourth has died.
        trouble = "gwyn-1 cannot be made ready: no more"
        played = {job: session.get_one(Job, job).purpose for job in jobs}
        [cup] = [job for job, purpose in played.items() if purpose == Purpose.TOURNAMENT]
        first, second, third = [job for job in jobs if job != cup]
        finish(session, first, rows, NOON)
        release(session, second, "me", JobTrouble.PLATFORM, "the referee died with gwyn-1")
        set_aside(session, mine, VersionCause.UNPREPARED, text=trouble)
        release(session, third, "me")
        give_up_waiting(session, mine, trouble)
        assert claim(session, "you", later(3600), limit=4) == []
        states = [session.get_one(Job, job).state for job in (first, second, third, cup)]
        assert states == [JobState.DONE, JobState.CANCELLED, JobState.CANCELLED, JobState.FAILED]
    with database.reading() as session:
        assert [text for _, text, _ in texts_of_faults(session)] == ["", "b said ouch"]
        assert state_of(session, mine) == ("retired", "removed with its author")
        assert compare(session)[0].equal
    assert "gwyn" not in repr(dump(database))
    assert database.write(forget_programs) == [kept.digest]


def test_matches_of_a_disabled_author_do_not_begin_again(database: Database) -> None:
    with database.writing() as session:
        [mine] = enter(session, "a", author="gwyn")
        b, c = enter(session, "b", "c", author="bob")
        theirs = ask_for(session, [mine, b])
        assert [job.id for job in claim(session, "me", NOON)] == [theirs]
        disable_author(session, "gwyn", "spam", NOBODY)
        release(session, theirs, "me")
        others = ask_for(session, [b, c])
        assert session.get_one(Job, theirs).state == JobState.CANCELLED
        assert [job.id for job in claim(session, "me", NOON)] == [others]


def test_a_name_for_what_is_removed_is_found_though_somebody_has_it(database: Database) -> None:
    with database.writing() as session:
        enter(session, "a", author="gwyn")
        id = author_id(session, "gwyn")
        bot = session.exec(select(Bot.id).where(Bot.name == "a")).one()
        enter(session, f"removed-{bot}", author="bob")
        remove_author(session, id, NOBODY, NOON)
        assert set(session.exec(select(Bot.name))) == {f"removed-{bot}", f"removed-{bot}-"}


def test_a_file_that_somebody_has_come_with_again_is_kept(
    database: Database, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home", str(tmp_path / "unused"))
    kept = home.archives.put(b"a bot")
    with database.writing() as session:
        note_archive(session, kept)
        forget_files(session, home.archives, [kept.digest])
    assert home.archives.size_of(kept.digest) == len(b"a bot")


def test_rerating_tells_what_was_wrong_and_puts_it_right(database: Database) -> None:
    with database.writing() as session:
        versions = enter(session, "a", "b")
    stored(database, versions, won_by("keltis", 2, 0))
    assert database.write(rerate).equal
    with database.writing() as session:
        key = (versions[0], OVERALL.variant, OVERALL.players)
        session.get_one(Rating, key).mu = 99.0
    found = database.write(rerate)
    assert (found.matches, found.differences) == (1, 1)
    with database.reading() as session:
        assert compare(session)[0].equal


def test_stock_is_taken(database: Database) -> None:
    with database.writing() as session:
        versions = enter(session, "a", "b")
        ask_for(session, versions)
        ensure_bot(session, ensure_author(session, "bob"), "c")
    stored(database, versions, won_by("keltis", 2, 0))
    with database.reading() as session:
        stock = take_stock(session)
    assert (stock.matches, stock.waiting, stock.checking) == (1, 1, 0)
    assert (stock.authors, stock.bots) == (2, 3)
