"""No author's tournaments or challenges take the machine from the ladder, or from other authors."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from keltis_ladder.match.orders import AT_ONCE_PRIORITY, Order, Purpose
from keltis_ladder.run.course import Entry
from keltis_ladder.run.scheduler import MatchAssigned, Scheduler
from keltis_ladder.store.bots.catalogue import ensure_author
from keltis_ladder.store.matches.queue import add_job
from keltis_ladder.store.schema.moments import now
from keltis_ladder.tournaments.plan import Plan
from tests.ladder.run.test_scheduler import CONTROL, Ladder

VARIANT = "weg-der-steine"


@pytest.fixture
def ladder(tmp_path: Path) -> Ladder:
    return Ladder(tmp_path)


def author(ladder: Ladder, name: str) -> int:
    with ladder.database.writing() as session:
        id = ensure_author(session, name).id
        assert id is not None
        return id


def start_tournament(
    scheduler: Scheduler, name: str, versions: list[int], matches: int, asked_by: int
) -> int:
    entries = [Entry(version, f"bot{version}") for version in versions]
    plan = Plan("round-robin", entrants=len(entries), variants=(VARIANT,), matches=matches)
    id = scheduler.director.create(name, plan, entries, CONTROL, author_id=asked_by)
    scheduler.director.start(id)
    return id


def test_the_ladder_plays_on_beside_a_tournament_without_end(ladder: Ladder) -> None:
    versions = [ladder.enter(name) for name in ("one", "two", "three")]
    gwyn = author(ladder, "gwyn")
    began: list[int] = []

    def enough(ladder: Ladder, scheduler: Scheduler) -> bool:
        if not began:
            began.append(start_tournament(scheduler, "endless", versions, 1000, gwyn))
        return len(ladder.told()) >= 60

    ladder.run(enough)
    played = Counter(news.playing.order.purpose for news in ladder.told())
    assert played[Purpose.LADDER] >= 30
    assert played[Purpose.TOURNAMENT] >= 2


def test_the_ladder_plays_on_beside_challenges_without_end(ladder: Ladder) -> None:
    versions = [ladder.enter(name) for name in ("one", "two", "three")]
    gwyn = author(ladder, "gwyn")
    with ladder.database.writing() as session:
        for _ in range(100):
            order = Order(
                VARIANT,
                tuple(versions[:2]),
                Purpose.CHALLENGE,
                rated=False,
                priority=AT_ONCE_PRIORITY,
                author_id=gwyn,
            )
            add_job(session, order, now())
    ladder.run(lambda ladder, _: len(ladder.told()) >= 60)
    played = Counter(news.playing.order.purpose for news in ladder.told())
    assert played[Purpose.LADDER] >= 30
    assert played[Purpose.CHALLENGE] >= 2


def test_a_small_tournament_does_not_wait_for_a_large_one_of_another_author(
    ladder: Ladder,
) -> None:
    versions = [ladder.enter(name) for name in ("one", "two", "three")]
    gwyn, morgan = author(ladder, "gwyn"), author(ladder, "morgan")
    cups: list[int] = []

    def enough(ladder: Ladder, scheduler: Scheduler) -> bool:
        if not cups:
            cups.append(start_tournament(scheduler, "large", versions, 1000, gwyn))
        if len(cups) == 1 and len(ladder.told()) >= 5:
            cups.append(start_tournament(scheduler, "small", versions, 1, morgan))
            scheduler.look()
        played = Counter(news.playing.order.tournament_id for news in ladder.told())
        return len(cups) == 2 and played[cups[1]] >= 3

    ladder.run(enough, matchmaking=False)
    begun = [
        news.playing.order.tournament_id for news in ladder.news if isinstance(news, MatchAssigned)
    ]
    first, *_, last = (place for place, cup in enumerate(begun) if cup == cups[1])
    # One of each in turn, once the matches that were under way are over.
    assert begun[first:last].count(cups[0]) <= 4
