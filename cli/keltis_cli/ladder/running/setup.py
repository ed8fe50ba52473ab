"""Before a ladder runs: ratings of this release, bots on the ladder, and enough opponents."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sqlmodel import Session

from keltis_cli.bots import entering
from keltis_cli.bots.candidates import Named, candidates, enter
from keltis_cli.draw.progress import ProgressBar
from keltis_cli.draw.strokes import counted
from keltis_cli.draw.tables.leaderboard import bot_name
from keltis_cli.errors import BadRequest
from keltis_cli.remote.connect.calls import confirm
from keltis_ladder.matchmaking.policy import Policy
from keltis_ladder.sandbox.cgroups import NO_LIMITS
from keltis_ladder.sandbox.runtimes import require_hidden
from keltis_ladder.sandbox.sandbox import Sandbox
from keltis_ladder.store.bots.browsing import versions_that_play
from keltis_ladder.store.bots.catalogue import activate, ensure_house_bots, guests_on_ladder
from keltis_ladder.store.bots.version_words import reason_of
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home
from keltis_ladder.store.occupancy import find_server
from keltis_ladder.store.ratings.renewing import renew
from keltis_ladder.store.schema.tables import Version
from keltis_ladder.store.schema.version_states import VersionState
from keltis_server.site.local_key import read_address


def ask_before_joining(home: Home, yes: bool) -> None:
    """Say whose ladder this is if a server serves it, and ask whether to play on it, too."""
    server = find_server(home)
    if server is None:
        return
    address = read_address(home.directory)
    where = f" at {address.url}" if address is not None else ""
    confirm(
        f"{server[0].upper()}{server[1:]} serves this ladder{where}: bots that you name would play"
        " there, and your matches would move its ratings. Join it?",
        yes,
    )


def renew_ratings(database: Database) -> None:
    """Work the ratings out again if they come from another release's model.

    The joint rating follows while the ladder is played.
    """
    with ProgressBar() as work:
        matches = renew(database, work)
    if matches is not None:
        again = counted(matches, "rated match", "rated matches")
        say(f"The ratings came from another release: worked them out again from {again}.")


def choose_sandbox(
    home: Home, database: Database, bots: Sequence[str], no_sandbox: bool
) -> Sandbox | None:
    """Return the sandbox for these bots and those that are on the ladder already."""
    with database.reading() as session:
        strangers = [f"{name}, which is on the ladder" for name in guests_on_ladder(session)]
    sandbox = entering.sandbox_for([*bots, *strangers], no_sandbox)
    if sandbox is None:
        return None
    require_hidden(home.directory, database.file)
    if not sandbox.groups.can_limit:
        print(f"Note: {NO_LIMITS}", file=sys.stderr)
    return sandbox


def put_on_ladder(
    home: Home,
    database: Database,
    bots: Sequence[Named],
    sandbox: Sandbox | None,
    again: bool = False,
) -> None:
    """Enter bots and say what became of each; with ``again`` also those that were taken off."""
    coming = candidates(home, bots, sandbox)

    def work(session: Session) -> list[tuple[str, Version, bool]]:
        before = {version.id for version in versions_that_play(session)}
        found = []
        for candidate in coming:
            version = enter(session, candidate)
            if again and version.state != VersionState.ACTIVE:
                activate(session, version)
            found.append((candidate.name, version, version.id in before))
        return found

    for name, version, was_there in database.write(work):
        title = bot_name(name, version.number)
        if version.state != VersionState.ACTIVE:
            say(
                f"{title} stays off the ladder ({version.state}: {reason_of(version)}); "
                "to put it on again: keltis-ladder ladder add"
            )
        elif was_there:
            say(f"{title} is on the ladder already.")
        else:
            say(f"{title} is on the ladder now.")


def put_house_on_ladder(database: Database) -> None:
    """Put our own bots on the ladder; those that were taken off stay off."""
    database.write(ensure_house_bots)


def check_meetings(database: Database, policy: Policy) -> None:
    """Raise if there is no match that could ever be played."""
    with database.reading() as session:
        versions = versions_that_play(session)
    for category in policy.categories():
        bots = {
            version.bot_id
            for version in versions
            if category.variant in version.variants and category.players in version.players
        }
        if len(bots) >= category.players:
            return
    count = counted(len({version.bot_id for version in versions}), "bot")
    raise BadRequest(
        f"{count} on the ladder, and no two that can meet in {', '.join(policy.variants)}: "
        "name a directory with a bot.toml, or leave out --no-house"
    )


def say(text: str) -> None:
    """Tell the user, beside the output."""
    print(text, file=sys.stderr, flush=True)
