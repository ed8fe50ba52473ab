"""Transcripts: every message of one game of each variant, to and from the Python starter.

``python -m tests.bots.support.transcripts`` plays and writes them anew, and copies what
``docs/authors/protocol.md`` shows of them into it. Any change of the protocol shows as a readable
difference.

A file has one JSON object on each line. The first says which game it is, with every decision at
the table. Each of the others is a message ``to`` or ``from`` the bot; the short ones and the first
request also have their ``frame``, in hex. The frames of all others follow from the message, with
its fields in the order of the file and each number in the shortest form that msgpack has.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from keltis_bots.framing import frame
from keltis_engine import VARIANTS, find_variant
from tests.bots.support.piped import STARTERS, PipedBot, Seat, decoded, play_game
from tests.places import ROOT

FOLDER: Final = ROOT / "tests/bots/transcripts"
DOCUMENT: Final = ROOT / "docs/authors/protocol.md"
SHORT: Final = 200  # bytes of a frame that is written out in hex
GAMES: Final = {  # by variant: players, the bot's seat, seed
    "keltis": (2, 0, 2008),
    "neue-wege": (3, 1, 2009),
    "kartenspiel": (2, 1, 2010),
    "weg-der-steine": (4, 2, 2011),
}
_BLOCK: Final = re.compile(
    r"<!-- transcript: (?P<variant>[a-z-]+) (?P<line>\d+)(?P<short> short)? -->\n```\n.*?```\n",
    re.DOTALL,
)


class Line(NamedTuple):
    """One message of a transcript."""

    way: str  # "to" or "from" the bot
    message: dict[str, Any]
    frame: bytes


class Transcript(NamedTuple):
    """One recorded game."""

    game: dict[str, Any]
    lines: list[Line]


def path_of(variant: str) -> Path:
    return FOLDER / f"{variant}.jsonl"


def read(variant: str) -> Transcript:
    """Return a transcript as it was recorded."""
    first, *rest = path_of(variant).read_text("utf-8").splitlines()
    lines = []
    for text in rest:
        fields = json.loads(text)
        way = "to" if "to" in fields else "from"
        message = fields[way]
        recorded = bytes.fromhex(fields["frame"]) if "frame" in fields else frame(message)
        lines.append(Line(way, message, recorded))
    return Transcript(json.loads(first), lines)


def record(variant: str) -> str:
    """Play a game and return its transcript."""
    players, seat, seed = GAMES[variant]
    ruleset = find_variant(variant)
    with PipedBot([sys.executable, "bot.py"], STARTERS / "python") as bot:
        place = Seat(bot)
        place.greet()
        _, actions = play_game(ruleset, players, seed, {seat: place})
        assert bot.end() == (0, "")
    game = {
        "variant": variant,
        "version": ruleset.version,
        "options": dict(ruleset.options),
        "players": players,
        "seat": seat,
        "seed": str(seed),
        "decisions": [ruleset.format(action) for action in actions],
    }
    lines = [json.dumps(game), *_lines(place.frames)]
    return "\n".join(lines) + "\n"


def _lines(frames: list[tuple[str, bytes]]) -> Iterator[str]:
    requests = 0
    for way, data in frames:
        message = decoded(data)
        requests += message["type"] == "choose"
        fields = {way: message}
        if len(data) <= SHORT or (message["type"] == "choose" and requests == 1):
            fields["frame"] = data.hex()
        yield json.dumps(fields)


def shown(line: Line, short: bool) -> str:
    """Return a message as the document shows it; ``short`` leaves out the view."""
    way = "referee to bot" if line.way == "to" else "bot to referee"
    parts = []
    for name, value in line.message.items():
        if name == "view" and short:
            parts.append('"view": {...}')
        elif name == "view":
            inner = ",\n   ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in value.items())
            parts.append(f'"view":\n  {{{inner}}}')
        elif name == "events" and value:
            inner = ",\n   ".join(json.dumps(event) for event in value)
            parts.append(f'"events":\n  [{inner}]')
        else:
            parts.append(f"{json.dumps(name)}: {json.dumps(value)}")
    if line.message["type"] != "choose":
        return f"{way}, {len(line.frame)} bytes\n{{{', '.join(parts)}}}\n"
    return f"{way}, {len(line.frame)} bytes\n{{" + ",\n ".join(parts) + "}\n"


def refreshed(document: str) -> str:
    """Return the document with what it shows of the transcripts copied anew."""
    transcripts = {variant: read(variant) for variant in GAMES}

    def block(found: re.Match[str]) -> str:
        line = transcripts[found["variant"]].lines[int(found["line"]) - 2]  # lines as in an editor
        head = found[0].splitlines()[0]
        return f"{head}\n```\n{shown(line, bool(found['short']))}```\n"

    return _BLOCK.sub(block, document)


def blocks(document: str) -> list[re.Match[str]]:
    """Return the places of the document that show a message."""
    return list(_BLOCK.finditer(document))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for variant in VARIANTS:
        path_of(variant).write_text(record(variant), "utf-8")
    DOCUMENT.write_text(refreshed(DOCUMENT.read_text("utf-8")), "utf-8")
    print(f"wrote {len(VARIANTS)} transcripts to {FOLDER}; review them as a diff")


if __name__ == "__main__":
    main()
