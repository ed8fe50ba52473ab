"""``register``, ``login``, ``logout`` and ``whoami``: who we are on a server."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated, Any

import typer
from rich.text import Text

from keltis_cli import arguments
from keltis_cli.draw.look import QUIET, TITLE, styled
from keltis_cli.draw.strokes import counted
from keltis_cli.errors import BadRequest
from keltis_cli.remote.connect.calls import (
    SERVER,
    ServerOption,
    print_json,
    print_lines,
    talk,
)
from keltis_cli.remote.connect.command import Answer, remote
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.logins import Login, login_file, read_logins, write_logins
from keltis_cli.remote.connect.servers import Place, address_of, find_place, warn_of_plain_http
from keltis_cli.remote.connect.shapes import read
from keltis_server.models.accounts import AccountOut, OpenedOut, TokensOut


def register(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Your name: a-z, digits, dots, dashes.")
    ],
    invitation: Annotated[
        str | None,
        typer.Option(
            "--invitation",
            metavar="TEXT",
            envvar="KELTIS_INVITATION",
            help="Invitation, if one is needed.",
        ),
    ] = None,
    server: ServerOption = "",
    as_json: arguments.JsonOption = False,
) -> None:
    """Open an account on a server, and log in."""
    logins = read_logins()
    place = find_place(server)
    url = place.url
    known = logins.servers.get(url)
    if known is not None:
        raise BadRequest(
            f"you are logged in to {url} as {known.name}: log out first (keltis-ladder logout);"
            " without its token an account is lost, so make another one before if you need it"
        )
    warn_of_plain_http(url)
    wish = {"name": name} | ({"invitation": invitation} if invitation else {})

    async def open_account() -> tuple[Any, OpenedOut]:
        # The operator may open accounts even where nobody else may.
        async with Server(place) as found:
            plain = await found.post("/accounts", wish)
            return plain, read(found, OpenedOut, plain)

    plain, opened = asyncio.run(open_account())
    logins.keep(url, Login(opened.name, opened.token))
    path = write_logins(logins)
    if as_json:
        print_json({**plain, "server": url, "login": str(path)})
        return
    print_lines(
        [
            styled(f"Welcome, {opened.name}.", TITLE).append(f"  {url}", QUIET),
            Text(),
            Text(f"Your token: {opened.token}"),
            Text("It is shown only once. Anybody who has it can act as you: keep it secret."),
            Text(f"It is saved in {path}, so you need not type it here."),
            Text(),
            Text("Next: keltis-ladder init my-bot && keltis-ladder submit my-bot", QUIET),
        ]
    )


def login(
    url: Annotated[
        str, typer.Argument(metavar="URL", envvar=SERVER, help="The address of the server.")
    ],
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            metavar="TOKEN",
            envvar="KELTIS_TOKEN",
            help="Access token; prompted for if missing.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Save a token for a server, after the server has accepted it."""
    address = address_of(url)
    warn_of_plain_http(address)
    if token is None:
        token = _typed_token()
    token = token.strip()
    if not token:
        raise BadRequest("a token is needed: keltis-ladder register NAME makes one")

    async def who(server: Server) -> AccountOut:
        return read(server, AccountOut, await server.get("/account"))

    account = talk(address, token, who)
    logins = read_logins()
    logins.keep(address, Login(account.name, token))
    path = write_logins(logins)
    print(f"Logged in to {address} as {account.name}; saved in {path}.")


def _typed_token() -> str:
    """Ask for a token without showing it; from a pipe its first line is taken."""
    if not sys.stdin.isatty():
        return sys.stdin.readline()
    text: str = typer.prompt("Token", hide_input=True, err=True)
    return text


def logout(
    server: ServerOption = "",
    revoke: Annotated[bool, typer.Option("--revoke", help="Also revoke the token.")] = False,
) -> None:
    """Forget the saved login of a server."""
    logins = read_logins()
    url = address_of(server) if server else logins.default
    if url not in logins.servers:
        where = f" to {url}" if url else ""
        raise BadRequest(f"you are not logged in{where}: keltis-ladder login URL")
    gone = logins.servers[url]
    if revoke:
        talk(url, gone.token, _revoke_current)
    logins.forget(url)
    write_logins(logins)
    ended = "its token is revoked" if revoke else "its token is still valid elsewhere"
    print(f"Logged out of {url} as {gone.name}; {ended}.")
    if logins.default:
        print(f"The server is now {logins.default}, as {logins.servers[logins.default].name}.")


async def _revoke_current(server: Server) -> None:
    found = read(server, TokensOut, await server.get("/account/tokens"))
    for token in found.tokens:
        if token.current:
            await server.delete(f"/account/tokens/{token.id}")


@remote()
async def whoami(server: Server) -> Answer:
    """Show which server is used, and your account there."""
    plain = await server.get("/account")
    account = read(server, AccountOut, plain)
    return Answer({**plain, "server": server.url}, lambda *_: _who(account, server.place))


def _who(account: AccountOut, place: Place) -> list[Text]:
    saved = read_logins().servers.get(place.url)
    how = ""
    if saved is not None and saved.token == place.token:
        how = f"login saved in {login_file()}"
    elif place.is_local:
        how = "the server of this machine: no login is needed"
    lines = [styled(account.name, TITLE).append(f"  {place.url}", QUIET)]
    lines += [Text(how, QUIET)] if how else []
    lines.append(Text(f"may    {', '.join(account.scopes)}"))
    lines.append(Text(f"bots   {', '.join(account.bots) or 'none yet'}"))
    if account.uploads_left is not None:
        lines.append(Text(f"left   {counted(account.uploads_left, 'upload')} possible now"))
    return lines
