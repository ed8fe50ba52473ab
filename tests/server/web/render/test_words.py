"""Texts of the pages: both languages have all, and none is left over."""

from __future__ import annotations

import re
from string import Formatter

import pytest

from keltis_engine.state.state import ENDINGS
from keltis_ladder.match.reasons import WORDS, MatchReason
from keltis_ladder.match.table_labels import ONE_OF_SEVERAL, TableCode
from keltis_ladder.match.table_labels import WORDS as LABEL_WORDS
from keltis_ladder.store.schema.version_states import TRANSITIONS, VersionCause, VersionState
from keltis_server.live.channels.match import RESTARTED
from keltis_server.models.tournaments import LabelOut
from keltis_server.web.render.assets import DIRECTORY
from keltis_server.web.render.rendering import TEMPLATES
from keltis_server.web.render.words import LANGUAGES, Words, words_of


def fields(text: str) -> set[str]:
    """Return the names of the values that a text has places for."""
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_the_same_texts_with_the_same_places() -> None:
    english, german = (words_of(language).texts for language in ("en", "de"))
    assert english.keys() == german.keys()
    for name, text in english.items():
        assert text.strip(), name
        assert german[name].strip(), name
        assert fields(text) == fields(german[name]), name
        assert re.findall("</?[a-z]+", text) == re.findall("</?[a-z]+", german[name]), name


def test_no_text_is_missing_and_none_is_left_over() -> None:
    known = words_of("en").texts
    templates = "\n".join(path.read_text() for path in TEMPLATES.glob("*.html"))
    modules = [path.read_text() for path in DIRECTORY.rglob("*.js")]
    scripts = "\n".join(text for text in modules if "words.js" in text)
    used = set(re.findall(r"""\bt\('([a-z]+\.\w+)'[,)]""", templates))
    assert used
    assert used <= known.keys(), used - known.keys()
    said = {f"script.{name}" for name in re.findall(r"""\bsay\("(\w+)\"""", scripts)}
    assert said
    assert said <= known.keys(), said - known.keys()
    looked_up = {"variant", "state", "purpose", "fault", "ending", "reason", "format", "bracket"}
    looked_up |= {"label", "source", "component"}
    looked_up |= {"months", "language", "theme", "nav", "scope", "problem", "match", "rules"}
    everything = templates + scripts
    stems = tuple(re.findall(r"`(\w+_)\$\{", scripts))  # of names that scripts put together
    for name in known:
        section, _, last = name.partition(".")
        if section not in looked_up:
            said_whole = re.search(rf"\b{last}\b", everything)
            assert said_whole or last.startswith(stems), f"{name} is said nowhere"


@pytest.mark.parametrize(
    ("language", "value", "digits", "text"),
    [
        ("en", 1234567, 0, "1\u202f234\u202f567"),
        ("de", 1234.56, 1, "1\u202f234,6"),
        ("en", -3.25, 1, "\u22123.2"),
        ("en", -0.01, 1, "0.0"),
    ],
)
def test_numbers_are_written_as_people_write_them(
    language: str, value: float, digits: int, text: str
) -> None:
    assert words_of(language).number(value, digits) == text


@pytest.mark.parametrize(
    ("code", "details", "text"),
    [
        ("winners-round", {"number": 2, "table": 1}, "Runde 2 der Sieger, Tisch 1"),
        ("round-of", {"number": 16, "table": 3}, "Runde der letzten 16, Tisch 3"),
        ("round-of", {"number": 16}, "Runde der letzten 16"),
        ("semi-final", {"table": 2}, "Halbfinale 2"),
        ("grand-final-again", {}, "Großes Finale, noch einmal"),
    ],
)
def test_what_a_table_is_called_is_said_in_the_language_of_the_reader(
    code: str, details: dict[str, str | int], text: str
) -> None:
    assert words_of("de").table(code, details) == text
    label = LabelOut(code=code, details=details)
    assert words_of("de").source("winner", None, label) == f"Sieger: {text}"
    assert words_of("de").source("seed", 3, None) == "Gesetzt: 3"


def test_every_table_has_words_in_each_language() -> None:
    for language in ("en", "de"):
        words = words_of(language)
        for code in TableCode:
            assert words.table(code, {"number": 2})
        for code in ONE_OF_SEVERAL:
            assert words.table(code, {"number": 2, "table": 3})
    english = words_of("en").texts
    assert {f"label.{code}": text for code, text in LABEL_WORDS.items()} == {
        name: text
        for name, text in english.items()
        if name.startswith("label.") and not name.endswith("-table")
    }


@pytest.mark.parametrize(
    ("code", "details", "text"),
    [
        ("", {}, ""),
        ("not-met", {}, "Sie haben sich lange nicht getroffen"),
        ("first-of-variant", {"variant": "keltis"}, "Ein erstes Match: Keltis"),
        ("share", {"variant": "kartenspiel", "players": 3}, "An der Reihe: Das Kartenspiel zu 3"),
        ("challenge", {"author": "maeve"}, "Eine Herausforderung von maeve"),
        ("challenge", {}, "Eine Herausforderung"),
        ("tournament", {"tournament": "b: c", "label": "final"}, "b: c: Finale"),
        (
            "tournament",
            {"tournament": "cup", "label": "round", "number": 2, "table": 1},
            "cup: Runde 2, Tisch 1",
        ),
    ],
)
def test_why_a_match_is_played_is_said_in_the_language_of_the_reader(
    code: str, details: dict[str, str | int], text: str
) -> None:
    assert words_of("de").reason(code, details) == text


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_reason_has_words_in_each_language(language: str) -> None:
    texts = words_of(language).texts
    assert {f"reason.{code}" for code in MatchReason} <= texts.keys()
    assert WORDS.keys() == set(MatchReason)


@pytest.mark.parametrize("language", LANGUAGES)
def test_scripts_can_say_why_a_version_is_broken_and_how_a_game_ended(language: str) -> None:
    said = words_of(language).for_scripts
    causes = {cause for (_, cause), to in TRANSITIONS.items() if to is VersionState.BROKEN}
    details: dict[VersionCause, set[str]] = {
        VersionCause.FAILED: {"text"},
        VersionCause.UNPREPARED: {"text"},
        VersionCause.FAULTS: {"faults", "matches"},
    }
    assert causes == details.keys()
    for cause in causes:
        wanted = {"bot", "number", *details[cause]}
        assert fields(said[f"broken_{cause}"]) == wanted
    assert fields(said["broken_faults_rated"]) == fields(said["broken_faults"])
    assert {f"ending.{ending}" for ending in ENDINGS} <= said.keys()
    assert f"view_restarted_{RESTARTED['reason_code']}" in said


def test_values_in_texts_with_tags_cannot_bring_tags() -> None:
    words = Words("en", {"a": {"b_html": "<b>{name}</b>"}})
    assert words("a.b_html", name="<i>") == "<b>&lt;i&gt;</b>"
