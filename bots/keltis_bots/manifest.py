"""``bot.toml``: what a bot is called, how it is built and run, and what it can play."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from keltis_bots.texts import forbidden_in
from keltis_engine import VARIANTS

FILE_NAME: Final = "bot.toml"
LARGEST: Final = 64 * 1024
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
T = TypeVar("T", int, str)
MOST_WORDS: Final = 64  # of both commands together
MOST_BYTES: Final = 4096
MOST_DOTS: Final = 200  # in a line
LARGEST_SHOWN: Final = 64  # bits of a number in a refusal
LONGEST_SHOWN: Final = 80  # characters of a text
_FIELDS: Final = ("name", "run", "build", "variants", "players", "description")


class BadManifest(ValueError):
    """A ``bot.toml`` that is missing or wrong; the text says what to write."""


@dataclass(frozen=True)
class Manifest:
    """What a bot's author says about it."""

    name: str
    run: tuple[str, ...]
    build: tuple[str, ...] = ()  # none: nothing to build
    variants: tuple[str, ...] = tuple(VARIANTS)
    players: tuple[int, ...] = (2, 3, 4)
    description: str = ""


def read_manifest(directory: Path) -> Manifest:
    """Read the ``bot.toml`` of a bot's directory."""
    path = directory / FILE_NAME
    if not path.is_file():
        raise BadManifest(
            f"{directory} has no {FILE_NAME}; a new bot is made by: keltis-ladder init DIRECTORY"
        )
    if path.stat().st_size > LARGEST:
        raise BadManifest(f"{path} is larger than {LARGEST} bytes")
    try:
        text = path.read_text(encoding="utf-8")
        _check_keys(text)
        fields = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also for numbers of thousands of digits
        raise BadManifest(f"{path} is not valid TOML: {error}") from None
    try:
        return parse_manifest(fields)
    except BadManifest as error:
        raise BadManifest(f"{path}: {error}") from None


def _check_keys(text: str) -> None:
    """Refuse a key of very many parts, which takes tomllib the square of their number."""
    if any(line.count(".") > MOST_DOTS for line in text.splitlines()):
        raise ValueError(f"a line has more than {MOST_DOTS} dots")


def parse_manifest(fields: dict[str, Any]) -> Manifest:
    """Check the fields of a ``bot.toml``."""
    for name in fields:
        if name not in _FIELDS:
            raise BadManifest(f"unknown field {_quoted(name)}; it may have {', '.join(_FIELDS)}")
    for name in ("name", "run"):
        if name not in fields:
            raise BadManifest(f"the field {name!r} is missing")
    name = fields["name"]
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BadManifest(
            f"invalid name {_quoted(name)}: use 1 to 40 small letters, digits, dots, dashes "
            "and underscores, the first a letter or digit"
        )
    description = fields.get("description", "")
    if not isinstance(description, str) or len(description) > 500:
        raise BadManifest("'description' must be a text of at most 500 characters")
    if bad := forbidden_in(description, but="\n"):
        raise BadManifest(
            f"'description' has the character {bad}, which is not allowed: leave out control "
            "characters, and marks that change the direction of writing or cannot be seen"
        )
    run = _command(fields, "run")
    build = _command(fields, "build") if "build" in fields else ()
    _check_length(run + build)
    return Manifest(
        name=name,
        run=run,
        build=build,
        variants=_choice(fields, "variants", tuple(VARIANTS)),
        players=_choice(fields, "players", (2, 3, 4)),
        description=description,
    )


def _quoted(value: object) -> str:
    """Return a value as a refusal may show it; Python does not even write very large numbers."""
    if isinstance(value, int) and value.bit_length() > LARGEST_SHOWN:
        return "that is a huge number"
    if not isinstance(value, str | int | float):
        return f"of type {type(value).__name__}"
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "..."


def _command(fields: dict[str, Any], name: str) -> tuple[str, ...]:
    words = fields[name]
    if not isinstance(words, list) or not words or not all(_is_word(word) for word in words):
        raise BadManifest(
            f"{name!r} must be a list of words, program first, "
            f'for example {name} = ["python3", "bot.py"]'
        )
    return tuple(words)


def _check_length(words: tuple[str, ...]) -> None:
    """Refuse commands that are longer than anything a person would write."""
    size = sum(len(word.encode()) + 1 for word in words)
    if len(words) > MOST_WORDS or size > MOST_BYTES:
        raise BadManifest(
            f"'run' and 'build' have {len(words):,} words and {size:,} bytes together; they may "
            f"have {MOST_WORDS} words and {MOST_BYTES:,} bytes: put the rest into a file of the bot"
        )


def _is_word(word: object) -> bool:
    return isinstance(word, str) and bool(word) and "\0" not in word and len(word) <= 1000


def _choice(fields: dict[str, Any], name: str, all_of_them: tuple[T, ...]) -> tuple[T, ...]:
    """Return the listed values in our order; without the field, all of them."""
    if name not in fields:
        return all_of_them
    listed = fields[name]
    if (
        not isinstance(listed, list)
        or not listed
        or any(type(value) is not type(all_of_them[0]) for value in listed)  # 2.0 == 2 is no 2
        or not set(listed) <= set(all_of_them)
    ):
        raise BadManifest(f"{name!r} must list some of {', '.join(map(repr, all_of_them))}")
    return tuple(value for value in all_of_them if value in listed)
