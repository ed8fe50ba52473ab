"""Pools of matches that the engine has played: honest ones, and those of a cheater."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.audit.games import Sample, sample
from keltis_engine import find_variant
from keltis_ladder.audit.evidence import UNIT, Contrast, Test
from keltis_ladder.audit.rotations import SPREADS, contrast

SEED: Final = 2026


@dataclass(frozen=True)
class Pools:
    """Matches of one variant."""

    variant: str
    honest: list[Sample]
    cheated: dict[str, list[Sample]]  # by what the knowledge is used for


def pools_of(variant: str, deals: int) -> Pools:
    """Play the pools of a variant."""
    ruleset = find_variant(variant)
    return Pools(
        variant,
        [sample(ruleset, SEED + k, cheats=False) for k in range(deals)],
        {
            use: [
                sample(ruleset, SEED + deals * (1 + number) + k, True, use == "draws")
                for k in range(deals)
            ]
            for number, use in enumerate(("all decisions", "draws"))
        },
    )


def pools_from(report: Path) -> list[Pools]:
    """Return the pools of an earlier report."""

    def samples(plain: list[dict[str, list[Any]]]) -> list[Sample]:
        return [
            Sample(*(tuple(each[name]) for name in ("leads", "wins", "foresights")))
            for each in plain
        ]

    return [
        Pools(
            each["variant"],
            samples(each["honest"]),
            {use: samples(plain) for use, plain in each["cheated"].items()},
        )
        for each in json.loads(report.read_text(encoding="utf-8"))["pools"]
    ]


def contrast_of(variant: str, test: Test, match: Sample, first: int) -> Contrast:
    """Return what a test makes of a match whose game ``first`` was played first."""
    if test is Test.FORESIGHT:
        values = [match.foresights[first], match.foresights[1 - first]]
    else:
        unit = SPREADS[variant]
        values = [match.leads[game] * UNIT // unit for game in (first, 1 - first)]
    return contrast(values)
