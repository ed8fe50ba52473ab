"""The words of the pages in each language, and how its numbers and moments are written."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from markupsafe import Markup, escape

from keltis_ladder.match.reasons import MatchReason
from keltis_server.models.tournaments import LabelOut

DIRECTORY: Final = Path(__file__).parents[1] / "words"
LANGUAGES: Final = ("en", "de")
DEFAULT: Final = "en"
COOKIE: Final = "language"
MARKED_UP: Final = "_html"  # ends the names of texts that have tags of their own
FOR_SCRIPTS: Final = ("script", "variant", "fault", "ending")  # the sections that browsers get
_MINUS: Final = "\N{MINUS SIGN}"
MOST_LIKELY: Final = 0.99  # a probability that is shown
_NARROW: Final = "\N{NARROW NO-BREAK SPACE}"


class Words:
    """All texts in one language, by ``section.name``."""

    def __init__(self, language: str, sections: dict[str, dict[str, str]]) -> None:
        self.language = language
        self.texts = {
            f"{section}.{name}": text
            for section, texts in sections.items()
            for name, text in texts.items()
        }
        self.for_scripts = {
            name.removeprefix("script."): text
            for name, text in self.texts.items()
            if name.partition(".")[0] in FOR_SCRIPTS
        }

    def __call__(self, name: str, /, **values: Any) -> str:
        """Return a text with its values put in; a text that is missing is an internal error."""
        text = self.texts[name]
        if name.endswith(MARKED_UP):
            safe = {key: escape(value) for key, value in values.items()}
            return Markup(text.format(**safe))
        return text.format(**values)

    def of(self, section: str, name: str) -> str:
        """Return the word for something that has a name in the code; the name if there is none."""
        return self.texts.get(f"{section}.{name}", name)

    def reason(self, code: str, details: Mapping[str, str | int]) -> str:
        """Return why a match is played; details that are called like a section are looked up."""
        if not code:
            return ""
        if code == MatchReason.CHALLENGE and not details:
            return self.texts["reason.somebodys-challenge"]
        parts = {name: self.of(name, str(value)) for name, value in details.items()}
        if code == MatchReason.TOURNAMENT:
            parts["label"] = self.table(str(details["label"]), details)
        return self.texts[f"reason.{code}"].format(**parts)

    def table(self, code: str, details: Mapping[str, str | int]) -> str:
        """Return what a table of a tournament is called."""
        name = f"label.{code}-table" if "table" in details else f"label.{code}"
        return self.texts[name].format(**details)

    def source(self, kind: str, seed: int | None, label: LabelOut | None) -> str:
        """Return where an entrant of a table comes from."""
        table = None if label is None else self.table(label.code, label.details)
        return self.texts[f"source.{kind}"].format(seed=seed, table=table)

    def number(self, value: float, digits: int = 0) -> str:
        """Return a number as people write it."""
        text = f"{abs(value):,.{digits}f}"
        if self.language == "de":
            text = text.replace(",", _NARROW).replace(".", ",")
        else:
            text = text.replace(",", _NARROW)
        below = value < 0 and any(digit in text for digit in "123456789")
        return _MINUS + text if below else text

    def percent(self, share: float) -> str:
        """Return a share of one as percent."""
        return f"{self.number(100 * share)}{_NARROW}%"

    def likely(self, chance: float) -> str:
        """Return a probability as percent; nothing that was measured is ever quite certain."""
        if chance > MOST_LIKELY:
            return f">{_NARROW}{self.percent(MOST_LIKELY)}"
        if chance < 1 - MOST_LIKELY:
            return f"<{_NARROW}{self.percent(1 - MOST_LIKELY)}"
        return self.percent(chance)

    def moment(self, at: datetime) -> str:
        """Return when something was, in UTC: browsers turn it into their own time."""
        month = self.texts[f"months.m{at.month}"]
        day = f"{at.day}. {month}" if self.language == "de" else f"{at.day} {month}"
        return f"{day} {at.year}, {at:%H:%M}\N{NO-BREAK SPACE}UTC"


@cache
def words_of(language: str) -> Words:
    """Return the words of a language."""
    return Words(language, tomllib.loads((DIRECTORY / f"{language}.toml").read_text("utf-8")))


def language_of(request: web.Request) -> str:
    """Return the language that a reader has chosen, or else that the browser prefers."""
    chosen = request.cookies.get(COOKIE)
    if chosen in LANGUAGES:
        return chosen
    best, quality = DEFAULT, 0.0
    for part in request.headers.get("Accept-Language", "").split(","):
        name, _, weight = part.strip().lower().partition(";")
        language = name.partition("-")[0]
        if language in LANGUAGES and (found := _weight(weight)) > quality:
            best, quality = language, found
    return best


def _weight(text: str) -> float:
    if not text:
        return 1.0
    try:
        return float(text.strip().removeprefix("q="))
    except ValueError:
        return 0.0
