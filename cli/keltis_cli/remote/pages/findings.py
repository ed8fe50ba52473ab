"""Findings of the server's check, shown as ``keltis-ladder check`` shows its own."""

from __future__ import annotations

from typing import Final

from rich.console import Console

from keltis_cli.bots.check import LOG_LINES, NAME, SIGNS, STYLES
from keltis_cli.draw.look import QUIET
from keltis_cli.draw.printable import say_indented, tail
from keltis_ladder.findings import Mark
from keltis_server.models.reports import FindingOut

_MARKS: Final = {str(mark): mark for mark in Mark}


def say_finding(out: Console, finding: FindingOut) -> None:
    """Show one finding; what is wrong is explained."""
    mark = _MARKS.get(finding.mark, Mark.WARNING)
    head = f"{SIGNS[mark][_plain(out)]} {mark:<8}{finding.check:<{NAME}}"
    if mark is Mark.OK:
        say_indented(out, finding.text, head)
        return
    out.print(head.rstrip(), style=STYLES[mark], highlight=False)
    say_indented(out, finding.text)
    if finding.advice:
        say_indented(out, finding.advice)
    for line in tail(finding.log, LOG_LINES):
        out.print(f"  | {line}", style=QUIET, soft_wrap=True, highlight=False)


def _plain(out: Console) -> bool:
    """Return whether the output has letters only."""
    try:
        SIGNS[Mark.OK][0].encode(out.encoding)
    except UnicodeEncodeError:
        return True
    return False
