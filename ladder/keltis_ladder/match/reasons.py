"""Why a match is played: a code with parameters, of which sentences are made where it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from keltis_ladder.match.table_labels import TableLabel, label_from_details, label_text


class MatchReason(StrEnum):
    """Why a match is played; in brackets the details that come with it."""

    CLOSE = "close"  # close in rating, and uncertain
    NEW_VERSION = "new-version"
    FIRST_OF_VARIANT = "first-of-variant"  # (variant)
    WAITED = "waited"  # somebody has waited longest
    NOT_MET = "not-met"  # for long
    SHARE = "share"  # of a kind of match (variant, players)
    CHALLENGE = "challenge"  # (author, unless removed)
    TOURNAMENT = "tournament"  # (tournament, label: the code of its table, with that one's details)


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


def tournament_reason(tournament: str, label: TableLabel) -> Reason:
    """Return the reason of a match at a table of a tournament."""
    details = {"tournament": tournament, "label": str(label.code), **label.details}
    return Reason(MatchReason.TOURNAMENT, details)


def table_label(details: Mapping[str, str | int]) -> TableLabel:
    """Return the table that the details of a tournament's match name."""
    return label_from_details(str(details["label"]), details)


def reason_text(reason: Reason | None) -> str:
    """Return in English why a match is played; empty if nobody has said."""
    if reason is None:
        return ""
    if reason.code == MatchReason.CHALLENGE and not reason.details:
        return SOMEBODYS_CHALLENGE
    details = dict(reason.details)
    if reason.code == MatchReason.TOURNAMENT:
        details["label"] = label_text(table_label(details))
    return WORDS[reason.code].format(**details)
