"""The model of ``watch``: messages in, positions out, exactly those of the engine."""

from __future__ import annotations

import json

import pytest

from keltis_cli.watch.model import ALL, PUBLIC, Facts, MatchModel
from keltis_cli.watch.playback import AS_THEY_COME, BETWEEN_GAMES, Playback
from keltis_engine import VARIANTS
from tests.cli.support.watch_records import BOTS, Record


def told(record: Record, perspective: str = PUBLIC) -> MatchModel:
    """Return a model that has heard a whole match from its beginning, as JSON."""
    model = MatchModel()
    messages = [record.snapshot(0, 0, perspective=perspective)]
    events = record.events(perspective=perspective)
    messages += [record.delta(seq, event) for seq, event in enumerate(events, 2)]
    for message in [*messages, record.end()]:
        model.take(json.loads(json.dumps(message)), 1.0, perspective)
    return model


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("players", [2, 4])
def test_positions_are_those_of_the_engine_at_every_ply(variant: str, players: int) -> None:
    record = Record(variant, players)
    model = told(record)
    assert model.over
    assert model.begun == list(range(players))
    for rotation in model.begun:
        game = model.longest(rotation)
        assert game is not None
        assert game.ended
        assert not game.missing
        assert game.plies == record.plies(rotation)
        viewer = record.viewer(rotation, PUBLIC)
        for ply in range(game.plies + 1):
            assert game.views[ply] == record.live.view(rotation, ply, viewer)
            assert game.scores_at(ply) == record.live.scores(rotation, ply)
            assert game.clocks_at(ply) == record.live.clocks(rotation, ply, viewer)


def test_a_match_of_a_tournament_is_called_by_its_table_there() -> None:
    message = Record("keltis").snapshot(0, 0)
    match = message["data"]["match"]
    match |= {"tournament": "cup", "purpose": "tournament", "reason": "anything at all"}
    match["reason_code"] = "tournament"
    match["reason_details"] = {"tournament": "cup", "label": "semi-final", "table": 2}
    assert Facts.of(match).within_tournament().reason == "Semi-final 2"
    match["reason_details"]["label"] = "at the window"  # of a later release
    assert Facts.of(match).within_tournament().reason == "anything at all"


def test_perspectives_are_kept_apart_and_all_cards_come_with_the_end() -> None:
    record = Record("kartenspiel")
    model = told(record)
    for event in record.events(perspective=BOTS[0]):
        model.take(record.delta(1, event), 1.0, BOTS[0])
    model.load(record.frames(0, ALL), ALL)
    for perspective, shown in ((PUBLIC, [False, False]), (ALL, [True, True])):
        game = model.seen_from(0, 5, perspective)
        assert game is not None
        assert [hand["cards"] is not None for hand in game.views[5]["hands"]] == shown
    # The second game of the bot's own perspective begins with an event; its seat is the second.
    own = model.seen_from(1, 0, BOTS[0])
    assert own is not None
    assert [hand["cards"] is not None for hand in own.views[0]["hands"]] == [False, True]


def test_whoever_comes_late_has_the_current_game_and_lacks_those_before() -> None:
    record = Record("keltis")
    model = MatchModel()
    model.take(record.snapshot(1, 20))
    assert model.begun == [0, 1]
    assert model.lacks(0, PUBLIC)
    assert not model.lacks(1, PUBLIC)
    model.load(record.frames(0), PUBLIC)
    assert not model.lacks(0, PUBLIC)
    game = model.longest(0)
    assert game is not None
    assert game.views[-1] == record.live.view(0, record.plies(0), "spectators")


def test_a_gap_is_noticed_and_what_came_after_it_is_not_lost() -> None:
    record = Record("keltis")
    model = MatchModel()
    model.take(record.snapshot(0, 10))
    model.take(record.delta(2, *[record.frame(0, ply) for ply in range(14, 20)]))
    game = model.longest(0)
    assert game is not None
    assert (game.plies, game.missing) == (10, True)
    model.load(record.frames(0, end=15), PUBLIC)
    assert (game.plies, game.missing) == (20, False)
    assert game.views[20] == record.live.view(0, 20, "spectators")


def test_what_is_told_twice_counts_once() -> None:
    record = Record("weg-der-steine", fault=True)
    model = told(record)
    for event in record.events():
        model.take(record.delta(200, event))
    model.take(record.end())
    game = model.longest(0)
    assert game is not None
    assert game.plies == record.plies(0) == 9
    assert [(fault.seat, fault.kind) for fault in game.dropouts] == [(1, "crash")]


def test_a_restart_forgets_all_games() -> None:
    record = Record("keltis")
    model = MatchModel()
    model.take(record.snapshot(0, 30))
    playback = Playback(model)
    playback.live()
    model.take(record.delta(2, {"kind": "restarted", "reason_code": "platform"}))
    assert model.begun == []
    playback.tick(0.1)
    assert (playback.ply, playback.game) == (0, None)
    view = record.live.view(0, 0, "spectators")
    begin = {"kind": "game", "rotation": 0, "seats": [0, 1], "view": view, "clocks": [1, 1]}
    model.take(record.delta(3, begin, record.frame(0, 0)))
    assert playback.end == 1


def test_a_snapshot_after_a_break_keeps_what_holds_and_forgets_what_does_not() -> None:
    record = Record("keltis")
    model = MatchModel()
    model.take(record.snapshot(0, 30))
    game = model.longest(0)
    model.take(record.snapshot(0, 35))
    assert model.longest(0) is game
    assert model.restarts == 0
    model.take(record.snapshot(0, 3))  # begun again meanwhile
    game = model.longest(0)
    assert game is not None
    assert (game.plies, model.restarts) == (3, 1)


