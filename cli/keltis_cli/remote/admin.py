"""``admin``: what the operator of a server does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from keltis_cli.draw.look import TITLE, styled
from keltis_cli.draw.printable import printable
from keltis_cli.remote.connect.calls import BotArgument, part
from keltis_cli.remote.connect.command import Answer, remote
from keltis_cli.remote.connect.completion import complete_bots
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.pages.audit import bot_lines, ladder_lines

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Run a server: look after it, its bots and its authors. On its own machine no token is"
    " needed.",
)

DISABLED: Final = "disabled by the operator"
AuthorArgument = Annotated[str, typer.Argument(metavar="AUTHOR", help="The author's name.")]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; it is shown.")]
OneBotArgument = Annotated[
    str,
    typer.Argument(
        metavar="[BOT]", help="Only this one.", autocompletion=complete_bots, show_default=False
    ),
]


@app.command()
@remote(as_operator=True)
async def status(server: Server) -> Answer:
    """Show how the server is."""
    plain = await server.get("/admin/status")
    return Answer(plain, lambda *_: _status(plain))


def _status(plain: Any) -> list[Text]:
    rows = list(_rows(plain))
    width = max((len(name) for name, _ in rows), default=0)
    lines = [
        Text(f"{name if first else '':<{width}}  {line}")
        for name, value in rows
        for first, line in zip(chain([True], repeat(False)), value.split("\n"), strict=False)
    ]
    return [styled("The server", TITLE), *lines]


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
@remote(as_operator=True, sure="Begin no more matches until `admin resume`?")
async def drain(server: Server) -> Answer:
    """Begin no more matches: those under way are played to their end."""
    plain = await server.post("/admin/drain")
    return Answer(plain, "No more matches begin. To go on: keltis-ladder admin resume")


@app.command()
@remote(as_operator=True)
async def resume(server: Server) -> Answer:
    """Begin matches again."""
    return Answer(await server.post("/admin/resume"), "Matches begin again.")


@app.command("disable-bot")
@remote(as_operator=True, sure="Disable the bot {bot}?")
async def disable_bot(server: Server, bot: BotArgument, reason: ReasonOption = DISABLED) -> Answer:
    """Take a bot off the ladder, until it is enabled."""
    plain = await server.post(f"/admin/bots/{part(bot)}/disable", {"reason": reason})
    return Answer(plain, f"{printable(bot)} is disabled.")


@app.command("enable-bot")
@remote(as_operator=True)
async def enable_bot(server: Server, bot: BotArgument) -> Answer:
    """Let a disabled bot play again."""
    plain = await server.post(f"/admin/bots/{part(bot)}/enable")
    return Answer(plain, f"{printable(bot)} is enabled.")


@app.command("disable-author")
@remote(as_operator=True, sure="Disable the author {author} and all of their bots?")
async def disable_author(
    server: Server, author: AuthorArgument, reason: ReasonOption = DISABLED
) -> Answer:
    """Shut an author out, with all bots, until enabled."""
    plain = await server.post(f"/admin/authors/{part(author)}/disable", {"reason": reason})
    return Answer(plain, f"{printable(author)} is disabled.")


@app.command("enable-author")
@remote(as_operator=True)
async def enable_author(server: Server, author: AuthorArgument) -> Answer:
    """Let a disabled author back in."""
    plain = await server.post(f"/admin/authors/{part(author)}/enable")
    return Answer(plain, f"{printable(author)} is enabled.")


@app.command("remove-author")
@remote(as_operator=True, sure="Remove the author {author} for good? This cannot be undone.")
async def remove_author(server: Server, author: AuthorArgument) -> Answer:
    """Remove an author for good: name, tokens, bots' programs. Results stay."""
    plain = await server.post(f"/admin/authors/{part(author)}/remove")
    return Answer(plain, f"{printable(author)} is removed.")


@app.command()
@remote(as_operator=True)
async def recheck(server: Server, bot: OneBotArgument = "") -> Answer:
    """Check the versions again that could not be checked through a fault of the server."""
    plain = await server.post("/admin/recheck", {"bot": bot} if bot else {})
    found = plain.get("versions", []) if isinstance(plain, dict) else []
    names = ", ".join(printable(f"{each.get('bot')} v{each.get('number')}") for each in found)
    return Answer(plain, f"Checked again: {names}." if names else "There is none to check again.")


@app.command()
@remote(as_operator=True, sure="Work out all ratings again?")
async def rerate(server: Server) -> Answer:
    """Work out all ratings again from the stored matches."""
    plain = await server.post("/admin/rerate")
    counts = plain if isinstance(plain, dict) else {}
    matches, changed = (printable(str(counts.get(key))) for key in ("matches", "changed"))
    return Answer(plain, f"Rated {matches} matches again; {changed} ratings changed.")


@app.command()
@remote(as_operator=True)
async def audit(server: Server, bot: OneBotArgument = "") -> Answer:
    """Show which bots seem to know more than they may, and the evidence."""
    plain = await server.get(f"/bots/{part(bot)}/audit" if bot else "/admin/audit")
    return Answer(
        plain, lambda *_: "\n".join(bot_lines(bot, plain) if bot else ladder_lines(plain))
    )


def _sure_to_prune(dry_run: bool, played: bool) -> str:
    return "" if dry_run else "Remove what is too old, and programs that nobody needs any more?"


@app.command()
@remote(as_operator=True, sure=_sure_to_prune)
async def prune(
    server: Server,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed.")
    ] = False,
    played: Annotated[
        bool,
        typer.Option("--played", help="Also uploads that have played, and never will again."),
    ] = False,
) -> Answer:
    """Remove what is too old to be kept, and programs that nobody needs, as happens once a day."""
    plain = await server.post("/admin/prune", {"dry_run": dry_run, "played": played})
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
    return Answer(plain, f"{programs}\n{verb} as too old: {old}.")


@app.command()
@remote(as_operator=True)
async def invite(
    server: Server,
    label: Annotated[str, typer.Argument(metavar="LABEL", help="Whom it is for.")],
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="It ends after so many.")
    ] = None,
) -> Answer:
    """Make an invitation, with which one account can be opened."""
    wish: dict[str, Any] = {"label": label} | ({"days": days} if days is not None else {})
    plain = await server.post("/admin/invitations", wish)
    return Answer(plain, lambda *_: _say_invitation(plain))


def _say_invitation(plain: Any) -> str:
    typer.echo(
        "It is shown this once, and good for one account: keltis-ladder register NAME --server URL"
        " --invitation TEXT",
        err=True,
    )
    return printable(str(plain.get("invitation") if isinstance(plain, dict) else plain))
