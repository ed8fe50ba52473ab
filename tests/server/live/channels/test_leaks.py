"""No spectator learns what is hidden: not from a message, not from an answer, not from an error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from keltis_engine import POST_GAME, SPECTATORS
from keltis_ladder.dispatch.dispatcher import MatchStarted
from keltis_ladder.match.entrants import built_in
from keltis_ladder.match.jobs import Job
from keltis_ladder.spectate.live_match import Viewer
from keltis_ladder.store.bots.accounts import Bearer
from keltis_ladder.store.matches.matches import EntrantRow, MatchRow
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import Job as JobRow
from keltis_server.play.watching import Beginnings, viewer_of
from tests.server.support.spectating import TABLES, Watched, evening


def parts_of(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every map in a message."""
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from parts_of(part)
    elif isinstance(value, list):
        for part in value:
            yield from parts_of(part)


def check_hides(told: Any, seat: int | None = None) -> int:
    """Raise if something shows a card that only a seat may see; return how many hands it has.

    A ``seat`` is that of the onlooker's own bot, whose hand may be shown.
    """
    hands = 0
    for part in parts_of(told):
        for place, hand in enumerate(part.get("hands") or []):
            hands += 1
            assert place == seat or hand["cards"] is None
        for name in ("pile", "removed"):
            if isinstance(part.get(name), dict):
                assert part[name]["cards"] is None
        if part.get("kind") == "frame":
            own = part["seat"] == seat
            if part["notation"] == "draw":
                assert own or part["card"] is None
            for path, value in part["patch"]:
                if path[-1] == "cards":
                    assert value is None or path[:2] == ["hands", seat]
                if "hands" in path[:1]:
                    hands += 1
        assert part.get("seed") is None
    return hands


def before_the_end(match: Watched, who: str) -> list[Any]:
    return [message for message in match.heard[who] if message["op"] != "end"]


@pytest.mark.parametrize("index", range(len(TABLES)))
def test_no_message_shows_what_is_hidden(index: int) -> None:
    match = evening().matches[index]
    for who in ("json", "msgpack"):
        told = before_the_end(match, who)
        assert check_hides(told) or match.variant == "weg-der-steine"  # which has no hands
        assert match.seed not in json.dumps(told)
        assert f"{int(match.seed):x}" not in json.dumps(told)
        assert match.secret not in json.dumps(told)
    last = match.players - 1
    for message in before_the_end(match, "author"):
        assert match.seed not in json.dumps(message)
        assert match.secret not in json.dumps(message)
        if message["op"] == "delta":
            for event in message["data"]:
                mine = (0 - last) % match.players if event.get("rotation") == last else None
                check_hides(event, mine)
        else:
            check_hides(message)


@pytest.mark.parametrize("index", range(len(TABLES)))
def test_no_answer_shows_what_is_hidden_while_the_match_runs(index: int) -> None:
    match = evening().matches[index]
    last = match.players - 1
    own_hand = f"games/{last}/frames?viewer={match.entrants[0].bot}"
    asked = dict.fromkeys(match.answers)
    for who, path, body in asked:
        assert match.seed not in body, path
        assert match.secret not in body, path
        if not body.startswith("{"):
            continue
        plain = json.loads(body)
        if who == "alice" and path.endswith(own_hand):
            assert plain.get("viewer", "1") == "1"  # where the first entrant sits at last
            check_hides(plain, 1)
        elif "frames" in path and "frames" in plain:
            assert plain["viewer"] == "public"
            check_hides(plain)
        else:
            check_hides(plain)
    assert len(asked) > 10


def test_neither_lobby_nor_leaderboard_nor_version_tells_a_seed_too_early() -> None:
    watched = evening()
    told = json.dumps([watched.lobby, watched.other])
    assert check_hides([watched.lobby, watched.other]) == 0
    for match in watched.matches:
        assert match.id in told
        assert match.seed not in told
        assert match.secret not in told


