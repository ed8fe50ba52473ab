"""What is older than it is kept goes; results stay, and ratings follow from them exactly."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event, func, select, update
from sqlmodel import Session, col

from keltis_engine import VARIANTS
from keltis_ladder.store.bots.accounts import invite, new_invitation
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.finishing import finish
from keltis_ladder.store.matches.matches import match_row
from keltis_ladder.store.matches.replays import Pruned, crash_card, replays_of
from keltis_ladder.store.ratings import checkpoints
from keltis_ladder.store.ratings.recomputing import compare, replace
from keltis_ladder.store.retention import (
    FOREVER,
    KEEP_EVERYTHING,
    PRUNED_OUTPUT,
    BadRetention,
    Retention,
    Swept,
    parse_lifetime,
    show_lifetime,
    sweep,
)
from keltis_ladder.store.schema.invariants import of_results
from keltis_ladder.store.schema.tables import (
    Author,
    CheckReport,
    FaultRecord,
    Game,
    Invitation,
    Ledger,
    Match,
    RatingCheckpoint,
    RatingStep,
    Token,
    TournamentRecord,
    Version,
    table_of,
)
from keltis_ladder.store.schema.version_states import VersionState
from tests.ladder.store.support.ladders import NOON, ask_for, dump, enter
from tests.ladder.store.support.results import any_result, won_by

DAY = timedelta(days=1)
SEED = 14
RESULTS = ("job", "job_entrant", "match", "place", "rating", "duel")  # what is never touched


def days(count: float) -> timedelta:
    return count * DAY


def fill(
    database: Database, matches: int, seed: int = SEED, begin: datetime = NOON, a_day: int = 12
) -> datetime:
    """Play matches of all kinds over some days; return when the last one ended."""
    chance = random.Random(seed)
    moment = begin
    with database.writing() as session:
        versions = enter(session, "ant", "bee", "cat", "dog", "eel")
    for number in range(matches):
        with database.writing() as session:
            if number == matches // 2:
                versions[1:2] = enter(
                    session, "bee"
                )  # a new version, from its predecessor's rating
            players = chance.randint(2, 4)
            variant = chance.choice(list(VARIANTS)[:2])
            table = chance.sample(versions, players)
            rated = chance.random() < 0.9
            job = ask_for(session, table, variant, rated)
            finish(session, job, any_result(chance, variant, players), moment)
        moment += DAY / a_day * chance.uniform(0.5, 1.5)
    return moment


def faulty(session: Session) -> list[int]:
    """Return the matches of which something is wrong."""
    return [id for each in of_results() for id in session.execute(each.query).scalars()]


def assert_exact(database: Database) -> None:
    """Everything that is kept follows from the results, from the first match and a checkpoint."""
    with database.reading() as session:
        for from_checkpoint in (False, True):
            found, _ = compare(session, from_checkpoint=from_checkpoint)
            assert found.examples == []
            assert found.equal
        assert faulty(session) == []


def kept_steps(database: Database) -> set[int]:
    with database.reading() as session:
        return set(session.execute(select(table_of(RatingStep).c.match_number)).scalars())


def derived(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Return what a recomputation writes; when a checkpoint was made does not matter."""
    whole = dump(database)
    whole["rating_checkpoint"] = [row[:-1] for row in whole["rating_checkpoint"]]
    return {name: whole[name] for name in ("rating", "rating_step", "duel", "rating_checkpoint")}


def test_after_pruning_at_random_moments_everything_still_follows_from_the_results(
    database: Database,
) -> None:
    chance = random.Random(SEED)
    moment = NOON
    steps = 0
    for seed in range(5):
        moment = fill(database, 30, seed=seed, begin=moment)
        before = dump(database)
        steps_for, replays_for = (days(chance.uniform(0, 8)) for _ in range(2))
        keep = Retention(steps_for, replays_for, None, days(2), days(2))
        swept = sweep(database, keep, moment, checkpoint_every=40)
        steps += swept.steps
        assert_exact(database)
        after = dump(database)
        assert all(before[name] == after[name] for name in RESULTS)
        was = derived(database)
        with database.writing() as session:
            replace(session)
        assert derived(database) == was  # pruned steps stay away, checkpoints are where they were
        assert_exact(database)
    with database.reading() as session:
        count = session.execute(select(func.count()).select_from(RatingCheckpoint)).scalar_one()
        found, _ = compare(session)
        late, _ = compare(session, from_checkpoint=True)
    assert found.checkpoints == count >= 2
    assert found.pruned == steps > 0
    assert late.since > 0
    assert late.matches < found.matches
    assert late.ratings == found.ratings


