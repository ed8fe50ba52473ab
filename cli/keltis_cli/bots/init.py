"""``init``: a new bot, ready to play, in one of six languages."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Annotated, Final

import typer

import keltis_bots
from keltis_bots.manifest import BadManifest, parse_manifest
from keltis_cli.errors import BadRequest

STARTERS: Final = Path(keltis_bots.__file__).parent / "starters"
TESTS: Final = {  # by language: what runs the starter's own tests
    "python": "python3 -m unittest",
    "javascript": "node --test",
    "cpp": "g++ -std=c++17 -o test test.cpp && ./test",
    "rust": "cargo test --offline",
    "go": "go test",
    "java": "javac -d classes *.java && java -cp classes BotTest",
}
LONGEST_NAME: Final = 40
_LEFT_BEHIND: Final = "__pycache__"  # an installation compiles the Python starter


def init(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory; created if missing.")
    ],
    lang: Annotated[
        str, typer.Option("--lang", "-l", metavar="LANG", help=f"One of {', '.join(TESTS)}.")
    ] = "python",
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the bot; default: the directory's.")
    ] = None,
) -> None:
    """Make a new bot: a complete one to start from, with its tests."""
    if lang not in TESTS:
        raise BadRequest(f"there is no starter in {lang!r}: choose from {', '.join(TESTS)}")
    chosen = valid_name(directory.resolve().name) if name is None else name
    make(directory, lang, chosen)
    shown = shlex.quote(str(directory))
    print(f"Made the bot {chosen} in {directory}; its README.md says what to change. Try next:")
    print(f"  cd {shown} && {TESTS[lang]}")
    print(f"  keltis-ladder check {shown}")
    print(f"  keltis-ladder match {shown} greedy --variant keltis --matches 50")


def valid_name(text: str) -> str:
    """Return a text made into a name that a bot may have."""
    letters = re.sub(r"[^a-z0-9._-]+", "-", text.lower())
    return letters.lstrip("._-")[:LONGEST_NAME].rstrip("._-") or "my-bot"


def make(directory: Path, lang: str, name: str) -> None:
    """Copy the starter of a language and put the bot's name into its files."""
    try:
        parse_manifest({"name": name, "run": TESTS[lang].split()})
    except BadManifest as error:
        raise BadRequest(str(error)) from None
    if directory.exists() and not directory.is_dir():
        raise BadRequest(f"{directory} is a file: name a directory for the bot")
    if directory.is_dir() and any(directory.iterdir()):
        raise BadRequest(f"{directory} is not empty: name a new directory, or empty this one")
    for source in sorted((STARTERS / lang).rglob("*")):
        if source.is_file() and _LEFT_BEHIND not in source.parts:
            target = directory / source.relative_to(STARTERS / lang)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = source.read_text(encoding="utf-8")
            target.write_text(text.replace(f"my-{lang}-bot", name), encoding="utf-8")
