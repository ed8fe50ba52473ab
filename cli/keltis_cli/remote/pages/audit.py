"""What the audit says, in words."""

from __future__ import annotations

from typing import Final

from keltis_cli.draw.printable import printable
from keltis_server.models.audit import AuditLineOut, AuditOut, BotAuditOut

_TESTS: Final = {
    "later": "better in later games of a deal than in the first",
    "foresight": "decisions in later games of a deal that fit hidden cards",
    "pair": "better together, at tables of three and four, than among others",
}


def ladder_lines(found: AuditOut) -> list[str]:
    """Say whom the audit suspects, and how far it has come."""
    lines = [
        f"The audit has come to match {found.done}; {found.waiting} wait.",
        f"Decisions were looked at in {found.looked_at} matches.",
    ]
    suspects = [_line(each) for each in found.suspects]
    if not suspects:
        return [*lines, "Nobody is suspicious."]
    suspended = (
        "Suspected bots are suspended immediately."
        if found.suspend
        else "Nobody is suspended for it: keltis-ladder admin disable-bot BOT"
    )
    return [*lines, *suspects, suspended, "The matches: keltis-ladder admin audit BOT"]


def bot_lines(name: str, found: BotAuditOut) -> list[str]:
    """Say what the audit has on one bot."""
    name = printable(name)
    if not found.suspicious:
        lines = [f"{name}: nothing unusual in {found.matches} matches."]
    else:
        lines = [f"{name}: more than chance allows in {found.matches} matches."]
    lines += [_line(each) for each in found.tests]
    if found.telling:
        numbers = ", ".join(str(number) for number in found.telling)
        lines.append(f"Matches in which it was clearly better later: {numbers}")
    return lines


def _line(test: AuditLineOut) -> str:
    who = test.bot
    if test.partner is not None:
        who += f" and {test.partner}"
    where = f", {test.variant}" if test.variant else ""
    what = _TESTS.get(test.test, test.test)
    alarm = f"ALARM at match {test.alarm}" if test.alarm is not None else "no alarm"
    return (
        f"  {who}{where}: {what}: {test.odds:,} to 1 against chance"
        f" in {test.matches} matches, {alarm}"
    )
