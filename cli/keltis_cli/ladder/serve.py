"""``serve``: run the server of a ladder."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from keltis_cli import arguments
from keltis_cli.arguments import setting
from keltis_cli.bots import entering
from keltis_cli.bots.match import chosen_cores
from keltis_cli.exit_codes import ExitCode
from keltis_cli.ladder import lifetimes
from keltis_cli.ladder.homes import DatabaseOption, DataOption, open_home
from keltis_ladder.files.sizes import MIB
from keltis_ladder.match.clock import DEFAULT_CONTROL, TimeControl
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.matchmaking.fair_shares import Shares, parse_shares
from keltis_ladder.ratings.official import Official
from keltis_ladder.run.pace import SETTLED_BELOW, PaceRules
from keltis_ladder.sandbox.niceness import NICEST
from keltis_ladder.store.whereabouts import DATA, usual_directory
from keltis_server.logs import LogFormat, LogLevel, set_up
from keltis_server.serve import serve as run
from keltis_server.settings import (
    AUDIT_LOOK,
    HOST,
    NICE,
    PORT,
    Quotas,
    Registration,
    Settings,
)
from keltis_server.site.site import Site

DEFAULTS: Final = Quotas()
SHARES: Final = ",".join(f"{purpose}={share}" for purpose, share in vars(Shares()).items())
COMMAND: Final = "keltis-ladder"


def serve(
    host: Annotated[str, setting("--host", "The address to listen on.")] = HOST,
    port: Annotated[int, setting("--port", "Port; 0 for any free one.")] = PORT,
    public_url: Annotated[
        str,
        setting(
            "--public-url",
            "Public address of the server.",
            metavar="URL",
            show_default="what it listens on",
        ),
    ] = "",
    data: DataOption = None,
    database: DatabaseOption = None,
    registration: Annotated[
        Registration, setting("--registration", "Who may open an account.")
    ] = Registration.OPEN,
    cores: Annotated[
        int | None,
        setting("--cores", "Number of cores to play on; default: all, if memory allows.", min=1),
    ] = None,
    nice: Annotated[
        int,
        setting(
            "--nice",
            "Niceness of matches: they yield to requests and other processes.",
            min=0,
            max=NICEST,
        ),
    ] = NICE,
    bank: Annotated[
        int, setting("--bank", "Milliseconds per game.", metavar="MS", min=1)
    ] = DEFAULT_CONTROL.bank_ms,
    increment: Annotated[
        int, setting("--increment", "Milliseconds added per decision.", metavar="MS", min=0)
    ] = DEFAULT_CONTROL.increment_ms,
    matches_per_minute: arguments.MatchesPerMinuteOption = None,
    settled_below: arguments.SettledBelowOption = None,
    shares: Annotated[
        str,
        setting(
            "--shares",
            "Shares of the cores by purpose, of those that have work.",
            metavar="PURPOSE=N,...",
        ),
    ] = SHARES,
    official: Annotated[
        Official,
        setting("--official", "Rating that orders leaderboards; the other one is shown beside it."),
    ] = Official.JOINT,
    no_house: Annotated[bool, setting("--no-house", "Do not add the built-in bots.")] = False,
    archive_mib: Annotated[
        int, setting("--archive-mib", "Maximum size of an upload.", min=1)
    ] = DEFAULTS.archive_bytes // MIB,
    kept_mib: Annotated[
        int,
        setting(
            "--kept-mib-per-author",
            "Maximum size of an author's uploads; old versions make room for new ones.",
            min=1,
        ),
    ] = DEFAULTS.kept_bytes // MIB,
    uploads: Annotated[
        int, setting("--uploads-per-hour", "Rate limit per author.", min=1)
    ] = DEFAULTS.uploads_per_hour,
    bots: Annotated[
        int, setting("--bots-per-author", "Maximum number of bots.", min=1)
    ] = DEFAULTS.bots,
    tournaments: Annotated[
        int, setting("--tournaments-per-hour", "Rate limit per author.", min=1)
    ] = DEFAULTS.tournaments_per_hour,
    registrations: Annotated[
        int, setting("--registrations-per-hour", "Rate limit for all addresses together.", min=1)
    ] = DEFAULTS.all_registrations_per_hour,
    requests: Annotated[
        int,
        setting(
            "--requests-per-minute", "Rate limit per address; expensive requests count more.", min=1
        ),
    ] = DEFAULTS.requests_per_minute,
    sockets: Annotated[
        int, setting("--sockets", "Maximum websockets per address.", min=1)
    ] = DEFAULTS.sockets,
    connections: Annotated[
        int,
        setting(
            "--connections-per-address",
            "Maximum connections per address, without websockets.",
            min=1,
        ),
    ] = DEFAULTS.connections,
    all_connections: Annotated[
        int, setting("--connections", "Maximum number of connections.", min=1)
    ] = DEFAULTS.all_connections,
    origin: Annotated[
        list[str] | None,
        setting(
            "--origin",
            "Another site that may subscribe; may be repeated.",
            envvar="KELTIS_ORIGINS",
            metavar="URL",
            show_default=False,
        ),
    ] = None,
    forwarded: Annotated[
        bool, setting("--behind-proxy", "Trust X-Forwarded-For: only if your own proxy sets it.")
    ] = False,
    keep_steps: lifetimes.KeepStepsOption = lifetimes.STEPS,
    keep_replays: lifetimes.KeepReplaysOption = lifetimes.REPLAYS,
    keep_tournament_replays: lifetimes.KeepTournamentReplaysOption = lifetimes.TOURNAMENT_REPLAYS,
    keep_logs: lifetimes.KeepLogsOption = lifetimes.LOGS,
    keep_credentials: lifetimes.KeepCredentialsOption = lifetimes.CREDENTIALS,
    log: Annotated[LogFormat, setting("--log", "Format of the log.")] = LogFormat.TEXT,
    log_level: Annotated[LogLevel, setting("--log-level", "Minimum level.")] = LogLevel.INFO,
    access_log: Annotated[bool, setting("--access-log", "Log each request.")] = False,
    audit_look: Annotated[
        int,
        setting(
            "--audit-look",
            "Percent of one core for analysing decisions for the audit; 0: never.",
            metavar="PERCENT",
            min=0,
            max=100,
        ),
    ] = AUDIT_LOOK,
    suspend_suspects: Annotated[
        bool,
        setting(
            "--suspend-suspects", "Disable bots that the audit suspects, until you enable them."
        ),
    ] = False,
    no_sandbox: entering.NoSandboxOption = False,
    inexact_clock: Annotated[
        bool,
        setting("--inexact-clock", "Allow uploaded bots where CPU time is not exact (see doctor)."),
    ] = False,
    no_limits: Annotated[
        bool,
        setting("--no-limits", "Allow uploaded bots where total memory has no limit (see doctor)."),
    ] = False,
    idle_mib: Annotated[
        int | None,
        setting(
            "--idle-mib",
            "Maximum memory of idle bots between their games.",
            min=0,
            show_default="what bots that play leave",
        ),
    ] = None,
) -> None:
    """Serve a ladder: HTTP API, live websockets, and matches that never stop."""
    settings = Settings(
        host=host,
        port=port,
        public_url=public_url.rstrip("/"),
        registration=registration,
        cores=tuple(chosen_cores(cores)),
        nice=nice,
        house=not no_house,
        sandboxed=not no_sandbox,
        inexact_clock=inexact_clock,
        no_limits=no_limits,
        idle_bytes=None if idle_mib is None else idle_mib * MIB,
        control=TimeControl(bank, increment),
        pace=PaceRules(
            matches_per_minute,
            SETTLED_BELOW if settled_below is None else settled_below,
            calm=True,
        ),
        shares=parse_shares(shares),
        official=official,
        retention=lifetimes.retention(
            keep_steps, keep_replays, keep_tournament_replays, keep_logs, keep_credentials
        ),
        quotas=Quotas(
            archive_bytes=archive_mib * MIB,
            kept_bytes=kept_mib * MIB,
            uploads_per_hour=uploads,
            bots=bots,
            tournaments_per_hour=tournaments,
            all_registrations_per_hour=registrations,
            requests_per_minute=requests,
            sockets=sockets,
            connections=connections,
            all_connections=all_connections,
        ),
        origins=tuple(url.rstrip("/") for url in origin or ()),
        forwarded=forwarded,
        access_log=access_log,
        audit_look=audit_look,
        suspend_suspects=suspend_suspects,
    )
    settings.check()
    set_up(log, log_level)
    try:
        run(settings, open_home(data, database), tell)
    except PlatformFault as error:
        reason = " ".join(str(error).split())
        typer.echo(f"keltis-ladder: the server cannot play: {reason}", err=True)
        raise typer.Exit(ExitCode.FAILED) from None


def tell(site: Site) -> None:
    """Say where the ladder is, and how to submit a bot."""
    plain = how_to_call()
    command = f"{naming(site.home.directory)}{plain}"
    lines = [
        f"The ladder is at {site.url}",
        "Put a bot on it, in another terminal:",
        f"  {plain} init my-bot && {command} submit my-bot",
        "Watch, and look who leads:",
        f"  {command} watch --tv",
        f"  {command} leaderboard",
        "Ctrl-C stops it; nothing is lost.",
    ]
    print("\n".join(lines), flush=True)


def naming(directory: Path) -> str:
    """Return what a command begins with in another terminal, so that it finds this ladder."""
    directory = directory.resolve()
    if directory == usual_directory().resolve():
        return ""
    return f"{DATA}={shlex.quote(str(directory))} "


def how_to_call() -> str:
    """Return how our command is called from here: where it is, if a shell would not find it."""
    beside = Path(sys.executable).with_name(COMMAND)
    if shutil.which(COMMAND) is not None or not beside.exists():
        return COMMAND
    here = Path.cwd()
    return shlex.quote(str(beside.relative_to(here) if beside.is_relative_to(here) else beside))
