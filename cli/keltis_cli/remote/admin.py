"""``admin``: what the operator of a server does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from keltis_cli import arguments
from keltis_cli.draw.look import TITLE, styled
from keltis_cli.draw.printable import printable
from keltis_cli.remote.connect.calls import BotArgument, part
from keltis_cli.remote.connect.command import Answer, remote
from keltis_cli.remote.connect.completion import complete_bots
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.shapes import read
from keltis_cli.remote.pages.audit import bot_lines, ladder_lines
from keltis_server.models.administration import InvitationOut, PrunedOut, RecheckedOut, RerateOut
from keltis_server.models.audit import AuditOut, BotAuditOut

app = arguments.group(
    "Operate a server, its bots and its authors. On its own machine no token is needed."
)

DISABLED: Final = "disabled by the operator"
AuthorArgument = Annotated[str, typer.Argument(metavar="AUTHOR", help="The author's name.")]
ReasonOption = Annotated[str, typer.Option("--reason", help="Reason; it is shown.")]
OneBotArgument = Annotated[
    str,
    typer.Argument(
        metavar="[BOT]", help="Only this bot.", autocompletion=complete_bots, show_default=False
    ),
]


@app.command()
@remote(as_operator=True)
async def status(server: Server) -> Answer:
    """Show the state of the server."""
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
@remote(as_operator=True, sure="Start no more matches until `admin resume`?")
async def drain(server: Server) -> Answer:
    """Start no more matches; running ones are played to their end."""
    plain = await server.post("/admin/drain")
    return Answer(plain, "No more matches start. To resume: keltis-ladder admin resume")


@app.command()
@remote(as_operator=True)
async def resume(server: Server) -> Answer:
    """Start matches again."""
    return Answer(await server.post("/admin/resume"), "Matches start again.")


async def _moderate(
    server: Server, kind: str, name: str, verb: str, reason: str | None = None
) -> Answer:
    wish = None if reason is None else {"reason": reason}
    plain = await server.post(f"/admin/{kind}/{part(name)}/{verb}", wish)
    return Answer(plain, f"{printable(name)} is {verb}d.")


@app.command("disable-bot")
@remote(as_operator=True, sure="Disable the bot {bot}?")
async def disable_bot(server: Server, bot: BotArgument, reason: ReasonOption = DISABLED) -> Answer:
    """Disable a bot: it does not play until it is enabled."""
    return await _moderate(server, "bots", bot, "disable", reason)


@app.command("enable-bot")
@remote(as_operator=True)
async def enable_bot(server: Server, bot: BotArgument) -> Answer:
    """Enable a disabled bot."""
    return await _moderate(server, "bots", bot, "enable")


@app.command("disable-author")
@remote(as_operator=True, sure="Disable the author {author} and all of their bots?")
async def disable_author(
    server: Server, author: AuthorArgument, reason: ReasonOption = DISABLED
) -> Answer:
    """Disable an author with all bots, until enabled."""
    return await _moderate(server, "authors", author, "disable", reason)


@app.command("enable-author")
@remote(as_operator=True)
async def enable_author(server: Server, author: AuthorArgument) -> Answer:
    """Enable a disabled author."""
    return await _moderate(server, "authors", author, "enable")


@app.command("remove-author")
@remote(as_operator=True, sure="Remove the author {author} for good? This cannot be undone.")
async def remove_author(server: Server, author: AuthorArgument) -> Answer:
    """Remove an author for good: name, tokens, bots' programs. Results stay."""
    return await _moderate(server, "authors", author, "remove")


@app.command()
@remote(as_operator=True)
async def recheck(server: Server, bot: OneBotArgument = "") -> Answer:
    """Retry the checks that failed because of an error of the server."""
    plain = await server.post("/admin/recheck", {"bot": bot} if bot else {})
    found = read(server, RecheckedOut, plain).versions
    names = ", ".join(f"{each.bot} v{each.number}" for each in found)
    return Answer(plain, f"Checked again: {names}." if names else "There is none to check again.")


@app.command()
@remote(as_operator=True, sure="Recompute all ratings?")
async def rerate(server: Server) -> Answer:
    """Recompute all ratings from the stored matches."""
    plain = await server.post("/admin/rerate")
    done = read(server, RerateOut, plain)
    return Answer(plain, f"Rated {done.matches} matches again; {done.changed} ratings changed.")


@app.command()
@remote(as_operator=True)
async def audit(server: Server, bot: OneBotArgument = "") -> Answer:
    """Show which bots are suspected of using hidden information, and why."""
    plain = await server.get(f"/bots/{part(bot)}/audit" if bot else "/admin/audit")
    if bot:
        lines = bot_lines(bot, read(server, BotAuditOut, plain))
    else:
        lines = ladder_lines(read(server, AuditOut, plain))
    return Answer(plain, "\n".join(lines))


def _sure_to_prune(dry_run: bool, played: bool) -> str:
    return "" if dry_run else "Remove expired data and unused programs?"


@app.command()
@remote(as_operator=True, sure=_sure_to_prune)
async def prune(
    server: Server,
    dry_run: arguments.DryRunOption = False,
    played: Annotated[
        bool,
        typer.Option("--played", help="Also uploads that have played and cannot play again."),
    ] = False,
) -> Answer:
    """Remove expired data and unused programs, as happens once a day."""
    plain = await server.post("/admin/prune", {"dry_run": dry_run, "played": played})
    done = read(server, PrunedOut, plain)
    verb = "Would remove" if dry_run else "Removed"
    space = f"{done.size / 1e6:.1f} MB"
    return Answer(
        plain,
        f"{verb} {done.builds} builds and {done.archives} archives: {space}.\n"
        f"{verb} as too old: {done.steps} rating steps, {done.replays} replays, "
        f"{done.cards} crash cards, {done.outputs} outputs of builds, "
        f"{done.credentials} tokens and invitations.",
    )


@app.command()
@remote(as_operator=True)
async def invite(
    server: Server,
    label: Annotated[str, typer.Argument(metavar="LABEL", help="Who the invitation is for.")],
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="Days until it expires.")
    ] = None,
) -> Answer:
    """Make an invitation that opens one account."""
    wish: dict[str, Any] = {"label": label} | ({"days": days} if days is not None else {})
    plain = await server.post("/admin/invitations", wish)
    text = read(server, InvitationOut, plain).invitation
    return Answer(plain, lambda *_: _say_invitation(text))


def _say_invitation(text: str) -> str:
    typer.echo(
        "It is shown only once, and opens one account: keltis-ladder register NAME --server URL"
        " --invitation TEXT",
        err=True,
    )
    return text
