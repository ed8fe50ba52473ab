"""``download``: the games of a match, to read and to check."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from keltis_cli import arguments
from keltis_cli.draw.progress import ProgressBar
from keltis_cli.errors import BadRequest
from keltis_cli.files import STANDARD, check_target
from keltis_cli.remote.connect.calls import ServerOption, TokenOption, part, talk
from keltis_cli.remote.connect.completion import complete_matches
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.shapes import read
from keltis_server.models.matches import MatchOut


def download(
    match: Annotated[
        str,
        typer.Argument(
            metavar="MATCH", help="Number or id of the match.", autocompletion=complete_matches
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Default: match-MATCH.jsonl; - is stdout."),
    ] = None,
    force: arguments.ForceOption = False,
    server: ServerOption = "",
    token: TokenOption = "",
) -> None:
    """Download the replays of a match that is over, one game per line."""
    if "/" in match:
        raise BadRequest(f"{match!r} is not a match: give its number or its id")
    target = out or Path(f"match-{match}.jsonl")
    check_target(target, force)

    async def fetch(found: Server) -> tuple[int, str]:
        told = read(found, MatchOut, await found.get(f"/matches/{part(match)}"))
        path = f"/matches/{part(match)}/replay"
        if target == STANDARD:
            return await _copy(found, path, sys.stdout.fileno()), ""
        # Beside the file, and renamed at the end: what is there under its name is complete.
        unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            try:
                size = await _copy(found, path, handle)
            finally:
                os.close(handle)
            check_target(target, force)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
        return size, told.commitment or ""

    size, commitment = talk(server, token, fetch)
    if target == STANDARD:
        return
    print(f"Wrote {target} ({size:,} bytes). To read a game, and to check them all:")
    print(f"  keltis-ladder replay {target} --game 1")
    print(f"  keltis-ladder replay {target} --verify")
    if commitment:
        print(f"  commitment {commitment}")


async def _copy(server: Server, path: str, handle: int) -> int:
    """Write what the server sends as it comes; return how many bytes."""
    done = 0
    with ProgressBar("download", in_bytes=True, lines=False) as shown:
        async with server.stream(path) as content:
            async for chunk in content.iter_chunked(64 * 1024):
                left = memoryview(chunk)
                while left:
                    left = left[os.write(handle, left) :]
                done += len(chunk)
                shown.tell(done)
    return done
