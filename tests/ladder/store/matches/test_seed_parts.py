"""Seeds: the server commits first, and then nobody can choose; nobody gets another deal."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlmodel import Session, col, select

from keltis_ladder.errors import LadderError
from keltis_ladder.match.orders import Order
from keltis_ladder.match.seeds import (
    NO_RESULT,
    Origin,
    mixed_seed,
    origin_from_plain,
    part_commitment,
)
from keltis_ladder.store.bots.catalogue import add_version, ensure_author, ensure_bot
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.chain import broken_links
from keltis_ladder.store.matches.finishing import finish
from keltis_ladder.store.matches.matches import match_row
from keltis_ladder.store.matches.queue import add_job, claim, release
from keltis_ladder.store.matches.seed_parts import STOCK
from keltis_ladder.store.schema.job_troubles import JobTrouble
from keltis_ladder.store.schema.tables import Archive, Job, Match, SeedPart
from tests.ladder.store.support.ladders import NOON, ask_for, entered, later, stored
from tests.ladder.store.support.results import won_by

ME = "me"


def order_of(versions: list[int], **more: object) -> Order:
    return Order("keltis", tuple(versions), **more)  # type: ignore[arg-type]


def begin(database: Database, versions: list[int], now: float = 0, **more: object) -> Job:
    """Ask for a match and lease it."""
    with database.writing() as session:
        order = order_of(versions, **more)
        add_job(session, order, NOON)
        (job,) = claim(session, ME, later(now))
        assert job.id == order.id
        return job


def part_of(database: Database, job: Job) -> SeedPart:
    with database.reading() as session:
        return session.exec(select(SeedPart).where(SeedPart.job_id == job.id)).one()


def test_a_seed_is_drawn_when_the_match_begins_and_follows_from_its_parts(
    database: Database,
) -> None:
    versions = entered(database, "a", "b")
    stored(database, versions, won_by("keltis", 2, 0))
    stored(database, versions, won_by("keltis", 2, 1))
    job = begin(database, versions)
    part = part_of(database, job)
    origin = origin_from_plain(job.origin)
    with database.reading() as session:
        latest = session.exec(select(Match).where(Match.number == 2)).one()
    assert (origin.part, origin.after) == (part.number, part.after_match) == (1, 1)
    assert origin.part_commitment == part.commitment
    assert part.commitment == part_commitment(part.number, part.after_match, part.secret)
    assert (origin.previous, origin.previous_digest) == (2, latest.result_digest)
    assert origin.was_open  # the part is older than the result
    assert len(part.secret) == 32
    assert int(job.seed) == mixed_seed(origin, part.secret)


def test_the_hashes_are_those_of_the_document() -> None:
    """Worked out here by hand, as a stranger would: netstrings, SHA-256, the first 16 bytes."""
    secret = "00112233445566778899aabbccddeeff"
    digest = "ab" * 32
    made = hashlib.sha256(
        f"25:keltis-ladder/seed-part/1,2:17,2:12,32:{secret},".encode()
    ).hexdigest()
    assert part_commitment(17, 12, secret) == made
    programs = ("built-in greedy 1", f"archive {'c' * 64}")
    origin = Origin(17, 12, made, 40, digest, programs)
    text = (
        f"20:keltis-ladder/seed/1,2:17,32:{secret},2:40,64:{digest},"
        f"72:archive {'c' * 64},17:built-in greedy 1,"
    )
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")
    assert mixed_seed(origin, secret) == seed
    turned = Origin(17, 12, made, 40, digest, programs[::-1])
    assert mixed_seed(turned, secret) == seed  # the order of the entrants is the server's choice


def test_the_programs_are_archives_and_our_own(database: Database) -> None:
    digest = "d" * 64
    with database.writing() as session:
        session.add(Archive(digest=digest, size=1, created=NOON))
        author = ensure_author(session, "Ada")
        session.flush()
        versions = []
        kinds: list[tuple[str, dict[str, Any]]] = [
            ("mine", {"archive": digest}),
            ("ours", {"program": "greedy 1"}),
        ]
        for name, kind in kinds:
            bot = ensure_bot(session, author, name)
            version, _ = add_version(session, bot, ["keltis"], [2], **kind)
            assert version.id is not None
            versions.append(version.id)
    job = begin(database, versions, rated=False)
    assert origin_from_plain(job.origin).programs == (f"archive {digest}", "built-in greedy 1")


def test_a_match_that_comes_again_keeps_its_seed(database: Database) -> None:
    """Neither a failing platform nor a killed server gives anybody another deal."""
    versions = entered(database, "a", "b")
    job = begin(database, versions)
    stored(database, versions, won_by("keltis", 2, 0))  # another draw would give something else
    with database.writing() as session:
        release(session, job.id, ME, JobTrouble.PLATFORM, "no disk")
    with database.writing() as session:
        (again,) = claim(session, "somebody else", later(1))
        assert (again.id, again.seed, again.origin) == (job.id, job.seed, job.origin)
    with database.writing() as session:  # nobody gave this lease back
        (third,) = claim(session, ME, later(3600))
        assert (third.id, third.seed, third.origin) == (job.id, job.seed, job.origin)
    with database.reading() as session:
        used = session.exec(select(SeedPart).where(col(SeedPart.job_id).is_not(None))).all()
    assert [part.number for part in used] == [1]


def test_a_lease_that_is_rolled_back_leaves_its_part_for_the_next(database: Database) -> None:
    versions = entered(database, "a", "b")
    begin(database, versions)
    with Session(database.engine) as session:  # never committed, as after a kill
        add_job(session, order_of(versions), NOON)
        assert claim(session, ME, later(1))
    assert part_of(database, begin(database, versions, 2)).number == 2


def test_parts_are_drawn_in_order_and_the_stock_is_filled_with_each_result(
    database: Database,
) -> None:
    versions = entered(database, "a", "b")
    jobs = [begin(database, versions, now) for now in range(5)]
    assert [part_of(database, job).number for job in jobs] == [1, 2, 3, 4, 5]
    with database.writing() as session:
        finish(session, jobs[3].id, won_by("keltis", 2, 0), NOON)
    with database.reading() as session:
        parts = session.exec(select(SeedPart).order_by(col(SeedPart.number))).all()
    assert [part.number for part in parts] == list(range(1, STOCK + 6))
    assert {part.after_match for part in parts[:STOCK]} == {0}
    assert {part.after_match for part in parts[STOCK:]} == {1}  # made when result 1 was known
    assert sum(part.job_id is None for part in parts) == STOCK
    assert len({part.secret for part in parts}) == len(parts)
    job = begin(database, versions, 6)
    assert origin_from_plain(job.origin).was_open


def test_only_rated_results_are_mixed_in(database: Database) -> None:
    versions = entered(database, "a", "b")
    stored(database, versions, won_by("keltis", 2, 0))
    stored(database, versions, won_by("keltis", 2, 0), rated=False)
    assert origin_from_plain(begin(database, versions).origin).previous == 1


def test_the_first_match_says_that_there_was_nothing_to_mix_in(database: Database) -> None:
    origin = origin_from_plain(begin(database, entered(database, "a", "b")).origin)
    assert (origin.previous, origin.previous_digest) == (0, NO_RESULT)
    assert not origin.was_open


def test_an_empty_stock_is_filled_and_its_parts_say_that_they_came_late(
    database: Database,
) -> None:
    versions = entered(database, "a", "b")
    stored(database, versions, won_by("keltis", 2, 0))
    jobs = [begin(database, versions, rated=False) for _ in range(STOCK + 1)]
    last = origin_from_plain(jobs[-1].origin)
    assert (last.part, last.after, last.previous) == (STOCK + 1, 1, 1)
    assert not last.was_open


def test_many_at_once_draw_different_parts(database: Database) -> None:
    versions = entered(database, "a", "b")
    orders = [order_of(versions) for _ in range(24)]
    with database.writing() as session:
        for order in orders:
            add_job(session, order, NOON)

    def work(number: int) -> list[Job]:
        def take(session: object) -> list[Job]:
            return claim(session, f"holder {number}", later(1), 3)  # type: ignore[arg-type]

        return database.write(take)

    with ThreadPoolExecutor(8) as pool:
        jobs = [job for found in pool.map(work, range(8)) for job in found]
    while len(jobs) < len(orders):  # what others had locked for a moment
        jobs += work(9)
    parts = [part_of(database, job).number for job in jobs]
    assert sorted(parts) == sorted(set(parts))
    assert set(parts) <= set(range(1, STOCK + 1))
    assert len({job.seed for job in jobs}) == len(jobs)


def test_a_seed_that_was_given_stays(database: Database) -> None:
    job = begin(database, entered(database, "a", "b"), seed=7)
    assert (job.seed, job.origin) == ("7", None)


def test_a_match_that_never_began_has_no_result(database: Database) -> None:
    versions = entered(database, "a", "b")
    with database.writing() as session:
        id = ask_for(session, versions, seed=None)
    with (
        pytest.raises(LadderError, match="has never begun"),
        database.writing() as session,
    ):
        finish(session, id, won_by("keltis", 2, 0), NOON)


def test_the_secret_is_not_read_before_the_match_is_over(database: Database) -> None:
    job = begin(database, entered(database, "a", "b"))
    with database.reading() as session:
        row = match_row(session, job.id)
        assert row is not None
        assert row.secret is None
    with database.writing() as session:
        finish(session, job.id, won_by("keltis", 2, 0), NOON + timedelta(seconds=9))
    with database.reading() as session:
        row = match_row(session, job.id)
        assert row is not None
        assert row.secret == part_of(database, job).secret


def test_results_are_a_chain(database: Database) -> None:
    versions = entered(database, "a", "b")
    for winner in (0, 1, 0, 0):
        stored(database, versions, won_by("keltis", 2, winner))
    with database.reading() as session:
        digests = [match.result_digest for match in session.exec(select(Match))]
        assert len(set(digests)) == 4
        assert None not in digests
        assert list(broken_links(session)) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE game SET ending = 'figures' WHERE match_number = 2 AND rotation = 1",
        "UPDATE game SET ranks = '[2,2]' WHERE match_number = 2 AND rotation = 0",
        "UPDATE game SET digest = 'x' WHERE match_number = 2 AND rotation = 0",
        "UPDATE match SET rated = NOT rated WHERE number = 2",
        "UPDATE job SET seed = '3' WHERE id = (SELECT job_id FROM match WHERE number = 2)",
        "DELETE FROM game WHERE match_number = 2",
    ],
)
def test_a_result_that_was_changed_breaks_the_chain(database: Database, statement: str) -> None:
    versions = entered(database, "a", "b")
    for winner in (0, 1, 0):
        stored(database, versions, won_by("keltis", 2, winner))
    with database.engine.begin() as connection:
        connection.exec_driver_sql(statement)
    with database.reading() as session:
        assert list(broken_links(session)) == [2]
