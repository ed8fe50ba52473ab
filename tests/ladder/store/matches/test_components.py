"""What points are made of: what the engine says of each game, added up and compared."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from keltis_engine import VARIANTS, find_variant
from keltis_ladder.ratings.scopes import ALL, ANY, OVERALL, Scope
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.components import component_names, compositions_of
from keltis_ladder.store.matches.records import PARTS, rows_of
from tests.ladder.store.support.ladders import entered, stored
from tests.ladder.store.support.results import played, won_by


def test_every_variant_has_no_more_components_than_are_kept() -> None:
    for variant in VARIANTS:
        assert 1 < len(component_names(variant)) <= PARTS


def test_the_components_are_those_of_the_games_against_all_others(database: Database) -> None:
    one, two, three = entered(database, "one", "two", "three")
    own = dict.fromkeys(component_names("kartenspiel"), 0)
    field = dict(own)
    for seed, seats in ((1, (one, two)), (2, (two, one, three)), (3, (two, three))):
        job, result = played("kartenspiel", len(seats), seed)
        stored(database, list(seats), rows_of(job, result))
        if one not in seats:
            continue
        for game in result.games:
            state = find_variant("kartenspiel").deal(len(seats), seed)
            for action in game.actions:
                state.apply(action)
            for entrant, parts in zip(game.entrants, state.breakdown(), strict=True):
                for name, points in parts.items():
                    (own if seats[entrant] == one else field)[name] += points
    with database.reading() as session:
        [found] = compositions_of(session, one, OVERALL)
    # A match of two is two games, one of three is three: five for it, and 2 + 2 * 3 for others.
    assert (found.variant, found.matches, found.games) == ("kartenspiel", 2, 5)
    assert {each.name: each.own * 5 for each in found.components} == pytest.approx(own)
    assert {each.name: each.field * 8 for each in found.components} == pytest.approx(field)
    assert found.own * 5 == pytest.approx(sum(own.values()))


def test_scopes_choose_and_only_the_latest_matches_count(database: Database) -> None:
    versions = entered(database, "one", "two", "three")
    for seed, (variant, players) in enumerate(
        [("keltis", 2), ("keltis", 3), ("neue-wege", 2), ("keltis", 2)]
    ):
        stored(database, versions[:players], rows_of(*played(variant, players, seed)))
    with database.reading() as session:

        def counts(scope: Scope, latest: int = 100) -> dict[str, int]:
            found = compositions_of(session, versions[0], scope, latest)
            return {each.variant: each.matches for each in found}

        assert counts(OVERALL) == {"keltis": 3, "neue-wege": 1}
        assert counts(Scope("keltis", ANY)) == {"keltis": 3}
        assert counts(Scope(ALL, 2)) == {"keltis": 2, "neue-wege": 1}
        assert counts(Scope("keltis", 3)) == {"keltis": 1}
        assert counts(OVERALL, latest=2) == {"keltis": 1, "neue-wege": 1}
        assert counts(Scope("keltis", ANY), latest=2) == {"keltis": 2}
        assert counts(Scope("weg-der-steine", ANY)) == {}


def test_matches_of_which_it_is_not_known_do_not_count(database: Database) -> None:
    versions = entered(database, "one", "two")
    stored(database, versions, won_by("keltis", 2, 0))  # as stored before there were components
    stored(database, versions, rows_of(*played("keltis", 2, 5, drops={0: (1, 20)})))
    with database.reading() as session:
        assert compositions_of(session, versions[0], OVERALL) == []
        known = session.execute(text("SELECT count(part0) FROM place")).scalar_one()
    assert known == 0
