"""What the audit says, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from keltis_cli.draw.printable import printable

_TESTS: Final = {
    "later": "better in later games of a deal than in the first",
    "foresight": "decisions in later games of a deal that fit hidden cards",
    "pair": "better together, at tables of three and four, than among others",
}


def ladder_lines(plain: Mapping[str, Any]) -> list[str]:
    """Say whom the audit suspects, and how far it has come."""
    lines = [
        f"The audit has come to match {plain['done']}; {plain['waiting']} wait.",
        f"Decisions were looked at in {plain['looked_at']} matches.",
    ]
    suspects = [_line(each) for each in plain["suspects"]]
    if not suspects:
        return [*lines, "Nobody is suspicious."]
    suspended = (
        "Suspected bots are suspended immediately."
        if plain["suspend"]
        else "Nobody is suspended for it: keltis-ladder admin disable-bot BOT"
    )
    return [*lines, *suspects, suspended, "The matches: keltis-ladder admin audit BOT"]


def bot_lines(name: str, plain: Mapping[str, Any]) -> list[str]:
    """Say what the audit has on one bot."""
    name = printable(name)
    if not plain["suspicious"]:
        lines = [f"{name}: nothing unusual in {plain['matches']} matches."]
    else:
        lines = [f"{name}: more than chance allows in {plain['matches']} matches."]
    lines += [_line(each) for each in plain["tests"]]
    if plain["telling"]:
        numbers = ", ".join(str(number) for number in plain["telling"])
        lines.append(f"Matches in which it was clearly better later: {numbers}")
    return lines


def _line(test: Mapping[str, Any]) -> str:
    who = printable(str(test["bot"]))
    if test["partner"] is not None:
        who += f" and {printable(str(test['partner']))}"
    where = f", {printable(str(test['variant']))}" if test["variant"] else ""
    what = _TESTS.get(test["test"], printable(str(test["test"])))
    alarm = f"ALARM at match {test['alarm']}" if test["alarm"] is not None else "no alarm"
    return (
        f"  {who}{where}: {what}: {test['odds']:,} to 1 against chance"
        f" in {test['matches']} matches, {alarm}"
    )
