"""Serve a ladder until somebody stops it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import resource
import signal
import sys
from collections.abc import Callable
from typing import Final

from aiohttp import web
from sqlalchemy.exc import DBAPIError

from keltis_ladder.sandbox.cgroups import INEXACT_CLOCK, NO_LIMITS
from keltis_ladder.sandbox.runtimes import require_hidden
from keltis_ladder.sandbox.sandbox import Sandbox, SandboxMissing, find_sandbox
from keltis_ladder.store.bots.catalogue import ensure_house_bots, guests_on_ladder
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_ladder.store.occupancy import Occupancy, occupied
from keltis_ladder.store.ratings.renewing import renew
from keltis_server.app import make_app
from keltis_server.http.edge.running import EdgeRunner
from keltis_server.play.games import GAMES
from keltis_server.settings import BadSettings, Settings
from keltis_server.site.site import Site

SWITCH: Final = 0.001  # seconds after which a thread lets another run: the event loop must not wait
GOODBYE: Final = 10.0  # seconds for requests under way when we stop
STAY_SECONDS: Final = 5.0  # between two looks whether the ladder is still ours alone

INSIST: Final = "To play strangers' bots all the same, insist with"

log = logging.getLogger(__name__)

OnReady = Callable[[Site], None]


def open_site(settings: Settings, home: Home) -> Site:
    """Open the ladder that is to be served, and bring it up to date. Blocking."""
    settings.check()
    if settings.sandboxed:
        require_hidden(home.directory)
    database = home.open()
    try:
        if settings.sandboxed:
            require_hidden(database.file)
        prepare(database, settings.house)
        sandbox, missing = find_or_do_without(settings, database)
    except BaseException:
        database.close()
        raise
    return Site(settings, home, database, sandbox, missing)


def find_or_do_without(settings: Settings, database: Database) -> tuple[Sandbox | None, str]:
    """Return the sandbox; where there is none, why: then only our own bots play.

    Programs of others never run outside of it, unless the operator says so.
    """
    if not settings.sandboxed:
        return None, ""
    try:
        sandbox = find_sandbox()
        for is_there, meaning, insisted, option in (
            (sandbox.groups.can_limit, NO_LIMITS, settings.no_limits, "--no-limits"),
            (sandbox.groups.can_count, INEXACT_CLOCK, settings.inexact_clock, "--inexact-clock"),
        ):
            if not is_there:
                if not (settings.is_private or insisted):
                    raise SandboxMissing(f"{meaning} {INSIST} {option}.")
                log.warning("%s", meaning)
        return sandbox, ""
    except SandboxMissing as missing:
        with database.reading() as session:
            guests = guests_on_ladder(session)
        if guests or not settings.house:
            raise
        log.warning("only our own bots play, uploads are refused. %s", missing)
        return None, str(missing)


class LoggedWork:
    """Says in the log what is done before we serve, and how far it is, ten times at most."""

    def __init__(self) -> None:
        self._text = ""
        self._tenths = 0

    def begin(self, text: str) -> None:
        """Say what is done now."""
        self._text, self._tenths = text, 0
        log.info("before serving: %s", text)

    def tell(self, done: int, total: int) -> None:
        """Say how far it is."""
        tenths = 10 * done // max(1, total)
        if tenths > self._tenths:
            self._tenths = tenths
            log.info("%s: %s of %s", self._text, f"{done:,}", f"{total:,}")


def prepare(database: Database, house: bool) -> None:
    """Make the ratings fit this release, and put our own bots on the ladder."""
    renew(database, LoggedWork())
    if house:
        database.write(ensure_house_bots)


def new_loop() -> asyncio.AbstractEventLoop:
    """Return the quickest event loop that is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


def raise_open_files() -> None:
    """Have as many files open as this process may: each connection is one, and many begin low.

    What is started by us has limits of its own.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):  # some systems bound what has no limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def serve(settings: Settings, home: Home, on_ready: OnReady) -> None:
    """Serve until SIGINT or SIGTERM; then finish what can be finished, and lose nothing."""
    sys.setswitchinterval(SWITCH)
    raise_open_files()
    settings.check()
    with occupied(home) as occupancy:
        site = open_site(settings, home)
        try:
            with asyncio.Runner(loop_factory=new_loop) as runner:
                runner.run(_serve(site, on_ready, occupancy))
        finally:
            site.close()


async def _serve(site: Site, on_ready: OnReady, occupancy: Occupancy) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    app = make_app(site)
    access_log = log if site.settings.access_log else None
    runner = EdgeRunner(app, site.settings, GOODBYE, access_log)
    await runner.setup()
    try:
        await listen(site, runner)
        gc.collect()
        gc.freeze()  # what was imported stays: looking at it again takes 50 ms each time
        on_ready(site)
        games = app[GAMES]
        keeper = asyncio.create_task(_stay(occupancy))
        waits = [asyncio.create_task(each.wait()) for each in (stopped, games.ended)]
        await asyncio.wait([*waits, keeper], return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        if keeper.done():
            keeper.result()  # raises: another server has the ladder now
        keeper.cancel()
        log.info("stopping: matches under way are handed back")
    finally:
        site.local_key.withdraw()
        await runner.cleanup()


async def _stay(occupancy: Occupancy) -> None:
    """See to it that no other server comes while we serve, even if the database was restarted."""
    while True:
        await asyncio.sleep(STAY_SECONDS)
        try:
            await asyncio.to_thread(occupancy.keep)
        except DBAPIError as error:
            log.warning("the lock of the database is lost until it answers: %s", error.orig)


async def listen(site: Site, runner: web.AppRunner) -> None:
    """Open the port, and write down where we are."""
    settings = site.settings
    listening = web.TCPSite(runner, settings.host, settings.port, backlog=4096)
    try:
        await listening.start()
    except OSError as error:
        raise BadSettings(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}; "
            "choose another with --port, or stop what listens there"
        ) from None
    address = runner.addresses[0]
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    here = f"http://{host}:{address[1]}"
    site.url = site.url or here
    site.local_key.publish(here)
