"""Which models stored ratings and margins come from, and whether they are those of this release.

A model is a set of numbers with a version. What another one made is worked out again from results,
never mixed with ours.
"""

from __future__ import annotations

from typing import Final, Protocol

from keltis_ladder.ratings.joint.numbers import MODEL_VERSION as JOINT_MODEL_VERSION
from keltis_ladder.ratings.model import MODEL_VERSION

MODELS: Final = {"rating_model": MODEL_VERSION, "joint_model": JOINT_MODEL_VERSION}


class Ledger(Protocol):
    """What the ledger says about it: a row, or what SQLModel makes of one."""

    @property
    def rating_model(self) -> int:
        """Of the live ratings."""
        ...

    @property
    def joint_model(self) -> int:
        """Of the margins of duels; 0: there are none yet."""
        ...


def is_ours(ledger: Ledger) -> bool:
    """Return whether what is stored comes from the models of this release."""
    return (ledger.rating_model, ledger.joint_model) == tuple(MODELS.values())


def other_models(ledger: Ledger) -> list[str]:
    """Return what is not of this release, in words."""
    found = []
    if ledger.rating_model != MODEL_VERSION:
        found.append(
            f"the ratings come from model {ledger.rating_model}, this program has {MODEL_VERSION}"
        )
    if ledger.joint_model != JOINT_MODEL_VERSION:
        found.append(
            f"the margins of duels come from joint model {ledger.joint_model}, "
            f"this program has {JOINT_MODEL_VERSION}"
        )
    return found
