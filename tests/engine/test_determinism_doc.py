"""docs/readers/determinism.md is enough to reproduce the engine: its code and vectors are run."""

import re
from collections import Counter
from typing import Any

import pytest

from keltis_engine import VARIANTS, find_variant
from keltis_engine import Rng as EngineRng
from keltis_engine.rng import DealStream as EngineStream
from tests.engine.support.positions import TABLES, played
from tests.places import ROOT

PAGE = (ROOT / "docs/readers/determinism.md").read_text("utf-8")
SEEDS = [0, 1, 2008, 2**64, 2**128 - 1]


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """Return what the page's code defines."""
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        exec(block, names)
    return names


def vectors(title: str) -> dict[str, dict[str, str]]:
    """Return the entries of a block of vectors: a name, and under it its labelled lines."""
    found = re.search(rf"<!-- vectors: {title} -->\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    entries: dict[str, dict[str, str]] = {}
    name = ""
    for line in found.group(1).splitlines():
        if line.startswith("    "):
            label, text = line.split(maxsplit=1)
            entries[name][label] = text
        else:
            name = line
            entries[name] = {}
    return entries


# The page's code does what the engine does


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_the_pages_deal_is_the_engines(
    page: dict[str, Any], variant: str, players: int, seed: int
) -> None:
    deal = page["deal"](variant, players, seed)
    view = find_variant(variant).deal(players, seed).reveal()
    assert deal["streams"] == view["pile"]["cards"]
    assert deal["tiles"] == view.get("tiles", {})
    if variant != "weg-der-steine":
        assert deal["removed"] == view["removed"]["cards"]
        for hand, dealt in zip(view["hands"], deal["hands"], strict=True):
            assert Counter(hand["cards"]) == Counter(dealt)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_pages_generator_is_the_engines(page: dict[str, Any], seed: int) -> None:
    ours, theirs = EngineRng(seed), page["Rng"](seed)
    for n in [*range(1, 200), 1_500_000_000, 2**31] * 3:
        assert ours.word() == theirs.word()
        assert ours.below(n) == theirs.below(n)


def test_the_highest_words_overflow_nowhere(page: dict[str, Any]) -> None:
    ours, theirs = EngineRng(), page["Rng"](0)
    ours.set_state(*[2**32 - 1] * 4)
    theirs.s = [2**32 - 1] * 4
    assert [ours.word() for _ in range(100)] == [theirs.word() for _ in range(100)]


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_the_pages_guess_is_the_engines(page: dict[str, Any], variant: str, players: int) -> None:
    state = played(variant, players, 4, "random", 60)
    numbers = {name: k for k, name in reversed(list(enumerate(page["unshuffled_deck"](variant))))}
    for seat in range(players):
        view = state.reveal()
        hands = view.get("hands", [])
        hidden = [list((Counter(h["cards"]) - Counter(h["known"])).elements()) for h in hands]
        sizes = [0 if k == seat else len(cards) for k, cards in enumerate(hidden)]
        streams = view["pile"]["cards"]
        removed = view["removed"]["cards"] if hands else []
        places = [*(cards for k, cards in enumerate(hidden) if k != seat), *streams, removed]
        unseen = sorted((c for cards in places for c in cards), key=numbers.__getitem__)
        rng = page["Rng"](seat)
        page["DealStream"].shuffle(rng, unseen)
        cards = iter(unseen)
        dealt = [[next(cards) for _ in range(size)] for size in sizes]
        expected_streams = [[next(cards) for _ in stream][::-1] for stream in streams]
        guess = state.determinize(seat, EngineRng(seat)).reveal()
        assert guess["pile"]["cards"] == expected_streams
        if hands:
            assert guess["removed"]["cards"] == list(cards)
            for k, (hand, filled) in enumerate(zip(guess["hands"], dealt, strict=True)):
                whole = hands[seat]["cards"] if k == seat else hand["known"] + filled
                assert Counter(hand["cards"]) == Counter(whole)


# The page's vectors are the engine's


def test_the_words_of_the_page() -> None:
    found = re.search(r"<!-- vectors: words -->\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    lines = found.group(1).splitlines()
    assert len(lines) == 8
    for name, words in zip(lines[::2], lines[1::2], strict=True):
        stream = EngineStream(name)
        assert [f"{stream.word():08x}" for _ in words.split()] == words.split()


def test_the_deals_of_the_page(page: dict[str, Any]) -> None:
    entries = vectors("deals")
    assert list(entries) == [f"{variant} {players}" for variant, players in TABLES]
    for name, lines in entries.items():
        variant, players = name.split()
        view = find_variant(variant).deal(int(players), 2008).reveal()
        assert lines["draws"].split() == [stream[0] for stream in view["pile"]["cards"]]
        if "tiles" in view:
            placed = lines["tiles"].split(", ")
            assert [tuple(text.split(maxsplit=1)) for text in placed] == list(
                view["tiles"].items()
            )[: len(placed)]
        if "hands" in view:
            hand = lines["hand"].split()
            assert Counter(hand) == Counter(view["hands"][0]["cards"])
            assert hand == page["deal"](variant, int(players), 2008)["hands"][0]


def test_the_numbers_of_the_page() -> None:
    entries = vectors("xoshiro")
    assert len(entries) == 5
    for name, lines in entries.items():
        for label, text in lines.items():
            rng = generator(name)
            numbers = [int(rng.word() if label == "words" else rng.below(6)) for _ in text.split()]
            assert numbers == [int(number) for number in text.split()]


def generator(name: str) -> EngineRng:
    kind, *numbers = name.split()
    if kind == "seed":
        return EngineRng(int(numbers[0]))
    rng = EngineRng()
    rng.set_state(*(int(number) for number in numbers))
    return rng


def test_the_page_names_every_variant() -> None:
    assert all(f"`{variant}`" in PAGE for variant in VARIANTS)
