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
from keltis_cli.draw.findings import say_finding
from keltis_cli.draw.look import QUIET, TITLE, Look, console
from keltis_cli.draw.printable import lines_of, printable, say_indented, tail
from keltis_cli.draw.tables.columns import fitted, numbers, texts
from keltis_cli.errors import BadRequest
from keltis_cli.files import STANDARD, check_target
from keltis_cli.remote.connect.calls import BotArgument, part
from keltis_cli.remote.connect.command import Answer, remote
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.shapes import read, read_all
from keltis_ladder.referee.crash_cards import read_card
from keltis_server.models.bots import BotOut, FaultOut, TimeOut, TimesOut, VersionOut
from keltis_server.models.reports import ReportOut

FAULTS: Final = 5  # that are told
LOG_LINES: Final = 12


@remote()
async def logs(
    server: Server,
    bot: BotArgument,
    version: Annotated[
        int | None,
        typer.Option("--version", min=1, help="Number of the version; default: the newest."),
    ] = None,
) -> Answer:
    """Show the check, the build and the latest faults of a version of your bot."""
    number = version if version is not None else await _newest(server, bot)
    report = await server.get(f"/bots/{part(bot)}/versions/{number}/report")
    faults = await server.pages(f"/bots/{part(bot)}/faults", 10 * FAULTS)
    faults = [each for each in faults if each.get("version") == number][:FAULTS]
    # Most faults of a kind say the same: the newest log is enough.
    card = None
    if faults:
        card = await server.find(f"/bots/{part(bot)}/faults/{faults[0]['id']}/card")
    told = read(server, ReportOut, report), read_all(server, FaultOut, faults)
    return Answer(
        {"version": number, "report": report, "faults": faults, "card": card},
        lambda *_: _tell(console(), f"{printable(bot)} v{number}", *told, card),
    )


async def _newest(server: Server, bot: str) -> int:
    """Return the newest version, which may not be the one that plays."""
    plain = await server.pages(f"/bots/{part(bot)}/versions", 1)
    return read_all(server, VersionOut, plain)[0].number


def _tell(out: Console, version: str, report: ReportOut, faults: list[FaultOut], card: Any) -> None:
    out.print(f"{version}: {report.state}", style=TITLE, highlight=False)
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
    if isinstance(card, dict):
        for line in tail(str(card.get("stderr", "")), LOG_LINES):
            out.print(f"    | {line}", style=QUIET, soft_wrap=True, highlight=False)
    name = version.rpartition(" ")[0]
    out.print(f"\nMore about the newest: keltis-ladder crash {name}", highlight=False)


def _fault_line(fault: FaultOut) -> str:
    where = f"match {fault.match}, game {fault.rotation + 1}, decision {fault.decision + 1}"
    return f"{fault.id}: {fault.kind}/{fault.code} in {where}, {fault.at:%Y-%m-%d %H:%M} UTC"


@remote()
async def crash(
    server: Server,
    bot: BotArgument,
    fault: Annotated[
        int | None,
        typer.Argument(metavar="[FAULT]", help="Number in `logs`; default: the newest.", min=1),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="File to write; default: BOT-FAULT.json."),
    ] = None,
    force: arguments.ForceOption = False,
) -> Answer:
    """Explain a fault of your bot, and save its crash card for `keltis-ladder reproduce`."""
    number = fault if fault is not None else await _latest_fault(server, bot)
    card = await server.get(f"/bots/{part(bot)}/faults/{number}/card")
    path = out or Path(f"{bot}-{number}.json")
    return Answer(card, lambda *_: _save(card, path, force))


def _save(card: Any, path: Path, force: bool) -> None:
    """Explain a crash card and write it into a file."""
    text = json.dumps(card, indent=1, ensure_ascii=False) + "\n"
    record = read_card(text)
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
        read(server, BotOut, await server.get(f"/bots/{part(bot)}"))
        raise BadRequest(f"{printable(bot)} has no faults: nothing to explain")
    return read(server, FaultOut, plain[0]).id


@remote(draws=True)
async def times(server: Server, bot: BotArgument) -> Answer:
    """Show how long your bot thinks."""
    plain = await server.get(f"/bots/{part(bot)}/times")
    profile = read(server, TimesOut, plain).profile
    return Answer(plain, lambda width, look: _times(profile, width, look))


def _times(rows: list[TimeOut], width: int, drawn: Look) -> list[Text]:
    if not rows:
        return [Text("It has not played yet.", QUIET)]
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
    return fitted(columns, width, drawn)