def test_of_each_day_the_last_step_of_each_version_and_kind_of_match_stays(
    database: Database,
) -> None:
    end = fill(database, 60)
    last: dict[tuple[Any, ...], int] = {}
    cutoff = (end - days(1)).replace(hour=0, minute=0, second=0, microsecond=0)
    with database.reading() as session:
        query = (
            select(RatingStep, Match)
            .join(Match, col(Match.number) == RatingStep.match_number)
            .order_by(col(RatingStep.match_number))
        )
        rows = session.execute(query).all()
        for step, match in rows:
            old = match.finished < cutoff
            day = match.finished.date() if old else match.number
            last[step.version_id, match.variant, match.players, day] = match.number
    swept = sweep(database, Retention(steps=days(1)), end)
    assert kept_steps(database) == set(last.values())
    assert swept.steps > 10


def test_without_a_lifetime_nothing_goes(database: Database) -> None:
    end = fill(database, 20)
    before = dump(database)
    assert sweep(database, KEEP_EVERYTHING, end + days(10_000)) == Swept()
    assert dump(database) == before


def test_a_dry_run_counts_what_goes_and_changes_nothing(database: Database) -> None:
    end = fill(database, 40)
    keep = Retention(days(1), days(1), None, days(1), days(1))
    before = dump(database)
    expected = sweep(database, keep, end, dry_run=True)
    assert dump(database) == before
    assert sweep(database, keep, end) == expected
    assert expected.steps > 0
    assert expected.replays > 0
    assert expected.cards > 0
    assert expected.size > 0
    assert not sweep(database, keep, end).anything  # the second time there is nothing left


class Killed(Exception):
    """As if the process had ended."""


@contextmanager
def killed_at(database: Database, statement: int) -> Iterator[None]:
    """Let nothing reach the database from its n-th statement on."""
    count = 0

    def stop(*_: Any) -> None:
        nonlocal count
        count += 1
        if count >= statement:
            raise Killed

    event.listen(database.engine, "before_cursor_execute", stop)
    try:
        yield
    finally:
        event.remove(database.engine, "before_cursor_execute", stop)


