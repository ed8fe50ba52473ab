"""A match under way shows everybody all that they may see, at any ply, and nothing else."""

from __future__ import annotations

import random
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keltis_bots.framing import PREFIX
from keltis_engine import POST_GAME, SPECTATORS, BadViewer, Rng, State, find_variant
from keltis_engine.play.policies import POLICIES
from keltis_engine.state.views import PUBLIC
from keltis_ladder.match.clock import DEFAULT_CONTROL
from keltis_ladder.match.entrants import built_in
from keltis_ladder.match.faults import Kind
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.results import GameResult, MatchResult
from keltis_ladder.referee.messages import GameMessages
from keltis_ladder.spectate.batches import Batch, Decided, Decision, Dropped, Ended
from keltis_ladder.spectate.live_match import (
    CHECKPOINTS,
    LiveGame,
    LiveMatch,
    NotPlayed,
    SeenFault,
    StreamBroken,
    Viewer,
)
from keltis_ladder.spectate.vocabulary import vocabulary
from tests.engine.support.positions import Game, games

EXAMPLES = 40
seeds = st.integers(0, 2**32)


def told(state: State, action: int) -> Decision:
    """Return a decision as a referee tells it: a forced one is not asked for."""
    spent_us = 1500 + action if len(state.legal_actions()) > 1 else 0
    return Decision(int(state.seat), action, spent_us)


def states_and_decisions(game: Game) -> tuple[list[State], list[Decision]]:
    """Return the states of a game before each decision and after the last, and the decisions."""
    state, rng = game.ruleset.deal(game.players, game.seed), Rng(game.seed)
    states, decisions = [state.copy()], []
    for policy, count in game.spells:
        for _ in range(count):
            if state.over:
                break
            action = POLICIES[policy](state, rng)
            decisions.append(told(state, action))
            state.apply(action)
            states.append(state.copy())
    return states, decisions


def job_of(game: Game) -> Job:
    bots = tuple(built_in("random") for _ in range(game.players))
    return Job(game.variant, game.options, game.seed, bots)


def in_batches(rotation: int, decisions: list[Decision], rng: random.Random) -> list[Batch]:
    """Cut the decisions of a game into batches at random."""
    batches: list[Batch] = []
    at = 0
    while at < len(decisions):
        size = rng.randrange(1, 100)
        batches.append((Decided(rotation, tuple(decisions[at : at + size])),))
        at += size
    return [*batches, (Ended(rotation),)]


def result_of(match: LiveMatch) -> MatchResult:
    """Return a result with the decisions that were told."""
    players = len(match.games)
    return MatchResult(
        [
            GameResult(
                rotation=rotation,
                entrants=[(seat + rotation) % players for seat in range(players)],
                actions=[decision.action for decision in game.decisions],
                ending="last card",
                scores=[0] * players,
                ranks=[1] * players,
                times=[],
            )
            for rotation, game in enumerate(match.games)
        ]
    )


def viewers(players: int) -> list[Viewer]:
    return [*range(players), SPECTATORS]


# Everybody sees what they may


@settings(max_examples=EXAMPLES)
@given(games(to_the_end=True), seeds)
def test_every_ply_looks_as_the_engine_shows_it_in_whatever_order_one_looks(
    game: Game, luck: int
) -> None:
    states, decisions = states_and_decisions(game)
    rng = random.Random(luck)
    match = LiveMatch(job_of(game))
    for rotation in range(game.players):
        for batch in in_batches(rotation, decisions, rng):
            match.take(batch)
            ply = match.plies(rotation)
            assert match.view(rotation, ply, SPECTATORS) == states[ply].view(SPECTATORS)
            ply = rng.randint(0, ply)
            for viewer in viewers(game.players):
                assert match.view(rotation, ply, viewer) == states[ply].view(viewer)
            assert match.scores(rotation, ply) == states[ply].scores()
        assert match.plies(rotation) == len(decisions)
        assert match.games[rotation].ended
    match.finish(result_of(match))
    for ply in {0, CHECKPOINTS, len(decisions) - 1, len(decisions)} & set(range(len(states))):
        assert match.view(0, ply, POST_GAME) == states[ply].reveal()
    assert match.view(1, len(decisions), POST_GAME) == states[-1].view(POST_GAME)


@settings(max_examples=EXAMPLES)
@given(games(to_the_end=True))
def test_a_seat_is_told_of_decisions_what_its_bot_is_told(game: Game) -> None:
    states, decisions = states_and_decisions(game)
    messages = GameMessages(game.ruleset, game.players, 0, 0, vocabulary(game.ruleset))
    for state, decision in zip(states, decisions, strict=False):
        messages.note(state, decision.action)
    match = LiveMatch(job_of(game))
    match.take((Decided(0, tuple(decisions)),))
    for seat in range(game.players):
        events = msgpack.unpackb(messages.end(seat, "", [], [])[PREFIX:])["events"]
        assert [
            {"seat": d.seat, "action": d.action, "notation": d.notation, "card": d.card}
            for d in match.decisions(0, seat)
        ] == events


