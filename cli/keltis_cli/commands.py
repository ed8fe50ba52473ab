"""The subcommands: where each lives, and what the help says of it without loading any."""

from __future__ import annotations

from typing import Final, NamedTuple

HERE: Final = "Commands"  # panels of the help
ON_SERVER: Final = "On a server"
ACCOUNT: Final = "Your account there"


class CommandEntry(NamedTuple):
    """Where a subcommand lives: a function, or a Typer app with subcommands of its own."""

    module: str
    name: str
    help: str  # how its own help begins; a test compares them
    panel: str


COMMANDS: Final = {
    "demo": CommandEntry(
        "keltis_cli.games.demo",
        "demo",
        "Show one short game of each variant, narrated and drawn.",
        HERE,
    ),
    "play": CommandEntry(
        "keltis_cli.games.play",
        "play",
        "Play a game against the computer.",
        HERE,
    ),
    "rules": CommandEntry(
        "keltis_cli.games.about",
        "rules",
        "Show the rules of a game, our rulings included.",
        HERE,
    ),
    "variants": CommandEntry(
        "keltis_cli.games.about",
        "variants",
        "List the games with their players, options and number of actions.",
        HERE,
    ),
    "init": CommandEntry(
        "keltis_cli.bots.init",
        "init",
        "Make a new bot: a complete one to start from, with its tests.",
        HERE,
    ),
    "match": CommandEntry(
        "keltis_cli.bots.match",
        "match",
        "Let bots play: every deal in all rotations, so that luck with the cards evens out.",
        HERE,
    ),
    "serve": CommandEntry(
        "keltis_cli.ladder.serve",
        "serve",
        "Serve a ladder: HTTP API, live websockets, and matches that never stop.",
        HERE,
    ),
    "tournament": CommandEntry(
        "keltis_cli.tournament.command",
        "app",
        "Run a tournament on this machine (run BOT BOT...), or on a server (all others).",
        HERE,
    ),
    "ladder": CommandEntry(
        "keltis_cli.ladder.ladder",
        "app",
        "Run a ladder, and look at its leaderboard, matches and bots.",
        HERE,
    ),
    "ratings": CommandEntry(
        "keltis_cli.ladder.ratings",
        "app",
        "Verify the ratings of a ladder, or recompute them.",
        HERE,
    ),
    "db": CommandEntry(
        "keltis_cli.ladder.db",
        "app",
        "Check, upgrade, back up or prune the database of a ladder.",
        HERE,
    ),
    "audit": CommandEntry(
        "keltis_cli.ladder.audit",
        "app",
        "Check whether bots of a ladder use hidden information, or verify the audit.",
        HERE,
    ),
    "doctor": CommandEntry(
        "keltis_cli.ladder.doctor",
        "doctor",
        "Check whether this machine has what a ladder needs, and say how to get the rest.",
        HERE,
    ),
    "check": CommandEntry(
        "keltis_cli.bots.check",
        "check",
        "Check a bot as the ladder does before it may play.",
        HERE,
    ),
    "reproduce": CommandEntry(
        "keltis_cli.bots.reproduce",
        "reproduce",
        "Repeat the conversation of a crash card and see whether the same fault happens.",
        HERE,
    ),
    "selfplay": CommandEntry(
        "keltis_cli.games.selfplay",
        "selfplay",
        "Play games with the built-in policies, and write replays if asked.",
        HERE,
    ),
    "replay": CommandEntry(
        "keltis_cli.games.replay",
        "replay",
        "Narrate a game, or check and expand recorded games.",
        HERE,
    ),
    "perft": CommandEntry(
        "keltis_cli.games.perft",
        "perft",
        "Count all sequences of decisions from a deal, depth by depth.",
        HERE,
    ),
    "bench": CommandEntry(
        "keltis_cli.bench.command",
        "app",
        "Measure how fast this machine plays.",
        HERE,
    ),
    "version": CommandEntry(
        "keltis_cli.games.about",
        "version",
        "Show the version, and whether the engine is compiled.",
        HERE,
    ),
    "submit": CommandEntry(
        "keltis_cli.remote.submission.submit",
        "submit",
        "Submit a bot: check it, upload it, and follow it to its first match.",
        ON_SERVER,
    ),
    "watch": CommandEntry(
        "keltis_cli.watch.command",
        "watch",
        "Watch matches live, step back and forth in them, or see old ones again.",
        ON_SERVER,
    ),
    "leaderboard": CommandEntry(
        "keltis_cli.remote.leaderboard",
        "leaderboard",
        "Show the leaderboard of a server.",
        ON_SERVER,
    ),
    "bots": CommandEntry(
        "keltis_cli.remote.matches",
        "bots",
        "List the bots, by name.",
        ON_SERVER,
    ),
    "matches": CommandEntry(
        "keltis_cli.remote.matches",
        "matches",
        "List matches, the newest first.",
        ON_SERVER,
    ),
    "show": CommandEntry(
        "keltis_cli.remote.show",
        "show",
        "Show a bot, one of its versions, a match or a tournament.",
        ON_SERVER,
    ),
    "challenge": CommandEntry(
        "keltis_cli.remote.challenge",
        "challenge",
        "Have your bot play a match against others now. It is not rated.",
        ON_SERVER,
    ),
    "download": CommandEntry(
        "keltis_cli.remote.download",
        "download",
        "Download the replays of a match that is over, one game per line.",
        ON_SERVER,
    ),
    "logs": CommandEntry(
        "keltis_cli.remote.logs",
        "logs",
        "Show the check, the build and the latest faults of a version of your bot.",
        ON_SERVER,
    ),
    "crash": CommandEntry(
        "keltis_cli.remote.logs",
        "crash",
        "Explain a fault of your bot, and save its crash card for `keltis-ladder reproduce`.",
        ON_SERVER,
    ),
    "times": CommandEntry(
        "keltis_cli.remote.logs",
        "times",
        "Show how long your bot thinks.",
        ON_SERVER,
    ),
    "retire": CommandEntry(
        "keltis_cli.remote.retire",
        "retire",
        "Take your bot off the ladder; its results stay, and `restore` brings it back.",
        ON_SERVER,
    ),
    "restore": CommandEntry(
        "keltis_cli.remote.retire",
        "restore",
        "Bring your bot back: its newest retired version is checked again, and plays.",
        ON_SERVER,
    ),
    "recheck": CommandEntry(
        "keltis_cli.remote.submission.recheck",
        "recheck",
        "Retry the check of a bot that the server could not check, and follow it.",
        ON_SERVER,
    ),
    "register": CommandEntry(
        "keltis_cli.remote.accounts",
        "register",
        "Open an account on a server, and log in.",
        ACCOUNT,
    ),
    "login": CommandEntry(
        "keltis_cli.remote.accounts",
        "login",
        "Save a token for a server, after the server has accepted it.",
        ACCOUNT,
    ),
    "logout": CommandEntry(
        "keltis_cli.remote.accounts",
        "logout",
        "Forget the saved login of a server.",
        ACCOUNT,
    ),
    "whoami": CommandEntry(
        "keltis_cli.remote.accounts",
        "whoami",
        "Show which server is used, and your account there.",
        ACCOUNT,
    ),
    "tokens": CommandEntry(
        "keltis_cli.remote.tokens",
        "app",
        "List, make and revoke your tokens.",
        ACCOUNT,
    ),
    "admin": CommandEntry(
        "keltis_cli.remote.admin",
        "app",
        "Operate a server, its bots and its authors. On its own machine no token is needed.",
        ACCOUNT,
    ),
}
