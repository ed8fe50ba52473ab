"""The boards in a browser show what views have, no more and no less."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Any, Final

import pytest

from keltis_engine import POST_GAME, SPECTATORS, VARIANTS, View
from keltis_engine.cards.kinds import LETTERS
from keltis_server.web.render.boards_data import FILE, module_text
from tests.server.web.support.browsing import Gallery, needs_chromium
from tests.server.web.support.positions import Story, story

pytestmark = needs_chromium

SYMBOLS: Final = {
    "R": "spiral", "Y": "sun", "V": "triskele", "G": "leaf", "B": "wave", "P": "points",
}  # fmt: skip
TILES: Final = [f"{letter}{value}" for letter in LETTERS for value in range(11)]


@cache
def stories() -> list[Story]:
    """Games of every variant, for every number of players, seen by all kinds of viewers."""
    return [
        story(variant, players, seed=players, viewer=viewer)
        for variant in VARIANTS
        for players, viewer in ((2, SPECTATORS), (3, POST_GAME), (4, 1))
    ]


def some(views: list[View], step: int) -> list[View]:
    """Return each so-manieth view, and the last."""
    return [*views[:-1:step], views[-1]]


def test_the_data_for_browsers_is_that_of_the_engine() -> None:
    assert FILE.read_text(encoding="utf-8") == module_text()


def test_everything_in_a_view_is_on_the_drawing(gallery: Gallery) -> None:
    seen = 0
    for told in stories():
        views = some(told.views, 9)
        for view, summary in zip(views, gallery.ask("summaries", views), strict=True):
            assert summary == expected(view), f"{told.variant}, turn {view['turn']}"
            seen += 1
    assert seen > 150


def expected(view: View) -> dict[str, Any]:
    """Return what the drawing of a view has to have."""
    on_board = "figures" in view
    on_table = view["variant"] == "kartenspiel"
    hands = view.get("hands", [])
    piles = [
        f"{letter} {cards[-1] if cards else ''} {len(cards)} {_js(letter in view['closed'])}"
        for letter, cards in view.get("piles", {}).items()
    ]
    size = [str(view["pile"]["size"])]
    return {
        "figures": sorted(_figures(view)) if on_board else [],
        "tiles": sorted(f"{field} {tile}" for field, tile in view.get("tiles", {}).items()),
        "stacks": sorted(f"{f} {count}" for f, count in view.get("stacks", {}).items() if count),
        "goal": view.get("in_goal", 0),
        "places": _places(view),
        "wishRow": sorted(map(str, view.get("wish_row", []))),
        "wishes": sorted(
            f"{seat} {stone}"
            for seat, stones in enumerate(view["wish_stones"] if on_table else [])
            for stone in stones
        ),
        "tableRows": sorted(_table_rows(view)) if on_table else [],
        "tablePiles": sorted(pile for pile in piles if "  0" not in pile) if on_table else [],
        "tableDraw": size if on_table else [],
        "rows": [{}] * view["players"] if on_table else view["rows"],
        "hands": [_hand(hand) for hand in hands],
        "piles": [] if on_table else sorted(piles),
        "draw": [] if on_table else size,
        "scores": view["scores"],
        "deciding": [] if view["phase"] == "over" else [view["seat"]],
        "cards": sorted(cards_in(view)),
    }


def _js(value: bool) -> str:
    return str(value).lower()


def _figures(view: View) -> list[str]:
    return [
        f"{seat} {size} {field}"
        for seat, figures in enumerate(view["figures"])
        for size, field in [("big", figures["big"]), *(("small", f) for f in figures["small"])]
    ]


def _places(view: View) -> dict[str, str]:
    if "middle" not in view:
        return {}
    taken = {tile for rows in view["rows"] for row in rows.values() for tile in row}
    places = {tile: "taken" if tile in taken else "down" for tile in TILES}
    places |= dict.fromkeys(view["middle"], "open")
    if view["revealed"] is not None:
        places[view["revealed"]] = "revealed"
    assert list(places.values()).count("down") == view["pile"]["size"]
    return places


def _table_rows(view: View) -> list[str]:
    rows = [
        f"{seat} {letter} {card}"
        for seat, own in enumerate(view["rows"])
        for letter, cards in own.items()
        for card in cards
    ]
    points = [f"{seat} P {c}" for seat, cards in enumerate(view["points_rows"]) for c in cards]
    return rows + points


def _hand(hand: dict[str, Any]) -> dict[str, Any]:
    if hand["cards"] is not None:
        return {"open": hand["cards"], "seen": [], "backs": 0}
    return {"open": [], "seen": hand["known"], "backs": hand["size"] - len(hand["known"])}


def cards_in(view: View) -> set[str]:
    """Return the cards that a drawing may name: rows, open or known hands, tops of piles."""
    cards = {card for rows in view["rows"] for row in rows.values() for card in row}
    cards |= {card for row in view.get("points_rows", []) for card in row}
    cards |= {pile[-1] for pile in view.get("piles", {}).values() if pile}
    for hand in view.get("hands", []):
        cards |= set(hand["known"] if hand["cards"] is None else hand["cards"])
    return cards


@pytest.mark.parametrize("small", [False, True])
def test_a_drawing_that_was_changed_is_the_same_as_a_fresh_one(
    gallery: Gallery, small: bool
) -> None:
    for told in stories():
        # Decision by decision, and in leaps backwards, as a reader scrubs.
        views = [*told.views[40:54], *some(told.views, 25)[::-1], told.views[-1]]
        assert gallery.ask("differences", views, {"small": small}) == [], told.variant


def test_no_hidden_card_is_in_the_page(gallery: Gallery) -> None:
    """The markup names no card but those that lie open to this viewer, in any attribute or text."""
    for told in stories():
        if told.variant == "weg-der-steine":
            continue  # has no hands; the backs of its tiles are all alike
        views = some(told.views, 20)
        for view, markup in zip(views, gallery.ask("markups", views), strict=True):
            told_cards = re.sub(r'data-field="\w+"', "", markup)  # stones are named like cards
            named = set(re.findall(r"\b[RYVGBP](?:10|\d|E)\b", told_cards))
            in_piles = {card for pile in view["piles"].values() for card in pile}
            assert named <= cards_in(view) | in_piles


def test_every_card_has_the_colour_and_the_symbol_of_its_letter(gallery: Gallery) -> None:
    seen = 0
    for told in stories():
        for sign in gallery.ask("signs", some(told.views, 30)):
            letter = sign["letter"]
            assert set(SYMBOLS.values()) & set(sign["symbols"]) == {SYMBOLS[letter]}
            assert {f"card-{letter}", f"fill-{letter}"} & set(sign["classes"])
            seen += 1
    assert seen > 500


def moving_pair(variant: str) -> tuple[View, View]:
    """Return two views between which a figure walks or a row grows."""
    views = story(variant, 2, seed=3).views
    for before, after in pairwise(views[20:]):
        if before.get("figures") != after.get("figures") or before["rows"] != after["rows"]:
            return before, after
    raise AssertionError("nothing moves in this game")


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_decision_is_shown_as_motion_that_comes_to_rest(gallery: Gallery, variant: str) -> None:
    shown = gallery.ask("motion", *moving_pair(variant))
    assert shown["moving"] > 0
    assert shown["isAtRest"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_nothing_moves_for_readers_who_want_stillness(gallery: Gallery, variant: str) -> None:
    gallery.set_stillness(True)
    shown = gallery.ask("motion", *moving_pair(variant))
    gallery.set_stillness(False)
    assert shown == {"moving": 0, "isAtRest": True}


@pytest.mark.parametrize("variant", ["kartenspiel", "weg-der-steine"])
def test_a_table_is_arranged_anew_when_it_gets_narrow(gallery: Gallery, variant: str) -> None:
    view = story(variant, 3, seed=1).views[-1]
    gallery.set_width(1200)
    wide = gallery.ask("kept", view)
    gallery.set_width(360)
    narrow = gallery.ask("keptNow")
    gallery.set_width(1200)
    again = gallery.ask("keptNow")
    assert narrow["form"] != wide["form"] == again["form"]
    assert narrow["summary"] == wide["summary"] == again["summary"] == expected(view)
    assert narrow["overflow"] == 0


def test_a_view_is_told_in_both_languages(gallery: Gallery) -> None:
    for told in stories():
        views = some(told.views, 20)
        english = gallery.ask("descriptions", views, "en")
        german = gallery.ask("descriptions", views, "de")
        for view, *texts in zip(views, english, german, strict=True):
            assert texts[0] != texts[1]
            for text in texts:
                assert not re.search("undefined|null|NaN|object", text)
                assert all(f" {score} " in text for score in view["scores"])


def test_a_frame_is_shown_in_a_moment(gallery: Gallery) -> None:
    """Prints how long frames take. The bound is loose: other work may run on the machine."""
    for variant in VARIANTS:
        views = story(variant, 4, seed=9).views[:60]
        for kind in ("still", "animated"):
            times = sorted(gallery.ask("durations", views, {"animate": kind == "animated"}))
            middle, high = times[len(times) // 2], times[int(len(times) * 0.95)]
            print(f"{variant:15} {kind:9} median {middle:.2f} ms, 95 % {high:.2f} ms")
            assert middle < 10
