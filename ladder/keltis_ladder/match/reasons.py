"""Why a match is played: a code with parameters, of which sentences are made where it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class MatchReason(StrEnum):
    """Why a match is played; in brackets the details that come with it."""

    CLOSE = "close"  # close in rating, and uncertain
    NEW_VERSION = "new-version"
    FIRST_OF_VARIANT = "first-of-variant"  # (variant)
    WAITED = "waited"  # somebody has waited longest
    NOT_MET = "not-met"  # for long
    SHARE = "share"  # of a kind of match (variant, players)
    CHALLENGE = "challenge"  # (author, unless removed)
    TOURNAMENT = "tournament"  # (tournament, label)


@dataclass(frozen=True)
class Reason:
    """A code with its details."""

    code: MatchReason
    details: Mapping[str, str | int] = field(default_factory=dict)


WORDS: Final[Mapping[MatchReason, str]] = {
    MatchReason.CLOSE: "close and uncertain",
    MatchReason.NEW_VERSION: "new version",
    MatchReason.FIRST_OF_VARIANT: "first match of {variant}",
    MatchReason.WAITED: "has waited longest",
    MatchReason.NOT_MET: "have not met for long",
    MatchReason.SHARE: "the share of {variant} with {players} players",
    MatchReason.CHALLENGE: "a challenge by {author}",
    MatchReason.TOURNAMENT: "{tournament}: {label}",
}
SOMEBODYS_CHALLENGE: Final = "a challenge"  # its author was removed


def reason_text(reason: Reason | None) -> str:
    """Return in English why a match is played; empty if nobody has said."""
    if reason is None:
        return ""
    if reason.code == MatchReason.CHALLENGE and not reason.details:
        return SOMEBODYS_CHALLENGE
    return WORDS[reason.code].format(**reason.details)
