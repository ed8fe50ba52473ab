"""The narrator in a browser tells what the narrator in a terminal tells."""

from __future__ import annotations

import re

import pytest

from keltis_cli.draw.narrator import BIG, SMALL, Step, clauses, closing
from keltis_engine import POST_GAME, SPECTATORS, VARIANTS, View
from tests.server.web.support.browsing import Gallery, needs_chromium
from tests.server.web.support.positions import Story, story

pytestmark = needs_chromium


def stories(variant: str) -> list[Story]:
    """Games in which all kinds of decisions occur."""
    return [
        story(variant, 2, seed=21, viewer=SPECTATORS),
        story(variant, 3, seed=22, viewer=POST_GAME),
        story(variant, 2, seed=23, viewer=0, skill="random"),
    ]


def asked(told: Story, language: str) -> list[dict[str, object]]:
    """Return what the narrator is given for each decision of a game."""
    return [
        {
            "notation": step.notation,
            "name": "Heron",
            "before": before,
            "after": step.view,
            "language": language,
        }
        for before, step in zip(told.views, told.steps, strict=False)
    ]


def in_a_terminal(before: View, notation: str, after: View) -> str:
    """Return the sentence of the terminal's narrator for one decision alone."""
    step = Step(before, notation, after)
    told = clauses(step)
    if notation in ("keep", "leave") and before.get("revealed"):
        # The terminal tells whole turns, in which the tile has just been named.
        told[0] = told[0].replace(" it ", f" {before['revealed']} ", 1)
    colon = ":" if told[0].startswith((BIG, SMALL)) else ""
    return f"Heron{colon} {'; '.join(told)}.{closing(step)}"


def is_way(notation: str) -> bool:
    """Return whether a decision is where a figure goes."""
    return notation.startswith(("move ", "clover "))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_decision_is_told_as_in_the_terminal(gallery: Gallery, variant: str) -> None:
    for told in stories(variant):
        sentences = gallery.ask("narrations", asked(told, "en"))
        wanted = [
            in_a_terminal(before, step.notation, step.view)
            for before, step in zip(told.views, told.steps, strict=False)
            if clauses(Step(before, step.notation, step.view))
        ]
        # A way that two figures may take is chosen first; in a terminal the whole turn tells it.
        ways = [step.notation.split()[1].split("-") for step in told.steps if is_way(step.notation)]
        chosen = [said for said in sentences if "chooses the way" in said]
        assert [said for said in sentences if said not in chosen] == wanted
        assert len(chosen) == len(sentences) - len(wanted)
        for said in chosen:
            start, end = re.findall(r"from (?:the )?(\w+) to (\w+)\.", said)[0]
            assert [start, end] in ways


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_decision_has_a_sentence_in_german(gallery: Gallery, variant: str) -> None:
    for told in stories(variant)[1:]:
        english = gallery.ask("narrations", asked(told, "en"))
        german = gallery.ask("narrations", asked(told, "de"))
        for ours, theirs in zip(english, german, strict=True):
            assert ours != theirs
            assert not re.search("undefined|null|NaN|object", theirs)
            # Both name the same cards and fields, in whatever order.
            names = r"\b(?:[RYVGBP](?:10|\d|E)|\d+[a-e])\b"
            assert sorted(re.findall(names, ours)) == sorted(re.findall(names, theirs))
