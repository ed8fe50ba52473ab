"""The caretaker chooses as it always did, whatever is legal."""

import random

import pytest

from keltis_engine import VARIANTS, find_variant
from keltis_ladder.referee.caretaker import Caretaker
from tests.engine.support.declared import declared

CHOICES = 500


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_caretaker_chooses_as_it_always_did(variant: str) -> None:
    caretaker = Caretaker(find_variant(variant))
    ranks = {row.action: row.caretaker for row in declared(variant)}
    rng = random.Random(variant)
    for _ in range(CHOICES):
        legal = sorted(rng.sample(list(ranks), rng.randint(1, min(12, len(ranks)))))
        expected = min(legal, key=lambda action: (ranks[action], action))
        assert caretaker.choose(legal) == expected
