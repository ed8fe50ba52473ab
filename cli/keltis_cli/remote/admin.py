"""``admin``: what whoever runs a server does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from typing import Annotated, Any

import typer
from rich.text import Text

from keltis_cli.draw.look import TITLE, styled
from keltis_cli.draw.printable import printable
from keltis_cli.remote.connect.calls import (
    BotArgument,
    JsonOption,
    ServerOption,
    TokenOption,
    YesOption,
    confirm,
    part,
    print_json,
    print_lines,
    talk,
)
from keltis_cli.remote.connect.completion import complete_bots
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.pages.audit import bot_lines, ladder_lines

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Run a server: look after it, its bots and its authors. On its own machine no token is"
    " needed.",
)

AuthorArgument = Annotated[str, typer.Argument(metavar="AUTHOR", help="The author's name.")]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; it is shown.")]


def _ask(server: str, token: str, method: str, path: str, body: Any = None) -> Any:
    async def ask(found: Server) -> Any:
        return await (found.get(path) if method == "GET" else found.post(path, body))

    return talk(server, token, ask, as_operator=True)


def _did(as_json: bool, plain: Any, text: str) -> None:
    if as_json:
        print_json(plain)
    else:
        print(text)


@app.command()
def status(server: ServerOption = "", token: TokenOption = "", as_json: JsonOption = False) -> None:
    """Show how the server is."""
    plain = _ask(server, token, "GET", "/admin/status")
    if as_json:
        print_json(plain)
        return
    rows = list(_rows(plain))
    width = max((len(name) for name, _ in rows), default=0)
    lines = [
        Text(f"{name if first else '':<{width}}  {line}")
        for name, value in rows
        for first, line in zip(chain([True], repeat(False)), value.split("\n"), strict=False)
    ]
    print_lines([styled("The server", TITLE), *lines])


def _rows(plain: Any, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield whatever a status says, one name and value at a time."""
    for key, value in plain.items() if isinstance(plain, dict) else [("status", plain)]:
        name = f"{above}{printable(str(key)).replace('_', ' ')}"
        if isinstance(value, dict):
            yield from _rows(value, f"{name} ")
        elif isinstance(value, list):
            several = any(isinstance(each, dict) for each in value)
            yield name, ("\n" if several else ", ").join(map(_words, value)) or "none"
        elif isinstance(value, bool):
            yield name, "yes" if value else "no"
        else:
            yield name, "-" if value is None else printable(str(value))


def _words(value: Any) -> str:
    """Return one of several values in words: what it says of itself, behind a blank each."""
    parts = value.values() if isinstance(value, dict) else [value]
    return "  ".join(printable(str(part)) for part in parts)


