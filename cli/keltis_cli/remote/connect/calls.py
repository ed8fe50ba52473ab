"""What all commands that talk to a server share: options, connection, printing."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Final, TypeVar
from urllib.parse import quote

import typer
from rich.text import Text

from keltis_cli.arguments import of_variant
from keltis_cli.draw.look import console
from keltis_cli.errors import BadRequest
from keltis_cli.remote.connect.completion import complete_bots, complete_variants
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.servers import find_place

T = TypeVar("T")

SERVER: Final = "KELTIS_SERVER"
TOKEN: Final = "KELTIS_TOKEN"
DEFAULT_ITEMS: Final = 20  # items of a list unless told otherwise

ServerOption = Annotated[
    str,
    typer.Option(
        "--server",
        metavar="URL",
        envvar=SERVER,
        help="Address of the server.",
        show_default="where you logged in, or this machine's",
    ),
]
TokenOption = Annotated[
    str,
    typer.Option(
        "--token",
        metavar="TOKEN",
        envvar=TOKEN,
        help="Access token.",
        show_default="the saved login",
    ),
]
BotArgument = Annotated[
    str, typer.Argument(metavar="BOT", help="Name of the bot.", autocompletion=complete_bots)
]
VariantOption = Annotated[
    str | None, of_variant("Only this variant.", autocompletion=complete_variants)
]


def talk(
    server: str,
    token: str,
    conversation: Callable[[Server], Awaitable[T]],
    as_operator: bool = False,
) -> T:
    """Find the server, hold a conversation with it, and return what came of it."""
    place = find_place(server, token, as_operator)

    async def hold() -> T:
        async with Server(place) as found:
            return await conversation(found)

    return asyncio.run(hold())


def part(name: str) -> str:
    """Return a name as a part of a path, whatever is in it."""
    if not name.strip("."):
        # A dot or two alone would be taken for a way upwards, even where they are escaped.
        raise BadRequest(f"invalid name {name!r}")
    return quote(name, safe="")


def print_json(value: object) -> None:
    """Print plain data for programs; all but plain ASCII is escaped."""
    print(json.dumps(value, indent=1))


def print_lines(lines: Sequence[Text]) -> None:
    """Print lines as they are."""
    console().print(Text("\n").join(lines), soft_wrap=True, highlight=False)


def confirm(question: str, yes: bool) -> None:
    """Ask whether somebody is sure, unless they said so; end if not."""
    if not yes and not sys.stdin.isatty():
        raise BadRequest(f"{question} Cannot ask without a terminal: add --yes")
    if not yes:
        typer.confirm(question, abort=True, err=True)
