"""``tournament create, start, watch ...``: tournaments that a server holds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from keltis_cli import arguments
from keltis_cli.draw.displays import Display, display_for, with_symbols
from keltis_cli.draw.look import QUIET, TITLE, Look, console, look
from keltis_cli.draw.printable import printable
from keltis_cli.draw.tables.columns import fitted, numbers, texts
from keltis_cli.errors import BadRequest
from keltis_cli.exit_codes import ExitCode
from keltis_cli.remote.connect.calls import (
    DEFAULT_ITEMS,
    ServerOption,
    TokenOption,
    part,
    print_json,
    print_lines,
    talk,
)
from keltis_cli.remote.connect.command import Answer, remote
from keltis_cli.remote.connect.completion import (
    complete_bots,
    complete_tournaments,
    complete_variants,
)
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.following import (
    WATCHED_SILENCE_SECONDS,
    Retry,
    TimeoutOption,
    Waiting,
    follow,
    news_timeout,
)
from keltis_cli.remote.connect.shapes import read, read_all
from keltis_cli.remote.connect.tournament_shapes import Tournament
from keltis_cli.remote.pages.tournament import Watched, tournament_page
from keltis_engine import VARIANTS
from keltis_ladder.store.schema.moments import now
from keltis_ladder.tournaments.plan import FORMATS, ROUND_ROBIN
from keltis_server.models.tournaments import TournamentSummary

ALL: Final = "all"
REDRAW: Final = 0.5  # seconds

NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="Name of the tournament.", autocompletion=complete_tournaments
    ),
]


FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        help=f"One of {', '.join(FORMATS)}.",
        autocompletion=lambda: list(FORMATS),
    ),
]
TablePlayersOption = Annotated[
    int, typer.Option("--players", "-p", help="Players per table, 2 to 4.")
]
PairingMatchesOption = Annotated[
    int, typer.Option("--matches", "-n", help="Matches per pairing; eliminations: best of N.")
]
RoundsOption = Annotated[
    int | None,
    typer.Option("--rounds", help="Swiss: number of rounds; otherwise: number of cycles."),
]
ChallengersOption = Annotated[
    int,
    typer.Option("--challengers", help="Gauntlet: number of challengers (the first N entrants)."),
]


@remote(draws=True)
async def create(
    server: Server,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the tournament.")],
    format_: FormatOption = ROUND_ROBIN,
    bot: Annotated[
        list[str] | None,
        typer.Option(
            "--bot",
            "-b",
            metavar="BOT",
            help="A bot that takes part; may be repeated.",
            autocompletion=complete_bots,
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option("--top", min=1, help="Also the best N bots of the leaderboard."),
    ] = None,
    players: TablePlayersOption = 2,
    variant: Annotated[
        list[str] | None,
        arguments.of_variant(
            "Variant, or all; may be repeated.",
            show_default="keltis",
            autocompletion=complete_variants,
        ),
    ] = None,
    matches: PairingMatchesOption = 1,
    rounds: RoundsOption = None,
    challengers: ChallengersOption = 1,
    starts: Annotated[
        datetime | None,
        typer.Option("--starts", help="Start automatically at this local time."),
    ] = None,
    rated: Annotated[
        bool, typer.Option("--rated", help="Its matches are rated; only for operators.")
    ] = False,
    begin: Annotated[bool, typer.Option("--start", help="Start it immediately.")] = False,
) -> Answer:
    """Plan a tournament on the server: of bots that you name, or of the best."""
    if not bot and top is None:
        raise BadRequest("say who takes part: --bot NAME, several times, or --top N, or both")
    variants = list(VARIANTS) if variant == [ALL] else variant or ["keltis"]
    wish: dict[str, Any] = {
        "name": name,
        "format": format_,
        "bots": bot or [],
        "players": players,
        "variants": variants,
        "matches": matches,
        "challengers": challengers,
        "rated": rated,
    }
    if top is not None:
        wish["top"] = top
    if rounds is not None:
        wish["rounds"] = rounds
    if starts is not None:
        wish["starts"] = starts.astimezone(UTC).isoformat()

    plain = await server.post("/tournaments", wish)
    if begin:
        plain = await server.post(f"/tournaments/{part(name)}/start")
    made = read(server, Tournament, plain)
    word = "watch" if begin else "start"
    next_step = Text(f"Next: keltis-ladder tournament {word} {printable(name)}")
    return Answer(
        plain, lambda width, look: [*tournament_page(made, width, look), Text(), next_step]
    )


@remote()
async def start(server: Server, name: NameArgument) -> Answer:
    """Start a tournament, or resume a paused one."""
    return await _change(server, name, "start")


@remote()
async def pause(server: Server, name: NameArgument) -> Answer:
    """Pause a tournament: matches that have not begun wait until `start`."""
    return await _change(server, name, "pause")


@remote(sure="Cancel the tournament {name} for good?")
async def cancel(server: Server, name: NameArgument) -> Answer:
    """Cancel a tournament, for good."""
    return await _change(server, name, "cancel")


async def _change(server: Server, name: str, what: str) -> Answer:
    plain = await server.post(f"/tournaments/{part(name)}/{what}")
    now = read(server, Tournament, plain)
    text = f"{now.name} is {now.state}: {now.played} of {now.total} matches played."
    if now.state == "running":
        text += f"\nWatch it: keltis-ladder tournament watch {now.name}"
    return Answer(plain, text)


@remote(draws=True)
async def list_tournaments(
    server: Server,
    state: Annotated[
        str | None, typer.Option("--state", help="scheduled, running, paused, finished, cancelled.")
    ] = None,
    limit: arguments.LimitOption = DEFAULT_ITEMS,
) -> Answer:
    """List the tournaments of the server, the newest first."""
    plain = await server.pages("/tournaments", limit, state=state)
    listed = read_all(server, TournamentSummary, plain)
    return Answer(plain, lambda width, look: _table(listed, width, look))


def _table(listed: list[TournamentSummary], width: int, look: Look) -> list[Text]:
    if not listed:
        return [Text("No tournaments yet: keltis-ladder tournament create NAME --top 8", QUIET)]
    names = [Text(each.name, TITLE if each.state == "running" else "") for each in listed]
    columns = [
        texts("tournament", names, look, least=12),
        texts("state", [each.state for each in listed], look),
        texts("format", [each.format for each in listed], look, least=10, spare=1),
        numbers("bots", [str(each.entrants) for each in listed]),
        numbers("played", [f"{each.played:,} of {each.total:,}" for each in listed]),
        texts("by", [each.author or "-" for each in listed], look, least=6, spare=3),
        texts("created", [f"{each.created:%Y-%m-%d}" for each in listed], look, spare=2),
    ]
    return fitted(columns, width, look)


@remote(draws=True)
async def show(server: Server, name: NameArgument) -> Answer:
    """Show the standings of a tournament."""
    return tournament_answer(server, await server.get(f"/tournaments/{part(name)}"))


def tournament_answer(server: Server, plain: Any) -> Answer:
    """Return a tournament as an answer."""
    tournament = read(server, Tournament, plain)
    return Answer(plain, lambda width, look: tournament_page(tournament, width, look))


def watch(
    name: NameArgument,
    timeout: TimeoutOption = WATCHED_SILENCE_SECONDS,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: arguments.JsonOption = False,
    ascii_only: arguments.AsciiOption = False,
) -> None:
    """Watch a tournament until it ends: its bracket or its standings, as they change."""
    drawn = look(ascii_only)

    async def follow_it(found: Server) -> tuple[Any, Tournament]:
        return await _until_over(found, name, as_json, with_symbols(drawn), timeout)

    try:
        plain, last = talk(server, token, follow_it)
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    if as_json:
        print_json(plain)
    else:
        print_lines(tournament_page(last, console().width, drawn))


async def _until_over(
    server: Server, name: str, as_json: bool, drawn: Look, silence: float
) -> tuple[Any, Tournament]:
    path = f"/tournaments/{part(name)}"
    plain = await server.get(path)
    picture = Watched(read(server, Tournament, plain), drawn, now)
    retry = Retry()
    waiting = Waiting(quiet=as_json or console(stderr=True).is_terminal)  # where a picture lives
    waiting.say(f"news of {name} ...")
    how = f"to see how it stands: keltis-ladder tournament show {name}"
    with display_for(picture, quiet=False, for_programs=as_json) as display:
        display.show()
        if picture.tournament.over:
            return plain, picture.tournament
        async with (
            news_timeout(server, waiting, silence, lambda: how) as kept,
            _redrawn(display),
            aclosing(follow(server, f"tournament/{name}")) as messages,
        ):
            async for message in messages:
                news = await retry.ask(lambda: server.get(path)) if message is None else None
                if message is not None:
                    news = _news(message)
                if news is not None:
                    if news != plain:
                        kept.note_news()
                        waiting.say(f"more news of {name} ...")
                    plain = news
                    picture.tournament = read(server, Tournament, plain)
                display.show()
                if picture.tournament.over:
                    break
    plain = await server.get(path)
    return plain, read(server, Tournament, plain)


@asynccontextmanager
async def _redrawn(display: Display) -> AsyncIterator[None]:
    """Draw now and then even if nothing happens: the clock goes on, the terminal may change."""

    async def redraw() -> None:
        while True:
            await asyncio.sleep(REDRAW)
            display.show()

    drawing = asyncio.create_task(redraw())
    try:
        yield
    finally:
        drawing.cancel()


def _news(message: dict[str, Any]) -> Any | None:
    """Return the newest tournament in a live message."""
    data = message["data"]
    if message["op"] == "snapshot":
        return data
    if message["op"] == "delta":
        changed = [event["tournament"] for event in data if event.get("kind") == "changed"]
        return changed[-1] if changed else None
    return None