@app.command()
def drain(
    yes: YesOption = False,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Begin no more matches: those under way are played to their end."""
    confirm("Begin no more matches until `admin resume`?", yes)
    plain = _ask(server, token, "POST", "/admin/drain")
    _did(as_json, plain, "No more matches begin. To go on: keltis-ladder admin resume")


@app.command()
def resume(server: ServerOption = "", token: TokenOption = "", as_json: JsonOption = False) -> None:
    """Begin matches again."""
    _did(as_json, _ask(server, token, "POST", "/admin/resume"), "Matches begin again.")


@app.command("disable-bot")
def disable_bot(
    bot: BotArgument,
    reason: ReasonOption = "disabled by the operator",
    yes: YesOption = False,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Take a bot off the ladder, until it is enabled."""
    confirm(f"Disable the bot {printable(bot)}?", yes)
    plain = _ask(server, token, "POST", f"/admin/bots/{part(bot)}/disable", {"reason": reason})
    _did(as_json, plain, f"{printable(bot)} is disabled.")


@app.command("enable-bot")
def enable_bot(
    bot: BotArgument,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Let a disabled bot play again."""
    plain = _ask(server, token, "POST", f"/admin/bots/{part(bot)}/enable")
    _did(as_json, plain, f"{printable(bot)} is enabled.")


@app.command("disable-author")
def disable_author(
    author: AuthorArgument,
    reason: ReasonOption = "disabled by the operator",
    yes: YesOption = False,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Shut an author out, with all bots, until enabled."""
    confirm(f"Disable the author {printable(author)} and all of their bots?", yes)
    plain = _ask(
        server, token, "POST", f"/admin/authors/{part(author)}/disable", {"reason": reason}
    )
    _did(as_json, plain, f"{printable(author)} is disabled.")


@app.command("enable-author")
def enable_author(
    author: AuthorArgument,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Let a disabled author back in."""
    plain = _ask(server, token, "POST", f"/admin/authors/{part(author)}/enable")
    _did(as_json, plain, f"{printable(author)} is enabled.")


@app.command("remove-author")
def remove_author(
    author: AuthorArgument,
    yes: YesOption = False,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Remove an author for good: name, tokens, bots' programs. Results stay."""
    confirm(f"Remove the author {printable(author)} for good? This cannot be undone.", yes)
    plain = _ask(server, token, "POST", f"/admin/authors/{part(author)}/remove")
    _did(as_json, plain, f"{printable(author)} is removed.")


@app.command()
def recheck(
    bot: Annotated[
        str,
        typer.Argument(
            metavar="[BOT]", help="Only this one.", autocompletion=complete_bots, show_default=False
        ),
    ] = "",
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Check the versions again that could not be checked through a fault of the server."""
    plain = _ask(server, token, "POST", "/admin/recheck", {"bot": bot} if bot else {})
    found = plain.get("versions", []) if isinstance(plain, dict) else []
    names = ", ".join(printable(f"{each.get('bot')} v{each.get('number')}") for each in found)
    _did(as_json, plain, f"Checked again: {names}." if names else "There is none to check again.")


@app.command()
def rerate(
    yes: YesOption = False,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Work out all ratings again from the stored matches."""
    confirm("Work out all ratings again?", yes)
    plain = _ask(server, token, "POST", "/admin/rerate")
    counts = plain if isinstance(plain, dict) else {}
    matches, changed = (printable(str(counts.get(key))) for key in ("matches", "changed"))
    _did(as_json, plain, f"Rated {matches} matches again; {changed} ratings changed.")


@app.command()
def audit(
    bot: Annotated[
        str,
        typer.Argument(
            metavar="[BOT]", help="Only this one.", autocompletion=complete_bots, show_default=False
        ),
    ] = "",
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show which bots seem to know more than they may, and the evidence."""
    path = f"/bots/{part(bot)}/audit" if bot else "/admin/audit"
    plain = _ask(server, token, "GET", path)
    if as_json:
        print_json(plain)
    else:
        print("\n".join(bot_lines(bot, plain) if bot else ladder_lines(plain)))


@app.command()
def prune(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed.")
    ] = False,
    played: Annotated[
        bool,
        typer.Option("--played", help="Also uploads that have played, and never will again."),
    ] = False,
    yes: YesOption = False,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Remove what is too old to be kept, and programs that nobody needs, as happens once a day."""
    if not dry_run:
        confirm("Remove what is too old, and programs that nobody needs any more?", yes)
    wish = {"dry_run": dry_run, "played": played}
    plain = _ask(server, token, "POST", "/admin/prune", wish)
    counts = plain if isinstance(plain, dict) else {}
    builds, archives = (printable(str(counts.get(key))) for key in ("builds", "archives"))
    size = counts.get("size")
    space = f"{size / 1e6:.1f} MB" if isinstance(size, int) else "-"
    verb = "Would remove" if dry_run else "Removed"
    old = ", ".join(
        f"{printable(str(counts.get(key)))} {what}"
        for key, what in (
            ("steps", "rating steps"),
            ("replays", "replays"),
            ("cards", "crash cards"),
            ("outputs", "outputs of builds"),
            ("credentials", "tokens and invitations"),
        )
    )
    programs = f"{verb} {builds} builds and {archives} archives: {space}."
    _did(as_json, plain, f"{programs}\n{verb} as too old: {old}.")


@app.command()
def invite(
    label: Annotated[str, typer.Argument(metavar="LABEL", help="Whom it is for.")],
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="It ends after so many.")
    ] = None,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make an invitation, with which one account can be opened."""
    wish: dict[str, Any] = {"label": label} | ({"days": days} if days is not None else {})
    plain = _ask(server, token, "POST", "/admin/invitations", wish)
    if as_json:
        print_json(plain)
        return
    print(printable(str(plain.get("invitation") if isinstance(plain, dict) else plain)))
    typer.echo(
        "It is shown this once, and good for one account: keltis-ladder register NAME --server URL"
        " --invitation TEXT",
        err=True,
    )
