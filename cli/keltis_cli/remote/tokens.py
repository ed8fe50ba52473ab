"""``tokens``: access tokens of an author."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from keltis_cli import arguments
from keltis_cli.draw.look import QUIET, TITLE, Look
from keltis_cli.draw.printable import printable
from keltis_cli.draw.tables.columns import fitted, numbers, texts
from keltis_cli.remote.connect.calls import ServerOption, TokenOption, confirm, talk
from keltis_cli.remote.connect.command import Answer, remote
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.shapes import read
from keltis_server.models.accounts import NewTokenOut, TokenOut, TokensOut

SCOPES = ("read", "submit", "play", "account", "admin")

app = arguments.group("List, make and revoke your tokens.")


@app.command("list")
@remote()
async def list_tokens(server: Server) -> Answer:
    """List the tokens that are valid."""
    plain = await server.get("/account/tokens")
    tokens = read(server, TokensOut, plain).tokens
    return Answer(plain, lambda width, look: _table(tokens, width, look))


def _table(tokens: list[TokenOut], width: int, drawn: Look) -> list[Text]:
    if not tokens:
        return [Text("No tokens.", QUIET)]
    columns = [
        numbers("id", [str(token.id) for token in tokens]),
        texts(
            "label",
            [Text(token.label or "-", TITLE if token.current else "") for token in tokens],
            drawn,
            least=8,
            end=[" (this one)" if token.current else "" for token in tokens],
        ),
        texts("may", [", ".join(token.scopes) for token in tokens], drawn, least=10),
        texts("made", [f"{token.created:%Y-%m-%d}" for token in tokens], drawn),
        texts(
            "ends",
            [f"{token.expires:%Y-%m-%d}" if token.expires else "never" for token in tokens],
            drawn,
        ),
    ]
    return fitted(columns, width, drawn)


@app.command()
@remote()
async def create(
    server: Server,
    label: Annotated[str, typer.Argument(metavar="LABEL", help="What the token is for.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            help=f"Permission: {', '.join(SCOPES)}; may be repeated.",
            show_default="read, submit, play",
            autocompletion=lambda: list(SCOPES),
        ),
    ] = None,
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="Days until it expires.", show_default="no")
    ] = None,
) -> Answer:
    """Make a token: for another machine, or a program of yours."""
    wish: dict[str, Any] = {"label": label, "scopes": scope or list(SCOPES[:3])}
    if days is not None:
        wish["days"] = days
    plain = await server.post("/account/tokens", wish)
    new = read(server, NewTokenOut, plain)
    return Answer(plain, lambda *_: _say_new(label, new.token))


def _say_new(label: str, token: str) -> str:
    typer.echo(
        f"This token ({printable(label)}) is shown only once, and saved nowhere. Use it by"
        " KELTIS_TOKEN, or keltis-ladder login.",
        err=True,
    )
    return token


@app.command()
def revoke(
    id: Annotated[int, typer.Argument(metavar="ID", help="Id of the token, see `tokens list`.")],
    yes: arguments.YesOption = False,
    server: ServerOption = "",
    token: TokenOption = "",
) -> None:
    """Revoke a token: it can no longer be used."""
    confirm(f"Revoke token {id}?", yes)
    talk(server, token, lambda found: found.delete(f"/account/tokens/{id}"))
    print(f"Token {id} is revoked.")
