"""``logs``, ``crash`` and ``times``: what only the author of a bot may see."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.text import Text

from keltis_cli import arguments
from keltis_cli.bots.crash_cards import say_effort
from keltis_cli.bots.reproduce import say_record
from keltis_cli.draw.columns import fitted, numbers, texts
from keltis_cli.draw.look import QUIET, TITLE, console, look
from keltis_cli.draw.printable import lines_of, printable, say_indented, tail
from keltis_cli.errors import BadRequest
from keltis_cli.files import STANDARD, check_target
from keltis_cli.remote.connect.calls import (
    BotArgument,
    JsonOption,
    ServerOption,
    TokenOption,
    part,
    print_json,
    print_lines,
    talk,
)
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.shapes import (
    Bot,
    Fault,
    Profile,
    Report,
    Times,
    Versions,
    read,
    read_all,
)
from keltis_cli.remote.pages.findings import say_finding
from keltis_ladder.referee.crash_cards import read_card

FAULTS: Final = 5  # that are told
LOG_LINES: Final = 12


def logs(
    bot: BotArgument,
    version: Annotated[
        int | None, typer.Option("--version", min=1, help="The newest unless given.")
    ] = None,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Tell what came of a version of your bot: its check, its build, its latest faults."""

    async def fetch(found: Server) -> dict[str, Any]:
        number = version if version is not None else await _newest(found, bot)
        report = await found.get(f"/bots/{part(bot)}/versions/{number}/report")
        faults = await found.pages(f"/bots/{part(bot)}/faults", 10 * FAULTS)
        faults = [each for each in faults if each.get("version") == number][:FAULTS]
        # Most faults of a kind say the same: the newest log is enough.
        card = None
        if faults:
            card = await found.find(f"/bots/{part(bot)}/faults/{faults[0]['id']}/card")
        read(found, Report, report)
        read_all(found, Fault, faults)
        return {"version": number, "report": report, "faults": faults, "card": card}

    plain = talk(server, token, fetch)
    if as_json:
        print_json(plain)
        return
    _tell(console(), bot, plain)


async def _newest(server: Server, bot: str) -> int:
    """Return the newest version, which may not be the one that plays."""
    plain = await server.get(f"/bots/{part(bot)}/versions")
    return max(version.number for version in read(server, Versions, plain).versions)


def _tell(out: Console, bot: str, plain: dict[str, Any]) -> None:
    report = Report.model_validate(plain["report"])
    faults = [Fault.model_validate(each) for each in plain["faults"]]
    head = f"{printable(bot)} v{plain['version']}: {report.state}"
    out.print(head, style=TITLE, highlight=False)
    if report.reason:
        say_indented(out, report.reason)
    for finding in report.findings:
        say_finding(out, finding)
    if report.output.strip():
        out.print("\nBuild:", style=TITLE)
        for line in lines_of(report.output.rstrip()):
            out.print(f"  | {line}", style=QUIET, soft_wrap=True, highlight=False)
    if not faults:
        out.print("\nNo faults in matches.", style=QUIET)
        return
    out.print("\nLatest faults in matches:", style=TITLE)
    for fault in faults:
        out.print(f"  {_fault_line(fault)}", soft_wrap=True, highlight=False)
        if fault.text:
            say_indented(out, fault.text, "    ")
    card = plain["card"]
    if isinstance(card, dict):
        for line in tail(str(card.get("stderr", "")), LOG_LINES):
            out.print(f"    | {line}", style=QUIET, soft_wrap=True, highlight=False)
    name = printable(bot)
    out.print(f"\nMore about the newest: keltis-ladder crash {name}", highlight=False)


def _fault_line(fault: Fault) -> str:
    where = f"match {fault.match}, game {fault.rotation + 1}, decision {fault.decision + 1}"
    return f"{fault.id}: {fault.kind}/{fault.code} in {where}, {fault.at:%Y-%m-%d %H:%M} UTC"


def crash(
    bot: BotArgument,
    fault: Annotated[
        int | None,
        typer.Argument(
            metavar="[FAULT]", help="Its number in `logs`; the newest unless given.", min=1
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Where to; BOT-FAULT.json unless given."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Explain a fault of your bot, and save its crash card for `keltis-ladder reproduce`."""

    async def fetch(found: Server) -> tuple[int, Any]:
        number = fault if fault is not None else await _latest_fault(found, bot)
        return number, await found.get(f"/bots/{part(bot)}/faults/{number}/card")

    number, card = talk(server, token, fetch)
    if as_json:
        print_json(card)
        return
    text = json.dumps(card, indent=1, ensure_ascii=False) + "\n"
    record = read_card(text)
    path = out or Path(f"{bot}-{number}.json")
    page = console(stderr=path == STANDARD)
    check_target(path, force)
    say_record(page, record)
    say_effort(page, card)
    for line in tail(str(card.get("stderr", "")), LOG_LINES):
        page.print(f"  | {line}", style=QUIET, soft_wrap=True, highlight=False)
    if path == STANDARD:
        print(text, end="")
        return
    path.write_text(text, encoding="utf-8")
    again = shlex.join(["keltis-ladder", "reproduce", str(path), "--bot", "DIRECTORY"])
    page.print(f"\nSaved as {path}. Again: {again}", soft_wrap=True, highlight=False)


async def _latest_fault(server: Server, bot: str) -> int:
    plain = await server.pages(f"/bots/{part(bot)}/faults", 1)
    if not plain:
        read(server, Bot, await server.get(f"/bots/{part(bot)}"))
        raise BadRequest(f"{printable(bot)} has no faults: nothing to explain")
    return read(server, Fault, plain[0]).id


def times(
    bot: BotArgument,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
    ascii_only: arguments.AsciiOption = False,
) -> None:
    """Show how long your bot thinks."""

    async def fetch(found: Server) -> tuple[Any, Times]:
        plain = await found.get(f"/bots/{part(bot)}/times")
        return plain, read(found, Times, plain)

    plain, found = talk(server, token, fetch)
    if as_json:
        print_json(plain)
        return
    print_lines(_times(found.profile, ascii_only))


def _times(rows: list[Profile], ascii_only: bool) -> list[Text]:
    if not rows:
        return [Text("It has not played yet.", QUIET)]
    drawn = look(ascii_only)
    columns = [
        texts("version", [f"v{row.version}" for row in rows], drawn),
        texts("variant", [row.variant for row in rows], drawn),
        numbers("players", [str(row.players) for row in rows]),
        numbers("matches", [f"{row.matches:,}" for row in rows], spare=2),
        numbers("decisions", [f"{row.asked:,}" for row in rows], spare=1),
        numbers("mean ms", [f"{row.mean_ms:.2f}" for row in rows]),
        numbers("slowest ms", [f"{row.slowest_ms:.1f}" for row in rows]),
        numbers("CPU ms", [f"{row.cpu_ms:,.0f}" for row in rows], spare=3),
        numbers("all ms", [f"{row.wall_ms:,.0f}" for row in rows], spare=4),
    ]
    return fitted(columns, console().width, drawn)
