"""What tables of a tournament are called: codes; words are made of them where they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class TableCode(StrEnum):
    """What a table is within its tournament; in brackets what its number says."""

    ROUND = "round"  # of a league (which round)
    ROUND_OF = "round-of"  # of an elimination (how many it has room for)
    QUARTER_FINAL = "quarter-final"
    SEMI_FINAL = "semi-final"
    FINAL = "final"
    THIRD_PLACE = "third-place"
    WINNERS_ROUND = "winners-round"  # of a double elimination (which round)
    WINNERS_FINAL = "winners-final"
    LOSERS_ROUND = "losers-round"  # (which round)
    LOSERS_FINAL = "losers-final"
    GRAND_FINAL = "grand-final"
    GRAND_FINAL_AGAIN = "grand-final-again"


@dataclass(frozen=True)
class TableLabel:
    """A code with its parameters; 0 says nothing."""

    code: TableCode
    number: int = 0
    table: int = 0  # which of those that are called alike, if there are several

    @property
    def details(self) -> dict[str, str | int]:
        """The parameters that say something, by name."""
        details = {"number": self.number, "table": self.table}
        return {name: value for name, value in details.items() if value}


def label_from_details(code: str, details: Mapping[str, str | int]) -> TableLabel:
    """Return the label of a code with its parameters; raise ``ValueError`` if there is none."""
    number, table = int(details.get("number", 0)), int(details.get("table", 0))
    return TableLabel(TableCode(code), number, table)


WORDS: Final[Mapping[TableCode, str]] = {
    TableCode.ROUND: "Round {number}",
    TableCode.ROUND_OF: "Round of {number}",
    TableCode.QUARTER_FINAL: "Quarter-final",
    TableCode.SEMI_FINAL: "Semi-final",
    TableCode.FINAL: "Final",
    TableCode.THIRD_PLACE: "Third place",
    TableCode.WINNERS_ROUND: "Winners' round {number}",
    TableCode.WINNERS_FINAL: "Winners' final",
    TableCode.LOSERS_ROUND: "Losers' round {number}",
    TableCode.LOSERS_FINAL: "Losers' final",
    TableCode.GRAND_FINAL: "Grand final",
    TableCode.GRAND_FINAL_AGAIN: "Grand final, again",
}
ONE_OF_SEVERAL: Final[Mapping[TableCode, str]] = {  # those of which there can be several tables
    TableCode.ROUND: "Round {number}, table {table}",
    TableCode.ROUND_OF: "Round of {number}, table {table}",
    TableCode.QUARTER_FINAL: "Quarter-final {table}",
    TableCode.SEMI_FINAL: "Semi-final {table}",
    TableCode.WINNERS_ROUND: "Winners' round {number}, table {table}",
    TableCode.LOSERS_ROUND: "Losers' round {number}, table {table}",
}


def label_text(label: TableLabel) -> str:
    """Return in English what a table is called."""
    words = ONE_OF_SEVERAL.get(label.code) if label.table else None
    return (words or WORDS[label.code]).format(number=label.number, table=label.table)