@settings(max_examples=EXAMPLES)
@given(games(to_the_end=True))
def test_drawn_cards_are_named_to_who_drew_them_and_to_all_after_the_match(game: Game) -> None:
    states, decisions = states_and_decisions(game)
    match = LiveMatch(job_of(game))
    for rotation in range(game.players):
        match.take((Decided(rotation, tuple(decisions)), Ended(rotation)))
    brought = [state.outcome(d.action) for state, d in zip(states, decisions, strict=False)]
    public = match.decisions(1, SPECTATORS)
    by_seat = [match.decisions(1, seat) for seat in range(game.players)]
    for ply, decision in enumerate(public):
        assert decision.ply == ply
        for seat, seen in enumerate(by_seat):
            if decision.notation != "draw":
                assert seen[ply].card == decision.card
            else:
                assert seen[ply].card == (brought[ply] if seat == decision.seat else None)
        if decision.notation == "draw":
            assert decision.card is None
            assert brought[ply] is not None
        elif decision.notation.split()[0] == "take" and game.variant != "weg-der-steine":
            assert decision.card == brought[ply] is not None
    match.finish(result_of(match))
    shown = [d.card for d in match.decisions(1, POST_GAME)]
    named = [d.card for d in public]
    assert [card for card, name in zip(shown, named, strict=True) if name] == [*filter(None, named)]
    assert all(
        card == brought[ply] for ply, card in enumerate(shown) if public[ply].notation == "draw"
    )


# Nobody sees what they may not


def redealt(state: State, viewer: Viewer, rng: Rng) -> State:
    """Return a game that the viewer cannot tell from this one."""
    if isinstance(viewer, int):
        return state.determinize(viewer, rng)
    for seat in range(int(state.players)):  # each deals anew what the ones before it kept
        state = state.determinize(seat, rng)
    return state


def both_go_on(
    one: State, other: State, viewer: Viewer, rng: random.Random
) -> tuple[list[Decision], list[Decision]]:
    """Take decisions that are possible in both games, until the viewer sees different cards."""
    words = vocabulary(find_variant(one.game.id, {}))
    viewpoint = viewer if isinstance(viewer, int) else PUBLIC
    one, other = one.copy(), other.copy()
    taken: tuple[list[Decision], list[Decision]] = ([], [])
    while common := sorted({*one.legal_actions()} & {*other.legal_actions()}):
        action = rng.choice(common)
        if words.names_card(action, int(one.seat), viewpoint) and (
            words.card(one, action) != words.card(other, action)
        ):
            break
        for state, decisions in zip((one, other), taken, strict=True):
            decisions.append(told(state, action))
            state.apply(action)
    return taken


def all_that_is_shown(game: LiveGame, viewer: Viewer) -> list[Any]:
    viewpoint = game.viewpoint(viewer)
    plies = range(game.plies + 1)
    return [
        [game.view(ply, viewpoint) for ply in plies],
        [game.clocks(ply, viewpoint) for ply in plies],
        [game.scores(ply) for ply in plies],
        game.seen(0, game.plies, viewpoint),
    ]


@settings(max_examples=4 * EXAMPLES)
@given(games(to_the_end=True), seeds, st.booleans())
def test_games_that_differ_in_hidden_cards_look_the_same(
    game: Game, luck: int, near_the_end: bool
) -> None:
    states, _ = states_and_decisions(game)
    rng = random.Random(luck)
    start = rng.choice(states[-12:] if near_the_end else states)
    for viewer in viewers(game.players):
        other = redealt(start, viewer, Rng(luck))
        decisions = both_go_on(start, other, viewer, rng)
        shown = []
        for state, taken in zip((start, other), decisions, strict=True):
            words = vocabulary(game.ruleset)
            live = LiveGame(state.copy, game.players, words, DEFAULT_CONTROL)
            live.decisions += taken
            shown.append(all_that_is_shown(live, viewer))
        assert shown[0] == shown[1]


