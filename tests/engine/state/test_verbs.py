"""Each game declares what its actions give away: completely, truly, and as it always was."""

import importlib.util
import re
from pathlib import Path

import pytest
from hypothesis import given, settings

from keltis_engine import VARIANTS, find_variant
from keltis_engine.errors import BadGame
from keltis_engine.games import kartenspiel, keltis, neue_wege, weg_der_steine
from keltis_engine.state.state import Game as EngineGame
from keltis_engine.state.verbs import (
    NO_CARD,
    OPEN_CARD,
    OPEN_TIME,
    OWN_CARD,
    OWN_TIME,
    ActionTable,
    Verb,
)
from tests.engine.support.declared import declared
from tests.engine.support.positions import EXAMPLES, Game, games
from tests.places import ROOT

MODULES = {
    keltis.ID: "keltis",
    neue_wege.ID: "neue_wege",
    kartenspiel.ID: "kartenspiel",
    weg_der_steine.ID: "weg_der_steine",
}
DECLARED = {
    variant.id: verbs
    for variant, verbs in zip(
        VARIANTS.values(),
        (keltis.VERBS, neue_wege.VERBS, kartenspiel.VERBS, weg_der_steine.VERBS),
        strict=True,
    )
}
CARDS = {"none": NO_CARD, "all": OPEN_CARD, "seat": OWN_CARD}
TIMES = {"all": OPEN_TIME, "seat": OWN_TIME}

# The one word that was guessed wrongly: in other games "take" brings a card that the notation does
# not name. Here it names the tile, ``outcome`` has none, and so nothing was ever sent.
NAMED_BY_NOTATION = ("weg-der-steine", "take")

LAY_AND_DRAW = [Verb("lay", NO_CARD, OPEN_TIME), Verb("draw", OWN_CARD, OPEN_TIME)]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_action_hides_what_it_always_hid(variant: str) -> None:
    ruleset = find_variant(variant)
    rows = declared(variant)
    assert [ruleset.format(action) for action in range(ruleset.actions)] == [
        row.notation for row in rows
    ]
    assert ruleset.time_sight == [TIMES[row.time] for row in rows]
    assert ruleset.card_sight == [
        NO_CARD if (variant, row.verb) == NAMED_BY_NOTATION else CARDS[row.card] for row in rows
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_caretaker_prefers_what_it_always_preferred(variant: str) -> None:
    places = [row.caretaker for row in declared(variant)]
    order = sorted(set(places))
    assert find_variant(variant).caretaker_ranks == [order.index(place) for place in places]


@settings(max_examples=EXAMPLES)
@given(games(to_the_end=True))
def test_exactly_the_declared_actions_bring_a_card(game: Game) -> None:
    sight = game.ruleset.card_sight
    for state in game.states():
        for action in state.legal_actions():
            assert (state.outcome(action) is not None) == (sight[action] != NO_CARD)


@settings(max_examples=EXAMPLES)
@given(games(to_the_end=True))
def test_a_card_for_the_seat_alone_shows_in_no_other_view(game: Game) -> None:
    """And a card for everybody shows in the view of a spectator: in a hand, or on the table."""
    sight = game.ruleset.card_sight
    for state in game.states():
        for action in state.legal_actions():
            card = state.outcome(action)
            if card is None:
                continue
            after = state.copy()
            after.apply(action)
            seat = int(state.seat)
            if sight[action] == OWN_CARD:
                before, now = (each.view("spectators")["hands"][seat] for each in (state, after))
                assert now["known"] == before["known"]
                assert card in after.view(seat)["hands"][seat]["cards"]
            else:
                assert f"'{card}'" in repr(after.view("spectators"))


# A declaration that is not complete


def source_of(variant: str) -> str:
    return (ROOT / f"engine/keltis_engine/games/{MODULES[variant]}.py").read_text("utf-8")


def import_source(source: str, path: Path) -> None:
    """Import a game's module from a changed source."""
    path.write_text(source, "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


@pytest.mark.parametrize(
    ("variant", "word"),
    [(variant, verb.word) for variant, verbs in DECLARED.items() for verb in verbs],
)
def test_a_game_that_leaves_out_a_verb_cannot_be_imported(
    variant: str, word: str, tmp_path: Path
) -> None:
    changed, count = re.subn(rf'\n    Verb\("{word}", [^\n]*', "", source_of(variant))
    assert count == 1
    first = next(row for row in declared(variant) if row.verb == word)
    missing = f"{variant} does not declare what {first.notation!r} (action {first.action}) gives"
    with pytest.raises(BadGame, match=re.escape(missing)):
        import_source(changed, tmp_path / "changed_game.py")


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_game_with_a_new_action_cannot_be_imported_until_it_is_declared(
    variant: str, tmp_path: Path
) -> None:
    end_of_notation = r"\n\)\n\n((?:#[^\n]*\n)*VERBS:)"
    another = r'\n    + ["peek at the pile"]\n)\n\n\1'
    changed, count = re.subn(end_of_notation, another, source_of(variant))
    assert count == 1
    with pytest.raises(BadGame, match="does not declare what 'peek at the pile'"):
        import_source(changed, tmp_path / "changed_game.py")


def test_no_game_is_made_without_its_declarations() -> None:
    with pytest.raises(BadGame, match=r"'lay R1' \(action 0\).*add the verb 'lay'"):
        EngineGame("chess", 1, ["over"], ["lay R1"], [])


@pytest.mark.parametrize("variant", VARIANTS)
def test_rulesets_have_every_action(variant: str) -> None:
    ruleset = find_variant(variant)
    for by_action in (ruleset.card_sight, ruleset.time_sight, ruleset.caretaker_ranks):
        assert len(by_action) == ruleset.actions


def test_an_action_table_looks_up_the_verb_of_each_action() -> None:
    table = ActionTable("chess", ["draw", "lay R1", "lay R2"], LAY_AND_DRAW)
    assert table.card_sight == [OWN_CARD, NO_CARD, NO_CARD]
    assert table.time_sight == [OPEN_TIME] * 3
    assert table.caretaker_ranks == [1, 0, 0]


def test_a_verb_that_no_action_has_is_refused() -> None:
    with pytest.raises(BadGame, match="chess declares the verb 'draw', but no action begins"):
        ActionTable("chess", ["lay R1"], LAY_AND_DRAW)


def test_a_verb_that_is_declared_twice_is_refused() -> None:
    with pytest.raises(BadGame, match="chess declares the verb 'lay' twice"):
        ActionTable("chess", ["lay R1", "draw"], [*LAY_AND_DRAW, LAY_AND_DRAW[0]])


def test_a_verb_says_who_sees_its_card_and_its_time() -> None:
    with pytest.raises(BadGame, match="the card of verb 'lay' cannot be 3"):
        Verb("lay", 3, OPEN_TIME)
    with pytest.raises(BadGame, match="the time of verb 'lay' cannot be 2"):
        Verb("lay", NO_CARD, 2)
