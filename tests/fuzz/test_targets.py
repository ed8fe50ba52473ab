"""Bytes that were once of interest, and small changes of them, do no harm to who reads them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.mutations import mutated
from tests.fuzz.targets import CORPUS, TARGETS

CHANGES = 40  # of each file


@pytest.mark.parametrize("name", TARGETS)
def test_what_was_kept_is_read_without_harm(name: str) -> None:
    kept = sorted((CORPUS / name).iterdir())
    assert kept, "each target has a corpus: python -m tests.fuzz.seeds makes its beginning"
    for path in kept:
        TARGETS[name](path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_small_changes_are_read_without_harm(name: str) -> None:
    rng = random.Random(name)
    for path in sorted((CORPUS / name).iterdir()):
        data = path.read_bytes()
        for _ in range(CHANGES):
            changed = mutated(data, rng)
            try:
                TARGETS[name](changed)
            except BaseException:
                print(f"{name}: {changed.hex()}")
                raise


@pytest.mark.parametrize("name", TARGETS)
@given(data=st.binary(max_size=300))
def test_any_bytes_are_read_without_harm(name: str, data: bytes) -> None:
    TARGETS[name](data)