@settings(max_examples=EXAMPLES)
@given(games(to_the_end=True))
def test_no_card_is_shown_before_the_last_game_of_the_match_is_over(game: Game) -> None:
    states, decisions = states_and_decisions(game)
    match = LiveMatch(job_of(game))
    for rotation in range(game.players):
        match.take((Decided(rotation, tuple(decisions)), Ended(rotation)))
        for ask in (
            lambda: match.view(0, len(decisions), POST_GAME),
            lambda: match.decisions(0, POST_GAME),
            lambda: match.clocks(0, 0, POST_GAME),
        ):
            with pytest.raises(BadViewer, match="this match is not over yet"):
                ask()
        assert match.view(0, len(decisions), SPECTATORS) == states[-1].view(SPECTATORS)
    match.finish(result_of(match))
    assert match.over
    assert match.view(0, len(decisions), POST_GAME) == states[-1].reveal()


@pytest.mark.parametrize("viewer", [-1, -2, 2, "nobody", "", "0"])
def test_nobody_looks_from_elsewhere(viewer: Viewer) -> None:
    match = LiveMatch(job_of(Game("keltis", 2, 1, {}, [])))
    for ask in (match.view, match.clocks):
        with pytest.raises(BadViewer, match="nobody sits at"):
            ask(0, 0, viewer)
    with pytest.raises(BadViewer, match="nobody sits at"):
        match.decisions(0, viewer)


# What else is known


def test_what_is_not_played_cannot_be_seen() -> None:
    game = Game("keltis", 2, 1, {}, [("eager", 10)])
    _, decisions = states_and_decisions(game)
    match = LiveMatch(job_of(game))
    match.take((Decided(0, tuple(decisions)),))
    assert len(match.decisions(0, SPECTATORS, 3, 10)) == 7
    for rotation, ply in [(0, 11), (0, -1), (1, 1), (2, 0), (-1, 0)]:
        with pytest.raises(NotPlayed, match="there is no"):
            match.view(rotation, ply, SPECTATORS)
        with pytest.raises(NotPlayed, match="there is no"):
            match.decisions(rotation, SPECTATORS, 0, ply)


def test_a_clock_runs_for_those_who_are_asked() -> None:
    match = LiveMatch(job_of(Game("kartenspiel", 2, 4, {}, [])))
    spent = [(0, 30_000), (0, 0), (1, 20_000), (1, 1_025_000)]  # seat, microseconds
    match.take((Decided(0, tuple(Decision(seat, 0, spent_us) for seat, spent_us in spent)),))
    clocks = [match.clocks(0, ply, SPECTATORS) for ply in range(5)]
    assert clocks == [[1020, 1020], [1010, 1020], [1010, 1020], [1010, 1020], [1010, 15]]


def test_whether_a_hand_left_a_choice_is_not_told_by_the_clock() -> None:
    ruleset = find_variant("kartenspiel", {})
    done = Decision(0, ruleset.parse("done"), 30_000)
    match = LiveMatch(job_of(Game("kartenspiel", 2, 4, {}, [])))
    match.take((Decided(0, (done,)),))
    assert match.clocks(0, 1, 0) == [1010, 1020]
    assert match.clocks(0, 1, 1) == match.clocks(0, 1, SPECTATORS) == [1020, 1020]


def test_faults_are_seen_from_the_ply_on_at_which_they_happened() -> None:
    game = Game("keltis", 3, 1, {}, [("eager", 10)])
    _, decisions = states_and_decisions(game)
    match = LiveMatch(job_of(game))
    match.take((Decided(2, tuple(decisions[:4])), Dropped(2, 1, Kind.CRASH, "exit")))
    match.take((Decided(2, tuple(decisions[4:])),))
    fault = SeenFault(4, 1, Kind.CRASH, "exit")
    assert match.faults(2) == match.faults(2, 4) == [fault]
    assert match.faults(2, 3) == match.faults(0) == []


def test_a_match_that_begins_again_is_as_if_it_had_not_been_played() -> None:
    game = Game("keltis", 2, 1, {}, [("eager", 30)])
    states, decisions = states_and_decisions(game)
    match = LiveMatch(job_of(game))
    match.take((Decided(0, tuple(decisions)), Dropped(0, 1, Kind.CRASH, "exit"), Ended(0)))
    assert match.view(0, 30, 0) == states[30].view(0)
    match.restart()
    assert (match.plies(0), match.faults(0), match.games[0].ended) == (0, [], False)
    match.take((Decided(0, tuple(decisions[:7])),))
    assert match.view(0, 7, 1) == states[7].view(1)


def test_a_result_of_other_decisions_is_refused_and_shows_nothing() -> None:
    game = Game("keltis", 2, 1, {}, [("eager", 10)])
    _, decisions = states_and_decisions(game)
    match = LiveMatch(job_of(game))
    match.take((Decided(0, tuple(decisions)),))
    result = result_of(match)
    match.take((Decided(1, tuple(decisions[:1])),))
    with pytest.raises(StreamBroken):
        match.finish(result)
    assert not match.over