def test_another_attempt_is_never_mixed_with_what_was_seen_of_the_first() -> None:
    seen, other = Record("keltis"), Record("keltis", policy="random")
    model = MatchModel()
    model.take(seen.snapshot(0, 3))
    model.take(seen.snapshot(0, 5))
    assert model.restarts == 0
    model.take(other.snapshot(0, 9))  # begun again while we were away, and already farther
    game = model.longest(0)
    assert game is not None
    assert (model.restarts, game.plies) == (1, 9)
    assert game.views[9] == other.live.view(0, 9, "spectators")


@pytest.mark.parametrize("again", [False, True])
def test_a_match_that_ended_while_we_were_away_is_read_from_its_beginning(again: bool) -> None:
    seen = Record("keltis")
    other = Record("keltis", policy="random") if again else seen
    model = MatchModel()
    model.take(seen.snapshot(0, 5))
    over = other.snapshot(1, other.plies(1))
    over["data"] |= {"match": other.match_out(over=True), "current": None, "attempt": None}
    model.take(over)
    for rotation in (0, 1):
        assert model.lacks(rotation, PUBLIC)
        model.load(other.frames(rotation), PUBLIC)
        assert not model.lacks(rotation, PUBLIC)
        game = model.longest(rotation)
        assert game is not None
        assert [frame.notation for frame in game.frames] == [
            frame["notation"] for frame in other.frames(rotation)["frames"]
        ]
    assert model.restarts == again


def test_a_match_that_waits_again_is_known_to_be_begun_again_when_it_is() -> None:
    record = Record("keltis")
    waiting = record.snapshot(0, 3)
    waiting["data"] = {**waiting["data"], "games": [], "current": None}
    model = MatchModel()

    def now() -> tuple[int, int]:
        game = model.longest(0)
        return model.restarts, game.plies if game else 0

    model.take(record.snapshot(0, 3))
    model.take(waiting)
    assert now() == (0, 3)  # it was broken off: what was seen of it stays
    view = record.live.view(0, 0, "spectators")
    begin = {"kind": "game", "rotation": 0, "seats": [0, 1], "view": view, "clocks": [1, 1]}
    model.take(record.delta(3, begin))
    assert now() == (1, 0)
    model.take(record.delta(4, record.frame(0, 0)))
    assert now() == (1, 1)
    model.take(waiting)
    model.take(record.snapshot(0, 5))  # begun again, and already farther than it had been
    assert now() == (2, 5)


def test_a_burst_is_shown_at_a_readable_speed_and_stepping_disturbs_nothing() -> None:
    record = Record("keltis")
    model = MatchModel()
    model.take(record.snapshot(0, 5))
    playback = Playback(model, speed=5)
    playback.live()
    assert playback.is_live
    for _ in range(100):
        playback.tick(0.1)  # nothing comes for ten seconds
    model.take(record.delta(2, *[record.frame(0, ply) for ply in range(5, 60)]))
    playback.tick(0.1)
    assert playback.ply == 6  # not fifty at once, because we have waited long
    for _ in range(20):
        playback.tick(0.1)
    assert 15 <= playback.ply <= 17
    assert playback.behind == 60 - playback.ply
    playback.step(-10)
    here = playback.ply
    model.take(record.delta(3, *[record.frame(0, ply) for ply in range(60, 70)]))
    playback.tick(5.0)
    assert (playback.ply, playback.end, playback.playing) == (here, 70, False)
    playback.step(1)
    assert playback.ply == here + 1
    playback.step(-500)
    assert playback.ply == 0
    playback.live()
    assert (playback.ply, playback.playing) == (70, True)


def test_as_they_come_is_always_at_the_newest_position() -> None:
    record = Record("keltis")
    model = MatchModel()
    model.take(record.snapshot(0, 0))
    playback = Playback(model, speed=AS_THEY_COME)
    for seq, event in enumerate(record.events(), 2):
        model.take(record.delta(seq, event))
        playback.tick(0.05)
        assert playback.at_end
    assert playback.rotation == 1


def test_a_replay_goes_through_all_games_and_stays_at_the_end() -> None:
    record = Record("weg-der-steine", players=3)
    model = told(record)
    playback = Playback(model, speed=30)
    seen = set()
    for _ in range(1000):
        playback.tick(0.05)
        seen.add((playback.rotation, playback.ply))
    plies = [record.plies(rotation) for rotation in range(3)]
    assert playback.is_last
    assert (playback.rotation, playback.ply) == (2, plies[2])
    assert {(0, plies[0]), (1, 0), (1, plies[1]), (2, 0)} <= seen
    playback.pause()
    playback.pause()
    assert (playback.rotation, playback.ply) == (0, 0)


def test_games_are_turned_and_speeds_end_where_they_end() -> None:
    model = told(Record("weg-der-steine"))
    playback = Playback(model, speed=30)
    playback.turn_game(1)
    assert playback.rotation == 1
    playback.turn_game(1)
    assert playback.rotation == 1
    playback.turn_game(-1)
    assert playback.rotation == 0
    playback.change_speed(1)
    playback.change_speed(1)
    assert playback.speed_text() == "as they come"
    for _ in range(9):
        playback.change_speed(-1)
    assert playback.speed == 1
    playback.go(0, 10_000)
    playback.tick(BETWEEN_GAMES / 2)
    assert playback.rotation == 0
    playback.tick(BETWEEN_GAMES)
    assert playback.rotation == 1
