"""In English, why a version is in its state: for its author, made where it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from keltis_ladder.store.schema.tables import Version
from keltis_ladder.store.schema.version_states import Detail, VersionCause

# With details; those of a removed author are forgotten, and then there is nothing to say.
WORDS: Final[Mapping[VersionCause, str]] = {
    VersionCause.UPLOADED: "",
    VersionCause.ENTERED: "",
    VersionCause.PASSED: "",
    VersionCause.FAILED: "{text}",
    VersionCause.NOT_CHECKED: "the server could not check it (our fault, reported to the operator)",
    VersionCause.RECHECKED: "",
    VersionCause.NEWER_UPLOADED: "version {version} was uploaded",
    VersionCause.NEWER_PLAYS: "version {version} plays",
    VersionCause.FAULTS: "faults in {faults} of its last {matches} {kind}",
    VersionCause.UNPREPARED: "{text}",
    VersionCause.TAKEN_BACK: "{text}",
    VersionCause.RESTORED: "",
    VersionCause.BOT_DISABLED: "the bot is disabled: {text}",
    VersionCause.AUTHOR_DISABLED: "its author is disabled: {text}",
    VersionCause.AUTHOR_REMOVED: "removed with its author",
    VersionCause.ENABLED: "",
}


def reason_text(cause: VersionCause, details: Mapping[str, Detail]) -> str:
    """Return a cause with its details as a sentence; empty if there is nothing to explain."""
    kind = "rated matches" if details.get("rated") else "matches"
    try:
        return WORDS[cause].format(kind=kind, **details)
    except KeyError:  # forgotten with its author
        return ""


def reason_of(version: Version) -> str:
    """Return why a stored version is in its state."""
    return reason_text(VersionCause(version.cause), version.details)
