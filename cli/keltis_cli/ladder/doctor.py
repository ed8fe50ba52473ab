"""``doctor``: whether this machine has what a ladder needs, and how to get the rest."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from keltis_cli import arguments
from keltis_cli.exit_codes import ExitCode
from keltis_ladder.store.whereabouts import DATA, default_directory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from keltis_ladder.doctor import Check

STYLES: Final = {"ok": "green", "limited": "yellow", "missing": "bold red"}
STATE_WIDTH: Final = 7  # of "limited" and "missing"
NAME_WIDTH: Final = 15  # of "user namespaces"
INDENT: Final = " " * (2 + STATE_WIDTH + 2 + NAME_WIDTH + 2)
WIDEST: Final = 110  # cells: longer lines are hard to read
FAIR: Final = "Strangers' bots can be played fairly on this machine."


def doctor(
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            envvar=DATA,
            help="The ladder's directory.",
            show_default="~/.local/share/keltis-ladder",
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            metavar="URL",
            envvar="KELTIS_DATABASE",
            help="Database, if it is not in the directory.",
        ),
    ] = None,
    as_json: arguments.JsonOption = False,
) -> None:
    """Check whether this machine has what a ladder needs, and say how to get the rest.

    Ask it in the same way as you will start the ladder: as the same user, in the same service or
    scope. The exit code is 0 if strangers' bots can be played fairly, 1 if not.
    """
    from keltis_ladder.doctor import examine, is_fair

    checks = examine(data or default_directory(), database)
    if as_json:
        done = list(checks)
        plain = {"fair": is_fair(done), "checks": [check.as_plain() for check in done]}
        print(json.dumps(plain, indent=2))
    else:
        done = _show_all(checks)
    if not is_fair(done):
        raise typer.Exit(ExitCode.FAILED)


def _show_all(checks: Iterable[Check]) -> list[Check]:
    """Print each check as it is done, since some take a moment; return them all."""
    from keltis_cli.draw.look import TITLE, console

    out = console()
    done: list[Check] = []
    for check in checks:
        if not done or check.area is not done[-1].area:
            out.print(f"{chr(10) if done else ''}{check.area}", style=TITLE, highlight=False)
        _show(check, out)
        done.append(check)
    out.print()
    out.print(verdict(done), style=TITLE, highlight=False, soft_wrap=True)
    return done


def _show(check: Check, out: Console) -> None:
    from rich.text import Text

    from keltis_cli.draw.look import QUIET

    state = str(check.state)
    head = Text("  ").append(f"{state:<{STATE_WIDTH}}", STYLES[state])
    head.append(f"  {check.name:<{NAME_WIDTH}}  ")
    width = min(out.width, WIDEST) - len(INDENT) if out.is_terminal else WIDEST
    first, *more = textwrap.wrap(check.found, max(width, 20), break_on_hyphens=False)
    out.print(head.append(first), soft_wrap=True, highlight=False)
    if check.state != "ok":
        more += textwrap.wrap(check.meaning, max(width, 20), break_on_hyphens=False)
    for line in more:
        out.print(Text(INDENT + line, QUIET), soft_wrap=True, highlight=False)
    for line in check.remedy:  # never broken: it is to be copied
        out.print(INDENT + line, soft_wrap=True, highlight=False)


def verdict(checks: list[Check]) -> str:
    """Return the last line: whether all that is required is there."""
    lacking = [check.name for check in checks if check.required and check.state != "ok"]
    if lacking:
        return f"Strangers' bots cannot be played fairly here yet. Missing: {', '.join(lacking)}."
    limited = [check.name for check in checks if check.state != "ok"]
    return f"{FAIR} Not all is there: {', '.join(limited)}." if limited else FAIR
