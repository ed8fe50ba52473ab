"""The recorded games play again: the referee's side from the seed, the bot's from the frames."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import pytest

from keltis_bots.framing import MOST_FROM_BOT, MOST_TO_BOT, PREFIX, frame
from keltis_bots.messages import hello, read_action, read_hello
from keltis_engine import VARIANTS, find_variant
from keltis_ladder.referee.messages import GameMessages
from keltis_ladder.spectate.vocabulary import Vocabulary
from tests.bots.support import transcripts
from tests.bots.support.piped import STARTERS, PipedBot, ranks

SHOWS_CARD = re.compile(r"take .$|reveal$")  # from a pile; a tile that is taken is named anyway


def test_every_variant_has_a_transcript() -> None:
    assert {path.stem for path in transcripts.FOLDER.iterdir()} == set(VARIANTS)
    assert set(transcripts.GAMES) == set(VARIANTS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_recorded_frames_hold_the_recorded_messages(variant: str) -> None:
    for line in transcripts.read(variant).lines:
        assert line.frame == frame(line.message)
        most = MOST_FROM_BOT if line.way == "from" else MOST_TO_BOT
        assert len(line.frame) - PREFIX <= most


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_transcript_is_a_whole_game(variant: str) -> None:
    lines = transcripts.read(variant).lines
    kinds = [line.message["type"] for line in lines]
    assert kinds[:3] == ["hello", "hello", "game"]
    assert kinds[3:-1] == ["choose", "action"] * ((len(kinds) - 4) // 2)
    assert kinds[-1] == "end"


def written_by_the_messages(variant: str) -> Iterator[bytes]:
    """Yield the frames to the bot as the referee's messages writes them."""
    game, lines = transcripts.read(variant)
    ruleset = find_variant(variant, game["options"])
    asked = [line.message for line in lines if line.message["type"] == "choose"]
    begin = lines[2].message
    yield frame(hello("keltis-ladder", lines[0].message["start_ms"]))
    messages = GameMessages(
        ruleset, game["players"], begin["bank_ms"], begin["increment_ms"], Vocabulary(ruleset)
    )
    yield messages.game(game["seat"])
    state = ruleset.deal(game["players"], int(game["seed"]))
    for text in game["decisions"]:
        legal = state.legal_actions()
        if state.seat == game["seat"] and len(legal) > 1:
            request = asked.pop(0)
            yield messages.request(state, game["seat"], legal, request["id"], request["left_ms"])
        action = ruleset.parse(text)
        messages.note(state, action)
        state.apply(action)
    assert state.over
    scores = state.scores()
    yield messages.end(game["seat"], str(state.ending), scores, ranks(scores))


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_messages_writes_the_recorded_frames(variant: str) -> None:
    recorded = [line.frame for line in transcripts.read(variant).lines if line.way == "to"]
    assert list(written_by_the_messages(variant)) == recorded


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_starter_answers_the_recorded_frames_with_the_recorded_bytes(variant: str) -> None:
    lines = transcripts.read(variant).lines
    with PipedBot([sys.executable, "bot.py"], STARTERS / "python") as bot:
        for line, following in zip(lines, [*lines[1:], None], strict=True):
            if line.way == "from":
                continue
            if following is not None and following.way == "from":
                assert bot.ask(line.frame) == following.frame[PREFIX:]
            else:
                bot.tell(line.frame)
        assert bot.end() == (0, "")


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_recorded_answers_pass_the_checks_and_are_legal(variant: str) -> None:
    lines = transcripts.read(variant).lines
    read_hello(lines[1].frame[PREFIX:])
    for request, answer in zip(lines[3:-1:2], lines[4:-1:2], strict=True):
        action = read_action(answer.frame[PREFIX:], request.message["id"])
        assert action in request.message["legal"]
        assert len(request.message["legal"]) > 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_message_names_a_card_that_is_hidden(variant: str) -> None:
    game, lines = transcripts.read(variant)
    shown = [line.message for line in lines if line.message["type"] in ("choose", "end")]
    events = [event for message in shown for event in message["events"]]
    assert [event["notation"] for event in events] == game["decisions"]
    for event in events:
        if event["notation"] == "draw":
            assert (event["card"] is None) == (event["seat"] != game["seat"])
        else:
            assert (event["card"] is not None) == bool(SHOWS_CARD.match(event["notation"]))
    for message in shown[:-1]:
        assert message["view"]["viewer"] == game["seat"]
        assert message["view"]["pile"]["cards"] is None
        for seat, hand in enumerate(message["view"].get("hands", [])):
            assert (hand["cards"] is None) == (seat != game["seat"])
