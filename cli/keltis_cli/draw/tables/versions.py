"""The bots of a ladder with all their versions."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from keltis_cli.draw.look import QUIET, TITLE, Look
from keltis_cli.draw.printable import printable
from keltis_cli.draw.tables.columns import fitted, numbers, texts
from keltis_ladder.store.bots.version_words import reason_of
from keltis_ladder.store.schema.tables import Author, Bot, Version
from keltis_ladder.store.schema.version_states import VersionState

NAME_WIDTH = 12  # cells for a name at least


def version_lines(
    rows: Sequence[tuple[Version, Bot, Author]], width: int, look: Look
) -> list[Text]:
    """Return the versions, those of a bot together, the newest first."""
    if not rows:
        return [Text("No bots yet: keltis-ladder ladder add DIRECTORY", QUIET)]
    names: list[str] = []
    for _, bot, _ in rows:
        names.append("" if bot.name in names else bot.name)
    versions = [version for version, _, _ in rows]
    states = [
        Text(version.state, TITLE if version.state == VersionState.ACTIVE else QUIET)
        for version in versions
    ]
    columns = [
        texts("bot", names, look, least=NAME_WIDTH),
        numbers("version", [str(version.number) for version in versions]),
        texts("state", states, look),
        texts("author", [printable(author.name) for _, _, author in rows], look, 6, spare=1),
        texts("since", [f"{v.created:%Y-%m-%d %H:%M}" for v in versions], look, spare=3),
        texts("plays", [_plays(version) for version in versions], look, least=12, spare=4),
        texts("reason", [_one_line(reason_of(version)) for version in versions], look, 16, spare=2),
    ]
    return fitted(columns, width, look)


def _plays(version: Version) -> str:
    return f"{', '.join(version.variants)} ({', '.join(map(str, version.players))})"


def _one_line(text: str) -> str:
    """Return words of strangers, which may have several lines, in one that is safe to print."""
    return printable(" ".join(text.split()))
