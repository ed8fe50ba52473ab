"""A bot against each other one: by how much it leads, how sure that is, and how they did."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from keltis_cli.draw.estimates import percent, surely
from keltis_cli.draw.look import QUIET, TITLE, Look
from keltis_cli.draw.tables.columns import fitted, numbers, texts
from keltis_cli.draw.tables.leaderboard import NAME_WIDTH, scale
from keltis_server.models.leaderboards import VersusOut

NOT_YET = "There is no joint rating of this bot yet: it comes when they are next worked out."


def versus_lines(others: Sequence[VersusOut], width: int, look: Look) -> list[Text]:
    """Return the table, the best rated first; a lead below zero means that the other leads."""
    if not others:
        return [Text(NOT_YET, QUIET)]
    names = [Text(each.bot) for each in others]
    versions = [f" v{each.version}" for each in others]
    intervals = [(each.low, each.lead, each.high) for each in others]
    met = [each.wins + each.draws + each.losses for each in others]
    ahead = [
        percent((each.wins + each.draws / 2) / count) if count else "-"
        for each, count in zip(others, met, strict=True)
    ]
    columns = [
        texts("against", names, look, least=NAME_WIDTH, end=versions),
        numbers("lead", [f"{each.lead:+.1f}" for each in others]),
        scale("95 % interval", intervals, look, spare=2),
        numbers("95 %", [f"{each.low:+.1f} to {each.high:+.1f}" for each in others], spare=3),
        numbers("better", [_better(each) for each in others]),
        numbers("expected", [percent(each.expected) for each in others], spare=1),
        numbers("ahead", ahead, spare=1),
        numbers("matches", [Text(f"{count:,}", QUIET) for count in met], spare=4),
    ]
    return fitted(columns, width, look)


def _better(each: VersusOut) -> Text:
    """Return the probability that the bot is the better one; a certain one stands out."""
    return Text(surely(each.better), TITLE if each.certain else "")
