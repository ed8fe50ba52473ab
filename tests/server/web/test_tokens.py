"""The colours of both themes can be told from what they lie on."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.server.web.support.browsing import STATIC

LIGHT, DARK = 0, 1
PAPERS: Final = ("paper", "surface", "sunken")
GAMES: Final = "ryvgbp"
PLAYERS: Final = range(4)


def tokens() -> dict[str, tuple[str, str]]:
    """Return each colour token by day and by dusk."""
    text = (STATIC / "css" / "tokens.css").read_text(encoding="utf-8")
    colours = {}
    for name, value in re.findall(r"--([\w-]+): ([^;]+);", text):
        found = re.findall(r"#[0-9a-f]{6}", value)
        if found:
            colours[name] = (found[0], found[-1])
    return colours


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG."""
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_texts_are_legible_on_every_paper(theme: int) -> None:
    colours = tokens()
    for name in ("ink", "muted", "accent", "good", "caution", "bad"):
        for paper in PAPERS:
            assert contrast(colours[name][theme], colours[paper][theme]) >= 4.5, (name, paper)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_outlines_of_games_and_players_stand_out_from_every_paper(theme: int) -> None:
    colours = tokens()
    lines = [f"game-{letter}-line" for letter in GAMES]
    lines += [f"player-{seat}-line" for seat in PLAYERS]
    for name in [*lines, "line-strong", "focus"]:
        for paper in PAPERS:
            assert contrast(colours[name][theme], colours[paper][theme]) >= 3, (name, paper)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_what_is_drawn_on_a_colour_stands_out_from_it(theme: int) -> None:
    colours = tokens()
    fills = [f"game-{letter}" for letter in GAMES] + [f"player-{seat}" for seat in PLAYERS]
    for name in [*fills, "accent"]:
        assert contrast(colours[f"{name}-ink"][theme], colours[name][theme]) >= 4.5, name
    assert contrast(colours["tile-ink"][theme], colours["tile"][theme]) >= 4.5
