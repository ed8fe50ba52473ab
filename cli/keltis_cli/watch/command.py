"""``watch``: the command and its options."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from keltis_cli import arguments
from keltis_cli.draw.look import Look, look
from keltis_cli.errors import BadRequest
from keltis_cli.exit_codes import ExitCode
from keltis_cli.remote.connect.calls import ServerOption, TokenOption
from keltis_cli.remote.connect.servers import Place, find_place
from keltis_cli.watch.playback import SPEEDS, USUAL

Find = Callable[[], Place]


def watch(
    match: Annotated[
        str,
        typer.Argument(
            metavar="MATCH",
            help="Match number or id, or a bot that plays in it; default: the lobby.",
            show_default=False,
        ),
    ] = "",
    tournament: Annotated[
        str,
        typer.Option("--tournament", metavar="NAME", help="Watch a tournament and its matches."),
    ] = "",
    tv: Annotated[
        bool, typer.Option("--tv", help="Watch the most interesting matches in turn.")
    ] = False,
    speed: Annotated[
        int,
        typer.Option("--speed", help="Decisions per second: 1, 2, 5, 10, 30; 0: real time."),
    ] = USUAL,
    plain: Annotated[
        bool, typer.Option("--plain", help="Print lines; the default without a terminal.")
    ] = False,
    as_json: arguments.JsonOption = False,
    ascii_only: arguments.AsciiOption = False,
    server: ServerOption = "",
    token: TokenOption = "",
) -> None:
    """Watch matches live, step back and forth in them, or see old ones again."""
    if sum(map(bool, (match, tournament, tv))) > 1:
        raise BadRequest("choose one: a match, --tournament, or --tv")
    if speed not in SPEEDS:
        raise BadRequest(f"--speed {speed} is not one of {', '.join(map(str, SPEEDS))}")
    if as_json and tv:
        raise BadRequest("--tv is for people; for programs, --json alone tells the lobby")
    find = partial(find_place, server, token)
    wanted = WatchRequest(match, tournament, tv, speed, look(ascii_only))
    try:
        if as_json:
            asyncio.run(_print(find, wanted))
        elif plain or not _has_screen():
            asyncio.run(_tell(find, wanted))
        else:
            trouble = asyncio.run(_show(find, wanted))
            if trouble:
                raise BadRequest(trouble)
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None


class WatchRequest:
    """What somebody wants to see."""

    def __init__(self, match: str, tournament: str, tv: bool, speed: int, look: Look) -> None:
        self.match = match
        self.tournament = tournament
        self.tv = tv
        self.speed = speed
        self.look = look


def _has_screen() -> bool:
    return sys.stdout.isatty() and sys.stdin.isatty() and os.environ.get("TERM") != "dumb"


async def _show(find: Find, wanted: WatchRequest) -> str:
    """Show it on the whole terminal; return what went wrong, if something did."""
    from keltis_cli.watch.app import WatchApp  # takes a while to load
    from keltis_cli.watch.feed import ServerFeed
    from keltis_cli.watch.finding import find_match

    async with ServerFeed(find) as feed:
        match = await find_match(feed.server, wanted.match) if wanted.match else ""
        app = WatchApp(feed, wanted.look, match, wanted.tournament, wanted.tv, wanted.speed)
        await app.run_async(mouse=False)
    return app.trouble


async def _tell(find: Find, wanted: WatchRequest) -> None:
    from keltis_cli.watch import plain
    from keltis_cli.watch.feed import ServerFeed
    from keltis_cli.watch.finding import find_match

    async with ServerFeed(find, plain.say_connection) as feed:
        if wanted.match:
            match = await find_match(feed.server, wanted.match)
            await plain.tell_match(feed, match, wanted.look)
        elif wanted.tournament:
            await plain.tell_tournament(feed, wanted.tournament, wanted.look)
        elif wanted.tv:
            await plain.tell_tv(feed, wanted.look)
        else:
            await plain.tell_lobby(feed, wanted.look)


async def _print(find: Find, wanted: WatchRequest) -> None:
    from keltis_cli.watch import plain
    from keltis_cli.watch.feed import ServerFeed
    from keltis_cli.watch.finding import find_match

    async with ServerFeed(find, plain.print_connection) as feed:
        if wanted.match:
            await plain.print_match(feed, await find_match(feed.server, wanted.match))
        elif wanted.tournament:
            await plain.print_messages(feed, f"tournament/{wanted.tournament}")
        else:
            await plain.print_messages(feed, plain.LOBBY)
