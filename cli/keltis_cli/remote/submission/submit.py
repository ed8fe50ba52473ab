"""``submit``: upload a bot to a server, and follow its check and its first match."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from keltis_bots.manifest import Manifest
from keltis_cli import arguments
from keltis_cli.bots.check import Page, keep_card
from keltis_cli.bots.crash_cards import DEFAULT_DIRECTORY
from keltis_cli.draw.look import QUIET, console
from keltis_cli.draw.printable import show_build
from keltis_cli.draw.progress import ProgressBar
from keltis_cli.draw.strokes import counted
from keltis_cli.draw.tables.leaderboard import bot_name
from keltis_cli.exit_codes import ExitCode
from keltis_cli.remote.connect.calls import ServerOption, TokenOption, print_json, talk
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.following import (
    SILENCE_SECONDS,
    NewsTimeout,
    TimeoutOption,
    Waiting,
    WaitOption,
    news_timeout,
)
from keltis_cli.remote.connect.shapes import read
from keltis_cli.remote.pages.bot import size_text
from keltis_cli.remote.submission.packing import Parcel, manifest_of, packed
from keltis_cli.remote.submission.progress import Outcome, follow_version
from keltis_ladder.check.check import Plan, check_bot
from keltis_ladder.findings import Doing, Mark
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.programs.preparing import cache_directory
from keltis_ladder.sandbox.child import pinned
from keltis_ladder.sandbox.sandbox import Sandbox, SandboxMissing, find_sandbox
from keltis_server.models.bots import VersionOut

SENT_BYTES: Final = 256 * 1024
NAMED: Final = 5  # things that were left out


def submit(
    bot: Annotated[
        Path, typer.Argument(metavar="DIR|ZIP", help="The bot: a directory, or a zip or tar file.")
    ],
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Skip the local check: the server checks, too.")
    ] = False,
    wait: WaitOption = True,
    timeout: TimeoutOption = SILENCE_SECONDS,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: arguments.JsonOption = False,
) -> None:
    """Submit a bot: check it, upload it, and follow it to its first match.

    A bot that is there already gets a new version. The exit code is 1 if it fails its check, and 3
    if the server could not check it or sends nothing new before the timeout.
    """
    manifest = manifest_of(bot)
    if not no_check:
        _check_here(bot, quiet=as_json)
    status, plain, version = _send(bot, manifest, server, token, timeout, quiet=as_json)
    name = manifest.name
    if not as_json:
        _say_sent(name, version, known=status == HTTPStatus.OK)
    head = {"bot": name, "known": status == HTTPStatus.OK}
    conclude(server, token, head, plain, timeout if wait else None, as_json)


def conclude(
    server: str,
    token: str,
    head: dict[str, Any],
    version: Any,
    timeout: float | None,
    as_json: bool,
) -> None:
    """Follow a version to its first match, or not without a timeout; end as it ended.

    ``head`` is what the JSON begins with. An interrupt ends the waiting only.
    """
    bot, outcome = head["bot"], Outcome(version)
    try:
        if timeout is not None:
            outcome = talk(
                server, token, lambda found: follow_version(found, bot, version, as_json, timeout)
            )
    except KeyboardInterrupt:
        print(
            f"\nStopped waiting; {bot} continues on the server: keltis-ladder logs {bot}",
            file=sys.stderr,
        )
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    if as_json:
        print_json({**head, **outcome.to_plain()})
    if outcome.unchecked:
        raise typer.Exit(ExitCode.UNREACHABLE)
    if outcome.failed:
        raise typer.Exit(ExitCode.FAILED)


def _check_here(bot: Path, quiet: bool) -> None:
    """Check a directory as ``keltis-ladder check --quick`` does; what fails is not sent."""
    out = console(stderr=True)
    if not bot.is_dir():
        return
    try:
        sandbox = find_sandbox()
    except SandboxMissing:
        if not quiet:
            out.print("No sandbox on this machine: only the server checks.", style=QUIET)
        return
    page = Page(out, quiet)
    try:
        marks = _marks(bot, sandbox, page)
    except PlatformFault as fault:
        reason = " ".join(str(fault).split())
        out.print(f"The local check was aborted ({reason}): only the server checks.")
        return
    finally:
        page.rest()
    if Mark.FAILED in marks:
        if not quiet:
            page.sum_up(marks, bot)
        print("Not sent; to send it anyway: --no-check.", file=sys.stderr)
        raise typer.Exit(ExitCode.FAILED)


def _marks(bot: Path, sandbox: Sandbox, page: Page) -> list[Mark]:
    """Run the check; in a terminal only what is not right is shown."""
    marks: list[Mark] = []
    with pinned(min(os.sched_getaffinity(0))):  # as in a match: one core for all
        for event in check_bot(bot, sandbox, Plan(None, quick=True), show_build, cache_directory()):
            if isinstance(event, Doing):
                page.doing(Doing(f"checking here: {event.text}"))
                continue
            marks.append(event.mark)
            if event.mark is not Mark.OK:
                page.show(event, keep_card(event, DEFAULT_DIRECTORY, bot))
    page.rest()
    if not page.quiet and Mark.FAILED not in marks:
        page.out.print(f"Checked here: {counted(len(marks), 'check')}, nothing failed.")
    return marks


def _send(
    bot: Path, manifest: Manifest, server: str, token: str, timeout: float, quiet: bool
) -> tuple[int, Any, VersionOut]:
    """Upload a bot, and wait until the server has opened what came, however busy it is."""
    name = manifest.name
    still = (
        "what was sent completely is still opened; to see whether it is there:"
        f" keltis-ladder show {name}"
    )
    with packed(bot, manifest) as parcel:
        if not quiet:
            _say_parcel(parcel)

        async def send(found: Server) -> tuple[int, Any, VersionOut]:
            waiting = Waiting(quiet)
            patience = max(timeout, found.read_seconds)
            async with news_timeout(found, waiting, patience, lambda: still) as kept:
                with ProgressBar(
                    f"send {name}", parcel.size, in_bytes=True, lines=False, quiet=quiet
                ) as shown:
                    status, plain = await found.upload(
                        "/bots",
                        parcel.media,
                        parcel.size,
                        lambda: _chunks(parcel, shown, waiting, kept),
                    )
            return status, plain, read(found, VersionOut, plain)

        return talk(server, token, send)


async def _chunks(
    parcel: Parcel, shown: ProgressBar, waiting: Waiting, kept: NewsTimeout
) -> AsyncIterator[bytes]:
    """Yield a file piece by piece, read in a thread; then wait for what the server makes of it."""
    done = 0
    with parcel.path.open("rb") as file:
        while chunk := await asyncio.to_thread(file.read, SENT_BYTES):
            yield chunk
            done += len(chunk)
            shown.tell(done)
            kept.note_news()
    shown.rest()
    waiting.say("waiting for the server to open it ...")


def _say_parcel(parcel: Parcel) -> None:
    text = f"{parcel.manifest.name}: {size_text(parcel.size)} to send"
    if parcel.left_out:
        named = ", ".join(parcel.left_out[:NAMED])
        more = len(parcel.left_out) - NAMED
        text += f"; left out: {named}" + (f" and {more} more" if more > 0 else "")
    console(stderr=True).print(text, soft_wrap=True, highlight=False)


def _say_sent(name: str, version: VersionOut, known: bool) -> None:
    called = bot_name(name, version.number)
    if known:
        print(f"{called} is this very program already: {version.state}.", flush=True)
    else:
        print(f"Sent: it is {called}, and is being checked.", flush=True)
