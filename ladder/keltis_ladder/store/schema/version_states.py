"""The states of a version, what changes them, and the one function that does.

The table is complete: what it does not have cannot happen. Each change comes back as an event, for
all who have to know of it once the transaction is kept. It holds codes and parameters; sentences
are made of them by ``store.bots.version_words``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from sqlmodel import Session

from keltis_bots.texts import printable
from keltis_ladder.errors import LadderError

if TYPE_CHECKING:
    from keltis_ladder.store.schema.tables import Bot, Version

Detail = str | int | bool


class VersionState(StrEnum):
    """What a version of a bot may do."""

    CHECKING = "checking"  # not on the ladder yet
    ACTIVE = "active"  # plays
    SUPERSEDED = "superseded"  # a newer version of the bot plays
    BROKEN = "broken"  # failed its check, or lost too many games by faults
    RETIRED = "retired"  # taken back by its author, or disabled
    UNCHECKED = "unchecked"  # we could not check it, which is not its fault


class VersionCause(StrEnum):
    """Why a version is in its state; ``details`` are the parameters that come with it."""

    UPLOADED = "uploaded"  # its author sent it, for the first time or again
    ENTERED = "entered"  # put on the ladder without a check: ours, or by the operator
    PASSED = "passed"  # its check
    FAILED = "failed"  # its check: text
    NOT_CHECKED = "not-checked"  # the platform failed every time
    RECHECKED = "rechecked"  # somebody wants what we could not check checked again
    NEWER_UPLOADED = "newer-uploaded"  # version
    NEWER_PLAYS = "newer-plays"  # version
    FAULTS = "faults"  # in too many matches: faults, matches, rated
    UNPREPARED = "unprepared"  # its program cannot be made ready: text
    TAKEN_BACK = "taken-back"  # by its author, or by the operator for the author: text
    RESTORED = "restored"  # its author wants it back
    BOT_DISABLED = "bot-disabled"  # text
    AUTHOR_DISABLED = "author-disabled"  # text
    AUTHOR_REMOVED = "author-removed"
    ENABLED = "enabled"  # the bot or its author may play again


_S, _C = VersionState, VersionCause

# What happens to a version in each state. ``None`` is a version that is not stored yet.
TRANSITIONS: Final[Mapping[tuple[VersionState | None, VersionCause], VersionState]] = {
    (None, _C.UPLOADED): _S.CHECKING,
    (None, _C.ENTERED): _S.ACTIVE,
    (_S.CHECKING, _C.ENTERED): _S.ACTIVE,
    (_S.CHECKING, _C.PASSED): _S.ACTIVE,
    (_S.CHECKING, _C.FAILED): _S.BROKEN,
    (_S.CHECKING, _C.NOT_CHECKED): _S.UNCHECKED,
    (_S.CHECKING, _C.NEWER_UPLOADED): _S.SUPERSEDED,
    (_S.CHECKING, _C.NEWER_PLAYS): _S.SUPERSEDED,
    (_S.CHECKING, _C.TAKEN_BACK): _S.RETIRED,
    (_S.CHECKING, _C.BOT_DISABLED): _S.RETIRED,
    (_S.CHECKING, _C.AUTHOR_DISABLED): _S.RETIRED,
    (_S.CHECKING, _C.AUTHOR_REMOVED): _S.RETIRED,
    (_S.ACTIVE, _C.NEWER_PLAYS): _S.SUPERSEDED,
    (_S.ACTIVE, _C.FAULTS): _S.BROKEN,
    (_S.ACTIVE, _C.UNPREPARED): _S.BROKEN,
    (_S.ACTIVE, _C.TAKEN_BACK): _S.RETIRED,
    (_S.ACTIVE, _C.BOT_DISABLED): _S.RETIRED,
    (_S.ACTIVE, _C.AUTHOR_DISABLED): _S.RETIRED,
    (_S.ACTIVE, _C.AUTHOR_REMOVED): _S.RETIRED,
    (_S.UNCHECKED, _C.UPLOADED): _S.CHECKING,
    (_S.UNCHECKED, _C.RECHECKED): _S.CHECKING,
    (_S.UNCHECKED, _C.ENTERED): _S.ACTIVE,
    (_S.UNCHECKED, _C.NEWER_UPLOADED): _S.SUPERSEDED,
    (_S.UNCHECKED, _C.TAKEN_BACK): _S.RETIRED,
    (_S.UNCHECKED, _C.BOT_DISABLED): _S.RETIRED,
    (_S.UNCHECKED, _C.AUTHOR_DISABLED): _S.RETIRED,
    (_S.UNCHECKED, _C.AUTHOR_REMOVED): _S.RETIRED,
    (_S.BROKEN, _C.UPLOADED): _S.CHECKING,
    (_S.BROKEN, _C.ENTERED): _S.ACTIVE,
    (_S.RETIRED, _C.UPLOADED): _S.CHECKING,
    (_S.RETIRED, _C.RESTORED): _S.CHECKING,
    (_S.RETIRED, _C.ENABLED): _S.CHECKING,
    (_S.RETIRED, _C.ENTERED): _S.ACTIVE,
    (_S.SUPERSEDED, _C.UPLOADED): _S.CHECKING,
    (_S.SUPERSEDED, _C.ENTERED): _S.ACTIVE,
    (_S.SUPERSEDED, _C.UNPREPARED): _S.BROKEN,  # it may still play in a tournament
}


class WrongTransition(LadderError):
    """A change that the table does not have."""


@dataclass(frozen=True)
class VersionChanged:
    """A version is in another state: it plays, was found broken, or was taken back."""

    version_id: int
    bot: str
    number: int
    author_id: int
    before: VersionState | None  # none: it is new
    state: VersionState
    cause: VersionCause
    details: Mapping[str, Detail]  # of the cause, for the author alone


def states_before(cause: VersionCause) -> frozenset[VersionState]:
    """Return the states in which a version can be when this happens to it."""
    return frozenset(before for before, why in TRANSITIONS if why is cause and before is not None)


def change_state(
    session: Session, bot: Bot, version: Version, cause: VersionCause, /, **details: Detail
) -> VersionChanged:
    """Bring a version of a bot into the state that a cause leads to; raise if there is none.

    The caller holds the bot's row or the version's, so that nobody else does the same.
    """
    before = VersionState(version.state) if version.state else None
    state = TRANSITIONS.get((before, cause))
    if state is None:
        raise WrongTransition(
            f"version {version.number} of {bot.name} is {before or 'new'}, and cannot change by"
            f" {cause.value!r}: see the table of states in docs/authors/submitting.md"
        )
    version.state = state
    version.cause = cause
    version.details = {
        name: printable(value) if isinstance(value, str) else value
        for name, value in details.items()
    }
    session.add(version)
    session.flush()
    assert version.id is not None
    return VersionChanged(
        version_id=version.id,
        bot=bot.name,
        number=version.number,
        author_id=bot.author_id,
        before=before,
        state=state,
        cause=cause,
        details=version.details,
    )