def test_to_be_killed_at_any_statement_loses_nothing_that_is_kept(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keltis_ladder.store.retention.MATCHES_AT_ONCE", 10)
    monkeypatch.setattr("keltis_ladder.store.retention.STEPS_AT_ONCE", 25)
    end = fill(database, 45)
    keep = Retention(days(1), days(1), None, days(1), days(1))
    before = dump(database)
    statement = 0
    while True:
        statement += 1
        try:
            with killed_at(database, statement):
                sweep(database, keep, end, checkpoint_every=40)
        except Killed:
            assert_exact(database)
        else:
            break
    after = dump(database)
    assert all(before[name] == after[name] for name in RESULTS)
    assert statement > 10
    young = {number for number, finished in _finished(database) if finished >= end - days(1)}
    assert young <= kept_steps(database) | _unrated(database)
    assert_exact(database)


def _finished(database: Database) -> list[tuple[int, datetime]]:
    with database.reading() as session:
        rows = session.execute(select(table_of(Match).c.number, table_of(Match).c.finished))
        return [(number, finished) for number, finished in rows]


def _unrated(database: Database) -> set[int]:
    with database.reading() as session:
        return set(session.execute(select(col(Match.number)).where(~col(Match.rated))).scalars())


def test_what_is_missing_and_was_not_pruned_is_damage(database: Database) -> None:
    end = fill(database, 40)
    sweep(database, Retention(days(1), days(1), None, days(1), None), end)
    with database.reading() as session:
        ledger = session.get_one(Ledger, 1)
        marks = (ledger.steps_pruned, ledger.replays_pruned, ledger.cards_pruned)
        assert all(0 < mark < ledger.matches for mark in marks)
    with database.writing() as session:
        rated = select(func.max(col(RatingStep.match_number)))
        newest = session.execute(rated).scalar_one()
        for step in session.execute(
            select(RatingStep).where(col(RatingStep.match_number) == newest)
        ).scalars():
            session.delete(step)
        session.execute(update(Game).where(col(Game.match_number) == newest).values(moves=b""))
    with database.reading() as session:
        found, _ = compare(session)
        assert not found.equal
        assert f"rating step of match {newest}, entrant 0 is missing" in found.examples
        assert newest in faulty(session)


def test_a_kept_step_that_is_wrong_is_found_among_pruned_ones(database: Database) -> None:
    end = fill(database, 40)
    sweep(database, Retention(steps=days(1)), end)
    oldest = min(kept_steps(database))
    with database.writing() as session:
        session.execute(
            update(RatingStep)
            .where(col(RatingStep.match_number) == oldest, col(RatingStep.position) == 0)
            .values(mu=col(RatingStep.mu) + 1e-9)
        )
    with database.reading() as session:
        found, _ = compare(session)
    assert found.differences == 1


def test_a_checkpoint_that_is_another_book_is_found(database: Database) -> None:
    end = fill(database, 30)
    assert sweep(database, Retention(), end, checkpoint_every=30).checkpoint == 30
    assert_exact(database)
    with database.writing() as session:
        book = checkpoints.stored_book(session, {})
        next(iter(book.standings.values())).games += 1
        checkpoints.add(session, 30, book, end)
    with database.reading() as session:
        found, _ = compare(session)
        assert found.examples == ["the checkpoint after match 30 is another book"]
        late, _ = compare(session, from_checkpoint=True)
        assert not late.equal
    with database.writing() as session:
        session.execute(update(RatingCheckpoint).values(book=b"nonsense"))
    with (
        database.reading() as session,
        pytest.raises(checkpoints.DamagedCheckpoint, match="after match 30 is damaged"),
    ):
        compare(session, from_checkpoint=True)


def test_only_the_newest_checkpoints_are_kept(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "KEPT", 2)
    moment = NOON
    made = []
    for seed in range(4):
        moment = fill(database, 10, seed=seed, begin=moment)
        made.append(sweep(database, Retention(), moment, checkpoint_every=10).checkpoint)
        assert sweep(database, Retention(), moment, checkpoint_every=10).checkpoint is None
    assert made == [10, 20, 30, 40]
    with database.reading() as session:
        assert [mark.number for mark in checkpoints.marks(session)] == [30, 40]
    assert_exact(database)


def test_replays_and_cards_that_are_gone_say_so_and_tournaments_keep_theirs(
    database: Database,
) -> None:
    with database.writing() as session:
        one, two = enter(session, "one", "two")
        cup = TournamentRecord(
            uuid="cup", name="cup", plan={}, seed="1", bank_ms=1, increment_ms=1, start_ms=1,
            created=NOON,
        )  # fmt: skip
        session.add(cup)
        session.flush()
        ladder = ask_for(session, (one, two))
        final = ask_for(session, (one, two), tournament_id=cup.id, leg="final")
        rows = won_by("keltis", 2, 0)
        broken = any_result(random.Random(3), "keltis", 2)
        while not broken.faults:
            broken = any_result(random.Random(random.getrandbits(64)), "keltis", 2)
        finish(session, ladder, broken, NOON)
        finish(session, final, rows, NOON)
    keep = Retention(replays=days(90), tournament_replays=days(400), logs=days(30))
    assert sweep(database, keep, NOON + days(89)).replays == 0
    assert sweep(database, keep, NOON + days(91)).replays == 2
    with database.reading() as session:
        with pytest.raises(Pruned, match="the replay of match 1 was removed"):
            replays_of(session, 1)
        fault = session.execute(select(col(FaultRecord.id))).scalars().first()
        assert fault is not None
        with pytest.raises(Pruned, match="crash card"):
            crash_card(session, fault)
        moves = select(col(Game.moves)).where(col(Game.match_number) == 2)
        assert all(session.execute(moves).scalars())
        row = match_row(session, ladder)
        assert row is not None
        assert [game.scores for game in row.games]  # the result stays
        assert row.faults
        assert faulty(session) == []
    assert sweep(database, keep, NOON + days(401)).replays == 2


def test_ratings_before_a_match_are_unknown_where_steps_were_pruned(database: Database) -> None:
    end = fill(database, 60)
    with database.reading() as session:
        jobs = list(
            session.execute(select(col(Match.job_id)).order_by(col(Match.number))).scalars()
        )
        before = {job: _ratings(session, job) for job in jobs}
    sweep(database, Retention(steps=days(1)), end)
    with database.reading() as session:
        pruned = session.get_one(Ledger, 1).steps_pruned
        assert 0 < pruned < len(jobs)
        for number, job in enumerate(jobs, 1):
            expected = [None] * len(before[job]) if number <= pruned else before[job]
            assert _ratings(session, job) == expected


def _ratings(session: Session, job: str) -> list[float | None]:
    row = match_row(session, job)
    assert row is not None
    return [each.mu for each in row.entrants]


def test_what_builds_said_goes_once_the_version_is_over(database: Database) -> None:
    with database.writing() as session:
        versions = enter(session, "one", "two")
        for version in versions:
            session.add(
                CheckReport(
                    version_id=version, findings=[], output="gcc says", started=NOON, finished=NOON
                )
            )
        session.get_one(Version, versions[1]).state = VersionState.RETIRED
    swept = sweep(database, Retention(logs=days(30)), NOON + days(31))
    assert (swept.outputs, swept.size) == (1, len("gcc says"))
    with database.reading() as session:
        said = [session.get_one(CheckReport, version).output for version in versions]
    assert said == ["gcc says", PRUNED_OUTPUT]


def test_tokens_and_invitations_go_that_have_let_nobody_in_for_long(database: Database) -> None:
    with database.writing() as session:
        enter(session, "one")
        author = session.execute(select(col(Author.id))).scalars().first()
        assert author is not None
        for label, expires, revoked in (
            ("in use", None, False),
            ("to expire", NOON + days(40), False),
            ("expired", NOON + days(1), False),
            ("revoked", None, True),
        ):
            token = Token(
                author_id=author, label=label, digest=label, scopes=[], created=NOON,
                expires=expires, revoked=NOON if revoked else None,
            )  # fmt: skip
            session.add(token)
        invite(session, NOON, "open", None, new_invitation())
        invite(session, NOON, "expired", NOON + days(1), new_invitation())
    assert sweep(database, Retention(credentials=days(30)), NOON + days(35)).credentials == 3
    with database.reading() as session:
        labels = set(session.execute(select(col(Token.label))).scalars())
        assert labels == {"in use", "to expire"}
        assert session.execute(select(col(Invitation.label))).scalars().all() == ["open"]


@pytest.mark.parametrize(
    ("text", "lifetime"),
    [("90d", days(90)), ("2w", days(14)), ("36h", days(1.5)), (FOREVER, None), ("0d", days(0))],
)
def test_lifetimes_are_read_and_written(text: str, lifetime: timedelta | None) -> None:
    assert parse_lifetime(text) == lifetime
    assert parse_lifetime(show_lifetime(lifetime)) == lifetime


@pytest.mark.parametrize("text", ["", "90", "d", "-1d", "9y", "1.5d", "90 d", "9999999d"])
def test_what_is_no_lifetime_is_refused(text: str) -> None:
    with pytest.raises(BadRetention, match="is no lifetime"):
        parse_lifetime(text)


def test_tournaments_are_kept_at_least_as_long_as_other_replays() -> None:
    with pytest.raises(BadRetention, match="at least as long"):
        Retention(replays=days(10), tournament_replays=days(9))
    with pytest.raises(BadRetention, match="at least as long"):
        Retention(replays=None, tournament_replays=days(9))
