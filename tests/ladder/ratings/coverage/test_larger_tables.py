"""The model's numbers hold at tables of four, too: by real matches."""

from pathlib import Path

import pytest
from bench.proof import bank
from bench.proof.truth import Effort, play_truth

from keltis_ladder.ratings.joint.kinds import kind_number
from keltis_ladder.ratings.joint.numbers import NUMBERS
from keltis_ladder.ratings.normal import cdf

FIELD = (0, 4, 10, 14, 33)  # from careful to random
VARIANT = "weg-der-steine"  # the quickest to play

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("players", [2, 4])
def test_a_lead_says_how_many_games_one_is_ahead_in(
    players: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bank, "PLACE", tmp_path)
    kind = kind_number(VARIANT, players)
    truth = play_truth(FIELD, kind, Effort(meetings=120, seats=240))
    off = []
    for one in range(len(FIELD)):
        for other in range(len(FIELD)):
            lead = truth.leads[one][other]
            if lead > 0:
                off.append(truth.shares[one][other] - cdf(NUMBERS.slope[kind] * lead))
    assert len(off) == 10
    # Some 500 games of each pair: the mean of ten is known to less than 0.01.
    assert abs(sum(off) / len(off)) < 0.02
