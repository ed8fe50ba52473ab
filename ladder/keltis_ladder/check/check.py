"""Check a bot before it joins the ladder: from its ``bot.toml`` to whole games and good manners.

``check_bot`` is a generator, so that its caller can show each finding as it comes. The command
line uses it, and so does the server for every upload.
"""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from keltis_bots.manifest import FILE_NAME, BadManifest, Manifest, read_manifest
from keltis_engine import VARIANTS
from keltis_ladder.check.conduct import check_manners
from keltis_ladder.check.games import Table, check_games, name_of
from keltis_ladder.files.sizes import KIB, MIB
from keltis_ladder.files.trees import CannotStage, walk
from keltis_ladder.findings import Doing, Event, Finding, Mark, of_fault
from keltis_ladder.match.clock import DEFAULT_CONTROL
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.faults import BotFault
from keltis_ladder.programs.builds import BuildFailed
from keltis_ladder.programs.launchers import PlainLauncher, SandboxLauncher
from keltis_ladder.programs.preparing import KEPT, prepare
from keltis_ladder.programs.staging import SUBMITTED
from keltis_ladder.referee.bot_process import BotProcess
from keltis_ladder.referee.referee import Launcher
from keltis_ladder.referee.solo import start
from keltis_ladder.sandbox.limits import Limits
from keltis_ladder.sandbox.sandbox import Sandbox
from keltis_ladder.sandbox.shares import Share, share_of_one_check

SLOW_START: Final = 0.5  # of the time there is: on a busy machine it may be too much


@dataclass(frozen=True)
class Plan:
    """What to check."""

    variants: tuple[str, ...] | None = None  # none: all that the bot claims
    matches: int = 2  # of each variant and number of players
    quick: bool = False  # one match with the fewest players only, for a first look
    seed: int = 1  # of all deals
    share: Share | None = None  # of the memory; none: there are no referees beside it


def check_bot(
    directory: Path,
    sandbox: Sandbox | None,
    plan: Plan,
    on_output: Callable[[str], None],
    cache: Path,
    archive: str | None = None,
) -> Iterator[Event]:
    """Check everything about a bot; what fails early makes the rest pointless, and ends it.

    With the digest of its archive it stays in the cache under that name, to be played with.
    """
    try:
        manifest = read_manifest(directory)
    except BadManifest as error:
        yield Finding(FILE_NAME, Mark.FAILED, str(error))
        return
    variants = tuple(v for v in manifest.variants if plan.variants is None or v in plan.variants)
    if not variants:
        claimed = ", ".join(manifest.variants)
        yield Finding(FILE_NAME, Mark.FAILED, f"{manifest.name} claims to play only {claimed}")
        return
    yield Finding(FILE_NAME, Mark.OK, _claims(manifest))
    entrant: Entrant | None = None
    for event in _prepare(directory, manifest, sandbox, on_output, cache, archive):
        if isinstance(event, Entrant):
            entrant = event
        else:
            yield event
    if entrant is None:
        return
    launcher: Launcher = SandboxLauncher(sandbox) if sandbox else PlainLauncher()
    yield Doing("starting it")
    share = plan.share or share_of_one_check()
    first = list(check_start(entrant, launcher, share.limits))
    yield from first
    if any(finding.mark is Mark.FAILED for finding in first):
        return
    tables = [(variant, players) for variant in variants for players in entrant.players]
    if plan.quick:
        tables = [(variant, entrant.players[0]) for variant in variants]
    sound = []  # where it plays without faults: there other checks can show something new
    matches = 1 if plan.quick else plan.matches
    for event in check_games(entrant, launcher, tables, matches, plan.seed, share):
        yield event
        sound += [table for table in tables if _is_passed(event, table)]
    table = sound[0] if sound else None
    yield from check_manners(entrant, launcher, table, plan.seed, share.limits)


def check_start(entrant: Entrant, launcher: Launcher, limits: Limits) -> Iterator[Finding]:
    """Start the bot, and shake hands."""
    process: BotProcess | None = None
    begin = time.monotonic()
    limit = DEFAULT_CONTROL.start_ms / 1000
    try:
        process = start(launcher, entrant, limits)
        hello = process.greet(limit)
        took = time.monotonic() - begin
        memory = process.child.usage().memory
    except BotFault as fault:
        log = ""
        if process is not None:
            process.dismiss(fault.fault)
            log = process.log_text()
        yield of_fault("start", fault.fault, log)
        return
    finally:
        if process is not None:
            process.kill()
    said = f"answered hello after {took * 1000:.0f} ms, using {memory / MIB:.0f} MiB"
    if took > limit * SLOW_START:
        yield Finding(
            "start",
            Mark.WARNING,
            said,
            f"There are {limit * 1000:.0f} ms, which a busy machine may well need: start faster.",
        )
    else:
        yield Finding("start", Mark.OK, said)
    name = f"it calls itself {hello.name or 'nothing'}"
    yield Finding("hello", Mark.OK, f"{name}, version {hello.version}" if hello.version else name)


def _claims(manifest: Manifest) -> str:
    players = ", ".join(map(str, manifest.players))
    everything = len(manifest.variants) == len(VARIANTS)
    games = "all games" if everything else ", ".join(manifest.variants)
    return f"{manifest.name} plays {games} with {players} players"


def _is_passed(event: Event, table: Table) -> bool:
    return isinstance(event, Finding) and event.mark is Mark.OK and event.check == name_of(table)


def _prepare(
    directory: Path,
    manifest: Manifest,
    sandbox: Sandbox | None,
    on_output: Callable[[str], None],
    cache: Path,
    archive: str | None,
) -> Iterator[Event | Entrant]:
    """Stage the files and build them; the last thing to come is the entrant, if all went well."""
    keep = KEPT if archive is None else None  # the ladder prunes its programs itself
    try:
        sizes = [entry.size for entry in walk(directory, SUBMITTED) if stat.S_ISREG(entry.mode)]
        yield Finding("files", Mark.OK, _size(sizes))
        if manifest.build:
            yield Doing(f"building it: {' '.join(manifest.build)}")
        begin = time.monotonic()
        prepared = prepare(directory, sandbox, on_output, cache, archive, keep)
        took = time.monotonic() - begin
    except CannotStage as error:
        yield Finding("files", Mark.FAILED, str(error))
        return
    except BuildFailed as error:
        advice = "Try the build command by hand; in the sandbox there is no network."
        yield Finding("build", Mark.FAILED, error.reason, advice, log=error.tail)
        return
    if manifest.build:
        how = f"built in {took:.1f} s" if prepared.fresh else "built before, and used again"
        yield Finding("build", Mark.OK, how)
    yield prepared.entrant


def _size(sizes: list[int]) -> str:
    total = sum(sizes)
    files = "1 file" if len(sizes) == 1 else f"{len(sizes):,} files"
    return f"{files}, {total / MIB:.1f} MiB" if total >= MIB else f"{files}, {total / KIB:.1f} KiB"
