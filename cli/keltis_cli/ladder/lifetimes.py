"""Options that say how long a ladder keeps what."""

from __future__ import annotations

from typing import Annotated, Any, Final

from keltis_cli import arguments
from keltis_ladder.store.retention import Retention, parse_lifetime, show_lifetime

DEFAULTS: Final = Retention()


def _option(name: str, what: str) -> Any:
    return arguments.setting(name, what, metavar="90d|forever")


KeepStepsOption = Annotated[
    str, _option("--keep-steps", "Lifetime of ratings after every match; then daily ones.")
]
KeepReplaysOption = Annotated[str, _option("--keep-replays", "Lifetime of the moves of games.")]
KeepTournamentReplaysOption = Annotated[
    str, _option("--keep-tournament-replays", "Lifetime of the moves of tournaments' games.")
]
KeepLogsOption = Annotated[
    str, _option("--keep-logs", "Lifetime of crash cards and of builds' output.")
]
KeepCredentialsOption = Annotated[
    str, _option("--keep-credentials", "Lifetime of expired tokens and invitations.")
]

STEPS: Final = show_lifetime(DEFAULTS.steps)
REPLAYS: Final = show_lifetime(DEFAULTS.replays)
TOURNAMENT_REPLAYS: Final = show_lifetime(DEFAULTS.tournament_replays)
LOGS: Final = show_lifetime(DEFAULTS.logs)
CREDENTIALS: Final = show_lifetime(DEFAULTS.credentials)


def retention(
    steps: str, replays: str, tournament_replays: str, logs: str, credentials: str
) -> Retention:
    """Return what the options ask for."""
    return Retention(
        steps=parse_lifetime(steps),
        replays=parse_lifetime(replays),
        tournament_replays=parse_lifetime(tournament_replays),
        logs=parse_lifetime(logs),
        credentials=parse_lifetime(credentials),
    )
