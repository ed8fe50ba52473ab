"""The documents say what the code does."""

from __future__ import annotations

import re

import pytest

from keltis_engine import VARIANTS, Rng, find_variant
from keltis_engine.play.policies import POLICIES
from keltis_engine.records.replay import EXPANDED_FORMAT, FORMAT
from tests.places import ROOT

DOCS = ROOT / "docs"
ROW = re.compile(r"^\| (\d+)(?:-(\d+))? \| ([a-z-]+) \| `([^`]+)` \| `([^`]+)` \|", re.MULTILINE)


def section(variant: str) -> str:
    text = (DOCS / "readers/notation.md").read_text(encoding="utf-8")
    return text.split(f"## `{variant}`\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_notation_tables_cover_every_id_once(variant: str) -> None:
    ruleset = find_variant(variant)
    expected = 0
    for first, last, _, first_text, last_text in ROW.findall(section(variant)):
        assert int(first) == expected
        expected = int(last or first) + 1
        assert ruleset.format(int(first)) == first_text
        assert ruleset.format(int(last or first)) == last_text
    assert expected == ruleset.actions


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_notation_tables_name_the_phase_of_every_id(variant: str) -> None:
    phase_of = {
        action: phase
        for first, last, phase, _, _ in ROW.findall(section(variant))
        for action in range(int(first), int(last or first) + 1)
    }
    rng = Rng(7)
    for seed in range(4):
        state = find_variant(variant).deal(2 + seed % 3, seed)
        while not state.over:
            assert {phase_of[action] for action in state.legal_actions()} == {state.phase}
            state.apply(POLICIES["eager"](state, rng))


def test_the_replay_page_names_the_formats() -> None:
    text = (DOCS / "readers/replay.md").read_text(encoding="utf-8")
    assert f'"{FORMAT}"' in text
    assert f'"{EXPANDED_FORMAT}"' in text


def test_the_python_in_the_engines_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (DOCS / "authors/engine.md").read_text(encoding="utf-8")
    programs = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    (program,) = (program for program in programs if "keltis_engine" in program)
    exec(compile(program, "engine.md", "exec"), {})
    assert capsys.readouterr().out.startswith("0 turn ['lay ")
