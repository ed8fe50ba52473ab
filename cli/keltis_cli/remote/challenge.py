"""``challenge``: one unrated match, played immediately."""

from __future__ import annotations

import sys
from contextlib import aclosing
from typing import Annotated, Any

import typer

from keltis_cli import arguments
from keltis_cli.draw.look import console, look
from keltis_cli.draw.strokes import counted
from keltis_cli.exit_codes import ExitCode
from keltis_cli.remote.connect.calls import (
    BotArgument,
    ServerOption,
    TokenOption,
    part,
    print_json,
    print_lines,
    talk,
)
from keltis_cli.remote.connect.completion import complete_bots, complete_variants
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.following import (
    SILENCE_SECONDS,
    Message,
    Retry,
    TimeoutOption,
    Waiting,
    follow,
    news_timeout,
)
from keltis_cli.remote.connect.shapes import read
from keltis_cli.remote.pages.match import entrants_text, match_page
from keltis_engine import find_variant
from keltis_server.models.matches import MatchOut


def challenge(
    bot: BotArgument,
    opponents: Annotated[
        list[str],
        typer.Argument(
            metavar="OPPONENT...", help="One to three bots.", autocompletion=complete_bots
        ),
    ],
    variant: Annotated[
        str, arguments.of_variant("Variant to play.", autocompletion=complete_variants)
    ] = "keltis",
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the result.")] = True,
    timeout: TimeoutOption = SILENCE_SECONDS,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: arguments.JsonOption = False,
    ascii_only: arguments.AsciiOption = False,
) -> None:
    """Have your bot play a match against others now. It is not rated.

    The exit code is 1 if the match could not be played, and 3 if nothing new comes before the
    timeout.
    """
    wish = {"bot": bot, "opponents": opponents, "variant": find_variant(variant).id}
    waiting = Waiting(quiet=as_json)

    async def play(found: Server) -> tuple[Any, MatchOut]:
        plain = await found.post("/challenges", wish)
        match = read(found, MatchOut, plain)
        if not wait:
            return plain, match
        if not as_json:
            print(f"{entrants_text(match)}: {match.variant}, match {match.id}", flush=True)
        return await until_over(found, match, waiting, timeout)

    try:
        plain, match = talk(server, token, play)
    except KeyboardInterrupt:
        print(
            "\nStopped waiting; the match is still played: keltis-ladder matches",
            file=sys.stderr,
        )
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    if as_json:
        print_json(plain)
    elif wait:
        print_lines(match_page(match, console().width, look(ascii_only)))
    else:
        print(f"Match {match.id} is {match.state}. To see it: keltis-ladder show {match.id}")
    if wait and match.state != "finished":
        raise typer.Exit(ExitCode.FAILED)


async def until_over(
    server: Server, match: MatchOut, waiting: Waiting, silence: float
) -> tuple[Any, MatchOut]:
    """Wait until a match is over, and return it as the server has it then."""
    path = f"/matches/{part(match.id)}"
    retry = Retry()
    told = Told(match)
    waiting.say(told.text)
    how = f"to see how it goes on: keltis-ladder show {match.id}"
    async with (
        news_timeout(server, waiting, silence, lambda: how) as kept,
        aclosing(follow(server, f"match/{match.id}")) as messages,
    ):
        before = None
        async for message in messages:
            if message is None:
                plain = await retry.ask(lambda: server.get(path))
                if plain is not None and (now := read(server, MatchOut, plain)).over:
                    return plain, now
                if plain is not None and plain != before:
                    before = plain
                    kept.note_news()
            else:
                told.take(message)
                kept.note_news()
            waiting.say(told.text)
    plain = await server.get(path)
    return plain, read(server, MatchOut, plain)


class Told:
    """How far a match is, as it is told live."""

    def __init__(self, match: MatchOut) -> None:
        self.games = match.players
        self.text = "waiting for a referee ..."

    def take(self, message: Message) -> None:
        """Note what has happened; whatever is odd is left alone, the result comes by itself."""
        if message["op"] == "snapshot":
            current = message["data"].get("current") or {}
            self._note(current.get("frames") or [])
        elif message["op"] == "delta":
            self._note(message["data"])

    def _note(self, events: list[Any]) -> None:
        for event in events:
            if event.get("kind") == "frame":
                scores = " : ".join(map(str, event["scores"]))
                decisions = counted(event["ply"] + 1, "decision")
                self.text = f"game {event['rotation'] + 1} of {self.games}, {decisions}, {scores}"
            elif event.get("kind") == "restarted":
                self.text = "it is played again from the beginning ..."