@pytest.mark.parametrize("index", range(len(TABLES)))
def test_the_messages_hold_no_card_that_the_public_view_does_not(index: int) -> None:
    # The strongest check against the true deal: what is told is made of the public views, which
    # are compared with those of the engine, and of decisions, which say what all at the table saw.
    match = evening().matches[index]
    truth = match.truth
    assert truth is not None
    for message in before_the_end(match, "json"):
        for event in message["data"] if message["op"] == "delta" else []:
            if event["kind"] != "frame":
                continue
            (seen,) = truth.decisions(event["rotation"], SPECTATORS, event["ply"], event["ply"] + 1)
            assert (event["seat"], event["action"], event["notation"], event["card"]) == (
                seen.seat,
                seen.action,
                seen.notation,
                seen.card,
            )


ALICE = Bearer(1, "alice", False, frozenset({"read"}))
NO_READER = Bearer(1, "alice", False, frozenset({"submit", "play"}))
BOB = Bearer(2, "bob", False, frozenset({"read"}))
ADMIN = Bearer(9, "root", False, frozenset({"read", "admin"}))


def match_between(number: int | None) -> MatchRow:
    entrants = [
        EntrantRow(k, k + 1, name, 1, name, k + 1, None, None, None, None, None, None)
        for k, name in enumerate(("alice", "bob", "carol"))
    ]
    job = JobRow(
        id="x",
        purpose="ladder",
        rated=True,
        variant="keltis",
        ruleset_version=1,
        players=3,
        seed="1",
        bank_ms=1,
        increment_ms=1,
        start_ms=1,
        created=now(),
    )
    return MatchRow(job, number, None, None, None, None, None, entrants)


@pytest.mark.parametrize(
    ("wish", "rotation", "caller", "first_play", "seen"),
    [
        ("public", 2, ALICE, True, SPECTATORS),
        ("all", 2, None, True, SPECTATORS),
        ("all", 2, ADMIN, True, SPECTATORS),
        ("0", 2, ALICE, True, SPECTATORS),
        ("alice", 0, ALICE, True, SPECTATORS),
        ("alice", 1, ALICE, True, SPECTATORS),
        ("alice", 2, ALICE, True, 1),
        ("alice", 2, ALICE, False, SPECTATORS),
        ("alice", 2, NO_READER, True, SPECTATORS),
        ("alice", 2, BOB, True, SPECTATORS),
        ("alice", 2, ADMIN, True, SPECTATORS),
        ("alice", 2, None, True, SPECTATORS),
        ("bob", 2, BOB, True, 2),
    ],
)
def test_while_a_match_runs_only_its_author_sees_a_hand_and_only_in_the_last_game(
    wish: str, rotation: int, caller: Bearer | None, first_play: bool, seen: Viewer
) -> None:
    assert viewer_of(wish, rotation, match_between(None), caller, first_play) == seen


@pytest.mark.parametrize(
    ("wish", "seen"),
    [("public", SPECTATORS), ("all", POST_GAME), ("0", 0), ("3", SPECTATORS), ("carol", 1)],
)
def test_when_a_match_is_over_everybody_sees_whatever_they_like(wish: str, seen: Viewer) -> None:
    assert viewer_of(wish, 1, match_between(7), None, False) == seen


def test_a_deal_counts_as_seen_when_its_match_begins_again_or_is_older_than_the_server() -> None:
    beginnings = Beginnings()
    job = Job("keltis", {}, 1, (built_in("greedy"),) * 2)
    assert beginnings.first_play(job.id, now())
    assert not beginnings.first_play(job.id, now() - timedelta(hours=1))
    beginnings.note(MatchStarted(job, "core 0", 1))
    assert beginnings.first_play(job.id, now())
    beginnings.note(MatchStarted(job, "core 0", 1))
    assert not beginnings.first_play(job.id, now())


def test_the_spy_was_there_while_an_own_hand_could_be_seen() -> None:
    shown = [
        path
        for match in evening().matches
        for who, path, body in match.answers
        if who == "alice" and json.loads(body).get("viewer") == "1"
    ]
    assert shown
