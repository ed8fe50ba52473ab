"""Bots as the user names them, and the sandbox to run them in."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Protocol

import typer

from keltis_cli.draw.printable import show_build
from keltis_cli.errors import BadRequest
from keltis_ladder.match.entrants import BUILT_IN, Entrant, named_apart
from keltis_ladder.programs.builds import BuildFailed
from keltis_ladder.programs.preparing import check_name, find_entrant
from keltis_ladder.sandbox.cgroups import INEXACT_CLOCK
from keltis_ladder.sandbox.sandbox import Sandbox, SandboxMissing, find_sandbox

NoSandboxOption = Annotated[
    bool,
    typer.Option("--no-sandbox", help="Run bots without a sandbox: only programs you trust."),
]


class Claiming(Protocol):
    """A bot and what it claims to play."""

    @property
    def name(self) -> str: ...
    @property
    def variants(self) -> tuple[str, ...]: ...
    @property
    def players(self) -> tuple[int, ...]: ...


def sandbox_for(bots: Sequence[str], no_sandbox: bool) -> Sandbox | None:
    """Return the sandbox to run these bots in; none where it is not wanted or not needed.

    Where no sandbox can be had, our own bots still play. Programs of others do not. If
    clocks are inexact in it, the user is told.
    """
    if no_sandbox:
        return None
    try:
        sandbox = find_sandbox()
    except SandboxMissing as missing:
        if any(bot not in BUILT_IN for bot in bots):
            raise BadRequest(f"{missing} (or add --no-sandbox if the bots are your own)") from None
        print("No sandbox was found; our own bots play without one.", file=sys.stderr)
        return None
    if not sandbox.groups.can_count:
        print(f"Note: {INEXACT_CLOCK}", file=sys.stderr)
    return sandbox


def enter(bots: Sequence[str], sandbox: Sandbox | None) -> list[Entrant]:
    """Return the bots, prepared and built, each with a name that no other has."""
    for bot in bots:
        check_name(bot)
    return named_apart([_prepared(bot, sandbox) for bot in bots])


def check_claims(bots: Sequence[Claiming], variants: Sequence[str], players: int) -> None:
    """Raise if a bot does not claim to play these games, or not with this many players."""
    for bot in bots:
        missing = [variant for variant in variants if variant not in bot.variants]
        if missing:
            raise BadRequest(
                f"{bot.name} does not play {', '.join(missing)}: "
                f"its bot.toml claims {', '.join(bot.variants)}"
            )
        if players not in bot.players:
            raise BadRequest(
                f"{bot.name} does not play with {players} players: "
                f"its bot.toml claims {', '.join(map(str, bot.players))}"
            )


def _prepared(bot: str, sandbox: Sandbox | None) -> Entrant:
    try:
        return find_entrant(bot, sandbox, show_build)
    except BuildFailed as error:  # what the build printed has been shown
        raise BadRequest(f"{bot} cannot be built: {error.reason}; its output is above") from None
