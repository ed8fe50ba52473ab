"""Findings of checks, ours and a server's: a line for what is right, more about what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.console import Console

from keltis_cli.draw.look import QUIET, TITLE
from keltis_cli.draw.printable import say_indented, tail
from keltis_ladder.findings import Finding, Mark

if TYPE_CHECKING:
    from keltis_server.models.reports import FindingOut

LOG_LINES: Final = 12
NAME_WIDTH: Final = 26  # cells for the name of a check
SIGNS: Final = {Mark.OK: ("✓", "+"), Mark.WARNING: ("!", "!"), Mark.FAILED: ("✗", "x")}
STYLES: Final = {Mark.OK: "", Mark.WARNING: TITLE, Mark.FAILED: "bold reverse"}
_MARKS: Final = {str(mark): mark for mark in Mark}


def say_finding(
    out: Console, finding: Finding | FindingOut, explained: bool = False, width: int = NAME_WIDTH
) -> None:
    """Show one finding; what is not right is explained, unless it has been."""
    mark = _MARKS.get(finding.mark, Mark.WARNING)  # a newer server may have others
    head = f"{SIGNS[mark][_plain(out)]} {mark:<8}{finding.check:<{width}}"
    if mark is Mark.OK:
        say_indented(out, finding.text, head)
        return
    out.print(head.rstrip(), style=STYLES[mark], highlight=False)
    say_indented(out, finding.text)
    if explained:
        return
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
