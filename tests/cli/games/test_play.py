"""Playing in the terminal, driven through a pipe."""

import json
import re
from pathlib import Path

import pytest

from keltis_cli.draw.look import SYMBOLS
from keltis_engine import find_variant
from tests.cli.support.helpers import ALL_VARIANTS, ESCAPE, command, hidden_from, output

ALWAYS_THE_FIRST = "1\n" * 3000


@pytest.mark.parametrize("variant", ALL_VARIANTS)
@pytest.mark.parametrize("players", [2, 4])
def test_a_game_can_be_played_to_its_end(variant: str, players: int, tmp_path: Path) -> None:
    file = tmp_path / "game.jsonl"
    told = output(
        *("play", "--variant", variant, "--players", str(players), "--seat", "1"),
        *("--seed", "8", "--out", file),
        typed=ALWAYS_THE_FIRST,
    )
    assert "game over" in told
    assert re.search("You win!|You share the win.|You lost this one.", told)
    assert output("replay", file, "--verify").endswith("OK: 1 game\n")
    assert json.loads(file.read_text())["players"] == players


@pytest.mark.parametrize("variant", ["keltis", "neue-wege", "kartenspiel"])
def test_cards_in_other_hands_are_never_shown(variant: str, tmp_path: Path) -> None:
    """Compare each board of a game with what its player did not know at that moment."""
    file = tmp_path / "game.jsonl"
    played = ("play", "--variant", variant, "--seed", "21", "--out", file)
    told = output(*played, typed=ALWAYS_THE_FIRST)
    boards = re.split(rf"^(?={variant} · )", told, flags=re.MULTILINE)[1:]
    ruleset = find_variant(variant)
    replay = json.loads(file.read_text())
    state = ruleset.deal(2, 21)
    asked = []
    for decision in replay["decisions"]:
        if state.seat == 0 and len(state.legal_actions()) > 1:
            asked.append(state.copy())
        state.apply(ruleset.parse(decision))
    asked.append(state)
    assert len(boards) == len(asked)
    found = 0
    for board, moment in zip(boards, asked, strict=True):
        hand = next(line for line in board.splitlines() if line.startswith("hand B"))
        hidden = hidden_from(moment.view(0), moment.reveal())
        found += len(hidden)
        shown = {SYMBOLS.get(card[0], card[0]) + card[1:] for card in hidden}
        assert shown & set(hand.split()) == set()
        assert re.search(r"^hand B \d cards?(, seen: .*)?$", hand)
    assert found > 100  # there was something to hide
    assert not re.search(r"seat 1 .*draws [RYVGBP]", told)


def test_what_is_shown_depends_only_on_what_the_player_knows() -> None:
    """Two deals that differ in unseen cards only look the same: here, before any draw."""
    from keltis_cli.draw.boards.boards import draw
    from keltis_cli.draw.look import Look
    from keltis_engine import Rng

    state = find_variant("keltis").deal(3, 5)
    other = state.determinize(0, Rng(1))
    assert other.reveal() != state.reveal()
    assert draw(other.view(0), Look()).plain == draw(state.view(0), Look()).plain


def test_mistakes_are_explained_and_asked_again() -> None:
    typed = f"99\n{'9' * 5000}\nlay Q7\nsmall\n?\n\nq\n"
    told = output("play", "--seed", "4", typed=typed)
    assert "99 is not in the list: choose 1 to 16" in told
    assert "9999 is not in the list: choose 1 to 16" in told
    assert "'lay Q7' is not an action of keltis; did you mean" in told
    assert "'small' is not possible now" in told
    assert "discard R7: put the card on the pile of its colour" in told
    assert "Goodbye. The same cards again: --seed 4" in told


def test_notation_is_accepted_in_any_case() -> None:
    ruleset = find_variant("keltis")
    state = ruleset.deal(2, 4)
    text = ruleset.format(state.legal_actions()[-1])
    told = output("play", "--seed", "4", typed=f"{text.upper()}\nq\n")
    assert f"seat 0 (you) {text.replace('discard', 'discards')}" in told


def test_the_end_of_the_input_ends_the_game() -> None:
    assert "Goodbye" in output("play", "--seed", "4", typed="1\n")


def test_a_game_broken_off_is_kept_as_far_as_it_went(tmp_path: Path) -> None:
    file = tmp_path / "game.jsonl"
    assert "Goodbye" in output("play", "--seed", "4", "--out", file, typed="1\nq\n")
    assert output("replay", file, "--verify").endswith("OK: 1 game\n")


def test_ascii_play_shows_letters_only() -> None:
    assert output("play", "--seed", "4", "--ascii", typed="1\n1\n1\n?\nq\n").isascii()


def test_a_forced_colour_terminal_gets_colours_and_no_color_gets_none() -> None:
    typed = "1\n1\n1\nq\n"
    assert ESCAPE in output("play", "--seed", "4", typed=typed, FORCE_COLOR="1")
    plain = output("play", "--seed", "4", typed=typed, FORCE_COLOR="1", NO_COLOR="1")
    assert ESCAPE not in plain


def test_an_impossible_seat_is_refused() -> None:
    done = command("play", "--seat", "2")
    assert done.returncode == 2
    assert done.stderr == "keltis-ladder: there is no seat 2 at a table of 2: 0 to 1\n"
