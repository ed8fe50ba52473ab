"""What every action hid, and where the caretaker placed it, before the games declared it.

``declared.tsv`` was written by the code that guessed all of this from the first word of the
notation, for all games together. The numbers of the caretaker are places in one list for all games:
only their order within a game means something.
"""

import csv
from typing import NamedTuple

from tests.places import ROOT

PAGE = ROOT / "tests/engine/declared.tsv"


class Declared(NamedTuple):
    """One action of a variant."""

    variant: str
    action: int
    notation: str
    card: str  # who saw the card that it brings: none, all or seat
    time: str  # who saw how long it took: all or seat
    caretaker: int

    @property
    def verb(self) -> str:
        return self.notation.split()[0]


def declared(variant: str) -> list[Declared]:
    """Return the rows of a variant, by action."""
    with PAGE.open(encoding="utf-8", newline="") as page:
        rows = [
            Declared(
                row["variant"], int(row["action"]), row["notation"],
                row["card"], row["time"], int(row["caretaker"]),
            )
            for row in csv.DictReader(page, delimiter="\t")
            if row["variant"] == variant
        ]  # fmt: skip
    assert [row.action for row in rows] == list(range(len(rows)))
    return rows
